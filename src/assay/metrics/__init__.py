"""The metrics, by name."""

from __future__ import annotations

from assay.metrics.base import Metric
from assay.metrics.catalogue import CATALOGUE
from assay.metrics.correctness import F1, Precision, Recall
from assay.metrics.generation import (
    Faithfulness,
    Hallucination,
    NoiseSensitivity,
    SelfKnowledge,
)
from assay.metrics.names import load_metric, split_names
from assay.metrics.retrieval import ClaimRecall, ContextPrecision, ContextUtilization

__all__ = [
    "CATALOGUE",
    "F1",
    "ClaimRecall",
    "ContextPrecision",
    "ContextUtilization",
    "Faithfulness",
    "Hallucination",
    "Metric",
    "NoiseSensitivity",
    "Precision",
    "Recall",
    "SelfKnowledge",
    "load_metric",
    "split_names",
]
