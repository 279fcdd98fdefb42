"""ragas' metrics that score a sample; those that score arguments are in ``collections``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from assay.ragas.absent import absent
from assay.ragas.metrics.legacy import (
    AnswerCorrectness,
    AnswerRelevancy,
    AnswerSimilarity,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    FactualCorrectness,
    Faithfulness,
    FaithfulnesswithHHEM,
    LLMContextPrecisionWithReference,
    LLMContextRecall,
    NoiseSensitivity,
    ResponseRelevancy,
    SemanticSimilarity,
    SingleTurnMetric,
)
from assay.ragas.metrics.result import MetricResult

__all__ = [
    "AnswerCorrectness",
    "AnswerRelevancy",
    "AnswerSimilarity",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "FactualCorrectness",
    "Faithfulness",
    "FaithfulnesswithHHEM",
    "LLMContextPrecisionWithReference",
    "LLMContextRecall",
    "MetricResult",
    "NoiseSensitivity",
    "ResponseRelevancy",
    "SemanticSimilarity",
    "SingleTurnMetric",
]

_READY: Mapping[str, type[SingleTurnMetric]] = MappingProxyType(
    {
        "answer_correctness": AnswerCorrectness,
        "answer_relevancy": AnswerRelevancy,
        "context_precision": ContextPrecision,
        "context_recall": ContextRecall,
        "faithfulness": Faithfulness,
    }
)
"""ragas' ready-made metrics; each use of a name gives a new one."""


def __getattr__(name: str) -> Any:
    if name in _READY:
        return _READY[name]()
    raise absent(__name__, name, __all__)
