"""How what the response says lies to what a reference says, as one of five classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from assay.asks import Skill
from assay.metrics.base import NO_CLAIMS, NO_REFERENCE_CLAIMS, Metric, claim_items
from assay.metrics.generation import CONTRADICT
from assay.needs import Entails, Need
from assay.score import Item, Score, Source
from assay.verdicts import EntailmentMatrix, Verdict

Category = Literal["same", "superset", "subset", "different", "disagree"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
"""The best first."""


@dataclass(frozen=True)
class Factuality(Metric):
    """1 unless the response and every reference contradict each other, then 0 (promptfoo).

    ``stats`` has a 1 at the class: "same" (response and reference entail all claims of each
    other), "superset" (the response entails all of the reference, and says more), "subset" (the
    reference entails all of the response, and says more), "different" (neither) or "disagree" (a
    claim of one is contradicted by the other). Of several references the first of these counts
    that one of them gives; an unanswered verdict that could change the class leaves none.

    promptfoo's A, B, C, D and E are subset, superset, same, disagree and different.

    >>> M = EntailmentMatrix.letters
    >>> score = Factuality().score(M("E E"), M("E N"))
    >>> score.value, [name for name, one in score.stats.items() if one]
    (1.0, ['subset'])
    """

    name = "factuality"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="reference"), Entails("reference", by="response"))

    @property
    def skills(self) -> frozenset[Skill]:
        return CONTRADICT

    def score(self, correct: EntailmentMatrix, stated: EntailmentMatrix) -> Score:
        if not correct.claims:
            return Score.undefined(NO_CLAIMS)
        if not stated.claims:
            return Score.undefined(NO_REFERENCE_CLAIMS)
        every = [
            _against(source, correct, stated)
            for source in sorted({claim.source for claim in stated.claims})
        ]
        sure = min(every, key=lambda one: CATEGORIES.index(one.worst))
        hope = min(every, key=lambda one: CATEGORIES.index(one.best))
        unknown = sum(one.unknown for one in every)
        if sure.worst != hope.best:
            said = f"the judge left {unknown} unanswered, and the class depends on it"
            return Score.failed(said, unknown).showing(hope.items)
        return Score(
            float(sure.worst != "disagree"),
            stats={name: float(name == sure.worst) for name in CATEGORIES},
            unknown=unknown,
            items=sure.items,
        )


@dataclass(frozen=True, slots=True)
class _Against:
    """One reference: the best and worst class that unanswered verdicts leave possible."""

    best: Category
    worst: Category
    unknown: int
    items: tuple[Item, ...]


def _against(source: int, correct: EntailmentMatrix, stated: EntailmentMatrix) -> _Against:
    own = stated.rows([j for j, claim in enumerate(stated.claims) if claim.source == source])
    column = correct.column(source)
    right, told = _verdicts(column), _verdicts(own)
    unknown = (right + told).count(Verdict.UNKNOWN)
    best = _category(right, told)
    return _Against(
        best,
        "disagree" if unknown else best,
        unknown,
        (*_items(column, "reference", source), *_items(own, "response", 0)),
    )


def _category(right: list[Verdict], told: list[Verdict]) -> Category:
    """The class, with whatever was not answered taken as entailed."""
    if Verdict.CONTRADICTED in right + told:
        return "disagree"
    if Verdict.NEUTRAL in right:
        return "different" if Verdict.NEUTRAL in told else "superset"
    return "subset" if Verdict.NEUTRAL in told else "same"


def _verdicts(matrix: EntailmentMatrix) -> list[Verdict]:
    return [cell.verdict for row in matrix.cells for cell in row]


def _items(matrix: EntailmentMatrix, source: Source, index: int) -> list[Item]:
    """Items of a matrix of one premise, which is the index-th of its kind."""
    return [
        replace(item, evidence=item.evidence and replace(item.evidence, index=index))
        for item in claim_items(matrix, source, matrix.supported())
    ]
