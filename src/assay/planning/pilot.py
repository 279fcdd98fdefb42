"""A few samples that are really scored: what their calls took, and how their scores spread."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from assay.asks import Ask, Extract, Judge, Skill, T, Usage
from assay.errors import JudgeError, JudgeUnusable
from assay.judges.memory.codec import entry
from assay.judges.memory.store import Store
from assay.judges.remembering import RememberingJudge
from assay.judges.sizing import Exchange, Foreseeing
from assay.metrics import Metric
from assay.planning.guessing import Rates, decides, sentence_count
from assay.run import Row
from assay.runner import score_sample
from assay.sample import Sample

AT_ONCE = 8
"""Samples in work at once: few, so that calls do not queue and their time is their own."""
_ROW: ContextVar[int] = ContextVar("row", default=-1)


class PilotFailed(JudgeUnusable):
    """No sample of a pilot could be scored: ``reason`` is that of the first, ``usage`` the cost."""

    def __init__(self, reason: str, usage: Usage) -> None:
        self.reason, self.usage = reason, usage
        super().__init__(f"the pilot failed: {reason}")


@dataclass
class Pilot:
    """What came of the pilot: rows in the order of its samples, replies by row, what was used.

    Samples that the judge left without an answer have their reason in ``failures``, by index.
    """

    rows: list[Row] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    exchanges: dict[int, list[Exchange]] = field(default_factory=lambda: defaultdict(list))
    usage: Usage = field(default_factory=Usage)
    pace: float | None = None
    """Calls, or pairs of a local model, a second; None: not known."""
    asking: set[int] = field(default_factory=set)
    """The samples that had anything to ask the judge: the others were answered before."""
    planned: Counter[int] = field(default_factory=Counter)
    """Requests to a chat model that each sample would take if every reply were whole."""
    paid: set[bytes] = field(default_factory=set)
    known: dict[Ask[Any], Any] = field(default_factory=dict)

    def whole(self) -> Pilot:
        """The same pilot without the samples that failed, which tell nothing of what one takes."""
        kept = [k for k in range(len(self.rows)) if k not in self.failures]
        return replace(
            self,
            rows=[self.rows[k] for k in kept],
            exchanges={place: self.exchanges.get(k, []) for place, k in enumerate(kept)},
        )

    def rates(self) -> Rates:
        """Claims and opinions a sentence, as the judge found them; defaults where it found none."""
        texts = {ask: found for ask, found in self.known.items() if isinstance(ask, Extract)}
        count = sum(sentence_count(ask.text) for ask in texts)
        if not count:
            return Rates()
        opinions = sum(claim.opinion for found in texts.values() for claim in found)
        claims = sum(len(found) for found in texts.values()) - opinions
        searched = sum(sentence_count(ask.text) for ask in texts if ask.opinions)
        default = Rates()
        return Rates(
            claims / count or default.claims,
            opinions / searched if searched else default.opinions,
        )


class _Recorder:
    """The judge, with what it was paid for written down."""

    def __init__(self, judge: Judge, pilot: Pilot) -> None:
        self._judge, self._pilot = judge, pilot
        self.name, self.fingerprint = judge.name, judge.fingerprint

    @property
    def usage(self) -> Usage:
        return self._judge.usage

    def can(self, skill: Skill) -> bool:
        return self._judge.can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        self._pilot.asking.add(_ROW.get())
        if isinstance(self._judge, Foreseeing):
            sizes = self._judge.calls_for(ask)
            self._pilot.planned[_ROW.get()] += sum(s.count for s in sizes if s.work != "embeddings")
        answer = await self._judge.answer(ask)
        place = entry(ask, self.fingerprint)
        if place is not None:
            self._pilot.paid.add(place.key)
        return answer

    async def aclose(self) -> None:
        await self._judge.aclose()


class _Watched(_Recorder):
    """The judge and its memory, with what they told and where they failed written down."""

    async def answer(self, ask: Ask[T]) -> T:
        try:
            answer = await self._judge.answer(ask)
        except JudgeError as error:
            self._pilot.failures.setdefault(_ROW.get(), str(error))
            raise
        if decides(ask):
            self._pilot.known[ask] = answer
        return answer


async def run_pilot(
    samples: Sequence[Sample], metrics: Mapping[str, Metric], judge: Judge, store: Store
) -> Pilot:
    """Score the samples; answers go into the store, and what is there already is not asked.

    Raises PilotFailed if nothing can be asked at all, or nothing that was asked was answered.
    """
    pilot = Pilot()
    watched = _Watched(RememberingJudge(_Recorder(judge, pilot), store), pilot)
    rows: dict[int, Row] = {}
    room = asyncio.Semaphore(AT_ONCE)

    async def one(k: int) -> None:
        _ROW.set(k)
        async with room:
            rows[k] = await score_sample(samples[k], metrics, watched)

    def note(exchange: Exchange) -> None:
        pilot.exchanges[_ROW.get()].append(exchange)

    before = copy(judge.usage)
    watching = judge.watched(note) if isinstance(judge, Foreseeing) else nullcontext()
    try:
        with watching:
            await _ended([one(0)])  # a local model is read by this
            warm, clock = copy(judge.usage), time.perf_counter()
            await _ended([one(k) for k in range(1, len(samples))])
            seconds, calls = time.perf_counter() - clock, judge.usage.since(warm).calls
    except JudgeUnusable as error:
        raise PilotFailed(str(error), judge.usage.since(before)) from error
    pilot.pace = calls / seconds if calls and seconds else None
    pilot.usage = judge.usage.since(before)
    pilot.rows = [rows[k] for k in range(len(samples))]
    for k, row in rows.items():
        if len(pilot.exchanges.get(k, ())) < pilot.planned[k]:
            pilot.failures.setdefault(k, row.failure or "a request had no reply")
    if pilot.failures and pilot.asking <= pilot.failures.keys():
        raise PilotFailed(next(iter(pilot.failures.values())), pilot.usage)
    return pilot


async def _ended(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Do all of it; the first failure ends the rest and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
