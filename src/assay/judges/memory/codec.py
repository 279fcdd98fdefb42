"""Asks and answers as bytes: exact both ways, or not at all."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

from assay.asks import Ask
from assay.judges.memory.kinds import KINDS, complete
from assay.judges.memory.plain import Writer, writer
from assay.judges.memory.reading import Reader, reader

FORMAT = 1
"""Raised when the same ask or answer is written differently; part of every key."""
LARGEST = 64 * 2**20
"""Bytes of an answer; what unpacks to more is not read."""
_CHECK = 8
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
# An answer is a few kilobytes: a smaller table and window cost half of the time, and 6 % more room.
_LEVEL, _WINDOW, _TABLE = 1, 14, 6

_READERS: Mapping[str, Reader] = MappingProxyType(
    {name: reader(kind.answer) for name, kind in KINDS.items()}
)
_ASKS: Mapping[str, Writer] = MappingProxyType(
    {name: writer(kind.ask) for name, kind in KINDS.items()}
)
_ANSWERS: Mapping[str, Writer] = MappingProxyType(
    {name: writer(kind.answer) for name, kind in KINDS.items()}
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An ask of one judge: ``key`` is the digest of ``identity``, which says all of it."""

    kind: str
    identity: bytes
    key: bytes


def entry(ask: Ask[Any], fingerprint: str, repeat: int = 0) -> Entry | None:
    """The place of an ask's answer; None for an ask of a kind that is not remembered.

    Two asks, judges or repeats share a key only if they are equal.
    """
    kind = type(ask).__name__
    known = KINDS.get(kind)
    if known is None or known.ask is not type(ask):
        return None
    try:
        identity = _bytes([FORMAT, fingerprint, repeat, kind, _plain_ask(kind, ask)])
    except (TypeError, ValueError):
        return None
    return Entry(kind, identity, hashlib.sha256(identity).digest())


def pack(place: Entry, ask: Ask[Any], answer: object) -> bytes | None:
    """The ask and its answer, compressed; None unless it is whole and would be read back equal."""
    try:
        if not complete(answer) or (text := _text(place.kind, ask, answer)) is None:
            return None
    except (TypeError, ValueError):
        return None
    if len(text) > LARGEST:
        return None
    zipper = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _TABLE)
    body = zipper.compress(place.identity + b"\n" + text) + zipper.flush()
    return _check(place.key, body) + body


def _text(kind: str, ask: Ask[Any], answer: object) -> bytes | None:
    """The answer's JSON; None unless it would be read back equal."""
    try:
        value = _ANSWERS[kind](answer)
    except ValueError:
        # What is not of exactly the type, but may be equal to what is: found out by reading it.
        text = _bytes(plain(answer))
        return text if read_answer(ask, text) == answer else None
    # By its type it is read back equal: see `writer`. Whether it fits the ask is left to see.
    return _bytes(value) if KINDS[kind].fits(ask, answer) else None


def _plain_ask(kind: str, ask: Ask[Any]) -> Any:
    try:
        return _ASKS[kind](ask)
    except ValueError:
        return plain(ask)


def unpack(place: Entry, ask: Ask[Any], blob: object) -> Any:
    """The answer that `pack` packed for this very ask; raises ValueError for anything else."""
    identity, text = opened(place.key, blob, len(place.identity) + LARGEST)
    if identity != place.identity:
        raise ValueError("this is the answer to another ask")
    return read_answer(ask, text)


def opened(key: bytes, blob: object, limit: int) -> tuple[bytes, bytes]:
    """The identity and the answer's JSON; raises ValueError if a bit is not as it was written."""
    if not isinstance(blob, bytes) or blob[:_CHECK] != _check(key, blob[_CHECK:]):
        raise ValueError("damaged")
    unzip = zlib.decompressobj()
    try:
        raw = unzip.decompress(blob[_CHECK:], limit)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    identity, line, text = raw.partition(b"\n")
    if not unzip.eof or not line:
        raise ValueError("cut off, or too long")
    return identity, text


def read_answer(ask: Ask[Any], text: bytes) -> Any:
    """The answer from its JSON; raises ValueError unless type and shape are those of the ask's."""
    kind = type(ask).__name__
    try:
        answer = _READERS[kind](json.loads(text.decode("utf-8", "surrogatepass")))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not KINDS[kind].fits(ask, answer):
        raise ValueError("the answer does not fit the ask")
    return answer


def plain(value: Any) -> Any:
    """The value as JSON can hold it: dataclasses by field name, enums by value, tuples as lists.

    Raises TypeError for anything else, such as a list, whose type could not be told again.
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"a {type(value).__name__} cannot be kept")


def _bytes(value: Any) -> bytes:
    # Half a surrogate pair stays as it is: escapes of two halves would read as one character.
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def _check(key: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK, key=key).digest()
