"""How the response uses what was retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.asks import Skill
from assay.metrics.base import (
    NO_CLAIMS,
    NO_CONTEXTS,
    NO_REFERENCE_CLAIMS,
    Incorrect,
    Metric,
    claim_items,
    wrong,
)
from assay.needs import Entails, Field, Need, Relevance
from assay.sample import Sample
from assay.score import Score, fraction
from assay.verdicts import EntailmentMatrix, Truth, both, negate

CONTRADICT: frozenset[Skill] = frozenset({"contradict"})


@dataclass(frozen=True)
class Faithfulness(Metric):
    """Share of response claims that the contexts entail.

    ``joined=False``: some one context entails the claim (RAGChecker). ``joined=True``: all
    contexts together, as one premise (ragas); a claim may then lean on several.

    >>> M = EntailmentMatrix.letters
    >>> Faithfulness().score(M("EN NN")).value
    0.5
    """

    name = "faithfulness"
    joined: bool = False

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="contexts", joined=self.joined),)

    def score(self, grounded: EntailmentMatrix) -> Score:
        if not grounded.width:
            return Score.undefined(NO_CONTEXTS)
        hits = grounded.supported()
        items = claim_items(grounded, "context", hits)
        if self.joined:
            # The premise is all contexts in one: its offsets belong to no single context.
            items = [replace(item, evidence=None) for item in items]
        return fraction(hits, NO_CLAIMS).showing(items)


@dataclass(frozen=True)
class NoiseSensitivity(Metric):
    """Share of response claims that are incorrect and that relevant (irrelevant) contexts entail.

    A context is relevant if the sample labels it so or, unlabelled, if it entails a claim of a
    reference. ``mode="irrelevant"`` counts a claim only if no relevant context entails it, so
    the two modes never count the same claim. ``incorrect``: a claim is wrong if no reference
    entails it ("not_entailed"), or only if a reference contradicts it ("contradicted").

    ``dialect="ragas"`` ignores labels. ``dialect="promptfoo"``: mode relevant counts every
    incorrect claim; mode irrelevant those whose first entailing context is labelled irrelevant.

    Definition: RAGChecker (2024), ragas; promptfoo's assertion for its dialect.

    >>> M = EntailmentMatrix.letters  # Mona Lisa: the relevant passage carries the error
    >>> NoiseSensitivity().score(M("E E"), M("E N"), (True,)).value
    0.5
    """

    name = "noise_sensitivity"
    higher_is_better = False
    mode: Literal["relevant", "irrelevant"] = "relevant"
    dialect: Literal["assay", "ragas", "promptfoo"] = "assay"
    incorrect: Incorrect = "not_entailed"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        grounded = Entails("response", by="contexts")
        correct = Entails("response", by="reference")
        if self.dialect == "promptfoo":
            return (grounded, correct, Field("contexts"))
        return (grounded, correct, Relevance(labels=self.dialect == "assay"))

    @property
    def skills(self) -> frozenset[Skill]:
        return CONTRADICT if self.incorrect == "contradicted" else frozenset()

    def score(
        self,
        grounded: EntailmentMatrix,
        correct: EntailmentMatrix,
        relevance: tuple[Truth, ...] | Sample | None,
    ) -> Score:
        bad = wrong(correct, self.incorrect)
        if isinstance(relevance, Sample):
            misled = self._promptfoo(grounded, relevance)
        elif not grounded.width:
            return Score.undefined(NO_CONTEXTS)
        elif relevance is None:
            return Score.undefined(NO_REFERENCE_CLAIMS)
        else:
            misled = self._misled(grounded, relevance)
        hits = [both(b, m) for b, m in zip(bad, misled, strict=True)]
        return fraction(hits, NO_CLAIMS).showing(
            claim_items(grounded, "context", hits, correct.supported())
        )

    def _misled(self, grounded: EntailmentMatrix, relevant: Sequence[Truth]) -> Sequence[Truth]:
        by_relevant = grounded.supported_among(relevant)
        if self.mode == "relevant":
            return by_relevant
        by_other = grounded.supported_among([negate(value) for value in relevant])
        return [both(o, negate(r)) for o, r in zip(by_other, by_relevant, strict=True)]

    def _promptfoo(self, grounded: EntailmentMatrix, sample: Sample) -> Sequence[Truth]:
        if self.mode == "relevant":
            return [True] * len(grounded.claims)
        labels = [context.relevant is not False for context in sample.contexts or ()]
        return [_first_is_irrelevant(row, labels) for row in _entailed(grounded)]


def _entailed(matrix: EntailmentMatrix) -> list[list[Truth]]:
    return [[cell.verdict.entailed for cell in row] for row in matrix.cells]


def _first_is_irrelevant(entailed: Sequence[Truth], relevant: Sequence[bool]) -> Truth:
    """Is the first entailing context labelled irrelevant? Unknown if an unanswered one decides."""
    possible: set[bool] = set()
    for supports, label in zip(entailed, relevant, strict=True):
        if supports is not False:
            possible.add(not label)
        if supports:
            break
    else:
        possible.add(False)
    return possible.pop() if len(possible) == 1 else None


@dataclass(frozen=True)
class Hallucination(Metric):
    """Share of response claims that are incorrect and that no context entails (RAGChecker).

    >>> M = EntailmentMatrix.letters
    >>> Hallucination().score(M("EN NN NN"), M("N N E")).stats
    {'hits': 1.0, 'total': 3.0}
    """

    name = "hallucination"
    higher_is_better = False
    incorrect: Incorrect = "not_entailed"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="contexts"), Entails("response", by="reference"))

    @property
    def skills(self) -> frozenset[Skill]:
        return CONTRADICT if self.incorrect == "contradicted" else frozenset()

    def score(self, grounded: EntailmentMatrix, correct: EntailmentMatrix) -> Score:
        return _ungrounded(grounded, correct, wrong(correct, self.incorrect))


@dataclass(frozen=True)
class SelfKnowledge(Metric):
    """Share of response claims that are correct and that no context entails (RAGChecker).

    >>> M = EntailmentMatrix.letters
    >>> SelfKnowledge().score(M("EN NN NN"), M("N N E")).stats
    {'hits': 1.0, 'total': 3.0}
    """

    name = "self_knowledge"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="contexts"), Entails("response", by="reference"))

    def score(self, grounded: EntailmentMatrix, correct: EntailmentMatrix) -> Score:
        return _ungrounded(grounded, correct, correct.supported())


def _ungrounded(
    grounded: EntailmentMatrix, correct: EntailmentMatrix, also: Sequence[Truth]
) -> Score:
    if not grounded.width:
        return Score.undefined(NO_CONTEXTS)
    hits = [both(negate(g), a) for g, a in zip(grounded.supported(), also, strict=True)]
    return fraction(hits, NO_CLAIMS).showing(
        claim_items(grounded, "context", hits, correct.supported())
    )
