"""What came of assertions and tests: pass, fail, error or skipped, with scores and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.score import Item
from assay.suite.providers.base import Answer

Status = Literal["pass", "fail", "error", "skipped"]
STATUSES: tuple[Status, ...] = ("pass", "fail", "error", "skipped")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one assertion, or of a set of them.

    ``value`` is the score in its own unit and direction, None where there is none. ``goodness``
    is what is averaged: 0 to 1, higher is better. ``items`` are the claims behind the score with
    verdicts and evidence, ``figures`` further numbers, ``expected`` the value it was held against,
    ``config`` the assertion's own settings without the texts of contexts.
    """

    type: str
    status: Status
    reason: str
    value: float | None = None
    goodness: float | None = None
    threshold: float | None = None
    weight: float = 1.0
    metric: str | None = None
    lower_is_better: bool = False
    expected: Any = None
    items: tuple[Item, ...] = ()
    figures: Mapping[str, float | None] = field(default_factory=dict)
    parts: tuple[Outcome, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """One test with one prompt and one provider.

    ``score`` is the weighted mean goodness of its assertions, 0 to 1, None where an error leaves
    none. ``test``, ``prompt_index`` and ``repeat`` count from 0.
    """

    test: int
    prompt_index: int
    repeat: int
    description: str
    provider: str
    prompt: str
    prompt_text: str
    vars: Mapping[str, Any]
    answer: Answer | None
    outcomes: tuple[Outcome, ...]
    status: Status
    score: float | None
    reason: str
    threshold: float | None = None
    named_scores: Mapping[str, float] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.status == "pass"


@dataclass(frozen=True)
class SuiteRun:
    """All results of a suite in order, with what produced them."""

    results: Sequence[Result]
    description: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """assay, python, judges by name and fingerprint, started, seconds, usage of providers and
    judges."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """The suite as it was written; it names secrets and never holds them."""

    @property
    def counts(self) -> Mapping[Status, int]:
        """The number of results of each status."""
        counted = Counter(result.status for result in self.results)
        return {status: counted[status] for status in STATUSES}

    @property
    def pass_rate(self) -> float:
        """Share of results that passed, of those not skipped; an error is no pass.

        0 if there are none.
        """
        ran = [result for result in self.results if result.status != "skipped"]
        return sum(result.passed for result in ran) / len(ran) if ran else 0.0
