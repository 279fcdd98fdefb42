"""ragas' metrics that score a `SingleTurnSample`."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import dataclass
from typing import Any

from assay.api import run_sync
from assay.asks import Judge
from assay.ragas.dataset_schema import SingleTurnSample
from assay.ragas.llms import BaseRagasLLM, as_llm
from assay.ragas.metrics.door import DoorMetric
from assay.ragas.metrics.table import (
    AnswerCorrectnessTerms,
    AnswerRelevancyTerms,
    ContextPrecisionTerms,
    ContextRecallTerms,
    ContextRelevanceTerms,
    FactualCorrectnessTerms,
    FaithfulnessTerms,
    NoiseSensitivityTerms,
    SemanticSimilarityTerms,
    no_claims,
)
from assay.run import Row

LOG = logging.getLogger("assay.ragas")


@dataclass
class SingleTurnMetric(DoorMetric):
    """A metric of one sample, as a plain number; NaN where there is nothing to measure.

    ``max_retries`` has no effect, as in ragas: the judge asks again by rules of its own.
    """

    max_retries: int = 1
    blank = True

    def init(self, run_config: Any = None) -> None:
        """Nothing: the metric is ready."""

    async def single_turn_ascore(
        self,
        sample: SingleTurnSample,
        callbacks: Any = None,
        timeout: float | None = None,  # noqa: ASYNC109 - ragas' signature
    ) -> float:
        """The score of one sample. ``timeout`` is in seconds; ``callbacks`` have no effect.

        Raises ValueError for a missing field, JudgeError if the judge did not answer, and
        TimeoutError.
        """
        async with asyncio.timeout(timeout):
            row, score = await self.score_one(sample)
        value = self.value(row, score)
        if math.isnan(value):
            LOG.warning("%s is NaN: %s", self.name, score.reason)
        return value

    def single_turn_score(self, sample: SingleTurnSample, callbacks: Any = None) -> float:
        """As `single_turn_ascore`, from code that is not async, in a running event loop, too."""
        return run_sync(self.single_turn_ascore(sample, callbacks))


@dataclass
class Faithfulness(FaithfulnessTerms, SingleTurnMetric):
    """Share of response claims that the contexts, joined into one premise, entail."""


@dataclass
class FaithfulnesswithHHEM(Faithfulness):
    """Faithfulness with the verdicts of Vectara's HHEM-2.1-Open, run on ``device``.

    The claims are those of ``llm`` or, without one, of the embedded splitter, where ragas raises
    an AssertionError. ``batch_size`` pairs are scored at once.
    """

    name: str = "faithfulness_with_hhem"
    device: str = "cpu"
    batch_size: int = 10

    def judge_key(self) -> tuple[Any, ...]:
        return "hhem", self.device, self.batch_size

    def make_llm(self, llm: Any) -> BaseRagasLLM:
        from assay.judges import hhem

        device, batch_size = self.device, self.batch_size
        under = None if llm is None else as_llm(llm)

        def make(_: float | None) -> Judge:
            extract = under.judge if under else None
            return hhem.hhem_judge(device=device, batch_size=batch_size, extract=extract)

        return BaseRagasLLM(make, closes=under is None, under=under)


@dataclass
class NoiseSensitivity(NoiseSensitivityTerms, SingleTurnMetric):
    """Share of response claims that are incorrect and entailed by contexts of the mode."""

    blank = False


@dataclass
class AnswerCorrectness(AnswerCorrectnessTerms, SingleTurnMetric):
    """F-score of the response's claims against the reference, without embeddings."""

    def when_undefined(self, row: Row) -> float:
        """1 if neither text makes a claim, and 0 if one does, as in ragas."""
        return float(no_claims(row, "response") and no_claims(row, "reference"))


@dataclass
class FactualCorrectness(FactualCorrectnessTerms, SingleTurnMetric):
    """Precision, recall or F-score of the response's claims; 0 where there are none."""


@dataclass
class LLMContextPrecisionWithReference(ContextPrecisionTerms, SingleTurnMetric):
    """Mean of precision@k over the ranks of contexts that entail a reference claim."""

    name: str = "llm_context_precision_with_reference"


@dataclass
class ContextPrecision(LLMContextPrecisionWithReference):
    """Mean of precision@k over the ranks of contexts that entail a reference claim."""

    name: str = "context_precision"


@dataclass
class LLMContextRecall(ContextRecallTerms, SingleTurnMetric):
    """Share of reference claims that the contexts, joined, entail."""


@dataclass
class ContextRecall(LLMContextRecall):
    """Share of reference claims that the contexts, joined, entail."""


@dataclass
class ContextRelevance(ContextRelevanceTerms, SingleTurnMetric):
    """Share of contexts that bear on the question."""

    name: str = "nv_context_relevance"


@dataclass
class ResponseRelevancy(AnswerRelevancyTerms, SingleTurnMetric):
    """Share of response claims that bear on the question; ragas compares embeddings."""


@dataclass
class AnswerRelevancy(ResponseRelevancy):
    """Share of response claims that bear on the question; ragas compares embeddings."""


@dataclass
class SemanticSimilarity(SemanticSimilarityTerms, SingleTurnMetric):
    """Cosine of the embeddings of response and reference, by a judge that gives some."""


@dataclass
class AnswerSimilarity(SemanticSimilarity):
    """Cosine of the embeddings of response and reference, by a judge that gives some."""

    name: str = "answer_similarity"
