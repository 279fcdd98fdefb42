"""ragas' metrics that score keyword arguments and give a `MetricResult`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from assay.api import run_sync
from assay.ragas.absent import absent
from assay.ragas.dataset_schema import SingleTurnSample
from assay.ragas.metrics.door import DoorMetric
from assay.ragas.metrics.result import MetricResult
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
)
from assay.run import Row
from assay.score import Score

__all__ = [
    "AnswerCorrectness",
    "AnswerRelevancy",
    "BaseMetric",
    "ContextPrecision",
    "ContextPrecisionWithReference",
    "ContextRecall",
    "ContextRelevance",
    "FactualCorrectness",
    "Faithfulness",
    "MetricResult",
    "NoiseSensitivity",
    "SemanticSimilarity",
]

_FIELDS = frozenset(f.name for f in fields(SingleTurnSample))


@dataclass
class BaseMetric(DoorMetric):
    """A metric of keyword arguments: user_input, response, reference, retrieved_contexts.

    A lone string of contexts is one context. Arguments that the metric does not read are left
    out. All four ways to score raise ValueError for a missing or empty field and TypeError for an
    argument that is no field of a sample.
    """

    async def ascore(self, **kwargs: Any) -> MetricResult:
        """The score of one sample; raises JudgeError if the judge did not answer."""
        row, score = await self.score_one(self._sample(kwargs))
        return self._result(kwargs, row, score)

    def score(self, **kwargs: Any) -> MetricResult:
        """As `ascore`, from code that is not async, in a running event loop, too."""
        return run_sync(self.ascore(**kwargs))

    async def abatch_score(self, inputs: Sequence[Mapping[str, Any]]) -> list[MetricResult]:
        """The scores of many samples, in order; where the judge did not answer, NaN and why.

        All samples are checked before anything is asked.
        """
        samples = [self._sample(kwargs) for kwargs in inputs]
        for sample in samples:
            self.check(sample.model_dump())
        run = await self.run(samples)
        return [
            self._result(kwargs, row, score)
            for kwargs, row in zip(inputs, run, strict=True)
            for score in row.scores.values()
        ]

    def batch_score(self, inputs: Sequence[Mapping[str, Any]]) -> list[MetricResult]:
        """As `abatch_score`, from code that is not async."""
        return run_sync(self.abatch_score(inputs))

    def _sample(self, kwargs: Mapping[str, Any]) -> SingleTurnSample:
        if odd := sorted(set(kwargs) - _FIELDS):
            raise TypeError(f"{type(self).__name__} got unexpected arguments: {', '.join(odd)}")
        values = {name: kwargs[name] for name in self.columns if name in kwargs}
        if isinstance(contexts := values.get("retrieved_contexts"), str):
            values["retrieved_contexts"] = [contexts]
        self.check(values)
        return SingleTurnSample(**values)

    def _result(self, kwargs: Mapping[str, Any], row: Row, score: Score) -> MetricResult:
        traces = {"input": dict(kwargs), "output": score.as_dict()}
        return MetricResult(self.value(row, score), self.reason(score), traces)


@dataclass
class Faithfulness(FaithfulnessTerms, BaseMetric):
    """Share of response claims that the contexts, joined into one premise, entail."""


@dataclass
class NoiseSensitivity(NoiseSensitivityTerms, BaseMetric):
    """Share of response claims that are incorrect and entailed by contexts of the mode."""


@dataclass
class AnswerCorrectness(AnswerCorrectnessTerms, BaseMetric):
    """F-score of the response's claims against the reference, without embeddings."""

    def when_undefined(self, row: Row) -> float:
        """ragas gives 1 where either text makes no claim."""
        return 1.0


@dataclass
class FactualCorrectness(FactualCorrectnessTerms, BaseMetric):
    """Precision, recall or F-score of the response's claims; 0 where there are none."""


@dataclass
class ContextPrecisionWithReference(ContextPrecisionTerms, BaseMetric):
    """Mean of precision@k over the ranks of contexts that entail a reference claim."""

    name: str = "context_precision_with_reference"


@dataclass
class ContextPrecision(ContextPrecisionWithReference):
    """Mean of precision@k over the ranks of contexts that entail a reference claim."""

    name: str = "context_precision"


@dataclass
class ContextRecall(ContextRecallTerms, BaseMetric):
    """Share of reference claims that the contexts, joined, entail."""


@dataclass
class ContextRelevance(ContextRelevanceTerms, BaseMetric):
    """Share of contexts that bear on the question."""


@dataclass
class AnswerRelevancy(AnswerRelevancyTerms, BaseMetric):
    """Share of response claims that bear on the question; ragas compares embeddings."""


@dataclass
class SemanticSimilarity(SemanticSimilarityTerms, BaseMetric):
    """Cosine of the embeddings of response and reference, by a judge that gives some."""


def __getattr__(name: str) -> Any:
    raise absent(__name__, name, __all__)
