"""What retrieval brought: reference claims found, useful contexts and their ranks, their use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.metrics.base import (
    NO_CONTEXTS,
    NO_REFERENCE_CLAIMS,
    Metric,
    best_of_references,
    claim_items,
)
from assay.needs import Entails, Need, Relevance
from assay.score import Score, fraction
from assay.verdicts import EntailmentMatrix, Truth, any_of, both


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
        known = [value for value in useful if value is not None]
        precisions = [sum(known[:k]) / k for k, hit in enumerate(known, 1) if hit]
        value = sum(precisions) / len(precisions) if precisions else 0.0
        return Score(value, stats={"hits": value, "total": 1.0}, unknown=share.unknown)


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
    if keep and not kept and any_of(found.supported()) is False:
        return Score.undefined("the contexts hold no reference claim")
    hits = [both(f, s) for f, s in pairs]
    return fraction(kept, NO_REFERENCE_CLAIMS).showing(claim_items(said, "response", hits))
