"""Paths and standard input as sources of rows."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from assay.errors import ConfigError, DataError, did_you_mean
from assay.readers.source import Row, Source, json_document, json_lines, once
from assay.readers.tables import csv_rows, parquet_rows

FORMATS = ("jsonl", "ndjson", "json", "csv", "tsv", "parquet")
_SUFFIXES = (*FORMATS, "pq")


def open_path(path: Path, format: str | None = None) -> Source:
    """The rows of a file; the format follows from its name unless it is given.

    Raises ConfigError for an unknown ``format``; DataError for a path that is no file, is empty,
    or has a name that tells no format.
    """
    name = path.name
    _check_format(format)
    _check_file(path)
    kind, zipped = _kind_of(path, format)
    if kind == "parquet":
        if zipped:
            raise DataError(f"{name}: Parquet is compressed inside; take it out of the gzip file")
        return Source(name, "row", True, True, partial(parquet_rows, path, name))
    unit = "row" if kind == "json" else "line"
    rows = partial(_file_rows, path, kind, zipped)
    return Source(name, unit, kind in {"csv", "tsv"}, True, rows)


def open_stdin(format: str | None = None) -> Source:
    """The rows on standard input, JSONL unless ``format`` says otherwise; they come once."""
    _check_format(format)
    if format == "parquet":
        raise ConfigError("Parquet cannot be read from standard input; give a path")
    kind = _canonical(format or "jsonl")
    lines = iter(sys.stdin.buffer)
    unit = "row" if kind == "json" else "line"
    rows = once("standard input", partial(_parsed, lines, kind, "stdin"))
    return Source("stdin", unit, kind in {"csv", "tsv"}, True, rows)


def _file_rows(path: Path, kind: str, zipped: bool) -> Iterator[Row]:
    name = path.name
    try:
        with gzip.open(path, "rb") if zipped else path.open("rb") as file:
            yield from _parsed(cast("BinaryIO", file), kind, name)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: the gzip data is broken or cut short: {error}") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror or error}") from None


def _parsed(lines: Iterable[bytes], kind: str, name: str) -> Iterator[Row]:
    if kind == "json":
        return json_document(b"".join(lines), name)
    if kind == "jsonl":
        return json_lines(lines, name)
    return csv_rows(lines, name, "\t" if kind == "tsv" else None)


def _kind_of(path: Path, format: str | None) -> tuple[str, bool]:
    suffixes = [suffix.lower().removeprefix(".") for suffix in path.suffixes]
    zipped = suffixes[-1:] == ["gz"]
    if format is not None:
        return _canonical(format), zipped
    suffix = (suffixes[:-1] if zipped else suffixes)[-1:]
    if suffix and suffix[0] in _SUFFIXES:
        return _canonical(suffix[0]), zipped
    known = ", ".join(f".{name}" for name in _SUFFIXES)
    raise DataError(
        f"{path.name}: the name does not tell the format; known: {known} (all but Parquet also "
        "with .gz), or say which with --format (in Python: format=)"
    )


def _canonical(format: str) -> str:
    return {"ndjson": "jsonl", "pq": "parquet"}.get(format, format)


def _check_format(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise ConfigError(f"unknown format {format!r}; {did_you_mean(format, list(FORMATS))}")


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a directory; name a file in it{_examples(path)}")
    if not path.exists():
        raise DataError(f"{path}: no such file{_near(path)}")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty")


def _near(path: Path) -> str:
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(path)):
        return "; only local files are read"
    if not path.parent.is_dir():
        return f"; the directory {path.parent} does not exist"
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    near = get_close_matches(path.name, names, n=3, cutoff=0.6)
    return "; did you mean " + " or ".join(repr(name) for name in near) + "?" if near else ""


def _examples(path: Path) -> str:
    found = sorted(chain.from_iterable(path.glob(f"*.{suffix}*") for suffix in _SUFFIXES))
    names = dict.fromkeys(file.name for file in found)
    return ", such as " + ", ".join(list(names)[:5]) if names else ""
