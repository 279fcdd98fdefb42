"""RAGChecker's names of metrics and groups, and what each metric is called here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from assay.errors import ConfigError, did_you_mean

overall_metrics = "overall_metrics"
retriever_metrics = "retriever_metrics"
generator_metrics = "generator_metrics"
all_metrics = "all_metrics"

NATIVE: Mapping[str, str] = MappingProxyType(
    {
        "precision": "precision",
        "recall": "recall",
        "f1": "f1",
        "claim_recall": "claim_recall",
        "context_precision": "context_precision(ranked=false)",
        "context_utilization": "context_utilization",
        "noise_sensitivity_in_relevant": "noise_sensitivity(mode=relevant)",
        "noise_sensitivity_in_irrelevant": "noise_sensitivity(mode=irrelevant)",
        "hallucination": "hallucination",
        "self_knowledge": "self_knowledge",
        "faithfulness": "faithfulness",
    }
)
"""RAGChecker's metrics by their names here."""

METRIC_GROUP_MAP: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        overall_metrics: ("precision", "recall", "f1"),
        retriever_metrics: ("claim_recall", "context_precision"),
        generator_metrics: (
            "context_utilization",
            "noise_sensitivity_in_relevant",
            "noise_sensitivity_in_irrelevant",
            "hallucination",
            "self_knowledge",
            "faithfulness",
        ),
        all_metrics: tuple(NATIVE),
    }
)
"""The metrics of each group."""


def chosen_metrics(names: str | Iterable[str]) -> tuple[str, ...]:
    """The metrics that names of metrics and groups stand for, in RAGChecker's order.

    "overall" is short for "overall_metrics", and so on. Raises ConfigError for an unknown name.

    >>> chosen_metrics(["retriever", "f1"])
    ('f1', 'claim_recall', 'context_precision')
    """
    chosen: set[str] = set()
    for name in [names] if isinstance(names, str) else names:
        group = name if name in METRIC_GROUP_MAP else f"{name}_metrics"
        if name not in NATIVE and group not in METRIC_GROUP_MAP:
            known = [*NATIVE, *METRIC_GROUP_MAP]
            raise ConfigError(f"RAGChecker has no metric {name!r}; {did_you_mean(name, known)}")
        chosen.update([name] if name in NATIVE else METRIC_GROUP_MAP[group])
    return tuple(name for name in NATIVE if name in chosen)
