"""The local engine: shards one after the other, their samples overlapping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field

from assay.asks import Judge, Usage
from assay.errors import AssayError, ConfigError
from assay.metrics import Metric
from assay.run import Row
from assay.runner import score_sample
from assay.runs.inputs import Drawn, Inputs
from assay.runs.means import note
from assay.runs.outages import Done, OutageError, Outages
from assay.runs.shards import Job, OpenShard, ShardReport, open_shard
from assay.runs.usage import Ledger
from assay.sample import Sample
from assay.score import Score
from assay.store import to_json

SAVE_EVERY = 0.5
"""Seconds between savings of the journals to the disk."""

_MOST_OPEN = 64


@dataclass
class Outcome:
    """What a run did: a report a shard, and whether it was stopped before the end."""

    reports: list[ShardReport] = field(default_factory=list)
    stopped: bool = False
    usage: Usage = field(default_factory=Usage)

    @property
    def scored(self) -> int:
        """Rows scored now."""
        return sum(report.scored for report in self.reports)

    @property
    def failed(self) -> int:
        """Rows with a failed score, in the shards that are whole."""
        return sum(report.failed for report in self.reports)

    @property
    def elsewhere(self) -> list[int]:
        """Shards that other processes were at."""
        return [report.shard for report in self.reports if report.elsewhere]


class Engine:
    """Scores shards of a run, at most ``concurrency`` samples at once.

    Rows are put down as soon as they are done, in whatever order. While a slow one holds up its
    shard, the next shards go on, up to a bound. ``watch`` is told of every row that is put down.
    Engines that share a judge share its ``ledger``, and ``slots`` that each sample takes one of
    while it is scored.
    """

    def __init__(
        self,
        job: Job,
        metrics: Mapping[str, Metric],
        judge: Judge,
        *,
        concurrency: int,
        retry_errors: bool = False,
        watch: Callable[[Row], None] | None = None,
        ledger: Ledger | None = None,
        slots: AbstractAsyncContextManager[object] | None = None,
    ) -> None:
        if concurrency < 1:
            raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
        self._job, self._metrics, self._judge = job, metrics, judge
        self._concurrency = concurrency
        self._retry = retry_errors
        self._watch = watch or (lambda _: None)
        self._ledger = ledger
        self._slots = slots or nullcontext()
        self._inputs = Inputs(job.folder, job.plan)
        self._outages = Outages(judge)
        self._aside: set[int] = set()
        self._open: dict[int, OpenShard] = {}
        self._outcome = Outcome()
        self._stopping = False
        self._trouble: AssayError | None = None
        self._todo: Iterator[int] = iter(())
        self._rows: Iterator[Drawn] = iter(())
        self._current: OpenShard | None = None
        self._turn = asyncio.Lock()
        most = min(_MOST_OPEN, 4 + 2 * concurrency // job.plan.shard_rows)
        self._room = asyncio.Semaphore(most)

    def stop(self) -> None:
        """Take no new samples; those in work are finished."""
        self._stopping = True

    def so_far(self) -> Outcome:
        """What was done, also if the work was cancelled."""
        self._outcome.stopped = self._stopping
        self._outcome.reports.sort(key=lambda report: report.shard)
        return self._outcome

    async def work(self, shards: Iterable[int]) -> Outcome:
        """Score what is missing of some shards; once.

        Raises what no sample can be scored with, such as JudgeUnusable, OutageError when the
        endpoint does not come back, and DataError when the disk refuses; samples that are in work
        then are finished and kept where they can be.
        """
        self._todo = iter(shards)
        ledger = self._ledger or Ledger(self._job.folder.usage, self._judge)
        most = min(self._concurrency, max(1, self._job.plan.rows))
        workers = [asyncio.create_task(self._worker()) for _ in range(most)]
        saver = asyncio.create_task(self._save(ledger))
        try:
            await asyncio.gather(*workers)
            if not self._stopping:
                for done in self._outages.left():
                    await self._put_down(done)
        finally:
            for task in (*workers, saver):
                task.cancel()
            ended = await asyncio.gather(*workers, saver, return_exceptions=True)
            self._let_go()
            ledger.write(at_once=True)
        if isinstance(ended[-1], Exception):
            raise ended[-1]
        if self._trouble is not None:
            raise self._trouble
        self._outcome.usage = ledger.spent
        return self.so_far()

    async def _worker(self) -> None:
        try:
            while not self._stopping:
                async with self._turn:
                    drawn = await self._draw()
                if drawn is None:
                    return
                await self._score(*drawn)
        except AssayError as error:
            self._stopping = True
            self._trouble = self._trouble or error

    async def _score(self, shard: OpenShard, number: int, sample: Sample, trouble: str) -> None:
        if trouble:
            row = unreadable(sample, self._metrics, trouble)
        else:
            async with self._slots:
                row = await score_sample(sample, self._metrics, self._judge)
        done = Done(shard, number, row)
        downs = self._outages.sift(done)
        if not any(down is done for down in downs):
            self._set_aside(shard)
        for down in downs:
            await self._put_down(down)
        if self._outages.outage:
            raise OutageError(self._outages.outage)

    async def _put_down(self, done: Done) -> None:
        record = to_json(done.row.as_dict()).encode()
        done.shard.keep(done.number, record, done.row.scores)
        self._watch(done.row)
        if done.shard.full:
            await self._commit(done.shard)

    def _set_aside(self, shard: OpenShard) -> None:
        """Let another shard have the room of one that waits for the endpoint."""
        if shard.number not in self._aside:
            self._aside.add(shard.number)
            self._room.release()

    async def _draw(self) -> tuple[OpenShard, int, Sample, str] | None:
        """The next row to score; None if there is none, or none is to be taken any more."""
        while not self._stopping:
            if self._current is None and not await self._next_shard():
                return None
            shard = self._current
            if shard is None:
                continue
            for number, sample, trouble in self._rows:
                if shard.wants(number):
                    return shard, number, sample, trouble
            self._current = None
        return None

    async def _next_shard(self) -> bool:
        """Open the next shard, if it needs work; False if there are no more."""
        number = next(self._todo, None)
        if number is None:
            return False
        await self._room.acquire()
        opened = await asyncio.to_thread(open_shard, self._job, number, retry_errors=self._retry)
        if isinstance(opened, ShardReport):
            self._outcome.reports.append(opened)
            self._room.release()
            return True
        self._open[number] = opened
        if opened.full:
            await self._commit(opened)
            return True
        self._current = opened
        self._rows = self._inputs.rows(number, self._job.places[number])
        return True

    async def _commit(self, shard: OpenShard) -> None:
        writing = asyncio.create_task(asyncio.to_thread(self._write, shard))
        try:
            report = await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])  # a thread cannot be stopped, and holds the files
            raise
        finally:
            if writing.done() and not writing.cancelled() and writing.exception() is None:
                del self._open[shard.number]
        self._outcome.reports.append(report)
        if shard.number not in self._aside:
            self._room.release()

    def _write(self, shard: OpenShard) -> ShardReport:
        report = shard.commit()
        note(self._job.folder.totals, shard.number, self._job.path(shard.number), shard.totals())
        return report

    async def _save(self, ledger: Ledger) -> None:
        """Save the journals now and then. An error stops the run, and is raised at its end."""
        try:
            while True:
                await asyncio.sleep(SAVE_EVERY)
                for shard in list(self._open.values()):
                    await asyncio.to_thread(shard.journal.sync)
                ledger.write()
        except Exception:
            self._stopping = True
            raise

    def _let_go(self) -> None:
        for shard in self._open.values():
            with suppress(Exception):  # what ended the run is raised, not what followed from it
                shard.journal.sync()
            shard.journal.close()
        self._open.clear()


def unreadable(sample: Sample, metrics: Mapping[str, Metric], why: str) -> Row:
    """The row of what could not be read as a sample."""
    return Row(sample, {name: Score.failed(f"DataError: {why}") for name in metrics})
