"""How far the response meets a criterion of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.criteria import Graded
from assay.metrics.base import Metric
from assay.metrics.similarity import NO_TEXT
from assay.needs import Need
from assay.score import Item, Score
from assay.traits import EMPTY
from assay.verdicts import Grading

MET = 0.75
"""The value from which a criterion counts as met."""


@dataclass(frozen=True)
class Rubric(Metric):
    """How far the response meets a criterion: 0, 1/4, 1/2, 3/4 or 1 (G-Eval, promptfoo, ragas).

    The levels are "not", "slightly", "partly", "mostly" and "fully". ``reference=True`` shows the
    judge the reference as what is right; the best reference counts. Criteria of one sample are
    graded by one call. Scoring without a criterion raises ConfigError.

    >>> Rubric("It is polite.").score((Grading("mostly", "It says please, but not thanks."),)).value
    0.75
    """

    name = "rubric"
    criterion: str = ""
    reference: bool = False

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Graded(self.criterion, self.reference),)

    def score(self, gradings: tuple[Grading, ...]) -> Score:
        if not gradings:
            return Score.undefined(NO_TEXT if self.reference else EMPTY)
        best = max(gradings, key=lambda g: -1.0 if g.value is None else g.value)
        unsure = [g for g in gradings if g.value is None]
        # A grade that was not given may hide a better one; only a 1 cannot be beaten.
        if unsure and best.value != 1.0:
            best = unsure[0]
        item = Item(
            self.criterion,
            None,
            None,
            hit=None if best.value is None else best.value >= MET,
            reason=best.reason,
            label=best.level or "unknown",
        )
        if best.value is None:
            return Score.failed("the judge gave no grade", len(unsure)).showing([item])
        return Score(best.value, stats={"grade": best.value}, unknown=len(unsure), items=(item,))
