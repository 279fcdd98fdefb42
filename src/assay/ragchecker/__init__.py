"""RAGChecker's front door: its JSON, its eleven metrics and its groups, on assay's judges."""

from __future__ import annotations

from assay.ragchecker.checker import RAGChecker
from assay.ragchecker.metrics import (
    METRIC_GROUP_MAP,
    all_metrics,
    generator_metrics,
    overall_metrics,
    retriever_metrics,
)
from assay.ragchecker.records import RAGResult, RAGResults, RetrievedDoc

__all__ = [
    "METRIC_GROUP_MAP",
    "RAGChecker",
    "RAGResult",
    "RAGResults",
    "RetrievedDoc",
    "all_metrics",
    "generator_metrics",
    "overall_metrics",
    "retriever_metrics",
]
