"""Batches that go on at the endpoint when nobody waits for them any more."""

from __future__ import annotations

from dataclasses import dataclass

from assay.judges.reaching import Reach, reach_of


@dataclass(frozen=True, slots=True)
class BatchReach(Reach):
    """How the endpoint of a judge goes that waits for batches, and how many of them are open."""

    batches: int = 0


def batches_of(judge: object) -> int | None:
    """How many batches go on though the judge is closed; None of one that sends calls instead.

    To finish what such a judge has in work may take a day, and nothing is lost without it.
    """
    reach = reach_of(judge)
    return reach.batches if isinstance(reach, BatchReach) else None


def going_on(count: int, where: str = "the endpoint") -> str:
    """That batches go on, in words.

    >>> going_on(1), going_on(2)
    ('1 batch goes on at the endpoint', '2 batches go on at the endpoint')
    """
    return f"{count} {'batch goes' if count == 1 else 'batches go'} on at {where}"
