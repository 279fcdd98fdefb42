"""How many samples may be in work at once so that a budget finishes those that it pays for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from assay.asks import Ask, Judge, Skill, T, Usage
from assay.errors import ConfigError
from assay.judges.budget import Budgeted
from assay.judges.reaching import Reach, reach_of
from assay.judges.sizing import CallSize
from assay.metrics import Metric
from assay.planning.foreseeing import Foresight, foresee
from assay.sample import Sample

LOOKED_AT = 20
"""Samples by which it is estimated how many a budget pays for."""
SHARE = 1 / 8
"""Part of the samples that a budget pays for which may be in work: when it ends, they are lost."""
SHARE_OF_BATCHES = 1 / 2
"""The same where questions are gathered into batches, which should be few."""


class Thrifty:
    """A judge with a ``budget`` inside, which can tell how many samples may be in work at once.

    A budget that is spent leaves the samples in work without a score. ``share`` of those that it
    pays for may be in work. ``inner`` is the judge that the budget is for.
    """

    def __init__(
        self, judge: Judge, budget: Budgeted, inner: Judge, *, share: float = SHARE
    ) -> None:
        self._judge, self._budget, self._inner, self._share = judge, budget, inner, share

    @property
    def name(self) -> str:
        """That of the judge."""
        return self._judge.name

    @property
    def fingerprint(self) -> str:
        """That of the judge."""
        return self._judge.fingerprint

    @property
    def usage(self) -> Usage:
        """That of the judge."""
        return self._judge.usage

    @property
    def reach(self) -> Reach:
        """That of the judge."""
        return reach_of(self._judge)

    def can(self, skill: Skill) -> bool:
        return self._judge.can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        return await self._judge.answer(ask)

    async def aclose(self) -> None:
        await self._judge.aclose()

    async def at_once(
        self, most: int, samples: Iterable[Sample], metrics: Mapping[str, Metric]
    ) -> int:
        """How many samples may be in work at once, from 1 to ``most``; nobody is asked.

        The first of ``samples`` stand for all. Where it cannot be foreseen what they take, it is
        ``most``.
        """
        count, sizes = 0, list[CallSize]()
        foresight = Foresight(self._inner)
        try:
            for sample in islice(samples, LOOKED_AT):
                count += 1
                asks = await foresee(sample, metrics, foresight)
                sizes += [size for one in asks for size in one.sizes]
        except ConfigError:  # asks of a kind that nobody knows
            return most
        return max(1, int(min(most, self._budget.pays_for(sizes) * count * self._share)))


async def held_to_budget(
    judge: Judge, most: int, samples: Iterable[Sample], metrics: Mapping[str, Metric]
) -> int:
    """How many samples may be in work at once: ``most``, unless the judge has a budget."""
    return await judge.at_once(most, samples, metrics) if isinstance(judge, Thrifty) else most
