"""The table: which native metric computes what ragas calls by which name, and what it takes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.ragas.metrics.door import DoorMetric, check_mode
from assay.run import Row
from assay.score import Score


@dataclass
class FaithfulnessTerms(DoorMetric):
    """Share of response claims that the contexts, joined into one premise, entail."""

    name: str = "faithfulness"
    columns = ("user_input", "response", "retrieved_contexts")
    spared = ("user_input",)
    counted = "claims are supported by the contexts"

    def native(self) -> str:
        return "faithfulness(joined=true)"


@dataclass
class NoiseSensitivityTerms(DoorMetric):
    """Share of response claims that are incorrect and that relevant (irrelevant) contexts entail.

    Raises ValueError for a mode other than "relevant" and "irrelevant".
    """

    name: str = "noise_sensitivity"
    mode: str = "relevant"
    columns = ("user_input", "response", "reference", "retrieved_contexts")

    def __post_init__(self) -> None:
        check_mode(self.mode, ("relevant", "irrelevant"))

    @property
    def counted(self) -> str:  # type: ignore[override]
        """What holds of the claims that count."""
        kind = "a relevant context" if self.mode == "relevant" else "irrelevant contexts only"
        return f"claims are incorrect and supported by {kind}"

    def native(self) -> str:
        return f"noise_sensitivity(mode={self.mode}, dialect=ragas)"


@dataclass
class AnswerCorrectnessTerms(DoorMetric):
    """F-score of the response's claims against the reference.

    ragas adds a similarity of embeddings with the second of ``weights``; here only the claims are
    weighed, as with ``weights=[1, 0]``. Weights and embeddings that ask for it are accepted with
    a warning.
    """

    name: str = "answer_correctness"
    weights: Sequence[float] | None = None
    beta: float = 1.0
    embeddings: Any = None
    columns = ("user_input", "response", "reference")
    spared = ("user_input",)
    counted = "claims of response and reference are in the other"
    note = "Claims only: no similarity of embeddings (weights [1, 0])."

    def __post_init__(self) -> None:
        if self.embeddings is not None or any(list(self.weights or ())[1:]):
            warnings.warn(
                "answer_correctness weighs claims only: weights and embeddings have no effect",
                stacklevel=3,
            )

    def native(self) -> str:
        if self.beta == 1:
            return "answer_correctness"
        return f"factual_correctness(beta={self.beta})"


def no_claims(row: Row, of: str) -> bool:
    """Whether a text of the row is known to make no claim."""
    return not row.claims.get(of, ())


@dataclass
class FactualCorrectnessTerms(DoorMetric):
    """Precision, recall or F-score of the response's claims against the reference; 0 if none.

    ``atomicity`` and ``coverage`` have no effect: claims are atomic and cover the whole text.
    Raises ValueError for a mode other than "f1", "precision" and "recall".
    """

    name: str = "factual_correctness"
    mode: str = "f1"
    beta: float = 1.0
    atomicity: str = "low"
    coverage: str = "low"
    columns = ("response", "reference")
    counted = "claims of response and reference are in the other"

    def __post_init__(self) -> None:
        check_mode(self.mode, ("precision", "recall", "f1"))

    def native(self) -> str:
        return f"factual_correctness(mode={self.mode}, beta={self.beta})"

    def when_undefined(self, row: Row) -> float:
        """ragas gives 0 where there are no claims."""
        return 0.0


@dataclass
class ContextPrecisionTerms(DoorMetric):
    """Mean of precision@k over the ranks of useful contexts.

    A context is useful if it entails a claim of the reference, where ragas asks a model whether
    the context was useful.
    """

    name: str = "context_precision"
    columns = ("user_input", "reference", "retrieved_contexts")
    spared = ("user_input",)
    note = "A context is useful if it supports a claim of the reference."

    def native(self) -> str:
        return "context_precision"


@dataclass
class ContextRecallTerms(DoorMetric):
    """Share of reference claims that the contexts, joined, entail; ragas counts sentences."""

    name: str = "context_recall"
    columns = ("user_input", "reference", "retrieved_contexts")
    spared = ("user_input",)
    counted = "claims of the reference are supported by the contexts"

    def native(self) -> str:
        return "context_recall(joined=true)"


@dataclass
class ContextRelevanceTerms(DoorMetric):
    """Share of contexts that bear on the question; ragas rates all of them at once, 0 to 2."""

    name: str = "context_relevance"
    columns = ("user_input", "retrieved_contexts")
    counted = "contexts are relevant to the question"

    def native(self) -> str:
        return "context_relevance"


@dataclass
class AnswerRelevancyTerms(DoorMetric):
    """Share of response claims that bear on the question.

    ragas compares embeddings of the question with those of questions made from the response:
    another quantity under the same name, which `assay.ResponseRelevancy` computes. ``strictness``
    and ``embeddings`` have no effect.
    """

    name: str = "answer_relevancy"
    strictness: int = 3
    embeddings: Any = None
    columns = ("user_input", "response")
    counted = "claims are relevant to the question"
    note = "Not ragas' similarity of questions."

    def native(self) -> str:
        return "answer_relevance"


@dataclass
class SemanticSimilarityTerms(DoorMetric):
    """Cosine of the embeddings of response and reference; with ``threshold``, 1 from there on.

    The embeddings are those of the judge, which must give some: an OpenAI-compatible endpoint.
    ``embeddings`` are accepted with a warning.
    """

    name: str = "semantic_similarity"
    embeddings: Any = None
    threshold: float | None = None
    columns = ("response", "reference")
    note = "Cosine of the judge's embeddings."

    def __post_init__(self) -> None:
        if self.embeddings is not None:
            warnings.warn(
                "semantic similarity takes the embeddings of the judge: embeddings have no effect",
                stacklevel=3,
            )

    def native(self) -> str:
        return "answer_similarity"

    def value(self, row: Row, score: Score) -> float:
        """The cosine, or whether it reaches the threshold."""
        cosine = super().value(row, score)
        if self.threshold is None or math.isnan(cosine):
            return cosine
        return float(cosine >= self.threshold)
