"""Values as JSON by their type: what is written is read back equal, or it is not written."""

from __future__ import annotations

import json
from typing import Any

import msgspec


class Form:
    """The JSON of one type: dataclasses, enums, tuples, unions, literals and plain values.

    A dataclass is an object with all of its fields, a tuple a list, an enum its value. Data never
    names a type.

    >>> pairs = Form(tuple[tuple[str, int], ...])
    >>> pairs.write((("a", 1),))
    b'[["a",1]]'
    >>> pairs.read(b'[["a",1]]')
    (('a', 1),)
    """

    def __init__(self, hint: Any) -> None:
        self._hint = hint
        self._decoder = msgspec.json.Decoder(hint)

    def write(self, value: Any) -> bytes:
        """The value's JSON, of which `read` gives an equal value of the type.

        Raises ValueError or TypeError for a value that is not equal to any of the type.
        """
        known = self._value(_json(value))
        if known != value:
            raise ValueError(f"it would be read back as another value: {value!r:.80}")
        return _json(known)  # the type's own way: 1 and 1.0 are equal

    def read(self, text: bytes) -> Any:
        """The value of a JSON text; raises ValueError for any but what `write` writes."""
        value = self._value(text)
        if _json(value) != text:  # a field that is missing, or one too many
            raise ValueError("this is not how it would be written")
        return value

    def _value(self, text: bytes) -> Any:
        try:
            try:
                return self._decoder.decode(text)
            except UnicodeDecodeError:
                loose = json.loads(text.decode("utf-8", "surrogatepass"))
                return msgspec.convert(loose, self._hint)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def _json(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        # Half a surrogate pair stays as it is: escapes of two halves would read as one character.
        loose = msgspec.to_builtins(value, enc_hook=_simpler)
        text = json.dumps(loose, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")


def _simpler(value: object) -> object:
    """A string or number of a class of its own, such as numpy's, as what it is equal to."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"a {type(value).__name__} cannot be kept")


_ENCODER = msgspec.json.Encoder(enc_hook=_simpler)
