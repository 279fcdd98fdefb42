"""One worker: a judge that is made once, and the shards that it is given."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from assay.asks import Judge
from assay.metrics import Metric
from assay.run import Row
from assay.runs.engine import Engine
from assay.runs.running import planned_metrics
from assay.runs.shards import Job, ShardReport, open_job
from assay.runs.usage import Ledger
from assay.scale.leases import Lender, Share
from assay.scale.recipe import Recipe

_MOST_REASONS = 100
"""Failures that are told in full between two looks; of the others, only that they are."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a call: a report, or the name and the message of an error; or neither."""

    report: ShardReport | None = None
    error: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Orders:
    """What every worker of a run is told, as plain values."""

    folder: str
    recipe: Recipe
    concurrency: int = 32
    retry_errors: bool = False
    rpm: float | None = None
    tpm: float | None = None


@dataclass(frozen=True, slots=True)
class _Open:
    """What is opened once: the run, its metrics, the judge, and what shards in work share."""

    job: Job
    metrics: dict[str, Metric]
    judge: Judge
    ledger: Ledger
    slots: asyncio.Semaphore


class Worker:
    """Scores shards of one run, several at once, with one judge; errors are told, not raised.

    At most ``concurrency`` samples are in work over all its shards. A process that takes the place
    of one that died opens everything anew at its first shard, and finds the rows that were done
    in the shard's journal.
    """

    def __init__(self, orders: Orders, pool: Lender | None = None) -> None:
        self._orders = orders
        self._share = Share(pool, rpm=orders.rpm, tpm=orders.tpm) if pool else None
        self._opening = asyncio.Lock()
        self._open: _Open | None = None
        self._engines: set[Engine] = set()
        self._stopped = False
        self._rows = 0
        self._reasons: list[str] = []

    async def ready(self) -> Told:
        """Open the run and the judge."""
        try:
            await self._opened()
        except Exception as error:  # noqa: BLE001 - told
            return _told(error)
        return Told()

    async def score(self, shard: int) -> Told:
        """Score what is missing of a shard; no report if it was stopped before the end."""
        try:
            return Told(await self._score(shard))
        except Exception as error:  # noqa: BLE001 - told
            return _told(error)

    async def progress(self) -> tuple[int, list[str]]:
        """Rows scored since the last look, and the reasons of those that failed."""
        rows, self._rows = self._rows, 0
        reasons, self._reasons = self._reasons, []
        return rows, reasons

    async def stop(self) -> None:
        """Take no new samples; those in work are finished."""
        self._stopped = True
        for engine in self._engines:
            engine.stop()

    async def close(self) -> None:
        """Let go of the judge, and write down what it used."""
        if self._share is not None:
            await self._share.aclose()
        if self._open is not None:
            await self._open.judge.aclose()
            self._open.ledger.write(at_once=True)

    async def _score(self, shard: int) -> ShardReport | None:
        run = await self._opened()
        if self._stopped:
            return None
        engine = Engine(
            run.job,
            run.metrics,
            run.judge,
            concurrency=self._orders.concurrency,
            retry_errors=self._orders.retry_errors,
            watch=self._watch,
            ledger=run.ledger,
            slots=run.slots,
        )
        self._engines.add(engine)
        try:
            outcome = await engine.work([shard])
        finally:
            self._engines.discard(engine)
        return outcome.reports[0] if outcome.reports else None

    def _watch(self, row: Row) -> None:
        self._rows += 1
        if reason := row.failure:
            self._reasons.append(reason if len(self._reasons) < _MOST_REASONS else "?")

    async def _opened(self) -> _Open:
        async with self._opening:
            if self._open is None:
                self._open = await asyncio.to_thread(self._made)
                if self._share is not None:
                    self._share.listen()
            return self._open

    def _made(self) -> _Open:
        orders = self._orders
        job = open_job(Path(orders.folder))
        judge = orders.recipe.open(self._share.limiter if self._share else None)
        metrics = planned_metrics(job, None, judge)
        ledger = Ledger(job.folder.usage, judge)
        return _Open(job, metrics, judge, ledger, asyncio.Semaphore(orders.concurrency))


def _told(error: Exception) -> Told:
    return Told(error=type(error).__name__, message=str(error))
