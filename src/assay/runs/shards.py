"""A shard in work: which rows it wants, which it has, and how it becomes a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.runs.failures import failed_rows, read_errors, worth_another_try, write_errors
from assay.runs.files import read_shard, write_shard
from assay.runs.folder import Folder
from assay.runs.journal import Journal
from assay.runs.places import Place, read_places
from assay.runs.plan import Plan, read_plan
from assay.runs.sums import Sums, sums_of
from assay.score import Score


@dataclass(frozen=True, slots=True)
class Job:
    """A run as its folder holds it."""

    folder: Folder
    plan: Plan
    places: tuple[Place, ...]

    def path(self, shard: int) -> Path:
        """The file of a shard, which may not be there yet."""
        return self.folder.shard(shard, self.plan.shard_format)

    def missing(self) -> list[int]:
        """The shards that are not written."""
        return [n for n in range(self.plan.shards) if not self.path(n).exists()]

    def failed(self, shards: Collection[int]) -> int:
        """The rows of some shards that failed."""
        return failed_rows([self.folder.errors(n) for n in shards])


def open_job(folder: Path) -> Job:
    """The run in a folder; raises DataError if there is none."""
    where = Folder(folder)
    plan = read_plan(where.plan)
    return Job(where, plan, read_places(where.index, plan.shards))


@dataclass(frozen=True, slots=True)
class ShardReport:
    """What was done for a shard: ``scored`` rows now, ``kept`` ones from before.

    ``failed`` rows have a failed score. ``elsewhere``: another process is at it, and nothing was
    done here.
    """

    shard: int
    rows: int
    scored: int = 0
    kept: int = 0
    failed: int = 0
    seconds: float = 0.0
    elsewhere: bool = False


@dataclass
class OpenShard:
    """A shard that this process holds: the ``wanted`` rows go to the journal, then to the file."""

    job: Job
    number: int
    journal: Journal
    wanted: Collection[int]
    again: bool
    scored: int = 0
    sums: dict[str, Sums] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def wants(self, row: int) -> bool:
        """Whether a row is still to be scored."""
        return row in self.wanted and row not in self.journal

    @property
    def full(self) -> bool:
        """Whether all wanted rows are there."""
        return len(self.journal) == len(self.wanted)

    def keep(self, row: int, record: bytes, scores: Mapping[str, Score]) -> None:
        """Take in a scored row."""
        self.journal.keep(row, record)
        self.scored += 1
        for name, score in scores.items():
            sums = self.sums.setdefault(name, Sums())
            sums.add(score.value, score.status, score.unknown)

    def totals(self) -> dict[str, Sums]:
        """The sums of each metric over all rows, once the file is written."""
        rows = len(self.job.plan.span(self.number))
        if self.scored == rows and not self.again:
            return self.sums
        return sums_of(read_shard(self.job.path(self.number), rows), self.job.plan.metrics)

    def commit(self) -> ShardReport:
        """Write the shard and its errors, and let go of it.

        The errors on disk never tell of fewer rows than the shard has that failed: they are
        written first, or, where a shard is replaced, last.
        """
        plan, path = self.job.plan, self.job.path(self.number)
        span = plan.span(self.number)
        errors = self.job.folder.errors(self.number)
        if not self.again:
            failed = write_errors(errors, span.start, self._records())
            write_shard(path, self._records(), list(plan.metrics))
        else:
            write_shard(path, self._records(), list(plan.metrics))
            failed = write_errors(errors, span.start, read_shard(path, len(span)))
        self.journal.close(remove=True)
        seconds = round(time.monotonic() - self.started, 3)
        kept = len(span) - self.scored
        return ShardReport(self.number, len(span), self.scored, kept, failed, seconds)

    def _records(self) -> Iterator[bytes]:
        span = self.job.plan.span(self.number)
        if not self.again:
            yield from map(self.journal.record, span)
            return
        before = read_shard(self.job.path(self.number), len(span))
        for row, record in zip(span, before, strict=True):
            yield self.journal.record(row) if row in self.journal else record


def open_shard(job: Job, number: int, *, retry_errors: bool = False) -> OpenShard | ShardReport:
    """A shard to work at; or the report of one that is whole, or in other hands."""
    span = job.plan.span(number)
    whole = job.path(number).exists()
    if whole and (not retry_errors or not job.folder.errors(number).exists()):
        job.folder.journal(number).unlink(missing_ok=True)  # a kill came right after the commit
        return _whole(job, number)
    opening = _again if whole else _anew
    journal, wanted = opening(job, number)
    if journal is None:
        return ShardReport(number, len(span), elsewhere=True)
    if not wanted or (not whole and job.path(number).exists()):  # finished as we came to it
        journal.close(remove=True)
        return _whole(job, number)
    if retry_errors:
        _forget(journal, worth_another_try)
    return OpenShard(job, number, journal, wanted, whole)


def _whole(job: Job, number: int) -> ShardReport:
    rows = len(job.plan.span(number))
    return ShardReport(number, rows, kept=rows, failed=job.failed([number]))


def _anew(job: Job, number: int) -> tuple[Journal | None, Collection[int]]:
    span = job.plan.span(number)
    return Journal.open(job.folder.journal(number), job.plan.id, span), span


def _again(job: Job, number: int) -> tuple[Journal | None, Collection[int]]:
    """The journal of the rows that failed in a whole shard, and these rows."""
    path, span = job.path(number), job.plan.span(number)
    journal = Journal.open(job.folder.journal(number, again=True), seal_again(job, number), span)
    told = {line["row"] - 1 for line in read_errors(job.folder.errors(number))}
    records = zip(span, read_shard(path, len(span)), strict=True)
    wanted = {row for row, record in records if row in told and worth_another_try(record)}
    return journal, frozenset(wanted)


def seal_again(job: Job, number: int) -> str:
    """What rows of a whole shard that were scored again belong to: the file that they failed in."""
    stat = job.path(number).stat()
    return f"{job.plan.id} {stat.st_size} {stat.st_mtime_ns}"


def _forget(journal: Journal, which: Callable[[bytes], bool]) -> None:
    for row in journal.done:
        if which(journal.record(row)):
            journal.drop(row)
