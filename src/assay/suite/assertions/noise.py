"""noise-sensitivity: the share of claims that noise in the context may have misled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.metrics import Hallucination, Metric, NoiseSensitivity, RelevanceAgreement
from assay.sample import Context
from assay.score import Item, Score
from assay.suite.assertions.base import CannotCheckError, Found, Given, stays_below
from assay.suite.assertions.graded import GradedKind, Wanted, explained
from assay.suite.assertions.sources import contexts_of, question_of, references_of, said_of

MODES = ("relevant", "irrelevant")
DIALECTS = ("promptfoo", "ragas", "assay")
CANNOT_FAIL = "no chunk is labelled relevant: false, so this mode cannot fail"
_SHOWN = 3
"""Offending claims that a reason quotes."""


def _choice(given: Given, key: str, choices: tuple[str, ...]) -> Any:
    value = given.config.get(key, choices[0])
    if value not in choices:
        raise CannotCheckError(f"config.{key} is {value!r}; it must be one of {', '.join(choices)}")
    return value


def _infers(given: Given, contexts: tuple[Context, ...]) -> bool:
    """Whether labels are held against the relevance that the verdicts show, for one more call."""
    wanted = given.config.get("inferRelevance", True)
    if not isinstance(wanted, bool):
        raise CannotCheckError("config.inferRelevance must be true or false")
    return wanted and any(context.relevant is not None for context in contexts)


def want(given: Given) -> Wanted:
    """Noise sensitivity in the mode and dialect of the config, and the figures beside it."""
    said = said_of(given)
    mode, dialect = _choice(given, "mode", MODES), _choice(given, "dialect", DIALECTS)
    contexts = contexts_of(given)
    if contexts is None and dialect != "promptfoo":
        raise CannotCheckError(
            f"dialect {dialect} needs contexts: give contextChunks, context or contextTransform"
        )
    metrics: dict[str, Metric] = {"noise_sensitivity": NoiseSensitivity(mode, dialect)}
    for other in MODES:
        metrics[f"promptfoo_{other}"] = NoiseSensitivity(other, "promptfoo")  # type: ignore[arg-type]
    if contexts:
        if _infers(given, contexts):
            metrics["relevance_agreement"] = RelevanceAgreement()
        metrics["hallucination"] = Hallucination()
        if dialect != "promptfoo" or _infers(given, contexts):
            for other in MODES:
                metrics[f"ragas_{other}"] = NoiseSensitivity(other, "ragas")  # type: ignore[arg-type]
    return Wanted(
        metrics,
        said,
        question_of(given),
        contexts or (),
        references_of(given),
    )


def read(given: Given, scores: Mapping[str, Score]) -> Found:
    """Holds if the share stays at or below the threshold; the reason quotes the claims."""
    score = scores["noise_sensitivity"]
    value = score.value or 0.0
    bound = given.threshold or 0.0
    reason = explained("noise sensitivity", score, bound, lower=True)
    if cannot_fail(given):
        reason += f"; {CANNOT_FAIL}"
    blamed = [item for item in score.items if item.hit]
    if blamed:
        reason += "; " + _quoted(blamed)
    return Found(stays_below(value, bound), reason, value, 1 - value, score.items, _figures(scores))


def cannot_fail(given: Given) -> bool:
    """Whether the share is 0 whatever the output says; raises CannotCheckError for bad contexts.

    In mode irrelevant of promptfoo's dialect a claim counts only where a chunk is labelled
    ``relevant: false``.
    """
    if _choice(given, "mode", MODES) != "irrelevant":
        return False
    if _choice(given, "dialect", DIALECTS) != "promptfoo":
        return False
    return all(context.relevant is not False for context in contexts_of(given) or ())


def _figures(scores: Mapping[str, Score]) -> dict[str, float | None]:
    """Both modes and the shares of incorrect and hallucinated claims; ragas' modes, and how far
    labels agree with the relevance that the verdicts show, where contexts are labelled.
    """
    names = {
        "incorrect": "promptfoo_relevant",
        "relevant": "promptfoo_relevant",
        "irrelevant": "promptfoo_irrelevant",
        "hallucinated": "hallucination",
        "ragas_relevant": "ragas_relevant",
        "ragas_irrelevant": "ragas_irrelevant",
        "relevance_agreement": "relevance_agreement",
    }
    return {shown: scores[name].value for shown, name in names.items() if name in scores}


def _quoted(items: list[Item]) -> str:
    shown = "; ".join(
        f"“{item.claim}”"
        + (f" (context {item.evidence.index})" if item.evidence else " (no context)")
        for item in items[:_SHOWN]
    )
    more = len(items) - _SHOWN
    return shown + (f"; and {more} more" if more > 0 else "")


def _undefined(given: Given) -> str:
    return "pass" if given.config.get("dialect", "promptfoo") == "promptfoo" else "skip"


NOISE = GradedKind(
    name="noise-sensitivity",
    about="share of claims that are incorrect; mode irrelevant: and come from an irrelevant chunk",
    want=want,
    read=read,
    value="required",
    types=(str, list),
    default=0.2,
    lower_is_better=True,
    config=("mode", "dialect", "noiseContext", "contextChunks", "inferRelevance"),
    undefined=_undefined,
)
