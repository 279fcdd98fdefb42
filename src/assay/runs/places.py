"""Where in the input each shard is, found in one pass that also takes the fingerprint."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from assay.errors import DataError, MissingExtra
from assay.readers.tables import csv_rows
from assay.runs.disk import write_whole
from assay.runs.plan import Source

_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_RETURN = re.compile(rb"(?<=\r)(?!\n)")


@dataclass(frozen=True, slots=True)
class Place:
    """One shard of the input.

    ``start`` to ``end`` are bytes (of Parquet: rows), ``line`` is the number of the first line,
    ``rows`` says how many rows there are, and ``digest`` is that of the bytes ("" for Parquet).
    """

    start: int
    end: int
    line: int
    rows: int
    digest: str


class _Marks:
    """Collects places while a file is gone through; takes the fingerprint of all bytes."""

    def __init__(self, start: int, line: int, shard_rows: int) -> None:
        self.places: list[Place] = []
        self.rows = 0
        self._start, self._line = start, line
        self._shard_rows = shard_rows
        self._here = 0

    def row(self, end: int, next_line: int) -> None:
        """One more row, which ends at byte ``end``."""
        self.rows += 1
        self._here += 1
        if self._here == self._shard_rows:
            self.close(end, next_line)

    def close(self, end: int, next_line: int) -> None:
        """End a shard that has rows."""
        if self._here:
            self.places.append(Place(self._start, end, self._line, self._here, ""))
            self._start, self._line, self._here = end, next_line, 0


def scan(path: Path, kind: str, shard_rows: int) -> tuple[Source, list[Place]]:
    """A file's fingerprint, rows and places. Raises DataError if it cannot be read.

    Tables of text are gone through row by row, so that one that is ragged is refused here; lines
    of JSON are counted and not parsed.
    """
    name = path.name
    scans: dict[str, Callable[[Path, str, int], tuple[_Marks, int, int]]]
    scans = {"jsonl": _scan_lines, "csv": _scan_table, "tsv": _scan_table, "parquet": _scan_parquet}
    try:
        before = path.stat()
        marks, head, head_lines = scans[kind](path, kind, shard_rows)
        whole, places = _digests(path, marks.places, apart=kind != "parquet")
        after = path.stat()
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror or error}") from None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise DataError(f"{name} is being written to; wait until it is whole")
    source = Source(
        name=name,
        path=str(path.absolute()),
        kind=kind,
        fingerprint=f"sha256:{whole}",
        rows=marks.rows,
        size=after.st_size,
        modified=after.st_mtime_ns,
        head=head,
        head_lines=head_lines,
    )
    return source, places


def blank(line: bytes) -> bool:
    """Whether a line of JSONL holds no row."""
    return not line.strip(b" \t\r\n") or not line.removeprefix(_BOM).strip(b" \t\r\n")


def lines_between(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """The lines from one byte to another; lone carriage returns end lines of tables, not here."""
    file.seek(start)
    while start < end and (line := file.readline(end - start)):
        start += len(line)
        yield line


def check_digest(file: BinaryIO, place: Place, name: str) -> None:
    """Raise DataError if the bytes of a shard are not those that were planned."""
    digest = hashlib.blake2b(digest_size=16)
    file.seek(place.start)
    left = place.end - place.start
    while left and (chunk := file.read(min(_CHUNK, left))):
        digest.update(chunk)
        left -= len(chunk)
    if left or digest.hexdigest() != place.digest:
        raise DataError(
            f"{name} was changed since the run began (from line {place.line} on); bring back the "
            "file as it was, or begin again in another folder"
        )


def write_places(path: Path, places: list[Place]) -> None:
    """Write the index, a line a shard."""

    def fill(file: BinaryIO) -> None:
        file.writelines(json.dumps(astuple(place)).encode() + b"\n" for place in places)

    write_whole(path, fill)


def read_places(path: Path, count: int) -> tuple[Place, ...]:
    """The index; raises DataError unless it has ``count`` shards."""
    try:
        with path.open("rb") as file:
            places = tuple(Place(*json.loads(line)) for line in file)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, TypeError):
        places = ()
    if len(places) != count:
        raise DataError(
            f"{path} is damaged; run the same command with --resume, which makes it anew"
        )
    return places


def _scan_lines(path: Path, kind: str, shard_rows: int) -> tuple[_Marks, int, int]:
    marks = _Marks(0, 1, shard_rows)
    offset = number = 0
    with path.open("rb", buffering=_CHUNK) as file:
        for number, line in enumerate(file, 1):
            offset += len(line)
            if not blank(line):
                marks.row(offset, number + 1)
    marks.close(offset, number + 1)
    return marks, 0, 0


class _Pieces:
    """The lines of a table of text, with how far they have been read.

    A carriage return alone ends a line as well: old spreadsheets write it so.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.offset = self.number = 0
        self.starts: list[int] | None = []

    def __iter__(self) -> Iterator[bytes]:
        for line in self._file:
            for piece in split_returns(line):
                if self.starts is not None:
                    self.starts.append(self.offset)
                self.offset += len(piece)
                self.number += 1
                yield piece


def split_returns(line: bytes) -> list[bytes]:
    """A line, cut after each carriage return that stands alone."""
    if b"\r" not in line.removesuffix(b"\r\n"):
        return [line]
    return [piece for piece in _RETURN.split(line) if piece]


def _scan_table(path: Path, kind: str, shard_rows: int) -> tuple[_Marks, int, int]:
    head = head_lines = 0
    marks = _Marks(0, 1, shard_rows)
    with path.open("rb", buffering=_CHUNK) as file:
        pieces = _Pieces(file)
        for line, _ in csv_rows(pieces, path.name, "\t" if kind == "tsv" else None):
            if pieces.starts is not None:
                head, head_lines = pieces.starts[line - 1], line - 1
                marks = _Marks(head, line, shard_rows)
                pieces.starts = None
            marks.row(pieces.offset, pieces.number + 1)
        marks.close(pieces.offset, 0)
    return marks, head, head_lines


def _scan_parquet(path: Path, kind: str, shard_rows: int) -> tuple[_Marks, int, int]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow, which reads Parquet,", "parquet") from None
    try:
        with parquet.ParquetFile(path) as file:
            rows = file.metadata.num_rows
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path.name}: cannot be read as Parquet: {reason}") from None
    marks = _Marks(0, 1, shard_rows)
    marks.rows = rows
    for first in range(0, rows, shard_rows):
        end = min(first + shard_rows, rows)
        marks.places.append(Place(first, end, first + 1, end - first, ""))
    return marks, 0, 0


def _digests(path: Path, places: list[Place], *, apart: bool) -> tuple[str, list[Place]]:
    """The digest of all bytes, and places with the digests of theirs."""
    whole = hashlib.sha256()
    out: list[Place] = []
    with path.open("rb") as file:
        for place in places if apart else ():
            _take(file, place.start - file.tell(), whole, None)
            own = hashlib.blake2b(digest_size=16)
            _take(file, place.end - place.start, whole, own)
            out.append(Place(place.start, place.end, place.line, place.rows, own.hexdigest()))
        _take(file, None, whole, None)
    return whole.hexdigest(), out if apart else places


class _Digest(Protocol):
    def update(self, data: bytes, /) -> object: ...


def _take(file: BinaryIO, left: int | None, *digests: _Digest | None) -> None:
    while left is None or left > 0:
        chunk = file.read(_CHUNK if left is None else min(_CHUNK, left))
        if not chunk:
            return
        if left is not None:
            left -= len(chunk)
        for digest in digests:
            if digest is not None:
                digest.update(chunk)
