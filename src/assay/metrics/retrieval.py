"""What retrieval brought: reference claims found, useful contexts and their ranks, their use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.asks import Skill
from assay.metrics.base import (
    NO_CLAIMS,
    NO_CONTEXTS,
    NO_REFERENCE_CLAIMS,
    Metric,
    best_of_references,
    claim_items,
)
from assay.metrics.marked import share_marked
from assay.needs import Entails, Field, Need, Relevance
from assay.sample import Sample
from assay.score import Evidence, Item, Score, fraction
from assay.traits import Labels
from assay.verdicts import Cell, EntailmentMatrix, Mark, Truth, Verdict, any_of, both

SHOWN = 200
"""Characters of a context that its item shows."""


@dataclass(frozen=True)
class ClaimRecall(Metric):
    """Share of reference claims that some context entails (RAGChecker).

    The best of the references where there are several.

    >>> M = EntailmentMatrix.letters
    >>> ClaimRecall().score(M("EN NN")).value
    0.5
    """

    name = "claim_recall"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("reference", by="contexts"),)

    def score(self, retrieved: EntailmentMatrix) -> Score:
        if not retrieved.width:
            return Score.undefined(NO_CONTEXTS)
        return best_of_references(retrieved.claims, lambda keep: _found(retrieved.rows(keep)))


def _found(retrieved: EntailmentMatrix) -> Score:
    hits = retrieved.supported()
    return fraction(hits, NO_REFERENCE_CLAIMS).showing(claim_items(retrieved, "context", hits))


@dataclass(frozen=True)
class ContextPrecision(Metric):
    """Mean of precision@k over the ranks k that hold a useful context; 0 where none is useful.

    A context is useful if the sample labels it relevant or, unlabelled, if it entails a claim
    of any reference. ``ranked=False``: the share of useful contexts (RAGChecker).

    Definition: average precision, as ragas and Valor use it, over claim-based usefulness.

    >>> ContextPrecision().score((True, False, True)).value
    0.8333333333333333
    >>> ContextPrecision(ranked=False).score((True, False, True, True)).value
    0.75
    """

    name = "context_precision"
    ranked: bool = True

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Relevance(),)

    def score(self, useful: tuple[Truth, ...] | None) -> Score:
        if useful is None:
            return Score.undefined(NO_REFERENCE_CLAIMS)
        share = fraction(useful, NO_CONTEXTS)
        if not self.ranked or share.value is None:
            return share
        if share.unknown:
            # Without its answer a context would change the ranks of all that follow.
            said = f"the judge left {share.unknown} of {len(useful)} contexts unanswered"
            return Score.failed(said, share.unknown)
        hits = [bool(value) for value in useful]
        precisions = [sum(hits[:k]) / k for k, hit in enumerate(hits, 1) if hit]
        return Score(sum(precisions) / len(precisions) if precisions else 0.0)


@dataclass(frozen=True)
class RelevanceAgreement(Metric):
    """Share of the labelled contexts whose label is what the verdicts say.

    By its verdicts a context is relevant if it entails a claim of any reference. A low share
    means that labels and references are about different things, or that the judge errs.

    >>> labelled = Sample(contexts=[{"text": "a", "relevant": True}, {"text": "b"}])
    >>> RelevanceAgreement().score((False, True), labelled).value
    0.0
    """

    name = "relevance_agreement"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Relevance(labels=False), Field("contexts"))

    def score(self, inferred: tuple[Truth, ...] | None, sample: Sample) -> Score:
        if inferred is None:
            return Score.undefined(NO_REFERENCE_CLAIMS)
        pairs = zip(inferred, sample.contexts or (), strict=True)
        return fraction(
            [
                None if found is None else found is context.relevant
                for found, context in pairs
                if context.relevant is not None
            ],
            "no context is labelled",
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
        if not retrieved.width:
            return Score.undefined(NO_CONTEXTS)
        return best_of_references(retrieved.claims, lambda keep: _used(retrieved, stated, keep))


def _used(retrieved: EntailmentMatrix, stated: EntailmentMatrix, keep: Sequence[int]) -> Score:
    found, said = retrieved.rows(keep), stated.rows(keep)
    pairs = list(zip(found.supported(), said.supported(), strict=True))
    # A claim that was not retrieved is none of the response's business.
    kept = [None if f is None else s for f, s in pairs if f is not False]
    if keep and not kept:
        return Score.undefined("the contexts hold no reference claim")
    hits = [both(f, s) for f, s in pairs]
    return fraction(kept, NO_REFERENCE_CLAIMS).showing(claim_items(said, "response", hits))


@dataclass(frozen=True)
class ContextRecall(Metric):
    """Share of reference claims that the contexts entail (Valor, ragas).

    ``joined=False``: some one context entails the claim, which is `ClaimRecall`. ``joined=True``:
    all contexts together, as one premise (Valor, ragas); a claim may then lean on several. The
    best of the references where there are several.

    >>> M = EntailmentMatrix.letters
    >>> ContextRecall().score(M("EN NN")).value
    0.5
    """

    name = "context_recall"
    joined: bool = False

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("reference", by="contexts", joined=self.joined),)

    def score(self, retrieved: EntailmentMatrix) -> Score:
        found = ClaimRecall().score(retrieved)
        if not self.joined:
            return found
        # The premise is all contexts in one: its offsets belong to no single context.
        return found.showing(replace(item, evidence=None) for item in found.items)


@dataclass(frozen=True)
class ContextRelevance(Metric):
    """Share of contexts that are relevant to the question (Valor).

    A context is relevant if any part of it is; it is the judge that says so, whatever the sample
    labels. Items show the contexts in order, the first 200 characters of each.

    >>> ContextRelevance().score((("The lamp was lit.", Mark(True)), ("Bees.", Mark(False)))).value
    0.5
    """

    name = "context_relevance"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Labels("relevant_passage"),)

    def score(self, relevant: tuple[tuple[str, Mark], ...]) -> Score:
        shown = [(text[:SHOWN], mark) for text, mark in relevant]
        return share_marked("relevant_passage", shown, NO_CONTEXTS)


@dataclass(frozen=True)
class ContradictedContexts(Metric):
    """Share of contexts that contradict a claim of the response (Valor's hallucination).

    Takes a judge that tells contradiction from silence. ``stats`` count contexts; items show the
    claims, each with the first context that contradicts it.

    >>> M = EntailmentMatrix.letters
    >>> ContradictedContexts().score(M("EC EN")).value
    0.5
    """

    name = "contradicted_contexts"
    higher_is_better = False

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="contexts"),)

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"contradict"})

    def score(self, grounded: EntailmentMatrix) -> Score:
        if not grounded.width:
            return Score.undefined(NO_CONTEXTS)
        if not grounded.claims:
            return Score.undefined(NO_CLAIMS)
        against = [[cell.verdict.contradicted for cell in row] for row in grounded.cells]
        items = claim_items(grounded, "context", [any_of(row) for row in against])
        return fraction(map(any_of, zip(*against, strict=True))).showing(
            _contradiction(item, row) for item, row in zip(items, grounded.cells, strict=True)
        )


def _contradiction(item: Item, row: Sequence[Cell]) -> Item:
    """The item with the first premise that contradicts its claim, if one does."""
    for c, cell in enumerate(row):
        if cell.verdict is Verdict.CONTRADICTED:
            return replace(
                item,
                verdict=cell.verdict,
                probability=cell.probability,
                evidence=Evidence("context", c, cell.evidence),
                reason=cell.reason,
            )
    return item
