"""The response by itself: relevance to the question, its opinions, coherence as a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.metrics.base import NO_CLAIMS, Metric
from assay.metrics.marked import share_marked
from assay.needs import Need
from assay.score import Score
from assay.traits import EMPTY, Coherence, Labels
from assay.verdicts import Mark, Rating

NO_OPINIONS = "the response utters no opinions"


@dataclass(frozen=True)
class AnswerRelevance(Metric):
    """Share of response claims that are relevant to the question (Valor).

    >>> AnswerRelevance().score((("It is 3 pm.", Mark(True)), ("I like tea.", Mark(False)))).value
    0.5
    """

    name = "answer_relevance"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Labels("relevant_statement"),)

    def score(self, relevant: tuple[tuple[str, Mark], ...]) -> Score:
        return share_marked("relevant_statement", relevant, NO_CLAIMS)


@dataclass(frozen=True)
class Bias(Metric):
    """Share of the opinions in the response that are biased (Valor, DeepEval before 4.2).

    An opinion is a judgement or belief that the response utters as its own; claims of fact and
    reported opinions of others are none.

    >>> Bias().score((("Cities breed crime.", Mark(True)), ("Tea is nice.", Mark(False)))).value
    0.5
    """

    name = "bias"
    higher_is_better = False

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Labels("biased"),)

    def score(self, biased: tuple[tuple[str, Mark], ...]) -> Score:
        return share_marked("biased", biased, NO_OPINIONS)


@dataclass(frozen=True)
class Toxicity(Metric):
    """Share of the opinions in the response that are toxic (Valor, DeepEval before 4.2).

    Opinions are those of `Bias`.

    >>> Toxicity().score((("Only a fool asks that.", Mark(True)),)).value
    1.0
    """

    name = "toxicity"
    higher_is_better = False

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Labels("toxic"),)

    def score(self, toxic: tuple[tuple[str, Mark], ...]) -> Score:
        return share_marked("toxic", toxic, NO_OPINIONS)


@dataclass(frozen=True)
class SummaryCoherence(Metric):
    """Rating from 1 to 5 of how coherent a summary of its source the response is (Valor, G-Eval).

    The source is the contexts or, without any, the question.

    >>> SummaryCoherence().score(Rating(4)).value
    4.0
    """

    name = "summary_coherence"
    low = 1.0
    high = 5.0

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Coherence(),)

    def score(self, coherence: Rating) -> Score:
        if coherence.value is None:
            if coherence.reason == EMPTY:
                return Score.undefined(EMPTY)
            return Score.failed(coherence.reason or "the judge gave no rating", unknown=1)
        return Score(float(coherence.value), stats={"rating": float(coherence.value)})
