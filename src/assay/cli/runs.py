"""``assay score --run`` and ``assay merge``: runs that may be gone on with after anything."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assay.api import collecting_seldom, open_metrics
from assay.asks import Judge, Usage
from assay.cli.ending import Cost, Ending, Means
from assay.cli.progress import Progress
from assay.cli.tables import console, plain, summary_table, to_stderr
from assay.cli.wording import StoppedError, counted
from assay.errors import BudgetSpent, JudgeUnusable
from assay.metrics import split_names
from assay.readers import parse_map
from assay.runs.engine import Outcome
from assay.runs.merging import Merged, merge
from assay.runs.outages import OutageError
from assay.runs.running import parse_part, run, shards_of
from assay.runs.shards import Job, open_job
from assay.runs.standing import Standing, standing
from assay.runs.starting import start

Elsewhere = Callable[[Path, Callable[[str], None], Callable[[], None]], Outcome]
"""Scores the run in a folder; is told whom to tell of each row's failure, and of a stop."""


def _unknown(_: Usage) -> float | None:
    """The price of what was used, of a judge that has none."""
    return None


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
    judged_by: Mapping[str, str] | None = None,
    cost: Cost = _unknown,
) -> int:
    """Score a file into a folder; 2 if a row failed or the judge is out.

    ``engine`` scores in the place of this process; ``judge`` tells it apart all the same.
    ``judged_by`` is that of `start`. With ``quiet``, only errors are said.
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
        judged_by=judged_by,
    )
    job = open_job(folder)
    shards = shards_of(part, plan.shards)
    before = standing(job, shards, retry_errors=retry_errors)
    size = f"{counted(plan.rows, 'row')} in {counted(plan.shards, 'shard')}"
    say(f"{plan.data.name}: {size}; {plan.read_as}")
    done = f" ({before.done} of {before.rows} are done)" if before.done else ""
    say(f"judge: {plan.judge}; to score: {counted(before.left, 'row')}{done}")
    clock = time.perf_counter()
    try:
        with Progress(before.left, quiet=quiet) as progress, collecting_seldom():
            outcome = (engine or _here(judge, part, concurrency, retry_errors=retry_errors))(
                folder,
                lambda failure: progress.step(failure=failure),
                lambda: say("stopping: samples in work are finished; once more stops at once"),
            )
    except JudgeUnusable as error:
        so_far = standing(job, shards, retry_errors=retry_errors)
        said = _stopped(error, so_far, folder, retry_errors=retry_errors)
        if not isinstance(error, BudgetSpent | OutageError):
            raise JudgeUnusable(said) from error
        to_stderr(f"stopped: {said}")
        return 2
    if outcome.stopped:
        so_far = standing(job, shards, retry_errors=retry_errors)
        how = f"go on with the same command and {_going_on(retry_errors=retry_errors)}"
        raise StoppedError(f"{_kept(so_far, folder)}: {how}")
    ending = Ending(job, shards, metrics, outcome, time.perf_counter() - clock, cost)
    if not quiet:
        ending.report()
    return 2 if ending.complain() else 0


def _here(
    judge: Judge, part: tuple[int, int] | None, concurrency: int, *, retry_errors: bool
) -> Elsewhere:
    """The engine of this process."""

    def engine(folder: Path, told: Callable[[str], None], on_stop: Callable[[], None]) -> Outcome:
        return run(
            folder,
            judge,
            concurrency=concurrency,
            retry_errors=retry_errors,
            part=part,
            watch=lambda row: told(row.failure),
            on_stop=on_stop,
        )

    return engine


def _stopped(error: JudgeUnusable, so_far: Standing, folder: Path, *, retry_errors: bool) -> str:
    """Why the judge ended a run, how far it is, and what to do."""
    option, kept = _going_on(retry_errors=retry_errors), _kept(so_far, folder)
    when = ""
    if isinstance(error, BudgetSpent):
        option += " and a larger budget"
    elif isinstance(error, OutageError):
        when = "when the endpoint is back, "
    return f"{error}; {kept}: {when}the same command with {option} goes on"


def _kept(so_far: Standing, folder: Path) -> str:
    rows = counted(so_far.rows, "row")
    return f"{so_far.done} of {rows} are done and kept in {shlex.quote(str(folder))}"


def _going_on(*, retry_errors: bool) -> str:
    return "--retry-errors" if retry_errors else "--resume"


def merge_run(folder: Path, out: Path, *, partial: bool = False, quiet: bool = False) -> int:
    """Make one table of a folder, and print the means; 2 if a row failed."""
    merged = merge(folder, out, partial=partial)
    if not quiet:
        _show(merged, open_job(folder), out)
    return 2 if merged.failed else 0


def _show(merged: Merged, job: Job, out: Path) -> None:
    screen = console()
    metrics = open_metrics(list(merged.summaries))
    screen.print(summary_table(Means((), list(metrics), shown=merged.summaries), metrics))
    usage = merged.provenance["usage"]
    line = f"{merged}, {counted(usage['calls'], 'call')}"
    if tokens := usage["prompt_tokens"] + usage["completion_tokens"]:
        line += f", {counted(tokens, 'token')}"
    screen.print(line, highlight=False, soft_wrap=True)
    if missing_now := len(merged.missing):
        verb = "is" if missing_now == 1 else "are"
        missing = f"{missing_now} of {counted(job.plan.shards, 'shard')} {verb} missing"
        screen.print(plain(missing), soft_wrap=True)
    screen.print(plain(f"wrote {out}"), soft_wrap=True)
