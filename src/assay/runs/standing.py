"""How far a run is: which rows are done, also in shards that are in work, and which are to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.runs.failures import is_tried_again, read_errors, worth_another_try
from assay.runs.journalled import open_rows
from assay.runs.shards import Job, seal_again


@dataclass(frozen=True, slots=True)
class Standing:
    """Rows of some shards, and how many of them are to be scored."""

    rows: int
    left: int

    @property
    def done(self) -> int:
        """Rows that are scored and kept, in shards or in journals."""
        return self.rows - self.left


def standing(job: Job, shards: Iterable[int], *, retry_errors: bool = False) -> Standing:
    """How far some shards are; nothing is changed, and other processes may be at work.

    With ``retry_errors``, rows that failed for anything but the data are to be scored. Raises
    DataError for files that cannot be read.
    """
    rows = left = 0
    for shard in shards:
        rows += len(job.plan.span(shard))
        if not job.path(shard).exists():
            left += _missing(job, shard, retry_errors=retry_errors)
        elif retry_errors:
            left += _failed(job, shard)
    return Standing(rows, left)


def _missing(job: Job, shard: int, *, retry_errors: bool) -> int:
    span = job.plan.span(shard)
    records = open_rows(job.folder.journal(shard), job.plan.id, span) or ()
    again = worth_another_try if retry_errors else (lambda _: False)
    return len(span) - sum(not again(record) for record in records)


def _failed(job: Job, shard: int) -> int:
    """The rows of a whole shard that are to be scored again and were not yet."""
    told = read_errors(job.folder.errors(shard))
    failed = {line["row"] for line in told if is_tried_again(line)}
    if not failed:
        return 0
    journal = job.folder.journal(shard, again=True)
    records = open_rows(journal, seal_again(job, shard), job.plan.span(shard)) or ()
    return len(failed) - sum(not worth_another_try(record) for record in records)
