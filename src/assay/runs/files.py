"""Shard files: lines of JSON, or Parquet with the whole row in one column."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from assay.errors import DataError, MissingExtra
from assay.runs.disk import commit, refused, write_whole, writing
from assay.store import RowFile

_BATCH = 200


def write_shard(path: Path, records: Iterable[bytes], metrics: Sequence[str]) -> None:
    """Write a shard, whole or not at all."""
    if path.suffix == ".parquet":
        _write_parquet(path, records, metrics)
        return

    def fill(file: BinaryIO) -> None:
        file.writelines(record + b"\n" for record in records)

    write_whole(path, fill)


def read_shard(path: Path, rows: int) -> Iterator[bytes]:
    """The records of a shard; raises DataError unless there are ``rows`` of them."""
    count = 0
    try:
        for record in _parquet(path) if path.suffix == ".parquet" else _lines(path):
            count += 1
            yield record
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    if count != rows:
        raise DataError(
            f"{path} holds {count} rows instead of {rows}; delete it and run the same command "
            "with --resume, which scores them again"
        )


def _write_parquet(path: Path, records: Iterable[bytes], metrics: Sequence[str]) -> None:
    beside = path.with_name("tmp-" + path.name)
    try:
        with RowFile(beside, metrics) as file:
            for record in records:
                file.write(json.loads(record))
        with writing(path):
            handle = os.open(beside, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
            commit(beside, path)
    except DataError as error:
        if isinstance(error.__cause__, OSError):
            raise refused(path, error.__cause__) from error.__cause__
        raise
    finally:
        for left in (beside, beside.with_name(beside.name + ".partial")):
            left.unlink(missing_ok=True)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return  # cut short: the count says so
            yield line[:-1]


def _parquet(path: Path) -> Iterator[bytes]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow, which reads Parquet,", "parquet") from None
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH, columns=["row"]):
                for text in batch.column(0).to_pylist():
                    yield text.encode()
    except pa.ArrowException as error:
        raise DataError(
            f"{path} cannot be read ({str(error).splitlines()[0]}); delete it and run the same "
            "command with --resume, which scores its rows again"
        ) from None
