"""A run in which nobody is asked: which asks it makes, and which metrics each is for."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from assay.asks import Ask, Extract, Judge
from assay.errors import MissingField
from assay.judges.memory.codec import entry, unpack
from assay.judges.memory.store import Store
from assay.judges.sizing import CallSize, calls_for
from assay.metrics import Metric
from assay.needs import Need
from assay.planning.guessing import Rates, decides, guess
from assay.runner import Case, closure
from assay.sample import Sample

T = TypeVar("T")
_IN_WORK: ContextVar[Need[Any] | None] = ContextVar("need", default=None)
"""The need that is being met, and that what is asked or met now is for."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """One ask of a sample: the metrics that it is for, and the requests that it takes.

    ``held``: the requests are not sent, because the answer is in the store already; ``shared``:
    because an earlier sample asks the same. ``guessed``: the answer was made up, and what is
    asked next depends on it. ``unsure``: it follows from an answer that was made up.
    """

    metrics: frozenset[str]
    sizes: Sequence[CallSize]
    held: bool = False
    shared: bool = False
    guessed: bool = False
    unsure: bool = False


@dataclass
class Foresight:
    """What asks take, and what is known of their answers.

    ``store`` holds answers of earlier runs; ``paid`` are the keys of those in it that a pilot has
    just bought, and ``known`` the answers of the pilot on which other asks depend. Where the
    run remembers answers, equal asks are asked once.
    """

    judge: Judge
    store: Store | None = None
    paid: frozenset[bytes] = frozenset()
    known: Mapping[Ask[Any], Any] = field(default_factory=dict)
    rates: Rates = field(default_factory=Rates)
    _seen: set[bytes] = field(default_factory=set)
    _fingerprint: str = ""

    def look(self, ask: Ask[Any]) -> tuple[Any, Foreseen]:
        """An answer, and what it takes."""
        found, held, shared = None, False, False
        place = entry(ask, self._identity()) if self.store is not None else None
        if place is not None and self.store is not None:
            shared = place.key in self._seen
            self._seen.add(place.key)
            if place.key not in self.paid and (blob := self.store.get(place.key)) is not None:
                try:
                    found, held = unpack(place, ask, blob), True
                except ValueError:
                    held = False  # it would be asked again
        guessed = False
        if found is None:
            found = self._told(ask)
        if found is None:
            guessed, found = decides(ask), guess(ask, self.rates)
        sizes = calls_for(self.judge, ask)
        return found, Foreseen(frozenset(), sizes, held, shared and not held, guessed)

    def _told(self, ask: Ask[Any]) -> Any:
        """What the pilot was told, or None; where it asked for opinions too, its claims."""
        found = self.known.get(ask)
        if found is None and isinstance(ask, Extract) and not ask.opinions:
            both = self.known.get(replace(ask, opinions=True))
            found = both and tuple(claim for claim in both if not claim.opinion)
        return found

    def _identity(self) -> str:
        if not self._fingerprint:
            self._fingerprint = self.judge.fingerprint
        return self._fingerprint


@dataclass
class _Traced(Case):
    """A case that remembers which need each ask was for, and which need met which."""

    foresight: Foresight = field(kw_only=True)
    asked: list[tuple[Need[Any] | None, Foreseen]] = field(default_factory=list)
    children: dict[Need[Any] | None, set[Need[Any]]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def meet(self, need: Need[T]) -> asyncio.Future[T]:
        self.children[_IN_WORK.get()].add(need)
        if need not in self._met:
            self._met[need] = asyncio.ensure_future(self._resolved(need))
        return self._met[need]

    async def ask(self, ask: Ask[T]) -> T:
        answer, foreseen = self.foresight.look(ask)
        self.asked.append((_IN_WORK.get(), foreseen))
        return cast("T", answer)

    async def _resolved(self, need: Need[T]) -> T:
        _IN_WORK.set(need)  # in the context of this task alone
        return await need.resolve(self)


async def foresee(
    sample: Sample, metrics: Mapping[str, Metric], foresight: Foresight
) -> list[Foreseen]:
    """The asks of one sample, with the names of the metrics that each is for.

    A metric whose fields the sample lacks asks nothing. Raises ConfigError for asks of a kind
    that is not known.
    """
    needs: dict[str, set[Need[Any]]] = {}
    for name, metric in metrics.items():
        try:
            needs[name] = closure(metric.needs, sample)
        except MissingField:
            continue
    planned = frozenset(need for every in needs.values() for need in every)
    case = _Traced(sample, foresight.judge, planned, foresight=foresight)
    try:
        got = await asyncio.gather(*map(case.meet, case.plan), return_exceptions=True)
    finally:
        await case.cancel()
    for answer in got:
        if isinstance(answer, BaseException):
            raise answer
    users = {name: _with_parts(case, every) for name, every in needs.items()}
    out, guessing = [], set[Need[Any] | None]()
    for need, one in case.asked:
        # What a need asks depends on what it asked before, and on the needs that it met.
        unsure = not guessing.isdisjoint(_leaned_on(case, need))
        if one.guessed:
            guessing.add(need)
        metrics_of = frozenset(name for name, used in users.items() if need in used)
        out.append(replace(one, metrics=metrics_of, unsure=unsure))
    return out


def _leaned_on(case: _Traced, need: Need[Any] | None) -> set[Need[Any] | None]:
    """The need itself, and all that it met."""
    out: set[Need[Any] | None] = set()
    todo = [need]
    while todo:
        one = todo.pop()
        if one not in out:
            out.add(one)
            todo += case.children[one]
    return out


def _with_parts(case: _Traced, needs: set[Need[Any]]) -> set[Need[Any]]:
    """The needs, and those that they meet on the way and that no metric names."""
    out: set[Need[Any]] = set()
    todo = list(needs)
    while todo:
        need = todo.pop()
        out.add(need)
        todo += (c for c in case.children[need] if c not in case.plan and c not in out)
    return out
