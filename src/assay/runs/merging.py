"""One table out of the shards of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from assay.errors import ConfigError, DataError
from assay.runs.disk import write_whole
from assay.runs.files import read_shard
from assay.runs.journalled import open_rows
from assay.runs.shards import Job, open_job
from assay.runs.totals import Totals
from assay.runs.usage import Spent, read_usage
from assay.stats import Summary
from assay.store import FORMATS, RowFile, write_provenance

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged table: rows, those with a failed score, the shards that are missing, the means.

    Of a shard that is missing, the rows that were scored so far are in the table. ``all_rows`` is
    how many rows the input has.
    """

    rows: int
    failed: int
    missing: tuple[int, ...]
    summaries: Mapping[str, Summary]
    provenance: Mapping[str, Any]
    all_rows: int

    def __str__(self) -> str:
        """How many rows of how many are in the table."""
        what = f"{self.all_rows} {'row' if self.all_rows == 1 else 'rows'}"
        return what if self.rows == self.all_rows else f"{self.rows} of {what}"


def merge(
    folder: str | Path,
    out: str | Path,
    *,
    partial: bool = False,
    watch: Callable[[], None] | None = None,
) -> Merged:
    """Write the rows of a run in the order of its input, with the provenance beside.

    The ending of ``out`` decides the format: .jsonl, .csv or .parquet. ``partial``: also while
    shards are missing, of which those rows are taken that are scored already; the provenance names
    these shards. Others may be at work meanwhile. ``watch`` is called after every row.
    Raises DataError that lists the missing shards, or names the one that is damaged.
    """
    if Path(folder).is_file():
        raise DataError(f"{folder} is a file; what is merged is a folder, that of score --run")
    job = open_job(Path(folder))
    path = Path(out)
    missing = job.missing()
    if missing and not partial:
        raise DataError(_incomplete(job, missing))
    in_work = set(missing)
    _check_out(job, path)
    totals = Totals(list(job.plan.metrics))
    records = _records(job, in_work, totals, watch or (lambda: None))
    with _writing(path):
        if path.suffix == ".jsonl":
            write_whole(path, lambda file: _fill(file, records))
        else:
            with RowFile(path, list(job.plan.metrics)) as table:
                for _, record in records:
                    table.write(record)
    summaries = {name: totals[name] for name in job.plan.metrics}
    spent = read_usage(job.folder.usage)
    missing = sorted(in_work)
    provenance = _provenance(job, totals, summaries, spent, missing)
    with _writing(path):
        write_provenance(path, provenance)
    return Merged(totals.rows, totals.failed, tuple(missing), summaries, provenance, job.plan.rows)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Says of a disk that refuses what is to be done about a merge, which has nothing to resume."""
    try:
        yield
    except (DataError, OSError) as error:
        fault = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(fault, OSError):
            raise
        raise DataError(
            f"cannot write {path}: {fault.strerror or fault}; free some room on the disk of "
            f"{path.parent}, or give another -o, and merge again: the run is as it was"
        ) from fault


def _check_out(job: Job, path: Path) -> None:
    if path.suffix not in FORMATS:
        raise ConfigError(f"cannot write {path.name!r}; known endings: {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise ConfigError(f"cannot write {path}: it is a folder")
    own = {job.folder.index, job.folder.spool, job.folder.usage, job.folder.totals}
    inside = path.parent.resolve() == job.folder.shards.resolve()
    if inside or path.resolve() in {file.resolve() for file in own}:
        raise ConfigError(f"{path} belongs to the run; give another -o")
    source = Path(job.plan.data.path) if job.plan.data.path else None
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise ConfigError(f"{path} is the input of the run; give another -o")


def _records(
    job: Job, in_work: set[int], totals: Totals, watch: Callable[[], None]
) -> Iterator[tuple[bytes, dict[str, Any]]]:
    for shard in range(job.plan.shards):
        path, lines = _lines(job, shard, in_work)
        for line in lines:
            try:
                record = json.loads(line)
                totals.add(record)
            except (ValueError, KeyError, TypeError):
                raise DataError(
                    f"{path} is damaged; delete it and run the same command with --resume, which "
                    "scores its rows again"
                ) from None
            yield line, record
            watch()


def _lines(job: Job, shard: int, in_work: set[int]) -> tuple[Path, Iterator[bytes]]:
    """The records of a shard, and their file; one that is whole by now is ``in_work`` no more."""
    path, span = job.path(shard), job.plan.span(shard)
    if shard in in_work:
        journal = job.folder.journal(shard)
        # One that was finished as we came to it may have a new, empty journal by now.
        lines = open_rows(journal, job.plan.id, span, unless=path)
        if lines is not None:
            return journal, lines
        if not path.exists():
            return journal, iter(())
        in_work.discard(shard)
    return path, read_shard(path, len(span))


def _fill(file: BinaryIO, records: Iterator[tuple[bytes, dict[str, Any]]]) -> None:
    file.writelines(line + b"\n" for line, _ in records)


def _incomplete(job: Job, missing: list[int]) -> str:
    listed = ", ".join(_spans(missing)[:_SHOWN])
    more = ", …" if len(_spans(missing)) > _SHOWN else ""
    if job.plan.shards == 1:
        what = "its only shard is not whole yet"
    else:
        verb = "is" if len(missing) == 1 else "are"
        what = f"{len(missing)} of {job.plan.shards} shards {verb} missing ({listed}{more})"
    return (
        f"{job.folder.path} is not complete: {what}; run the same 'assay score' with "
        "--resume, or merge what is there with --partial"
    )


def _spans(numbers: list[int]) -> list[str]:
    """Numbers in ascending order as words, e.g. 3, 7-9."""
    out: list[list[int]] = []
    for number in numbers:
        if out and out[-1][1] == number - 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return [str(a) if a == b else f"{a}-{b}" for a, b in out]


def _provenance(
    job: Job,
    totals: Totals,
    summaries: Mapping[str, Summary],
    spent: Spent,
    missing: list[int],
) -> dict[str, Any]:
    plan = job.plan
    return {
        "assay": plan.assay,
        "python": plan.python,
        "judge": plan.judge,
        "judge_fingerprint": plan.judge_fingerprint,
        "metrics": dict(plan.metrics),
        "started": plan.created,
        "seconds": spent.seconds,
        "processes": spent.processes,
        "usage": spent.usage.as_dict(),
        "run": plan.id,
        "data": {"name": plan.data.name, "fingerprint": plan.data.fingerprint},
        "rows": totals.rows,
        "all_rows": plan.rows,
        "failed": totals.failed,
        "missing_shards": _spans(missing),
        "summary": {name: _told(one) for name, one in summaries.items()},
    }


def _told(one: Summary) -> dict[str, Any]:
    return {
        "mean": one.mean,
        "interval": list(one.interval) if one.interval else None,
        "micro": one.micro,
        "n": one.n,
        "undefined": one.undefined,
        "failed": one.failed,
        "unknown": one.unknown,
    }
