"""Samples that come once, or from where they cannot be gone to at will, put by in the folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from assay.errors import DataError
from assay.runs.disk import write_whole
from assay.runs.places import Place
from assay.runs.plan import Source
from assay.sample import Sample
from assay.store import to_json


class Spooled:
    """What went by: rows, places and fingerprint of samples as lines of JSON."""

    def __init__(self, shard_rows: int) -> None:
        self.places: list[Place] = []
        self._shard_rows = shard_rows
        self._whole = hashlib.sha256()
        self._own = hashlib.blake2b(digest_size=16)
        self._rows = self._offset = self._start = self._here = 0

    def line(self, sample: Sample) -> bytes:
        """One sample as a line, which is counted; raises DataError if it is not JSON-able."""
        try:
            line = to_json(sample.as_dict()).encode() + b"\n"
        except (TypeError, ValueError) as error:
            where = f"row {self._rows + 1} (sample {sample.id!r})"
            raise DataError(f"{where}: the metadata cannot be kept as JSON: {error}") from None
        self._whole.update(line)
        self._own.update(line)
        self._rows += 1
        self._here += 1
        self._offset += len(line)
        if self._here == self._shard_rows:
            self._close()
        return line

    def source(self, name: str, origin: Path | None) -> Source:
        """The samples as the input of a run."""
        self._close()
        stat = origin.stat() if origin is not None else None
        return Source(
            name=name,
            path=str(origin.absolute()) if origin is not None else "",
            kind="samples",
            fingerprint=f"sha256:{self._whole.hexdigest()}",
            rows=self._rows,
            size=stat.st_size if stat else 0,
            modified=stat.st_mtime_ns if stat else 0,
        )

    def _close(self) -> None:
        if self._here:
            line = self._rows - self._here + 1
            digest = self._own.hexdigest()
            self.places.append(Place(self._start, self._offset, line, self._here, digest))
            self._own = hashlib.blake2b(digest_size=16)
            self._start, self._here = self._offset, 0


def put_by(samples: Iterable[Sample], path: Path | None, shard_rows: int) -> Spooled:
    """Go through samples; with a ``path``, write them there, whole or not at all."""
    spooled = Spooled(shard_rows)

    def fill(file: BinaryIO) -> None:
        for sample in samples:
            file.write(spooled.line(sample))

    if path is None:
        for sample in samples:
            spooled.line(sample)
    else:
        write_whole(path, fill)
    return spooled


def taken_out(line: bytes) -> Sample:
    """The sample in a line."""
    return Sample(**json.loads(line))
