"""Assertions by criterion and by reference: llm-rubric, g-eval, factuality, similar."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.metrics import AnswerSimilarity, Factuality, Rubric
from assay.score import Score
from assay.suite.assertions.base import CannotCheckError, Found, Given, reaches
from assay.suite.assertions.graded import GradedKind, Wanted, ratio
from assay.suite.assertions.sources import as_text, question_of, references_of

FACTUALITY: Mapping[str, tuple[str, float]] = {
    "subset": ("subset", 1.0),
    "superset": ("superset", 1.0),
    "same": ("agree", 1.0),
    "disagree": ("disagree", 0.0),
    "different": ("differButFactual", 1.0),
}
"""Each class with promptfoo's name for it, as options.factuality has it, and its score."""
FROM_OPTIONS = "factuality"
"""The key of the config that holds the test's options.factuality."""


def _criteria(given: Given) -> list[str]:
    values = given.value if isinstance(given.value, list) else [given.value]
    criteria = [as_text(value).strip() for value in values if value is not None]
    if not criteria or not all(criteria):
        raise CannotCheckError("the value, which is the criterion, is empty")
    return criteria


def _rubric(given: Given) -> Wanted:
    (criterion,) = _criteria(given)
    return Wanted({"rubric": Rubric(criterion)}, given.text, question_of(given))


def _g_eval(given: Given) -> Wanted:
    criteria = dict.fromkeys(_criteria(given))
    metrics = {f"criterion {n + 1}": Rubric(one) for n, one in enumerate(criteria)}
    return Wanted(metrics, given.text, question_of(given))


def _read_rubric(given: Given, scores: Mapping[str, Score]) -> Found:
    found = ratio("rubric")(given, scores)
    why = next((item.reason for item in found.items if item.reason), "")
    return Found(
        found.holds,
        f"{why} ({found.reason})" if why else found.reason,
        found.value,
        found.goodness,
        found.items,
    )


def _read_g_eval(given: Given, scores: Mapping[str, Score]) -> Found:
    missing = [name for name, score in scores.items() if score.value is None]
    if missing:
        raise CannotCheckError(f"no grade for {', '.join(missing)}: {scores[missing[0]].reason}")
    values = [score.value or 0.0 for score in scores.values()]
    mean = math.fsum(values) / len(values)
    bound = given.threshold or 0.0
    items = tuple(item for score in scores.values() for item in score.items)
    worst = min(items, key=lambda item: item.probability or 0.0, default=None)
    parts = {name: score.value for name, score in scores.items()} if len(values) > 1 else {}
    reason = f"mean grade {mean:.3g}, threshold at least {bound:g}"
    if worst is not None and worst.reason:
        reason = f"{worst.reason} ({reason})"
    return Found(reaches(mean, bound), reason, mean, mean, items, parts)


def _factuality(given: Given) -> Wanted:
    return Wanted(
        {"factuality": Factuality()},
        given.text,
        question_of(given),
        references=references_of(given),
    )


def _read_factuality(given: Given, scores: Mapping[str, Score]) -> Found:
    score = scores["factuality"]
    kind = next((name for name in FACTUALITY if score.stats.get(name)), "different")
    theirs, value = FACTUALITY[kind]
    own = given.config.get(FROM_OPTIONS)
    if isinstance(own, Mapping) and isinstance(own.get(theirs), int | float):
        value = float(own[theirs])
    said = {
        "subset": "the output says a part of the right answer and nothing else",
        "superset": "the output says all of the right answer, and more",
        "same": "output and right answer say the same",
        "disagree": "output and right answer contradict each other",
        "different": "output and right answer differ, and do not contradict each other",
    }[kind]
    holds = value > 0 if given.threshold is None else reaches(value, given.threshold)
    return Found(holds, said, value, min(1.0, max(0.0, value)), score.items)


def _similar(given: Given) -> Wanted:
    return Wanted({"similarity": AnswerSimilarity()}, given.text, references=references_of(given))


RUBRICS = (
    GradedKind(
        "llm-rubric",
        "how far the output meets the criterion in the value: fully 1, mostly .75, partly .5 ...",
        _rubric,
        _read_rubric,
        value="required",
        types=(str, dict),
        default=0.75,
    ),
    GradedKind(
        "model-graded-closedqa",
        "whether the output meets the criterion in the value",
        _rubric,
        _read_rubric,
        value="required",
        default=0.75,
    ),
    GradedKind(
        "g-eval",
        "mean of how far the output meets the criteria in the value",
        _g_eval,
        _read_g_eval,
        value="required",
        types=(str, list),
        default=0.7,
    ),
    GradedKind(
        "factuality",
        "whether output and value (the right answer) agree: a part, more, the same, no conflict",
        _factuality,
        _read_factuality,
        value="required",
        types=(str, list),
        default=None,
        config=(FROM_OPTIONS,),
    ),
    GradedKind(
        "model-graded-factuality",
        "the same as factuality",
        _factuality,
        _read_factuality,
        value="required",
        types=(str, list),
        default=None,
        config=(FROM_OPTIONS,),
    ),
    *(
        GradedKind(
            name,
            "cosine of the embeddings of output and value; the best of several values",
            _similar,
            ratio("similarity"),
            value="required",
            types=(str, list),
            default=0.75,
            bounds=(-1.0, 1.0),
        )
        for name in ("similar", "similar:cosine")
    ),
)
