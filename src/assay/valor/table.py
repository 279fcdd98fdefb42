"""What each of Valor's metrics is called here, and its value where there is nothing to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from assay.valor.records import MetricType, QueryResponse


@dataclass(frozen=True, slots=True)
class Entry:
    """One metric: its name here, the fields that it reads, and its values for empty inputs.

    ``undefined`` is the value where no claim, opinion or the like is found; None: an error.
    """

    native: str
    chunks: bool = False
    references: bool = False
    undefined: float | None = 0.0
    no_chunks: float | None = 0.0
    nothing: float = 0.0
    """The value without chunks and without references."""

    def settled(self, response: QueryResponse) -> float | None:
        """The value that is known without asking anybody, if there is one.

        Raises ValueError where Valor does: without a context, or (``no_chunks`` None) chunks.
        """
        if not self.chunks and not self.references:
            return None
        if response.context is None:
            raise ValueError("this metric needs a context, and the response has none")
        bare = [
            not given
            for read, given in (
                (self.chunks, response.context.prediction),
                (self.references, response.context.groundtruth),
            )
            if read
        ]
        if not any(bare):
            return None
        if len(bare) > 1 and all(bare):
            return self.nothing
        if self.chunks and self.no_chunks is None:
            raise ValueError("this metric means nothing without retrieved chunks")
        return 0.0


LLM_METRICS: Mapping[MetricType, Entry] = MappingProxyType(
    {
        MetricType.AnswerCorrectness: Entry("answer_correctness", references=True),
        MetricType.AnswerRelevance: Entry("answer_relevance"),
        MetricType.Bias: Entry("bias"),
        MetricType.ContextPrecision: Entry(
            "context_precision", chunks=True, references=True, nothing=1.0
        ),
        MetricType.ContextRecall: Entry(
            "context_recall(joined=true)",
            chunks=True,
            references=True,
            nothing=1.0,
            undefined=None,
        ),
        MetricType.ContextRelevance: Entry("context_relevance", chunks=True),
        MetricType.Faithfulness: Entry("faithfulness(joined=true)", chunks=True, undefined=1.0),
        MetricType.Hallucination: Entry("contradicted_contexts", chunks=True, no_chunks=None),
        MetricType.SummaryCoherence: Entry("summary_coherence", undefined=None),
        MetricType.Toxicity: Entry("toxicity"),
    }
)
"""Valor's LLM-guided metrics, in its order."""
