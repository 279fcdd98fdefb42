"""Valor's records as samples, and scores as Valor's values."""

from __future__ import annotations

from assay.sample import Sample
from assay.score import Score
from assay.valor.records import MetricType, QueryResponse
from assay.valor.table import LLM_METRICS

INVALID_REPLY = "InvalidLLMResponseError"
"""Valor's name for replies that cannot be used."""


def as_sample(response: QueryResponse) -> Sample:
    """The sample of a response: chunks are its contexts, right answers its references."""
    context = response.context
    return Sample(
        response.query,
        response.response,
        context.prediction if context else None,
        context.groundtruth if context else None,
    )


def right_answers(response: QueryResponse) -> list[str]:
    """The right answers; raises ValueError where there are none."""
    if response.context is None:
        raise ValueError("this metric needs a context, and the response has none")
    if not response.context.groundtruth:
        raise ValueError("this metric needs a right answer: the context has no groundtruth")
    return response.context.groundtruth


def as_value(type_: MetricType, score: Score) -> int | float | dict[str, str]:
    """Valor's value of a score: a number, its own for nothing to measure, or an error."""
    if score.value is not None:
        return int(score.value) if type_ is MetricType.SummaryCoherence else score.value
    instead = LLM_METRICS[type_].undefined
    if score.status == "undefined":
        return {"type": "Undefined", "message": score.reason} if instead is None else instead
    kind, colon, message = score.reason.partition(": ")
    if colon and kind.isidentifier() and kind != "MalformedAnswer":
        return {"type": kind, "message": message}
    return {
        "type": INVALID_REPLY,
        "message": message if kind == "MalformedAnswer" else score.reason,
    }


def as_error(error: Exception) -> dict[str, str]:
    """An error as the value of a metric."""
    return {"type": type(error).__name__, "message": str(error)}
