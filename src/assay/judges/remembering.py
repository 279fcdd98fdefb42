"""A judge that remembers: what was answered once is not asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from assay.asks import Ask, Judge, Skill, T, Usage
from assay.errors import ConfigError, JudgeUnavailable
from assay.judges.memory.codec import Entry, entry, pack, unpack
from assay.judges.memory.store import Record, Store
from assay.judges.reaching import Reach, reach_of

_ANSWERS: Mapping[str, str] = MappingProxyType(
    {
        "Extract": "claims",
        "Entail": "verdicts",
        "Label": "labels",
        "Rate": "rating",
        "Grade": "grades",
        "Questions": "questions",
        "Embed": "embeddings",
    }
)
"""What people call the answer to an ask."""


@dataclass
class Recall:
    """How asks were answered so far."""

    hits: int = 0
    """From the store."""
    shared: int = 0
    """With an equal ask that was in work already."""
    misses: int = 0
    """By the judge."""
    unreadable: int = 0
    """Stored answers that were damaged or did not fit; they are misses as well."""
    unkept: int = 0
    """Answers that were not stored, because they lack something or are not of the right shape."""


@dataclass
class _Flight:
    """An ask in work, and how many wait for it."""

    task: asyncio.Task[Any]
    waiting: int = 0


class RememberingJudge:
    """Answers of ``judge``, each asked for once and kept in ``store``.

    The key of an answer is the whole ask and the judge's fingerprint, which is read once. Equal
    asks at the same time are one: it goes on as long as anybody waits for it. An answer that lacks
    a verdict, label or rating is handed on and not kept, and neither is an error.

    ``offline``: the judge is never asked. ``repeat``: another number asks for further answers to
    the same asks. ``refresh``: what was stored by earlier runs is asked for anew, and replaced.
    The store is closed with the judge. Raises ConfigError for options that cannot work.
    """

    def __init__(
        self,
        judge: Judge,
        store: Store,
        *,
        offline: bool = False,
        repeat: int = 0,
        refresh: bool = False,
    ) -> None:
        if offline and refresh:
            raise ConfigError("offline and refresh exclude each other: one of them asks the judge")
        if repeat < 0:
            raise ConfigError(f"repeat must be at least 0, not {repeat}")
        self._judge = judge
        self._store = store
        self._offline, self._repeat = offline, repeat
        self._stale = refresh
        self._fresh: set[bytes] = set()
        self._flights: dict[bytes, _Flight] = {}
        self._identity: str | None = None
        self.recall = Recall()

    @property
    def name(self) -> str:
        """That of the judge."""
        return self._judge.name

    @property
    def fingerprint(self) -> str:
        """That of the judge, and the number of the repeat where it is not 0."""
        if self._identity is None:
            self._identity = self._judge.fingerprint
        return f"{self._identity} repeat={self._repeat}" if self._repeat else self._identity

    @property
    def usage(self) -> Usage:
        """That of the judge; ``cached`` counts the answers that cost no call."""
        used, recall = self._judge.usage, self.recall
        notes = [*used.notes, *self._store.notes]
        if recall.unreadable:
            notes.append(f"{recall.unreadable} stored answers could not be read: asked again")
        return Usage(
            calls=used.calls,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            retries=used.retries,
            notes=notes,
            cached=used.cached + recall.hits + recall.shared,
        )

    @property
    def reach(self) -> Reach:
        """That of the judge."""
        return reach_of(self._judge)

    def can(self, skill: Skill) -> bool:
        return self._judge.can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        """The stored answer, or the judge's.

        Raises what the judge raises; offline, JudgeUnavailable for what is not stored.
        """
        place = entry(ask, self.fingerprint, self._repeat)
        if place is None:
            self._refuse_offline(ask)
            self.recall.misses += 1
            return await self._judge.answer(ask)
        flight = self._flights.get(place.key)
        if flight is not None and flight.task.get_loop() is asyncio.get_running_loop():
            self.recall.shared += 1
            return cast("T", await self._join(place, flight))
        try:
            found = self._stored(place, ask)
        except LookupError:
            self._refuse_offline(ask)
        else:
            self.recall.hits += 1
            return cast("T", found)
        self.recall.misses += 1
        flight = _Flight(asyncio.create_task(self._asked(place, ask)))
        flight.task.add_done_callback(_seen)
        self._flights[place.key] = flight
        return cast("T", await self._join(place, flight))

    async def aclose(self) -> None:
        """Close the judge, save what is waiting to be saved, and close the store."""
        try:
            await self._judge.aclose()
        finally:
            await asyncio.to_thread(self._store.close)

    def _stored(self, place: Entry, ask: Ask[Any]) -> Any:
        """The stored answer; raises LookupError if there is none that can be used."""
        if self._stale and place.key not in self._fresh:
            raise LookupError
        blob = self._store.get(place.key)
        if blob is None:
            raise LookupError
        try:
            return unpack(place, ask, blob)
        except ValueError:
            self.recall.unreadable += 1
            raise LookupError from None

    def _refuse_offline(self, ask: Ask[Any]) -> None:
        if self._offline:
            kind = type(ask).__name__
            what = _ANSWERS.get(kind, f"{kind} answer")
            raise JudgeUnavailable(
                f"offline, and the cache lacks the {what} of {self.name} to this: "
                "run it once without offline"
            )

    async def _join(self, place: Entry, flight: _Flight) -> Any:
        """The answer of an ask in work, which ends early only if nobody waits any more."""
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                if self._flights.get(place.key) is flight:
                    del self._flights[place.key]  # who comes now asks anew
                await _ended(flight.task)

    async def _asked(self, place: Entry, ask: Ask[Any]) -> Any:
        answer = await self._judge.answer(ask)
        blob = pack(place, ask, answer)
        if blob is None:
            self.recall.unkept += 1
        else:
            self._store.put(place.key, Record(blob, self.name, self.fingerprint, place.kind))
            if self._stale:
                self._fresh.add(place.key)
        return answer


async def _ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task that is still in work, and wait for its end."""
    if not task.done():
        task.cancel()
        await asyncio.wait([task])


def _seen(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # those who wait are told; if nobody is left, nobody need be
