"""Valor's records: what is evaluated, and the metrics that come out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class MetricType(StrEnum):
    """The names of Valor's text generation metrics."""

    AnswerCorrectness = "AnswerCorrectness"
    AnswerRelevance = "AnswerRelevance"
    Bias = "Bias"
    BLEU = "BLEU"
    ContextPrecision = "ContextPrecision"
    ContextRecall = "ContextRecall"
    ContextRelevance = "ContextRelevance"
    Faithfulness = "Faithfulness"
    Hallucination = "Hallucination"
    ROUGE = "ROUGE"
    SummaryCoherence = "SummaryCoherence"
    Toxicity = "Toxicity"


@dataclass
class Context:
    """Right answers (``groundtruth``) and retrieved chunks (``prediction``)."""

    groundtruth: list[str] = field(default_factory=list)
    prediction: list[str] = field(default_factory=list)


@dataclass
class QueryResponse:
    """A question and its answer; for a summary, the source text and the summary."""

    query: str
    response: str
    context: Context | None = None


@dataclass
class Metric:
    """One metric of one response.

    ``value`` is a number or, where there is none, {"type": ..., "message": ...}: which error, and
    what it says. ``type`` is the metric's own in either case.
    """

    type: MetricType
    value: int | float | dict[str, str]
    parameters: dict[str, Any]

    @property
    def failed(self) -> bool:
        """Whether there is no number."""
        return isinstance(self.value, dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {"type": self.type.value, "value": self.value, "parameters": self.parameters}
