"""Values of rows as plain Python: missing values, arrays, lists written in a cell."""

from __future__ import annotations

import ast
import io
import json
import math
import re
import tokenize
import warnings
from collections.abc import Mapping
from typing import Any

from assay.errors import DataError

LITERAL_LIMIT = 1_000_000
"""Longest cell, in characters, that is read as a Python list; JSON lists have no limit."""

SPREADSHEET_LIMIT = 32_767
"""Length, in characters, at which spreadsheets cut a cell."""

_PLAIN = (str, int, list, dict)


def plain(value: Any) -> Any:
    """None for missing values (NaN, NA, NaT); lists and numbers for numpy's; else the value.

    >>> plain(float("nan")) is None
    True
    """
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    tolist = getattr(value, "tolist", None)
    return plain(tolist()) if callable(tolist) else value


def clean(text: str) -> str:
    """The text without lone surrogates, which cannot be written as UTF-8 (they become U+FFFD).

    Broken emoji in truncated model output, such as "\\ud83d" in JSON, give such text.
    """
    if text.isascii():
        return str(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def parse_list(cell: str) -> list[Any] | None:
    """The list that a cell holds as JSON or as Python prints it; None when it is a plain text.

    A list counts when it is empty or holds a text, an object or a list. Raises DataError for a
    cell that is clearly a list but is broken, cut, too long, or printed by numpy (no commas).

    >>> parse_list('["a", "b"]'), parse_list("['a', 'b']"), parse_list("[1] Paris is large.")
    (['a', 'b'], ['a', 'b'], None)
    """
    text = cell.strip()
    if not text.startswith("["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _python_list(text)
    if isinstance(value, list):
        return value if not value or any(isinstance(v, str | dict | list) for v in value) else None
    if _meant_as_list(text):
        raise DataError(
            f"the cell looks like a list but cannot be read as one ({brief(text)}); "
            'write it as JSON, ["first", "second"]'
        )
    return None


def parse_flags(cell: str) -> list[Any] | None:
    """The list of true/false or 0/1 that a cell holds, as JSON or as Python prints it."""
    text = cell.strip()
    if not text.startswith("["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _python_list(text)
    return value if isinstance(value, list) else None


def parse_object(cell: str) -> Mapping[str, Any] | None:
    """The JSON object that a cell holds, or None."""
    if not cell.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def jsonable(value: Any) -> Any:
    """The value with JSON's types only: NaN is None, and what JSON has no type for is its str."""
    value = plain(value)
    if (
        value is None
        or isinstance(value, int)
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return clean(str(value))


def kind(value: object) -> str:
    """What a value is, in the words of an error message.

    >>> kind(3), kind({"a": 1}), kind(None)
    ('a number (3)', "an object with the keys 'a'", 'null')
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return f"a number ({value})"
    if isinstance(value, Mapping):
        keys = ", ".join(repr(str(key)) for key in list(value)[:8])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(value, str):
        return f"the text {brief(value)}"
    names: dict[type, str] = {bytes: "binary data", list: "a list", tuple: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


def brief(text: str) -> str:
    """The start of a text, quoted."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _python_list(text: str) -> Any:
    if len(text) > LITERAL_LIMIT:
        if not _meant_as_list(text):
            return None
        raise DataError(
            f"the cell holds a list of {len(text):,} characters that is not JSON; Python lists "
            f"are read up to {LITERAL_LIMIT:,}; write it as JSON"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a text is no business of the reader
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if _texts_side_by_side(text):
        raise DataError(
            f"the cell holds a numpy array as pandas prints it, without commas ({brief(text)}); "
            "turn the arrays into lists before writing the file: df[col].map(list)"
        )
    return value


def _texts_side_by_side(text: str) -> bool:
    """Two string literals with nothing between, which Python would silently join."""
    skip = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT}
    before = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and before == tokenize.STRING:
            return True
        if token.type not in skip:
            before = token.type
    return False


def _meant_as_list(text: str) -> bool:
    opens = text[1:].lstrip()[:1] in {'"', "'", "{"}
    return opens and (text.endswith("]") or len(text) == SPREADSHEET_LIMIT)
