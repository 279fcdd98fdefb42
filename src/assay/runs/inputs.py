"""The rows of a shard, as samples; a row that cannot be one says why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from assay.errors import DataError
from assay.readers.reading import Reading
from assay.readers.source import Row, Source, json_line
from assay.readers.tables import csv_rows, parquet_rows
from assay.runs.folder import Folder
from assay.runs.places import Place, blank, check_digest, lines_between, split_returns
from assay.runs.plan import Plan
from assay.runs.spool import taken_out
from assay.sample import Sample

Drawn = tuple[int, Sample, str]
"""A row's number from 0, its sample, and why it cannot be read ("" if it can)."""


class Inputs:
    """The input of a run by shard; shards of Parquet that follow each other are read on."""

    def __init__(self, folder: Folder, plan: Plan) -> None:
        self._plan = plan
        self._path = folder.spool if plan.data.kind == "samples" else Path(plan.data.path)
        cells = plan.data.kind != "jsonl"
        unit = "row" if plan.data.kind == "parquet" else "line"
        none = Source(plan.data.name, unit, cells, False, lambda: iter(()))
        self._at = f"{plan.data.name}, {unit} "
        self._reading = Reading(none, plan.columns, unique_ids=False)
        self._on: tuple[int, Iterator[Row]] | None = None

    def rows(self, shard: int, place: Place) -> Iterator[Drawn]:
        """The rows of a shard. Raises DataError if the input is not what was planned."""
        first = self._plan.span(shard).start
        count = 0
        for count, (sample, trouble) in enumerate(self._samples(place, first), 1):
            if count > place.rows:
                break
            yield first + count - 1, sample, trouble
        if count != place.rows:
            raise DataError(
                f"{self._plan.data.name} was changed since the run began: there are not "
                f"{place.rows} rows from {self._at.rpartition(', ')[2]}{place.line} on"
            )

    def _samples(self, place: Place, first: int) -> Iterator[tuple[Sample, str]]:
        if self._plan.data.kind == "parquet":
            yield from self._from_rows(self._parquet(place), first)
            return
        try:
            with self._path.open("rb") as file:
                check_digest(file, place, self._plan.data.name)
                yield from self._from_text(file, place, first)
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read: {error.strerror or error}") from None

    def _from_text(self, file: BinaryIO, place: Place, first: int) -> Iterator[tuple[Sample, str]]:
        lines = lines_between(file, place.start, place.end)
        if self._plan.data.kind == "samples":
            yield from ((taken_out(line), "") for line in lines)
        elif self._plan.data.kind == "jsonl":
            yield from self._from_lines(lines, place.line, first)
        else:
            yield from self._from_rows(self._table(file, place), first)

    def _from_lines(
        self, lines: Iterator[bytes], line: int, first: int
    ) -> Iterator[tuple[Sample, str]]:
        for number, raw in enumerate(lines, line):
            if blank(raw):
                continue
            first += 1
            try:
                row = _parsed(raw, f"{self._at}{number}")
            except DataError as error:
                yield Sample(id=str(first)), str(error)
                continue
            yield self._sample(row, first, number)

    def _from_rows(self, rows: Iterator[Row], first: int) -> Iterator[tuple[Sample, str]]:
        for number, (position, row) in enumerate(rows, first + 1):
            yield self._sample(row, number, position)

    def _sample(self, row: Any, number: int, position: int) -> tuple[Sample, str]:
        sample, fault = self._reading.attempt(row, number)
        return sample, f"{self._at}{position}: {fault}" if fault else ""

    def _table(self, file: BinaryIO, place: Place) -> Iterator[Row]:
        data = self._plan.data
        head = [
            piece for line in lines_between(file, 0, data.head) for piece in split_returns(line)
        ]
        body = lines_between(file, place.start, place.end)
        delimiter = "\t" if data.kind == "tsv" else None
        for line, row in csv_rows(chain(head, body), data.name, delimiter):
            yield line - data.head_lines + place.line - 1, row

    def _parquet(self, place: Place) -> Iterator[Row]:
        stat = self._path.stat() if self._path.exists() else None
        data = self._plan.data
        if stat is None or (stat.st_size, stat.st_mtime_ns) != (data.size, data.modified):
            raise DataError(
                f"{data.name} was changed or moved since the run began; run the same command "
                "with --resume, which looks at it anew"
            )
        if self._on is None or self._on[0] != place.start:
            self._on = place.start, parquet_rows(self._path, data.name, place.start)
        rows = self._on[1]
        self._on = place.end, rows
        return islice(rows, place.rows)


def _parsed(raw: bytes, where: str) -> Any:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 (byte {error.start + 1} of the line)") from None
    return json_line(text.lstrip("\ufeff").strip(" \t\r\n"), where)
