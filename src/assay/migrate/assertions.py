"""promptfoo's assertions as metrics: which there is, what it takes and how it differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from assay.errors import ConfigError
from assay.metrics import load_metric
from assay.runner import closure
from assay.sample import Sample

_NATIVE = "assay:"
_STRINGS = "it looks at strings, not claims; assay eval checks it"
_PROMPT = "it has a criterion of its own; assay eval grades it"
_RUBRIC = "it is not done here; assay eval grades llm-rubric"


@dataclass(frozen=True, slots=True)
class Mapped:
    """A metric's name; whether the assertion's value is a reference; how the number differs."""

    metric: str
    reference: bool = False
    differs: str = ""


METRICS: Mapping[str, Mapped] = MappingProxyType(
    {
        "context-faithfulness": Mapped("faithfulness(joined=true)"),
        "context-recall": Mapped(
            "context_recall(joined=true)", True, "claims of the reference rather than lines"
        ),
        "context-relevance": Mapped(
            "context_relevance", differs="share of contexts rather than of sentences"
        ),
        "answer-relevance": Mapped(
            "response_relevancy", differs="0 where the response is noncommittal"
        ),
        "similar": Mapped("answer_similarity", True),
        "similar:cosine": Mapped("answer_similarity", True),
        "factuality": Mapped("factuality", True, "its class is found from verdicts on claims"),
        "model-graded-factuality": Mapped(
            "factuality", True, "its class is found from verdicts on claims"
        ),
        "noise-sensitivity": Mapped("noise_sensitivity(mode=relevant, dialect=promptfoo)", True),
        "rouge-n": Mapped("rouge(type=rouge1)", True),
        "bleu": Mapped(
            "bleu(tokenizer=whitespace)", True, "case counts and orders without a match give 0"
        ),
    }
)

_EMBEDDED = frozenset({"claims", "entail"})
"""What the embedded judge does."""

WITHOUT: Mapping[str, str] = MappingProxyType(
    {
        "llm-rubric": _PROMPT,
        "agent-rubric": _RUBRIC,
        "search-rubric": _RUBRIC,
        "g-eval": _PROMPT,
        "model-graded-closedqa": _PROMPT,
        "pi": _RUBRIC,
        "similar": "of similarities there is the cosine only",
        "moderation": "toxicity and bias are shares of opinions, not classes of harm",
        "python": "programs are no metrics; assay eval --allow-code runs them",
        "javascript": "programs are not run; compute it in Python from the rows",
        "ruby": "programs are not run; compute it in Python from the rows",
        "webhook": "nothing is sent anywhere but to a judge",
        "latency": "responses are recorded, not made",
        "cost": "responses are recorded, not made",
        "select-best": "it compares responses; score each and compare the rows",
        "max-score": "it compares responses; score each and compare the rows",
        "human": "people's verdicts are not taken",
    }
)


def metric_of(assertion: Mapping[str, Any]) -> Mapped | str:
    """The metric for an assertion, or why there is none.

    >>> metric_of({"type": "context-faithfulness"}).metric
    'faithfulness(joined=true)'
    >>> metric_of({"type": "latency"})
    'responses are recorded, not made'
    """
    kind = str(assertion.get("type") or "").removeprefix("not-")
    written = assertion.get("config")
    config: Mapping[str, Any] = written if isinstance(written, Mapping) else {}
    if kind == "noise-sensitivity":
        return _noise(config)
    if kind.startswith(_NATIVE):
        return _native(kind.removeprefix(_NATIVE), assertion)
    if (mapped := METRICS.get(kind)) is not None:
        if config.get("joined") is False:
            return replace(mapped, metric=mapped.metric.replace("joined=true", "joined=false"))
        return mapped
    return WITHOUT.get(kind.partition(":")[0]) or _unmapped(kind)


def _noise(config: Mapping[str, Any]) -> Mapped | str:
    mode, dialect = config.get("mode", "relevant"), config.get("dialect", "promptfoo")
    if str(mode) not in {"relevant", "irrelevant"}:
        return f"mode {mode!r} is neither relevant nor irrelevant"
    try:
        load_metric(f"noise_sensitivity(mode={mode}, dialect={dialect})")
    except ConfigError as error:
        return str(error)
    return Mapped(f"noise_sensitivity(mode={mode}, dialect={dialect})", True)


def _native(name: str, assertion: Mapping[str, Any]) -> Mapped | str:
    """A metric of assay's own that an assertion names."""
    try:
        load_metric(name)
    except ConfigError as error:
        return str(error)
    return Mapped(name, assertion.get("value") is not None)


def _unmapped(kind: str) -> str:
    """Why a type is no metric."""
    from assay.suite.kinds import kind_of

    if not kind:
        return "it has no type"
    try:
        kind_of(kind)
    except ConfigError as error:
        return str(error)
    return _STRINGS


def takes_model(metric: str) -> bool:
    """Whether a metric asks for what the embedded judge does not do.

    >>> takes_model("response_relevancy"), takes_model("faithfulness")
    (True, False)
    """
    found = load_metric(metric)
    needs = closure(found.needs, Sample("?", "?", ["?"], ["?"]))
    return not _EMBEDDED.issuperset(found.skills.union(*(need.skills for need in needs)))


def dropped(assertion: Mapping[str, Any]) -> list[str]:
    """What of a mapped assertion has no counterpart."""
    out = []
    if str(assertion.get("type")).startswith("not-"):
        out.append("the negation: read the metric the other way round")
    if assertion.get("threshold") is not None:
        out.append(f"threshold {assertion['threshold']}: compare the score with it yourself")
    if str(assertion.get("weight", 1)) != "1":
        out.append(f"weight {assertion['weight']}: scores are not added up")
    out += [
        f"{key}: it is not applied"
        for key in ("provider", "rubricPrompt", "transform", "contextTransform")
        if assertion.get(key) is not None
    ]
    return out
