"""Is the response right and complete: its claims against the references, and theirs against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.metrics.base import (
    NO_CLAIMS,
    NO_REFERENCE_CLAIMS,
    Metric,
    best_of_references,
    claim_items,
)
from assay.needs import Entails, Need
from assay.score import Score, fraction
from assay.verdicts import EntailmentMatrix


@dataclass(frozen=True)
class Precision(Metric):
    """Share of response claims that a reference entails (RAGChecker).

    >>> M = EntailmentMatrix.letters
    >>> Precision().score(M("E N E E")).value
    0.75
    """

    name = "precision"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="reference"),)

    def score(self, correct: EntailmentMatrix) -> Score:
        return _precise(correct)


@dataclass(frozen=True)
class Recall(Metric):
    """Share of reference claims that the response entails (RAGChecker).

    The best of the references where there are several.

    >>> M = EntailmentMatrix.letters
    >>> Recall().score(M("E N")).value
    0.5
    """

    name = "recall"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("reference", by="response"),)

    def score(self, stated: EntailmentMatrix) -> Score:
        return best_of_references(stated.claims, lambda keep: _stated(stated.rows(keep)))


def _stated(stated: EntailmentMatrix) -> Score:
    hits = stated.supported()
    return fraction(hits, NO_REFERENCE_CLAIMS).showing(claim_items(stated, "response", hits))


@dataclass(frozen=True)
class F1(Metric):
    """Harmonic mean of claim precision and recall against one reference (RAGChecker).

    The best of the references where there are several. 0 where both are 0.

    >>> M = EntailmentMatrix.letters
    >>> F1().score(M("E E N N"), M("E")).value
    0.6666666666666666
    """

    name = "f1"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="reference"), Entails("reference", by="response"))

    def score(self, correct: EntailmentMatrix, stated: EntailmentMatrix) -> Score:
        if not correct.claims:
            return Score.undefined(NO_CLAIMS)

        def against_one(keep: Sequence[int]) -> Score:
            own = stated.rows(keep)
            precision = _precise(correct.column(own.claims[0].source))
            return _harmonic(precision, _stated(own))

        return best_of_references(stated.claims, against_one)


def _precise(correct: EntailmentMatrix) -> Score:
    hits = correct.supported()
    return fraction(hits, NO_CLAIMS).showing(claim_items(correct, "reference", hits))


def _harmonic(precision: Score, recall: Score) -> Score:
    unknown = precision.unknown + recall.unknown
    for part in (precision, recall):
        if part.value is None:
            return Score.undefined(part.reason, unknown)
    p, r = precision.value or 0.0, recall.value or 0.0
    value = 2 * p * r / (p + r) if p + r else 0.0
    return Score(
        value,
        stats={"precision": p, "recall": r},
        unknown=unknown,
        items=precision.items + recall.items,
    )
