"""``assay score --run`` and ``assay merge``: runs that may be gone on with after anything."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.api import collecting_seldom, open_metrics
from assay.asks import Judge
from assay.cli.progress import Progress
from assay.cli.tables import console, plain, summary_table, to_stderr
from assay.errors import BudgetSpent, JudgeUnusable
from assay.metrics import split_names
from assay.readers import parse_map
from assay.run import Run
from assay.runs.engine import Outcome
from assay.runs.merging import Merged, merge
from assay.runs.running import parse_part, run, shards_of
from assay.runs.shards import Job, open_job
from assay.runs.starting import start
from assay.stats import Summary

STOPPED = 130
"""Exit code of a run that an interrupt ended; what to do has been said."""

Elsewhere = Callable[[Path, Callable[[str], None], Callable[[], None]], Outcome]
"""Scores the run in a folder; is told whom to tell of each row's failure, and of a stop."""


def score_run(
    data: str,
    names: str,
    folder: Path,
    judge: Judge,
    *,
    maps: Sequence[str] = (),
    file_format: str | None = None,
    concurrency: int = 32,
    resume: bool = False,
    retry_errors: bool = False,
    shard: str | None = None,
    shard_rows: int | None = None,
    shard_format: str | None = None,
    engine: Elsewhere | None = None,
    quiet: bool = False,
) -> int:
    """Score a file into a folder; 2 if a row failed, 130 if it was stopped.

    ``engine`` scores in the place of this process; ``judge`` tells it apart all the same.
    """
    metrics = open_metrics(split_names(names))
    part = parse_part(shard) if shard is not None else None
    say = (lambda _: None) if quiet else to_stderr
    plan = start(
        data,
        list(metrics),
        judge,
        folder,
        columns=parse_map(maps),
        format=file_format,
        shard_rows=shard_rows,
        shard_format=shard_format,
        # Whoever comes second to a folder of parts joins it.
        resume=resume or retry_errors or part is not None,
    )
    job = open_job(folder)
    shards = shards_of(part, plan.shards)
    left = _left(job, shards, retry_errors=retry_errors)
    say(f"{plan.data.name}: {plan.rows} rows in {plan.shards} shards; {plan.read_as}")
    say(f"judge: {plan.judge}; to score: {left} rows")
    with Progress(left, quiet=quiet) as progress, collecting_seldom():

        def told(failure: str) -> None:
            progress.step(failure=failure)

        try:
            if engine is not None:
                outcome = engine(folder, told, _stopping)
            else:
                outcome = run(
                    folder,
                    judge,
                    concurrency=concurrency,
                    retry_errors=retry_errors,
                    part=part,
                    watch=lambda row: told(row.failure),
                    on_stop=_stopping,
                )
        except BudgetSpent as error:
            to_stderr(f"stopped: {error}; --resume goes on with {folder}, and a larger budget")
            return 2
        except JudgeUnusable:
            to_stderr(f"what was scored is kept in {folder}: --resume goes on with it")
            raise
    return _told(job, outcome, shards, say)


def _stopping() -> None:
    to_stderr("stopping: samples in work are finished; once more stops at once")


def merge_run(folder: Path, out: Path, *, partial: bool = False, quiet: bool = False) -> int:
    """Make one table of a folder, and print the means; 2 if a row failed."""
    merged = merge(folder, out, partial=partial)
    if not quiet:
        _show(merged, open_job(folder), out)
    return 2 if merged.failed else 0


def _left(job: Job, shards: range, *, retry_errors: bool) -> int:
    missing = [n for n in shards if not job.path(n).exists()]
    rows = sum(len(job.plan.span(n)) for n in missing)
    return rows + (job.failed([n for n in shards if n not in set(missing)]) if retry_errors else 0)


def _told(job: Job, outcome: Outcome, shards: range, say: Callable[[str], None]) -> int:
    """Say how it ended; the exit code."""
    folder = shlex.quote(str(job.folder.path))
    whole = [n for n in shards if job.path(n).exists()]
    done = sum(len(job.plan.span(n)) for n in whole)
    if outcome.stopped:
        to_stderr(
            f"assay: stopped; {len(whole)} of {len(shards)} shards are whole and the rows of the "
            f"others so far are kept in {folder}: go on with the same command and --resume"
        )
        return STOPPED
    usage = outcome.usage
    say(
        f"{done} rows in {len(whole)} shards, {outcome.scored} scored now, {usage.calls} calls, "
        f"{usage.prompt_tokens + usage.completion_tokens} tokens"
    )
    if outcome.elsewhere:
        say(f"{len(outcome.elsewhere)} shards were in work by other processes")
    if failed := job.failed(whole):
        to_stderr(
            f"failed: {failed} rows; reasons are in {folder}/shards/*.errors.jsonl, and the same "
            "command with --retry-errors scores them again"
        )
    if not job.missing():
        say(f"one table: assay merge {folder} -o FILE.jsonl")
    return 2 if failed else 0


def _show(merged: Merged, job: Job, out: Path) -> None:
    screen = console()
    metrics = open_metrics(list(merged.summaries))
    screen.print(summary_table(_Means((), list(metrics), shown=merged.summaries), metrics))
    usage = merged.provenance["usage"]
    line = f"{merged.rows} rows, {usage['calls']} calls"
    if tokens := usage["prompt_tokens"] + usage["completion_tokens"]:
        line += f", {tokens} tokens"
    screen.print(line, highlight=False, soft_wrap=True)
    if merged.missing:
        missing = f"{len(merged.missing)} of {job.plan.shards} shards are missing"
        screen.print(plain(missing), soft_wrap=True)
    screen.print(plain(f"wrote {out}"), soft_wrap=True)


@dataclass(frozen=True, repr=False)
class _Means(Run):
    """A run of which only the summaries are known."""

    shown: Mapping[str, Summary] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Summary:
        return self.shown[metric]
