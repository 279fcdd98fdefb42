"""Rows of CSV, TSV and Parquet."""

from __future__ import annotations

import importlib.util
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.errors import DataError, MissingExtra
from assay.readers.source import Row, decoded

_LONGEST_FIELD = 2**31 - 1
_BATCH = 512
_BUFFER = 1 << 20


def csv_rows(lines: Iterable[bytes], name: str, delimiter: str | None = None) -> Iterator[Row]:
    """Rows of delimited text, keyed by the header, with the line on which each begins.

    Without a ``delimiter`` it is the comma, or, when the header has none, the semicolon or the
    tab. Empty cells are None. Fields may be of any length. Raises DataError for a ragged row, a
    broken quote, a column name that occurs twice.
    """
    texts = (piece for _, line in decoded(lines, name) for piece in _split_returns(line))
    head: list[str] = []
    while not "".join(head).strip() and (text := next(texts, "")):
        head.append(text)
    parser = _own_csv_module()
    reader = parser.reader(
        chain(head, texts), delimiter=delimiter or _guess_delimiter("".join(head)), strict=True
    )
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except parser.Error as error:
            raise DataError(f"{name}, line {line}: {_csv_error(str(error))}") from None
        if cells is None:
            return
        if not any(cells):
            continue
        if header is None:
            header = _header(cells, f"{name}, line {line}")
            continue
        if len(cells) != len(header):
            raise DataError(
                f"{name}, line {line}: {len(cells)} cells, but the header has {len(header)}; "
                "a text that holds the delimiter or a line break must be in double quotes"
            )
        yield line, {key: cell or None for key, cell in zip(header, cells, strict=True)}


def parquet_rows(path: Path, name: str, skip: int = 0) -> Iterator[Row]:
    """Rows of a Parquet file after the first ``skip``, a batch at a time.

    Groups of rows that are skipped as a whole are not read.

    Raises MissingExtra without pyarrow, DataError when the file is no Parquet.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow, which reads Parquet,", "parquet") from None
    try:
        with parquet.ParquetFile(path, buffer_size=_BUFFER) as file:
            _unique(list(file.schema_arrow.names), name)
            sizes = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
            groups, number = _groups_after(sizes, skip)
            for batch in file.iter_batches(batch_size=_BATCH, row_groups=groups):
                left = batch.slice(min(max(0, skip - number), len(batch)))
                number += len(batch) - len(left)
                for row in left.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name}: cannot be read as Parquet: {reason}") from None


def _groups_after(sizes: list[int], skip: int) -> tuple[list[int], int]:
    """The groups that hold rows after the first ``skip``, and how many rows come before them."""
    before = first = 0
    while first < len(sizes) and before + sizes[first] <= skip:
        before += sizes[first]
        first += 1
    return list(range(first, len(sizes))), before


def _own_csv_module() -> ModuleType:
    """A private instance of the csv parser, whose field limit nobody else shares.

    ``csv.field_size_limit`` is one number for the whole process, and 131,072 by default, which a
    row with many passages exceeds.
    """
    spec = importlib.util.find_spec("_csv")
    if spec is None or spec.loader is None:
        raise DataError("this Python has no csv module; use JSONL")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.field_size_limit(_LONGEST_FIELD)
    return module


def _split_returns(line: str) -> Iterable[str]:
    """Pieces that end in a carriage return alone, as old spreadsheets end their lines."""
    if "\r" not in line.removesuffix("\r\n"):
        return (line,)
    return io.StringIO(line, newline="")


def _guess_delimiter(header: str) -> str:
    return next((mark for mark in ",;\t" if mark in header), ",")


def _header(cells: list[str], where: str) -> list[str]:
    names = [cell.strip() or f"column {n}" for n, cell in enumerate(cells, 1)]
    _unique(names, where)
    return names


def _unique(names: list[Any], where: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice)
        raise DataError(f"{where}: the column name {listed} occurs more than once; rename one")


def _csv_error(message: str) -> str:
    if "unexpected end of data" in message:
        return "a double quote opens here and is never closed"
    if "expected after" in message:
        return (
            'a double quote stands inside a quoted text; write it twice ("") as CSV asks, '
            "or use JSONL"
        )
    return message
