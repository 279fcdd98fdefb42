"""Every metric by name: a dict that can be searched for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.metrics.base import Metric
from assay.metrics.correctness import F1, Precision, Recall
from assay.metrics.generation import Faithfulness, Hallucination, NoiseSensitivity, SelfKnowledge
from assay.metrics.retrieval import ClaimRecall, ContextPrecision, ContextUtilization

CATALOGUE: Mapping[str, type[Metric]] = MappingProxyType(
    {
        "faithfulness": Faithfulness,
        "noise_sensitivity": NoiseSensitivity,
        "hallucination": Hallucination,
        "self_knowledge": SelfKnowledge,
        "precision": Precision,
        "recall": Recall,
        "f1": F1,
        "claim_recall": ClaimRecall,
        "context_precision": ContextPrecision,
        "context_utilization": ContextUtilization,
    }
)
