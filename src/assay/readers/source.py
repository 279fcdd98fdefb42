"""A source of rows, and its lines as text."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.errors import DataError
from assay.readers.cells import kind

Row = tuple[int, Any]
"""Position (line or row, from 1) and what is there: a mapping, a Sample, or something wrong."""

_MAGIC = (
    (b"\x1f\x8b", "it is gzip data; give the file a name that ends in .gz"),
    (b"PAR1", "it is a Parquet file; say format 'parquet'"),
    (b"PK\x03\x04", "it is a zip archive or a spreadsheet; export it as CSV in UTF-8"),
    (b"\xff\xfe", "it is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "it is UTF-16; save it as UTF-8"),
)
_WHOLE = "; if the file is one JSON document, say format 'json'"
_BLANK = " \t\r\n\ufeff"


@dataclass(frozen=True, slots=True)
class Source:
    """Rows that can be gone through, with what error messages need to know of them.

    ``unit`` is "line" or "row"; ``cells`` says that a text may hold a list, as in CSV; ``filled``
    that having no row is an error.
    """

    name: str
    unit: str
    cells: bool
    filled: bool
    rows: Callable[[], Iterator[Row]]


def once(name: str, rows: Callable[[], Iterator[Row]]) -> Callable[[], Iterator[Row]]:
    """The same rows, with a DataError instead of silence when they are asked for again."""
    left = [rows]

    def fresh() -> Iterator[Row]:
        if not left:
            raise DataError(f"{name} was read already; it can be read only once")
        return left.pop()()

    return fresh


def decoded(lines: Iterable[bytes], name: str) -> Iterator[tuple[int, str]]:
    """Lines as text with their numbers; the byte order mark is dropped.

    Raises DataError with the offset of the first byte that is not UTF-8.
    """
    offset = 0
    for number, raw in enumerate(lines, 1):
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            raise DataError(_not_utf8(name, number, offset + error.start, raw, error)) from None
        offset += len(raw)
        yield number, text.removeprefix("\ufeff") if number == 1 else text


def json_lines(lines: Iterable[bytes], name: str) -> Iterator[Row]:
    """The JSON value of each line that is not blank, with its line number."""
    for number, line in decoded(lines, name):
        if text := line.strip(_BLANK):
            yield number, json_line(text, f"{name}, line {number}")


def json_document(data: bytes, name: str) -> Iterator[Row]:
    """The rows of one JSON document: a list, or an object with a list of results."""
    text = "".join(line for _, line in decoded(io.BytesIO(data), name))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = "; if it is one object per line, say format 'jsonl'" if _is_extra(error) else ""
        raise DataError(f"{name}: not JSON: {_why(error)}{hint}") from None
    return iter(list(enumerate(_list_in(value, name), 1)))


def _list_in(value: Any, name: str) -> list[Any]:
    keys = ("results", "samples", "data", "rows")
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        for key in keys:
            if isinstance(value.get(key), list):
                found: list[Any] = value[key]
                return found
    names = ", ".join(map(repr, keys))
    raise DataError(
        f"{name}: expected a list of objects, or an object with such a list under one of {names}; "
        f"found {kind(value)}"
    )


def json_line(text: str, where: str) -> Any:
    """The JSON value of one line; raises DataError that begins with ``where``."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = _WHOLE if text in {"[", "{"} else ""
        raise DataError(f"{where}: not JSON: {_why(error, text)}{hint}") from None
    if isinstance(value, list):
        raise DataError(
            f"{where}: a row must be an object with named columns, found a list{_WHOLE}"
        )
    return value


def _why(error: Exception, line: str | None = None) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return str(error).partition(";")[0]
    if line is None:
        return f"{error.msg} at line {error.lineno}, character {error.colno}"
    near = line[error.pos : error.pos + 20]
    return f"{error.msg} at character {error.pos + 1}" + (f", near {near!r}" if near else "")


def _is_extra(error: Exception) -> bool:
    return isinstance(error, json.JSONDecodeError) and error.msg == "Extra data"


def _not_utf8(name: str, number: int, offset: int, raw: bytes, error: UnicodeDecodeError) -> str:
    magic = (hint for start, hint in _MAGIC if number == 1 and raw.startswith(start))
    hint = next(magic, "save it as UTF-8")
    byte = raw[error.start]
    return f"{name}, line {number}: not UTF-8 (byte 0x{byte:02x} at offset {offset}); {hint}"
