"""A value that says why: the result of the collections metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from assay.score import Item, Score

SHOWN = 3
"""Claims that a reason names."""


class MetricResult(float):
    """A number with the reason for it, and the claims and verdicts behind it.

    It is a float in every respect: arithmetic, comparison, hash, JSON, copies. ``value`` is the
    plain number. ``traces`` may have the keys "input" and "output"; other keys raise ValueError.

    >>> half = MetricResult(0.5, "1 of 2 claims are supported")
    >>> half + 1, half > 0.4, half.reason
    (1.5, True, '1 of 2 claims are supported')
    """

    reason: str | None
    traces: dict[str, Any] | None

    def __new__(
        cls, value: float, reason: str | None = None, traces: Mapping[str, Any] | None = None
    ) -> MetricResult:
        if traces is not None and (odd := set(traces) - {"input", "output"}):
            raise ValueError(f"traces may have the keys 'input' and 'output', not {sorted(odd)}")
        made = super().__new__(cls, value)
        made.reason = reason
        made.traces = None if traces is None else dict(traces)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.value, self.reason, self.traces

    @property
    def value(self) -> float:
        """The plain number."""
        return float(self)

    @property
    def result(self) -> float:
        """The plain number."""
        return float(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: the number (None for NaN) and the reason."""
        return {"result": None if math.isnan(self) else self.value, "reason": self.reason}


def explain(score: Score, counted: str, higher_is_better: bool) -> str:
    """One short paragraph: how many claims count and which speak against the response."""
    if score.value is None:
        return f"No value: {score.reason}."
    hits, total = score.hits, score.total
    parts = []
    if score.items and hits is not None and total:
        known = [item for item in score.items if item.hit is not None]
        parts.append(f"{sum(item.hit is True for item in known)} of {len(known)} {counted}.")
    against = [item for item in score.items if item.hit is not higher_is_better]
    against = [item for item in against if item.hit is not None]
    if against:
        label = "Not so" if higher_is_better else "These"
        named = "; ".join(map(_named, against[:SHOWN]))
        more = f"; and {len(against) - SHOWN} more" if len(against) > SHOWN else ""
        parts.append(f"{label}: {named}{more}.")
    if score.unknown:
        parts.append(f"{score.unknown} verdicts were not given and are left out.")
    return " ".join(parts) or score.reason


def _named(item: Item) -> str:
    why = item.reason or (item.verdict.value.lower() if item.verdict else "")
    return f"“{item.claim}”" + (f" ({why})" if why else "")
