"""The runner: meets each need of a sample once, and scores it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from assay.asks import Ask, Judge
from assay.errors import (
    AssayError,
    BudgetSpent,
    ConfigError,
    JudgeError,
    JudgeUnusable,
    MissingField,
)
from assay.metrics import Metric
from assay.needs import Claims, Need
from assay.run import Row
from assay.sample import Claim, Sample
from assay.score import Score

T = TypeVar("T")


class MetricBug(RuntimeError):
    """A bug in the code of a metric or judge, with the sample and metric it showed at."""


@dataclass
class Case:
    """One sample and its needs met so far, each by a single task."""

    sample: Sample
    judge: Judge
    plan: frozenset[Need[Any]]
    _met: dict[Need[Any], asyncio.Future[Any]] = field(default_factory=dict)

    def meet(self, need: Need[T]) -> asyncio.Future[T]:
        """The answer to a need, in work at once; whoever comes second gets the same."""
        future = self._met.get(need)
        if future is None:
            future = self._met[need] = asyncio.ensure_future(need.resolve(self))
        return future

    async def ask(self, ask: Ask[T]) -> T:
        """The judge's answer."""
        return await self.judge.answer(ask)

    def claims(self) -> dict[str, tuple[Claim, ...]]:
        """The claims that were met without error, by the text that made them."""
        out = {}
        for of in ("response", "reference"):
            future = self._met.get(Claims(of))
            if future is not None and future.done() and future.exception() is None:
                out[of] = future.result()
        return out

    async def cancel(self) -> None:
        """Stop what is still in work."""
        left = []
        for future in self._met.values():
            if not future.done():
                future.cancel()
                left.append(future)
            elif not future.cancelled():
                future.exception()  # of those that nobody awaited, nobody need be told
        if left:
            await asyncio.gather(*left, return_exceptions=True)


async def score_sample(sample: Sample, metrics: Mapping[str, Metric], judge: Judge) -> Row:
    """Score one sample. Expected troubles become scores; bugs are raised as MetricBug.

    Raises JudgeUnusable if no sample can be scored with this judge.
    """
    scores: dict[str, Score] = {}
    plan: set[Need[Any]] = set()
    for name, metric in metrics.items():
        try:
            plan |= closure(metric.needs, sample)
        except MissingField as error:
            scores[name] = Score.failed(str(error))
    case = Case(sample, judge, frozenset(plan))
    try:
        answers = await _meet_all(case, metrics)
        for name, metric in metrics.items():
            if name not in scores:
                scores[name] = _score(name, metric, sample, answers)
    finally:
        await case.cancel()
    return Row(sample, {name: scores[name] for name in metrics}, case.claims())


async def meet(needs: Sequence[Need[T]], sample: Sample, judge: Judge) -> list[T | JudgeError]:
    """The answers to some needs of one sample, each the judge's or the error in its place.

    Raises MissingField if the sample lacks a field, and whatever else is no JudgeError.
    """
    case = Case(sample, judge, frozenset(closure(needs, sample)))
    out: list[T | JudgeError] = []
    try:
        for answer in await asyncio.gather(*map(case.meet, needs), return_exceptions=True):
            if isinstance(answer, BaseException) and not isinstance(answer, JudgeError):
                raise answer
            out.append(answer)
    finally:
        await case.cancel()
    return out


def closure(needs: Iterable[Need[Any]], sample: Sample) -> set[Need[Any]]:
    """The needs and all that they lean on; raises MissingField if the sample lacks a field."""
    out: set[Need[Any]] = set()
    todo = list(needs)
    while todo:
        need = todo.pop()
        if need not in out:
            out.add(need)
            todo.extend(need.parts(sample))
    return out


async def _meet_all(case: Case, metrics: Mapping[str, Metric]) -> dict[Need[Any], Any]:
    needs = list(case.plan)
    got = await asyncio.gather(*map(case.meet, needs), return_exceptions=True)
    for need, answer in zip(needs, got, strict=True):
        if isinstance(answer, JudgeUnusable):
            raise answer
        if isinstance(answer, BaseException) and not isinstance(answer, AssayError):
            if not isinstance(answer, Exception):
                raise answer
            where = f"sample {case.sample.id!r}, metric {_asker(need, case.sample, metrics)}"
            raise MetricBug(f"{where}: {answer!r}") from answer
    return dict(zip(needs, got, strict=True))


def _asker(need: Need[Any], sample: Sample, metrics: Mapping[str, Metric]) -> str:
    """The first metric that leans on a need."""
    for name, metric in metrics.items():
        try:
            if need in closure(metric.needs, sample):
                return name
        except MissingField:
            continue
    return "?"


def _score(name: str, metric: Metric, sample: Sample, met: Mapping[Need[Any], Any]) -> Score:
    inputs = [met[need] for need in metric.needs]
    for answer in inputs:
        if isinstance(answer, JudgeError | MissingField):
            return Score.failed(f"{type(answer).__name__}: {answer}")
        if isinstance(answer, AssayError):
            raise ConfigError(f"sample {sample.id!r}, metric {name}: {answer}") from answer
    try:
        return metric.score(*inputs)
    except Exception as error:
        raise MetricBug(f"sample {sample.id!r}, metric {name}: {error!r}") from error


async def score_samples(
    samples: Iterable[Sample],
    metrics: Mapping[str, Metric],
    judge: Judge,
    *,
    concurrency: int = 32,
) -> AsyncGenerator[Row, None]:
    """Rows in input order, at most ``concurrency`` samples in work at once.

    Samples are drawn from the iterable as they are needed, so a long one is never held whole.
    Where a budget is spent, the rows that are whole come out first, with gaps where others are not.
    Raises ConfigError if ``concurrency`` is below 1.
    """
    if concurrency < 1:
        raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
    waiting: deque[asyncio.Task[Row]] = deque()
    source = iter(samples)
    limit = asyncio.Semaphore(concurrency)

    async def work(sample: Sample) -> Row:
        try:
            return await score_sample(sample, metrics, judge)
        finally:
            limit.release()

    broken: Exception | None = None
    try:
        exhausted = False
        while not exhausted or waiting:
            # Rows that are ready out of turn wait for the slow one ahead, up to a bound.
            while not exhausted and len(waiting) < 4 * concurrency and _may_start(waiting, limit):
                sample, broken = _drawn(source)
                if sample is None:
                    exhausted = True
                    break
                await limit.acquire()
                waiting.append(asyncio.create_task(work(sample)))
            if waiting:
                try:
                    row = await waiting.popleft()
                except BudgetSpent as error:
                    exhausted, broken = True, broken or error
                    continue
                yield row
        if broken is not None:
            raise broken
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _drawn(source: Iterator[Sample]) -> tuple[Sample | None, Exception | None]:
    """The next sample, or None at the end, with the error that was the end if there was one."""
    try:
        return next(source, None), None
    except Exception as error:  # noqa: BLE001 - raised once the rows so far are out
        return None, error


def _may_start(waiting: deque[asyncio.Task[Row]], limit: asyncio.Semaphore) -> bool:
    """Whether to start another sample before yielding: there is room, or the first is not done."""
    return not limit.locked() or bool(waiting and not waiting[0].done())
