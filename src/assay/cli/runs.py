"""``assay score --run`` and ``assay merge``: runs that may be gone on with after anything."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.api import collecting_seldom, open_metrics, run_sync
from assay.asks import Judge, Usage
from assay.cli.ending import Cost, Ending, Means
from assay.cli.progress import Progress
from assay.cli.tables import console, plain, summary_table, to_stderr
from assay.cli.wording import StoppedError, counted
from assay.errors import BudgetSpent, JudgeUnusable
from assay.judges.batch.leaving import batches_of, going_on
from assay.judges.reaching import reach_of
from assay.metrics import split_names
from assay.planning.affording import held_to_budget
from assay.readers import parse_map
from assay.runs.engine import Outcome
from assay.runs.inputs import Inputs
from assay.runs.merging import Merged, merge
from assay.runs.outages import OutageError
from assay.runs.plan import Plan
from assay.runs.running import parse_part, run, shards_of
from assay.runs.shards import Job, open_job
from assay.runs.standing import Standing, standing
from assay.runs.starting import is_unused, start
from assay.runs.stopping import ignore_interrupts
from assay.sample import Sample

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
    verb = "is" if before.done == 1 else "are"
    done = f" ({before.done} of {before.rows} {verb} done)" if before.done else ""
    say(f"judge: {plan.judge}; to score: {counted(before.left, 'row')}{done}")
    if part is not None and (idle := _too_many_parts(part[1], plan)):
        say(idle)
    concurrency = run_sync(held_to_budget(judge, concurrency, _samples(job, shards), metrics))
    clock = time.perf_counter()
    stopping = "stopping: samples in work are finished; once more stops at once"
    if batches_of(judge) is not None:
        stopping = "stopping: batches are not waited for any more"
    try:
        with _progress(before.left, judge, quiet=quiet) as progress, collecting_seldom():
            outcome = (engine or _here(judge, part, concurrency, retry_errors=retry_errors))(
                folder,
                lambda failure: progress.step(failure=failure),
                lambda: say(stopping),
            )
    except JudgeUnusable as error:
        so_far = standing(job, shards, retry_errors=retry_errors)
        kept = _kept(so_far, folder, judge)
        unused = not batches_of(judge) and is_unused(job.folder, plan)
        said = _stopped(error, kept, unused=unused, retry_errors=retry_errors)
        if not isinstance(error, BudgetSpent | OutageError):
            raise JudgeUnusable(said) from error
        to_stderr(f"stopped: {said}")
        return 2
    if outcome.stopped:
        ignore_interrupts()
        so_far = standing(job, shards, retry_errors=retry_errors)
        how = f"go on with the same command and {_going_on(retry_errors=retry_errors)}"
        raise StoppedError(f"{_kept(so_far, folder, judge)}: {how}")
    ending = Ending(job, shards, metrics, outcome, time.perf_counter() - clock, cost)
    if not quiet:
        ending.report()
    return 2 if ending.complain() else 0


def _progress(rows: int, judge: Judge, *, quiet: bool) -> Progress:
    """The progress of so many rows, with what the judge waits for."""
    return Progress(rows, quiet=quiet, waiting=lambda: reach_of(judge).waiting)


def _too_many_parts(parts: int, plan: Plan) -> str:
    """What to do where some of the parts have no shard; "" if all have one."""
    if parts <= plan.shards:
        return ""
    fitting = max(1, plan.rows // parts)
    return (
        f"warning: {counted(plan.shards, 'shard')} of {counted(plan.shard_rows, 'row')} cannot be "
        f"shared by {parts} parts: some have nothing to do; in a new folder (or in this one, as "
        f"long as no row is done), give each part --shard-rows {fitting}"
    )


def _samples(job: Job, shards: range) -> Iterator[Sample]:
    """The samples of some shards that can be read."""
    inputs = Inputs(job.folder, job.plan)
    for shard in shards:
        for _, sample, trouble in inputs.rows(shard, job.places[shard]):
            if not trouble:
                yield sample


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


def _stopped(error: JudgeUnusable, kept: str, *, unused: bool, retry_errors: bool) -> str:
    """Why the judge ended a run, how far it is, and what to do.

    ``unused``: nothing was done or paid for, so that the folder takes another run as well.
    """
    how = f"the same command with {_going_on(retry_errors=retry_errors)}"
    if isinstance(error, BudgetSpent):
        return f"{error}; {kept}: {how} and a larger budget goes on"
    if unused:
        kept = "nothing is done or paid for yet"
        how += ", also with another model or URL,"
    return f"{error}; {kept}: {_mended(error)}, {how} goes on"


def _mended(error: JudgeUnusable) -> str:
    """What is to be so before a run can go on."""
    said = str(error)
    if isinstance(error, OutageError):
        return "when the endpoint is back"
    if re.search(r"HTTP 402\b|quota|billing", said):
        return "once the account is topped up"
    if re.search(r"HTTP 40[13]\b|_KEY\b", said):
        return "once the key is right"
    return "once that is put right"


def _kept(so_far: Standing, folder: Path, judge: Judge) -> str:
    done = f"{so_far.done} of {counted(so_far.rows, 'row')} {'is' if so_far.done == 1 else 'are'}"
    said = f"{done} done and kept in {shlex.quote(str(folder))}"
    return f"{said}; {going_on(batches)}" if (batches := batches_of(judge)) else said


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
