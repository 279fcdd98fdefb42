"""Claim-level evaluation of RAG and generated text.

A metric is arithmetic on verdicts; a need names the verdicts; a judge supplies them; each need of
a sample is met once.
"""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.version import __version__ as __version__

if TYPE_CHECKING:
    from assay.api import evaluate, evaluate_async, langchain, load, openai
    from assay.asks import Judge
    from assay.errors import AssayError, ConfigError, DataError, JudgeError, MissingField
    from assay.judges.named import open_judge
    from assay.judges.scripted import ScriptedJudge
    from assay.metrics import (
        F1,
        AnswerCorrectness,
        AnswerRelevance,
        AnswerSimilarity,
        Bias,
        Bleu,
        ClaimRecall,
        ContextPrecision,
        ContextRecall,
        ContextRelevance,
        ContextUtilization,
        ContradictedContexts,
        FactualCorrectness,
        Factuality,
        Faithfulness,
        Hallucination,
        Metric,
        NoiseSensitivity,
        Precision,
        Recall,
        RelevanceAgreement,
        ResponseRelevancy,
        Rouge,
        Rubric,
        SelfKnowledge,
        SummaryCoherence,
        Toxicity,
        load_metric,
    )
    from assay.run import Row, Run
    from assay.sample import Claim, Context, Sample
    from assay.score import Score
    from assay.verdicts import EntailmentMatrix, Verdict

__all__ = [
    "F1",
    "AnswerCorrectness",
    "AnswerRelevance",
    "AnswerSimilarity",
    "AssayError",
    "Bias",
    "Bleu",
    "Claim",
    "ClaimRecall",
    "ConfigError",
    "Context",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "ContextUtilization",
    "ContradictedContexts",
    "DataError",
    "EntailmentMatrix",
    "FactualCorrectness",
    "Factuality",
    "Faithfulness",
    "Hallucination",
    "Judge",
    "JudgeError",
    "Metric",
    "MissingField",
    "NoiseSensitivity",
    "Precision",
    "Recall",
    "RelevanceAgreement",
    "ResponseRelevancy",
    "Rouge",
    "Row",
    "Rubric",
    "Run",
    "Sample",
    "Score",
    "ScriptedJudge",
    "SelfKnowledge",
    "SummaryCoherence",
    "Toxicity",
    "Verdict",
    "evaluate",
    "evaluate_async",
    "langchain",
    "load",
    "load_metric",
    "open_judge",
    "openai",
]

# Where each name lives: it is imported at its first use, so that `import assay` costs little.
_HOME = MappingProxyType(
    {
        "F1": "assay.metrics",
        "AnswerCorrectness": "assay.metrics",
        "AnswerRelevance": "assay.metrics",
        "AnswerSimilarity": "assay.metrics",
        "AssayError": "assay.errors",
        "Bias": "assay.metrics",
        "Bleu": "assay.metrics",
        "Claim": "assay.sample",
        "ClaimRecall": "assay.metrics",
        "ConfigError": "assay.errors",
        "Context": "assay.sample",
        "ContextPrecision": "assay.metrics",
        "ContextRecall": "assay.metrics",
        "ContextRelevance": "assay.metrics",
        "ContextUtilization": "assay.metrics",
        "ContradictedContexts": "assay.metrics",
        "DataError": "assay.errors",
        "EntailmentMatrix": "assay.verdicts",
        "FactualCorrectness": "assay.metrics",
        "Factuality": "assay.metrics",
        "Faithfulness": "assay.metrics",
        "Hallucination": "assay.metrics",
        "Judge": "assay.asks",
        "JudgeError": "assay.errors",
        "Metric": "assay.metrics",
        "MissingField": "assay.errors",
        "NoiseSensitivity": "assay.metrics",
        "Precision": "assay.metrics",
        "Recall": "assay.metrics",
        "RelevanceAgreement": "assay.metrics",
        "ResponseRelevancy": "assay.metrics",
        "Rouge": "assay.metrics",
        "Row": "assay.run",
        "Rubric": "assay.metrics",
        "Run": "assay.run",
        "Sample": "assay.sample",
        "Score": "assay.score",
        "ScriptedJudge": "assay.judges.scripted",
        "SelfKnowledge": "assay.metrics",
        "SummaryCoherence": "assay.metrics",
        "Toxicity": "assay.metrics",
        "Verdict": "assay.verdicts",
        "evaluate": "assay.api",
        "evaluate_async": "assay.api",
        "langchain": "assay.api",
        "load": "assay.api",
        "load_metric": "assay.metrics",
        "open_judge": "assay.judges.named",
        "openai": "assay.api",
    }
)


def __getattr__(name: str) -> object:
    """The exported name, from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """The exported names."""
    return [*__all__, "__version__"]
