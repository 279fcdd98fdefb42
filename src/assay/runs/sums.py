"""Means of a run by running sums, which take no more memory for more rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from assay.stats import Summary, t_quantile

_LEVEL = 0.975


@dataclass
class Sums:
    """The values of one metric, added up: their number, mean, squared deviations and bounds."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf
    undefined: int = 0
    failed: int = 0
    unknown: int = 0

    def add(self, value: float | None, status: str, unknown: int) -> None:
        """Count one score (Welford's recurrence)."""
        self.undefined += status == "undefined"
        self.failed += status == "failed"
        self.unknown += unknown
        if value is None:
            return
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self.squares += step * (value - self.mean)
        self.low, self.high = min(self.low, value), max(self.high, value)

    def merge(self, other: Sums) -> None:
        """Count all that another has counted."""
        self.undefined += other.undefined
        self.failed += other.failed
        self.unknown += other.unknown
        if not other.n:
            return
        n = self.n + other.n
        step = other.mean - self.mean
        self.squares += other.squares + step * step * self.n * other.n / n
        self.mean += step * other.n / n
        self.n = n
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    def summary(self) -> Summary:
        """Mean, interval and counts; neither ``values`` nor ``micro``."""
        return Summary(
            mean=self.mean if self.n else None,
            interval=self._interval(),
            micro=None,
            n=self.n,
            undefined=self.undefined,
            failed=self.failed,
            unknown=self.unknown,
            values=(),
        )

    def as_list(self) -> list[float | None]:
        """The fields in order, as JSON has them; the bounds of no values are None."""
        return [value if math.isfinite(value) else None for value in asdict(self).values()]

    def _interval(self) -> tuple[float, float] | None:
        """That of `assay.stats.mean_interval`, of which this is the form by sums."""
        n, mean = self.n, self.mean
        if n < 2:
            return None
        t = t_quantile(_LEVEL, n - 1)
        if self.low < 0 or self.high > 1:
            half = t * math.sqrt(self.squares / (n - 1) / n)
            return mean - half, mean + half
        smooth = (mean * n + 1) / (n + 2)
        squares = self.squares + n * (mean - smooth) ** 2 + smooth**2 + (1 - smooth) ** 2
        half = t * math.sqrt(squares / (n + 1) / (n + 2)) / (smooth * (1 - smooth))
        centre = math.log(smooth / (1 - smooth))
        return min(_logistic(centre - half), mean), max(_logistic(centre + half), mean)


def sums_of(records: Iterable[bytes], metrics: Iterable[str]) -> dict[str, Sums]:
    """The sums of each metric over rows as they are written."""
    sums = {name: Sums() for name in metrics}
    for record in records:
        scores: Mapping[str, Any] = json.loads(record)["scores"]
        for name, one in sums.items():
            score = scores[name]
            one.add(score["value"], score["status"], score["unknown"])
    return sums


def from_list(told: object) -> Sums | None:
    """The sums in a list of `Sums.as_list`; None for anything else."""
    if not isinstance(told, list) or len(told) != len(fields(Sums)):
        return None
    counts = [told[0], *told[5:]]
    bounds = (math.inf, -math.inf) if told[0] == 0 else told[3:5]
    if not all(type(count) is int and count >= 0 for count in counts):
        return None
    if not all(isinstance(value, int | float) for value in (*told[1:3], *bounds)):
        return None
    return Sums(told[0], told[1], told[2], *bounds, *told[5:])


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
