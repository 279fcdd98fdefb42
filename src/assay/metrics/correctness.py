"""Is the response right and complete: its claims against the references, and theirs against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.errors import ConfigError
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
            return replace(part, unknown=unknown, items=())
    p, r = precision.value or 0.0, recall.value or 0.0
    value = 2 * p * r / (p + r) if p + r else 0.0
    return Score(
        value,
        stats={"precision": p, "recall": r},
        unknown=unknown,
        items=precision.items + recall.items,
    )


@dataclass(frozen=True)
class AnswerCorrectness(Metric):
    """tp / (tp + (fp + fn) / 2) of the response's claims against one reference (Valor).

    ``tp`` response claims are entailed by the reference, ``fp`` are not, and ``fn`` claims of
    the reference are not entailed by the response; 0 if ``tp`` is. The best of the references
    where there are several. The f1 part of ragas' answer correctness, without its similarity of
    embeddings. Not `F1`, whose recall counts the reference's claims.

    >>> M = EntailmentMatrix.letters
    >>> AnswerCorrectness().score(M("E E E N N"), M("E E N")).value
    0.6666666666666666
    """

    name = "answer_correctness"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="reference"), Entails("reference", by="response"))

    def score(self, correct: EntailmentMatrix, stated: EntailmentMatrix) -> Score:
        return _weighed(correct, stated, 0.5)


@dataclass(frozen=True)
class FactualCorrectness(Metric):
    """F-score of tp, fp and fn of the response's claims against one reference (ragas).

    ``tp`` response claims are entailed by the reference, ``fp`` are not, and ``fn`` claims of
    the reference are not entailed by the response. ``mode="precision"`` is tp / (tp + fp),
    ``"recall"`` tp / (tp + fn), which mixes claims of both texts as ragas does, and ``"f1"``
    their F-score, in which recall weighs ``beta`` times as much; 0 if ``tp`` is. The best of the
    references where there are several. Not rounded, where ragas keeps two digits.

    Raises ConfigError unless ``beta`` is from 0 to a million.

    >>> M = EntailmentMatrix.letters
    >>> FactualCorrectness("recall").score(M("E E E N N"), M("E E N")).value
    0.75
    """

    name = "factual_correctness"
    mode: Literal["f1", "precision", "recall"] = "f1"
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.beta, int | float) and 0 <= self.beta <= 1e6):
            raise ConfigError(f"{self.name}(beta={self.beta}): beta must be from 0 to a million")

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="reference"), Entails("reference", by="response"))

    def score(self, correct: EntailmentMatrix, stated: EntailmentMatrix) -> Score:
        square = self.beta * self.beta
        weight = {"precision": 0.0, "recall": 1.0, "f1": square / (1 + square)}[self.mode]
        return _weighed(correct, stated, weight)


def _weighed(correct: EntailmentMatrix, stated: EntailmentMatrix, weight: float) -> Score:
    """tp / (tp + (1 - weight) fp + weight fn), best over references; weight 0 leaves fn out."""
    if not correct.claims:
        return Score.undefined(NO_CLAIMS)

    def against_one(keep: Sequence[int]) -> Score:
        own = stated.rows(keep)
        precise = _precise(correct.column(own.claims[0].source))
        return _counted(precise, _stated(own), weight) if weight else _counted(precise, None, 0.0)

    return best_of_references(stated.claims, against_one)


def _counted(precise: Score, stated: Score | None, weight: float) -> Score:
    parts = [precise] if stated is None else [precise, stated]
    unknown = sum(part.unknown for part in parts)
    for part in parts:
        if part.value is None:
            return replace(part, unknown=unknown, items=())
    tp = precise.stats["hits"]
    fp = precise.stats["total"] - tp
    fn = stated.stats["total"] - stated.stats["hits"] if stated is not None else 0.0
    total = tp + (1 - weight) * fp + weight * fn
    return Score(
        tp / total if tp else 0.0,
        stats={"hits": tp, "total": total, "tp": tp, "fp": fp, "fn": fn},
        unknown=unknown,
        items=tuple(item for part in parts for item in part.items),
    )
