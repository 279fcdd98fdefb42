"""The graded assertions of one answer: those about the same sample share their verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.asks import Judge, Skill
from assay.errors import AssayError, DataError, MissingField
from assay.runner import closure, score_sample
from assay.sample import Sample
from assay.score import Score
from assay.suite.assertions.base import CannotCheckError, Found, Given
from assay.suite.assertions.graded import IF_UNDEFINED, GradedKind, Wanted
from assay.suite.providers.base import Answer


@dataclass(frozen=True, slots=True)
class Graded:
    """One graded assertion, ready to be asked about."""

    kind: GradedKind
    given: Given
    judge: Judge


@dataclass(frozen=True, slots=True)
class Undefined:
    """A graded assertion with nothing to measure, and what is to become of it."""

    score: Score
    policy: str
    chosen: bool = False
    """Whether the assertion's config says so."""


Grade = Found | Undefined | AssayError
"""What came of a graded assertion; an error is why it could not be decided."""


async def grade(assertions: Sequence[Graded]) -> list[Grade]:
    """One grade an assertion, in order; none raises for what a judge or test may do."""
    out: dict[int, Grade] = {}
    wanted: dict[int, Wanted] = {}
    for k, one in enumerate(assertions):
        try:
            wanted[k] = one.kind.want(one.given)
            _check_skills(one, wanted[k])
        except AssayError as error:
            out[k] = error
    groups = _grouped(assertions, {k: w for k, w in wanted.items() if k not in out})
    scored = await asyncio.gather(*(_scores(judge, w) for judge, w, _ in groups))
    for (_, _, members), scores in zip(groups, scored, strict=True):
        for k in members:
            out[k] = _read(k, assertions[k], wanted[k], scores)
    return [out[k] for k in range(len(assertions))]


def _check_skills(one: Graded, wanted: Wanted) -> None:
    """Raise CannotCheckError if the judge does not do what the assertion needs."""
    try:
        skills = _skills(wanted, wanted.sample())
    except (MissingField, DataError) as error:
        raise CannotCheckError(str(error)) from None
    if lacks := sorted(skill for skill in skills if not one.judge.can(skill)):
        raise CannotCheckError(lacking(one.kind.name, one.judge, lacks))


def _skills(wanted: Wanted, sample: Sample) -> set[Skill]:
    needs = closure([n for m in wanted.metrics.values() for n in m.needs], sample)
    skills = {skill for need in needs for skill in need.skills}
    return skills.union(*(metric.skills for metric in wanted.metrics.values()))


def skills_of(kind: GradedKind, config: Mapping[str, Any]) -> set[Skill]:
    """What a judge must be able to do for an assertion, as far as its config tells beforehand."""
    given = Given(Answer("?"), "?", 0.5, config, {"query": "?", "context": "?"}, "?")
    try:
        return _skills(kind.want(given), Sample("?", "?", ["?"], ["?"]))
    except AssayError:
        return set()  # it will be told with the test, whose values are known then


def lacking(name: str, judge: Judge, lacks: Sequence[str]) -> str:
    """Why a judge cannot grade, and which can."""
    return (
        f"{name} needs a judge that does {', '.join(lacks)}, and {judge.name} does not; give"
        " --grader openai:MODEL, or options.provider in the config"
    )


_Group = tuple[Judge, Wanted, list[int]]


def _grouped(assertions: Sequence[Graded], wanted: Mapping[int, Wanted]) -> list[_Group]:
    """Assertions with the same judge whose samples go together, joined."""
    groups: list[_Group] = []
    for k, want in wanted.items():
        # Assertions may have different metrics by one name; a name of their own keeps them apart.
        own = {_own(k, name): metric for name, metric in want.metrics.items()}
        one = replace(want, metrics=own)
        for n, (judge, known, members) in enumerate(groups):
            both = known.joined(one) if judge is assertions[k].judge else None
            if both is not None:
                groups[n] = (judge, both, [*members, k])
                break
        else:
            groups.append((assertions[k].judge, one, [k]))
    return groups


def _own(k: int, name: str) -> str:
    """The name of a metric among those of all assertions."""
    return f"{k} {name}"


async def _scores(judge: Judge, wanted: Wanted) -> Mapping[str, Score] | AssayError:
    try:
        row = await score_sample(wanted.sample(), wanted.metrics, judge)
    except AssayError as error:
        return error
    except RuntimeError as error:  # a bug at one answer must not take the others along
        return CannotCheckError(f"internal error, please report it: {error}")
    return row.scores


def _read(k: int, one: Graded, wanted: Wanted, scores: Mapping[str, Score] | AssayError) -> Grade:
    if isinstance(scores, AssayError):
        return scores
    own = {name: scores[_own(k, name)] for name in wanted.metrics}
    main = next(iter(own.values()))
    if main.status == "failed":
        return CannotCheckError(main.reason)
    if main.status == "undefined":
        policy = one.given.config.get("undefined", one.kind.undefined(one.given))
        if policy not in IF_UNDEFINED:
            choices = ", ".join(IF_UNDEFINED)
            return CannotCheckError(f"config.undefined is {policy!r}; it must be one of {choices}")
        return Undefined(main, policy, "undefined" in one.given.config)
    try:
        return one.kind.read(one.given, own)
    except AssayError as error:
        return error
