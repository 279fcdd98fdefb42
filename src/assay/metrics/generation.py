"""How the response uses what was retrieved: grounded, misled, invented, known, overlooked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.metrics.base import Metric, claim_items
from assay.needs import Entails, Field, Need, Relevance
from assay.sample import Sample
from assay.score import Score, fraction
from assay.verdicts import EntailmentMatrix, Truth, any_of, both, negate

Incorrect = Literal["not_entailed", "contradicted"]
NO_CONTEXTS = "no contexts"


def wrong(correct: EntailmentMatrix, policy: Incorrect) -> tuple[Truth, ...]:
    """Per claim: is it incorrect? Not entailed by any reference, or contradicted by one."""
    if policy == "contradicted":
        return correct.contradicted()
    return tuple(negate(value) for value in correct.supported())


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
        source = "context"
        score = fraction(hits, "the response makes no claims")
        items = claim_items(grounded, source, hits)
        if self.joined and grounded.width == 1:
            # The premise is all contexts in one: its offsets belong to no single context.
            items = [_without_place(item) for item in items]
        return score.showing(items)


def _without_place(item: Any) -> Any:
    from dataclasses import replace

    return replace(item, evidence=None)


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
            return Score.undefined("the reference makes no claims")
        else:
            misled = self._misled(grounded, relevance)
        hits = [both(b, m) for b, m in zip(bad, misled, strict=True)]
        return fraction(hits, "the response makes no claims").showing(
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
    return fraction(hits, "the response makes no claims").showing(
        claim_items(grounded, "context", hits, correct.supported())
    )


@dataclass(frozen=True)
class ContextUtilization(Metric):
    """Share of the retrieved reference claims that the response states (RAGChecker).

    The best of the references where there are several.

    >>> M = EntailmentMatrix.letters
    >>> ContextUtilization().score(M("E E N"), M("E N E")).value
    0.5
    """

    name = "context_utilization"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("reference", by="contexts"), Entails("reference", by="response"))

    def score(self, retrieved: EntailmentMatrix, stated: EntailmentMatrix) -> Score:
        from assay.metrics.correctness import best_of_references

        if not retrieved.width:
            return Score.undefined(NO_CONTEXTS)
        return best_of_references(retrieved.claims, lambda keep: _used(retrieved, stated, keep))


def _used(retrieved: EntailmentMatrix, stated: EntailmentMatrix, keep: Sequence[int]) -> Score:
    found, said = retrieved.rows(keep), stated.rows(keep)
    pairs = list(zip(found.supported(), said.supported(), strict=True))
    # A claim that was not retrieved is none of the response's business.
    kept = [None if f is None else s for f, s in pairs if f is not False]
    if keep and not kept and any_of(found.supported()) is False:
        return Score.undefined("the contexts hold no reference claim")
    hits = [both(f, s) for f, s in pairs]
    return fraction(kept, "the reference makes no claims").showing(
        claim_items(said, "response", hits)
    )
