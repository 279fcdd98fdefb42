"""The sums of each shard, noted as it is written, so that no end of a run reads all rows anew."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.runs.disk import write_all
from assay.runs.files import read_shard
from assay.runs.shards import Job
from assay.runs.sums import Sums, from_list, sums_of
from assay.stats import Summary


def summaries(job: Job, shards: Iterable[int]) -> dict[str, Summary]:
    """Each metric over the rows of some shards that are whole.

    A shard whose sums are not noted, or whose file is another by now, is read. Raises DataError.
    """
    names = list(job.plan.metrics)
    total = {name: Sums() for name in names}
    noted = _noted(job)
    for shard in shards:
        path = job.path(shard)
        sums = _of_file(noted.get(shard), path, names)
        if sums is None:
            sums = sums_of(read_shard(path, len(job.plan.span(shard))), names)
        for name in names:
            total[name].merge(sums[name])
    return {name: one.summary() for name, one in total.items()}


def note(path: Path, shard: int, file: Path, sums: Mapping[str, Sums]) -> None:
    """Append the sums of a shard to the notes at ``path``; without them, it is read when needed."""
    told = {
        "shard": shard,
        "file": _identity(file),
        "metrics": {name: one.as_list() for name, one in sums.items()},
    }
    with suppress(OSError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            # A line that was cut short must not take ours along.
            write_all(handle, b"\n" + json.dumps(told).encode() + b"\n")
        finally:
            os.close(handle)


def _noted(job: Job) -> dict[int, dict[str, Any]]:
    """The last note of each shard; lines that cannot be read are passed over."""
    out: dict[int, dict[str, Any]] = {}
    try:
        with job.folder.totals.open("rb") as file:
            for line in file:
                with suppress(ValueError, RecursionError):
                    told = json.loads(line)
                    if isinstance(told, dict) and isinstance(told.get("shard"), int):
                        out[told["shard"]] = told
    except FileNotFoundError:
        pass
    except OSError as error:
        raise DataError(f"cannot read {job.folder.totals}: {error.strerror or error}") from None
    return out


def _of_file(
    told: Mapping[str, Any] | None, path: Path, names: Iterable[str]
) -> dict[str, Sums] | None:
    """The sums of a note, if it is of the very file at ``path``."""
    if told is None or told.get("file") != _identity(path):
        return None
    metrics = told.get("metrics")
    if not isinstance(metrics, dict):
        return None
    sums = {name: from_list(metrics.get(name)) for name in names}
    known = {name: one for name, one in sums.items() if one is not None}
    return known if len(known) == len(sums) else None


def _identity(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]
