"""Scores: a finite value or the reason why there is none, with what it was made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from assay.verdicts import Span, Truth, Verdict

Status = Literal["ok", "undefined", "failed"]
Source = Literal["context", "reference", "response"]

MAX_UNKNOWN = 0.2
"""Share of unanswered verdicts above which a ratio has failed rather than being computed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a verdict comes from: the n-th context, reference or response, and a quote of it."""

    source: Source
    index: int
    span: Span | None = None

    def as_dict(self) -> dict[str, Any]:
        span = self.span
        return {
            "context": self.index if self.source == "context" else None,
            **({self.source: self.index} if self.source != "context" else {}),
            "quote": span.quote if span else None,
            "start": span.start if span else None,
            "end": span.end if span else None,
        }


@dataclass(frozen=True, slots=True)
class Item:
    """One claim as a metric saw it; or an opinion, or the beginning of a context.

    ``against`` says which kind of source it was held against; ``verdict``, ``probability`` and
    ``evidence`` are those of the best one. ``correct`` is whether the reference entails it, for
    metrics that ask; ``hit`` is whether it counted. A text that was labelled rather than held
    against a source has the ``label`` that was asked about (``hit``: does it apply?,
    ``probability`` that it does), and neither ``verdict`` nor ``against``.
    """

    claim: str
    verdict: Verdict | None
    against: Source | None = "context"
    probability: float | None = None
    evidence: Evidence | None = None
    hit: Truth = None
    correct: Truth = None
    reason: str = ""
    label: str | None = None

    @property
    def unanswered(self) -> bool:
        """Whether the judge gave no verdict or label."""
        return self.verdict is Verdict.UNKNOWN or (self.label is not None and self.hit is None)

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "claim": self.claim,
            "against": self.against,
            "verdict": self.verdict.value if self.verdict else None,
            "probability": None if self.probability is None else round(self.probability, 4),
            "evidence": self.evidence.as_dict() if self.evidence else None,
            "hit": self.hit,
        }
        if self.label is not None:
            out["label"] = self.label
        if self.correct is not None:
            out["correct"] = self.correct
        if self.reason:
            out["reason"] = self.reason
        return out


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's value for one sample, or the reason why there is none.

    ``status`` is "ok" (``value`` is finite), "undefined" (nothing to measure) or "failed" (an
    input could not be had). ``stats`` add up over samples. ``unknown`` counts the verdicts that
    no judge gave; they are left out of the value.
    """

    value: float | None
    status: Status = "ok"
    reason: str = ""
    stats: Mapping[str, float] = field(default_factory=dict)
    unknown: int = 0
    items: tuple[Item, ...] = ()

    def __post_init__(self) -> None:
        if (self.status == "ok") != (self.value is not None):
            raise ValueError(f"a score that is {self.status} cannot have the value {self.value}")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a score must be finite, not {self.value}")

    @property
    def hits(self) -> float | None:
        return self.stats.get("hits")

    @property
    def total(self) -> float | None:
        return self.stats.get("total")

    @classmethod
    def undefined(cls, reason: str, unknown: int = 0) -> Score:
        """Nothing to measure; never 0 and never 1."""
        return cls(None, "undefined", reason, unknown=unknown)

    @classmethod
    def failed(cls, reason: str, unknown: int = 0) -> Score:
        """An input of the metric could not be had."""
        return cls(None, "failed", reason, unknown=unknown)

    def showing(self, items: Iterable[Item]) -> Score:
        """The same score with its claims; why verdicts are missing joins the reason."""
        shown = tuple(items)
        why = next((i.reason for i in shown if i.unanswered and i.reason), "")
        reason = f"{self.reason}: {why}" if self.status == "failed" and why else self.reason
        return replace(self, items=shown, reason=reason)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form, as in the output files."""
        return {
            "value": self.value,
            "status": self.status,
            "reason": self.reason or None,
            "hits": self.hits,
            "total": self.total,
            "unknown": self.unknown,
            "items": [item.as_dict() for item in self.items],
        }


def fraction(values: Iterable[Truth], empty: str = "no claims") -> Score:
    """Share of True among the known values.

    Unknown values are left out and counted; above `MAX_UNKNOWN` of all the score has failed.

    >>> fraction([True, False, True, True]).value
    0.75
    >>> fraction([]).reason
    'no claims'
    >>> fraction([True, None]).status
    'failed'
    """
    every = list(values)
    known = [value for value in every if value is not None]
    unknown = len(every) - len(known)
    if not every:
        return Score.undefined(empty)
    if unknown > MAX_UNKNOWN * len(every):
        return Score.failed(f"the judge left {unknown} of {len(every)} unanswered", unknown)
    hits = sum(known)
    stats = {"hits": float(hits), "total": float(len(known))}
    return Score(hits / len(known), stats=stats, unknown=unknown)
