"""Every metric by name: a dict that can be searched for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.metrics.base import Metric
from assay.metrics.bleu import Bleu
from assay.metrics.correctness import F1, AnswerCorrectness, FactualCorrectness, Precision, Recall
from assay.metrics.factuality import Factuality
from assay.metrics.generation import Faithfulness, Hallucination, NoiseSensitivity, SelfKnowledge
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

CATALOGUE: Mapping[str, type[Metric]] = MappingProxyType(
    {
        "faithfulness": Faithfulness,
        "noise_sensitivity": NoiseSensitivity,
        "hallucination": Hallucination,
        "self_knowledge": SelfKnowledge,
        "precision": Precision,
        "recall": Recall,
        "f1": F1,
        "answer_correctness": AnswerCorrectness,
        "factual_correctness": FactualCorrectness,
        "factuality": Factuality,
        "claim_recall": ClaimRecall,
        "context_recall": ContextRecall,
        "context_precision": ContextPrecision,
        "context_utilization": ContextUtilization,
        "contradicted_contexts": ContradictedContexts,
        "relevance_agreement": RelevanceAgreement,
        "context_relevance": ContextRelevance,
        "answer_relevance": AnswerRelevance,
        "bias": Bias,
        "toxicity": Toxicity,
        "summary_coherence": SummaryCoherence,
        "rubric": Rubric,
        "answer_similarity": AnswerSimilarity,
        "response_relevancy": ResponseRelevancy,
        "rouge": Rouge,
        "bleu": Bleu,
    }
)
