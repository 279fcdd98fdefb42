"""The metrics, by name."""

from __future__ import annotations

from assay.metrics.base import Metric
from assay.metrics.bleu import Bleu
from assay.metrics.catalogue import CATALOGUE
from assay.metrics.correctness import F1, AnswerCorrectness, FactualCorrectness, Precision, Recall
from assay.metrics.factuality import Factuality
from assay.metrics.generation import (
    Faithfulness,
    Hallucination,
    NoiseSensitivity,
    SelfKnowledge,
)
from assay.metrics.names import load_metric, split_names
from assay.metrics.response import AnswerRelevance, Bias, SummaryCoherence, Toxicity
from assay.metrics.retrieval import (
    ClaimRecall,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ContextUtilization,
    ContradictedContexts,
    RelevanceAgreement,
)
from assay.metrics.rouge import Rouge
from assay.metrics.rubric import Rubric
from assay.metrics.similarity import AnswerSimilarity, ResponseRelevancy

__all__ = [
    "CATALOGUE",
    "F1",
    "AnswerCorrectness",
    "AnswerRelevance",
    "AnswerSimilarity",
    "Bias",
    "Bleu",
    "ClaimRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "ContextUtilization",
    "ContradictedContexts",
    "FactualCorrectness",
    "Factuality",
    "Faithfulness",
    "Hallucination",
    "Metric",
    "NoiseSensitivity",
    "Precision",
    "Recall",
    "RelevanceAgreement",
    "ResponseRelevancy",
    "Rouge",
    "Rubric",
    "SelfKnowledge",
    "SummaryCoherence",
    "Toxicity",
    "load_metric",
    "split_names",
]
