"""Valor's front door: its evaluator of generated text and its metrics, on assay's judges."""

from __future__ import annotations

from assay.valor.clients import ClientWrapper, MistralWrapper, OpenAIWrapper
from assay.valor.evaluator import Evaluator
from assay.valor.records import Context, Metric, MetricType, QueryResponse

__all__ = [
    "ClientWrapper",
    "Context",
    "Evaluator",
    "Metric",
    "MetricType",
    "MistralWrapper",
    "OpenAIWrapper",
    "QueryResponse",
]
