"""Claim-level evaluation of RAG and generated text.

A metric is arithmetic on verdicts; a need names the verdicts; a judge supplies them; each need of
a sample is met once.
"""

from assay.api import evaluate, evaluate_async, langchain, load, openai
from assay.asks import Judge
from assay.errors import AssayError, ConfigError, DataError, JudgeError, MissingField
from assay.judges.named import open_judge
from assay.judges.scripted import ScriptedJudge
from assay.metrics import (
    F1,
    AnswerCorrectness,
    AnswerRelevance,
    Bias,
    Bleu,
    ClaimRecall,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ContextUtilization,
    ContradictedContexts,
    FactualCorrectness,
    Faithfulness,
    Hallucination,
    Metric,
    NoiseSensitivity,
    Precision,
    Recall,
    Rouge,
    SelfKnowledge,
    SummaryCoherence,
    Toxicity,
    load_metric,
)
from assay.run import Row, Run
from assay.sample import Claim, Context, Sample
from assay.score import Score
from assay.verdicts import EntailmentMatrix, Verdict
from assay.version import __version__ as __version__

__all__ = [
    "F1",
    "AnswerCorrectness",
    "AnswerRelevance",
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
    "Faithfulness",
    "Hallucination",
    "Judge",
    "JudgeError",
    "Metric",
    "MissingField",
    "NoiseSensitivity",
    "Precision",
    "Recall",
    "Rouge",
    "Row",
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
