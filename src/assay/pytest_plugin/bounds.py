"""Bounds on scores, as tests write them: ">= 0.8", or a number in a metric's good direction."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.errors import ConfigError
from assay.metrics import Metric

EPSILON = 1e-9
"""Scores this close to a bound count as on it."""
EXAMPLE = '{"faithfulness": ">= 0.8", "noise_sensitivity(mode=irrelevant)": "<= 0.2"}'
_FORM = re.compile(r"\s*(>=|<=|==|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class Bound:
    """What a score is held against: a sign (>=, >, ==, <=, <) and a number.

    >>> Bound(">=", 0.8).holds(0.1 + 0.7), Bound(">", 0.8).holds(0.8)
    (True, False)
    """

    sign: str
    number: float

    def holds(self, value: float) -> bool:
        """Whether the value is within the bound."""
        above, on = value - self.number, abs(value - self.number) <= EPSILON
        if self.sign in (">=", "<=", "=="):
            return on or (self.sign == ">=" and above > 0) or (self.sign == "<=" and above < 0)
        return not on and (above > 0) is (self.sign == ">")

    def too_high(self, value: float) -> bool:
        """Whether a value that is not within the bound lies above it."""
        return self.sign[0] == "<" or (self.sign == "==" and value > self.number)

    def __str__(self) -> str:
        return f"{self.sign} {self.number:.12g}"


def bounds_of(metrics: Mapping[str, Metric], expected: Mapping[Any, Any]) -> dict[str, Bound]:
    """The bound of each metric; ``expected`` has one value a metric, in the same order.

    Raises ConfigError for what is no bound, or one that no score of the metric can be within.
    """
    pairs = zip(metrics.items(), expected.values(), strict=True)
    return {name: bound_of(name, metric, value) for (name, metric), value in pairs}


def bound_of(name: str, metric: Metric, expected: object) -> Bound:
    """One bound; a number is the least a metric may be or, where lower is better, the most.

    Raises ConfigError as `bounds_of`.

    >>> from assay import Faithfulness, Hallucination
    >>> str(bound_of("faithfulness", Faithfulness(), 0.8))
    '>= 0.8'
    >>> str(bound_of("hallucination", Hallucination(), 0.1))
    '<= 0.1'
    """
    if isinstance(expected, str):
        match = _FORM.fullmatch(expected)
        if match is None:
            raise ConfigError(f"{name}: {expected!r} is no bound; write e.g. '>= 0.8' or 0.8")
        bound = Bound(match[1], float(match[2]))
    elif isinstance(expected, int | float) and not isinstance(expected, bool):
        bound = Bound(">=" if metric.higher_is_better else "<=", float(expected))
    else:
        raise ConfigError(f"{name}: {expected!r} is no bound; write e.g. '>= 0.8' or 0.8")
    _check_range(name, metric, bound)
    return bound


def _check_range(name: str, metric: Metric, bound: Bound) -> None:
    """Raise ConfigError for a number that the metric never gives: 80 for 0.8."""
    inside = metric.low - EPSILON <= bound.number <= metric.high + EPSILON
    if not (math.isfinite(bound.number) and inside):
        raise ConfigError(
            f"{name}: {bound} is out of range; its scores are {metric.low:g} to {metric.high:g}"
        )
