"""Kinds of assertions by name, and what promptfoo has that is not done here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from assay.errors import ConfigError, did_you_mean
from assay.suite.assertions.base import CannotCheckError, Kind
from assay.suite.assertions.graded import GradedKind
from assay.suite.assertions.native import PREFIX, native_kind
from assay.suite.assertions.noise import NOISE
from assay.suite.assertions.program import PYTHON, ProgramKind
from assay.suite.assertions.retrieval import RETRIEVAL
from assay.suite.assertions.rubrics import RUBRICS
from assay.suite.assertions.sources import as_text
from assay.suite.assertions.table import CHECKS
from assay.suite.case import Placed

AnyKind = Kind | GradedKind | ProgramKind
NOT = "not-"
SET = "assert-set"

KINDS: Mapping[str, AnyKind] = MappingProxyType(
    {
        **{kind.name: kind for kind in (NOISE, *RETRIEVAL, *RUBRICS)},
        **CHECKS,
        PYTHON.name: PYTHON,
    }
)
"""Every kind but ``assay:NAME`` and ``assert-set``."""

_CODE = "JavaScript is not run here; use python with --allow-code, or another assertion"
ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "javascript": _CODE,
        "ruby": "Ruby is not run here; use python with --allow-code",
        "webhook": "outputs are not sent to webhooks; use python with --allow-code",
        "agent-rubric": "use llm-rubric",
        "search-rubric": "use llm-rubric; nothing is looked up in the web",
        "select-best": "answers are not compared with each other",
        "max-score": "answers are not compared with each other",
        "human": "people's verdicts are not asked for",
        "moderation": "use assay:toxicity or assay:bias",
        "classifier": "use assay:toxicity, assay:bias or llm-rubric",
        "conversation-relevance": "conversations are not run; use answer-relevance",
        "similar:dot": "of similarities there is the cosine: similar",
        "similar:euclidean": "of similarities there is the cosine: similar",
        "rouge-l": "use assay:rouge(type=rougeL)",
        "meteor": "use rouge-n, bleu or similar",
        "pi": "use llm-rubric",
        "is-refusal": "use llm-rubric",
        "is-sql": "use regex or python with --allow-code",
        "contains-sql": "use regex or python with --allow-code",
        "is-html": "use regex or python with --allow-code",
        "contains-html": "use regex or python with --allow-code",
        "is-xml": "use regex or python with --allow-code",
        "contains-xml": "use regex or python with --allow-code",
        "perplexity": "providers' token probabilities are not read",
        "perplexity-score": "providers' token probabilities are not read",
        "finish-reason": "use assertions on the output",
        "guardrails": "use assertions on the output",
    }
)
"""Assertions of promptfoo that are not done here, and what to do instead."""


def base_of(type: str) -> tuple[str, bool]:
    """The kind's name without ``not-``, and whether it was there.

    >>> base_of("not-contains"), base_of("contains")
    (('contains', True), ('contains', False))
    """
    return (type.removeprefix(NOT), True) if type.startswith(NOT) else (type, False)


def kind_of(type: str) -> AnyKind:
    """The kind of an assertion's type, with or without ``not-``.

    Raises ConfigError that says what there is.
    """
    name, _ = base_of(type)
    if name in KINDS:
        return KINDS[name]
    if name == SET:
        raise ConfigError(f"{NOT}{SET} is no assertion: write {NOT} at those in the set")
    if name.startswith(PREFIX):
        return native_kind(name.removeprefix(PREFIX))
    if name in ELSEWHERE or name.partition(":")[0] in ELSEWHERE:
        why = ELSEWHERE.get(name) or ELSEWHERE[name.partition(":")[0]]
        raise ConfigError(f"assertion type {name!r} is not done here: {why}")
    known = [*KINDS, SET, f"{PREFIX}NAME ('assay metrics' lists the names)"]
    raise ConfigError(f"unknown assertion type {name!r}; {did_you_mean(name, known)}")


def leaves(placed: Placed) -> list[Placed]:
    """The assertion itself or, of a set, those in it."""
    if placed.spec.type != SET:
        return [placed]
    return [Placed(spec, placed.place, placed.data) for spec in placed.spec.assertions or ()]


def fitted(type: str, kind: AnyKind, value: Any) -> Any:
    """A value of a type that the kind takes; numbers become texts where texts are taken.

    Raises CannotCheckError for another type.
    """
    if not kind.types or value is None or isinstance(value, kind.types):
        return value
    if str in kind.types and isinstance(value, int | float):
        return as_text(value)
    takes = " or ".join(dict.fromkeys(_NAMES[one] for one in kind.types))
    raise CannotCheckError(
        f"{type}: value must be {takes}, not {_NAMES.get(value.__class__, 'that')}"
    )


_NAMES: Mapping[type, str] = MappingProxyType(
    {
        str: "a text",
        list: "a list",
        dict: "an object",
        int: "a number",
        float: "a number",
        bool: "true or false",
    }
)
