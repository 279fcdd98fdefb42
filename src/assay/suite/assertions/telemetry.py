"""latency and cost: what the answer took."""

from __future__ import annotations

import math

from assay.suite.assertions.base import CannotCheckError, Found, Given, Kind, stays_below


def latency(given: Given) -> Found:
    """Whether the answer took at most ``threshold`` milliseconds."""
    why = "the answer was not made now (it is cached or recorded)"
    took, most = _pair(given.answer.latency_ms, given.threshold, f"{why}: run without the cache")
    reason = f"the answer took {took:,.0f} ms (at most {most:,.10g} ms allowed)"
    return Found(stays_below(took, most), reason, value=took)


def cost(given: Given) -> Found:
    """Whether the answer cost at most ``threshold`` US dollars."""
    spent, most = _pair(given.answer.cost, given.threshold, "the provider tells no cost")
    reason = f"the answer cost ${spent:.4g} (at most ${most:.4g} allowed)"
    return Found(stays_below(spent, most), reason, value=spent)


def _pair(figure: float | None, threshold: float | None, absent: str) -> tuple[float, float]:
    if threshold is None:
        raise CannotCheckError("a threshold is needed")
    if figure is None:
        raise CannotCheckError(absent)
    if not math.isfinite(figure):
        raise CannotCheckError(f"the provider tells {figure}, which is no number")
    return figure, threshold


KINDS = (
    Kind(
        "latency",
        "the answer took at most so many milliseconds",
        latency,
        value="none",
        threshold="required",
        bounds=(0.0, math.inf),
        lower_is_better=True,
    ),
    Kind(
        "cost",
        "the answer cost at most so many US dollars",
        cost,
        value="none",
        threshold="required",
        bounds=(0.0, math.inf),
        lower_is_better=True,
    ),
)
