"""Rows whose failures may be those of the endpoint: kept back until it is known."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from assay.asks import Judge
from assay.errors import JudgeUnusable
from assay.judges.reaching import reach_of
from assay.run import Row
from assay.runs.failures import is_for_good
from assay.runs.shards import OpenShard

_MOST = 256
"""Rows that are kept back. Far fewer fail until an endpoint is given up; calls then wait."""


class OutageError(JudgeUnusable):
    """The endpoint is out. Rows that failed by it are not put down: a resumed run scores them."""


@dataclass(frozen=True, slots=True)
class Done:
    """A scored row, and where it goes."""

    shard: OpenShard
    number: int
    row: Row


class Outages:
    """Decides which rows are put down, by what the judge knows of its endpoint.

    A row that lacks an answer, after which the endpoint has served nobody, waits: it is put down
    as soon as somebody else was served, and dropped if the endpoint is out. A judge that knows of
    no endpoint has all its rows put down at once. ``outage``: why the endpoint is out, once it is.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._waiting: deque[Done] = deque()
        self.outage = ""

    def sift(self, done: Done) -> list[Done]:
        """What is to be put down, now that this row is done."""
        reach = reach_of(self._judge)
        lacking = is_lacking(done.row)
        if lacking and reach.outage:
            self.outage = self.outage or reach.outage
        if self.outage:
            self._waiting.clear()
            return [] if lacking else [done]
        if not lacking:
            return [done] if reach.silent else [*self.left(), done]
        self._waiting.append(done)
        if not reach.silent:
            return self.left()
        return [self._waiting.popleft()] if len(self._waiting) > _MOST else []

    def left(self) -> list[Done]:
        """The rows that waited, which do so no more."""
        waited = list(self._waiting)
        self._waiting.clear()
        return waited


def is_lacking(row: Row) -> bool:
    """Whether a row could be another one if the judge were asked again."""
    return any(
        score.unknown or (score.status == "failed" and not is_for_good(score.as_dict()))
        for score in row.scores.values()
    )
