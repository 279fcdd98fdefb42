"""Running a plan in this process, whole or in part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from assay.api import Metrics, Samples, open_metrics, run_sync
from assay.asks import Judge
from assay.errors import ConfigError
from assay.judges.batch.leaving import batches_of
from assay.judges.named import open_judge
from assay.metrics import Metric
from assay.run import Row
from assay.runs.engine import Engine, Outcome
from assay.runs.plan import described
from assay.runs.shards import Job, ShardReport, open_job
from assay.runs.starting import start
from assay.runs.stopping import Interrupts

Watch = Callable[[Row], None]


async def score_shard(
    folder: str | Path,
    shard: int,
    judge: Judge,
    *,
    metrics: Metrics | None = None,
    concurrency: int = 32,
    retry_errors: bool = False,
    watch: Watch | None = None,
) -> ShardReport:
    """Score one shard of the run in a folder, and write its file; nothing if it is there.

    All that it needs is in the folder, so it may be called in any process on any machine that has
    it, and again after a failure. ``metrics`` are those of the plan, which must be given where
    they are objects that no name opens. The judge stays open. Raises ConfigError if judge or
    metrics are not those of the plan, DataError if the input was changed or the disk refuses,
    JudgeUnusable if no sample can be scored, and its kind OutageError if the endpoint is out.
    """
    job = open_job(Path(folder))
    if not 0 <= shard < job.plan.shards:
        raise ConfigError(f"there is no shard {shard}; the run has {job.plan.shards}, from 0")
    engine = Engine(
        job,
        planned_metrics(job, metrics, judge),
        judge,
        concurrency=concurrency,
        retry_errors=retry_errors,
        watch=watch,
    )
    outcome = await engine.work([shard])
    return outcome.reports[0]


def run(
    folder: str | Path,
    judge: Judge,
    *,
    metrics: Metrics | None = None,
    concurrency: int = 32,
    retry_errors: bool = False,
    part: tuple[int, int] | None = None,
    watch: Watch | None = None,
    on_stop: Callable[[], None] | None = None,
) -> Outcome:
    """Score what is missing of the run in a folder.

    ``retry_errors``: also the rows that failed for anything but the data. ``part`` (i, n) is the
    i-th of n parts, from 1; several processes may work at parts of one folder. ``watch`` is told
    of every row. With ``on_stop``, SIGINT and SIGTERM end the run in order: it is called, samples
    in work are finished, and the outcome says ``stopped``; the second one cancels them. A judge
    that waits for batches is left at the first: they go on without it.

    Raises ConfigError if another process works in the folder; else as `score_shard`.
    """
    job = open_job(Path(folder))
    engine = Engine(
        job,
        planned_metrics(job, metrics, judge),
        judge,
        concurrency=concurrency,
        retry_errors=retry_errors,
        watch=watch,
    )
    shards = shards_of(part, job.plan.shards)
    heeding = nullcontext(Interrupts()) if on_stop is None else Interrupts()
    with job.folder.working(shared=part is not None), heeding as stops:
        return run_sync(_work(engine, shards, judge, on_stop or _nobody, stops))


def score_to(
    folder: str | Path,
    data: Samples,
    metrics: Metrics,
    judge: str | Judge | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    shard_rows: int | None = None,
    shard_format: str | None = None,
    resume: bool = False,
    retry_errors: bool = False,
    concurrency: int = 32,
    watch: Watch | None = None,
) -> Outcome:
    """Score samples into a folder, which may be gone on with after any interruption.

    The arguments are those of `start` and `run`; ``retry_errors`` implies ``resume``. `merge`
    makes one table of the folder.
    """
    answerer = open_judge(judge)
    start(
        data,
        metrics,
        answerer,
        folder,
        columns=columns,
        format=format,
        shard_rows=shard_rows,
        shard_format=shard_format,
        resume=resume or retry_errors,
    )
    return run(
        folder,
        answerer,
        metrics=metrics,
        concurrency=concurrency,
        retry_errors=retry_errors,
        watch=watch,
    )


def shards_of(part: tuple[int, int] | None, count: int) -> range:
    """The shards of the i-th of n parts; parts differ by one shard at most.

    >>> [list(shards_of((i, 3), 7)) for i in (1, 2, 3)]
    [[0, 1], [2, 3], [4, 5, 6]]
    """
    if part is None:
        return range(count)
    i, n = part
    if not 1 <= i <= n:
        raise ConfigError(f"part {i} of {n} does not exist; parts are counted from 1")
    return range((i - 1) * count // n, i * count // n)


def parse_part(text: str) -> tuple[int, int]:
    """The numbers in "i/n"; raises ConfigError.

    >>> parse_part("3/8")
    (3, 8)
    """
    i, slash, n = text.partition("/")
    if not (slash and i.isascii() and n.isascii() and i.isdigit() and n.isdigit()):
        raise ConfigError(f"--shard takes I/N, such as 3/8, not {text!r}")
    part = int(i), int(n)
    shards_of(part, 0)
    return part


def planned_metrics(job: Job, metrics: Metrics | None, judge: Judge) -> dict[str, Metric]:
    """The metrics of the plan, once they (None: by their names) and the judge are known to be its.

    Raises ConfigError where they are not.
    """
    plan = job.plan
    names: Sequence[str] = list(plan.metrics)
    chosen = open_metrics(names if metrics is None else metrics)
    if described(chosen) != dict(plan.metrics):
        raise ConfigError(
            f"{job.folder.path} scores {', '.join(plan.metrics.values())}; here are "
            + ", ".join(described(chosen).values())
        )
    if judge.fingerprint != plan.judge_fingerprint:
        raise ConfigError(
            f"{job.folder.path} has another judge: {plan.judge} ({plan.judge_fingerprint}), not "
            f"{judge.name} ({judge.fingerprint})"
        )
    return chosen


async def _work(
    engine: Engine, shards: range, judge: Judge, on_stop: Callable[[], None], stops: Interrupts
) -> Outcome:
    """The outcome; the first interrupt ends it in order, the second at once."""

    def first() -> None:
        engine.stop()
        on_stop()
        if batches_of(judge) is not None:
            at_once()

    def at_once() -> None:
        if not work.cancelling():  # a second time would break into the putting away
            work.cancel()

    work = asyncio.ensure_future(engine.work(shards))
    with stops.heeded(first, at_once):
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            at_once()
            await asyncio.wait([work])
            raise
        finally:
            await judge.aclose()
    return engine.so_far() if work.cancelled() else work.result()


def _nobody() -> None:
    """Nobody is told of a stop."""
