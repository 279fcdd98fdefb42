"""What can be told of a suite before it runs: kinds, values, thresholds, providers, variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from assay.errors import AssayError, did_you_mean
from assay.suite.assertions.graded import IF_UNDEFINED, GradedKind
from assay.suite.assertions.noise import DIALECTS, MODES
from assay.suite.assertions.table import VALIDATORS
from assay.suite.case import Placed, TestCase
from assay.suite.document import Document
from assay.suite.kinds import SET, AnyKind, base_of, fitted, kind_of
from assay.suite.labels import check_labels
from assay.suite.model import AssertionSpec, SuiteSpec
from assay.suite.problems import Place, Problem
from assay.suite.prompts import Prompt
from assay.suite.remarks import Remarks
from assay.suite.slots import prompts_of
from assay.suite.template_checks import check_assertions, check_prompts
from assay.suite.templates import Templates


def check_cases(
    spec: SuiteSpec,
    document: Document,
    cases: Sequence[TestCase],
    prompts: Sequence[Prompt],
    templates: Templates,
    *,
    prompt_place: Callable[[Prompt], Place],
) -> list[Problem]:
    """The problems of all tests, each told once however many tests share it."""
    remarks = Remarks()
    seen: set[int] = set()
    for case in cases:
        for placed in case.assertions:
            if id(placed.spec) not in seen:
                seen.add(id(placed.spec))
                remarks.add(check_assertion(placed, templates))
        remarks.add(_case(case))
    remarks.add(_providers(spec, document, cases))
    remarks.add(check_prompts(prompts, prompt_place, cases, templates))
    remarks.add(check_assertions(cases, templates))
    remarks.add(check_labels(spec, cases, templates))
    return remarks.listed()


def check_assertion(placed: Placed, templates: Templates) -> Iterator[Problem]:
    """The problems of one assertion, or of a set and those in it."""
    spec, place = placed.spec, placed.place
    if spec.type == SET:
        yield from _set(placed, templates)
        return
    name, negated = base_of(spec.type)
    try:
        kind = kind_of(name)
    except AssayError as error:
        yield Problem(place, str(error))
        return
    if spec.assertions is not None:
        yield Problem(place, f"{spec.type} has no assertions of its own: that is {SET}'s")
    yield from _value(spec, kind, place, templates)
    yield from _threshold(spec, kind, place, negated=negated)
    yield from _config(spec, kind, place)
    if spec.rubric_prompt is not None:
        try:
            prompts_of(spec.rubric_prompt)
        except AssayError as error:
            yield Problem(place, str(error))


def _set(placed: Placed, templates: Templates) -> Iterator[Problem]:
    spec, place = placed.spec, placed.place
    if not spec.assertions:
        yield Problem(place, f"{SET} has no assertions: list them under assert")
    if spec.value is not None:
        yield Problem(place, f"{SET} takes no value")
    if spec.threshold is not None:
        yield from _of_mean("the set's", spec.threshold, place)
    for inner in spec.assertions or ():
        if inner.type == SET:
            yield Problem(place, f"{SET} within {SET}: sets have one level")
        else:
            yield from check_assertion(Placed(inner, place, placed.data), templates)


def _value(
    spec: AssertionSpec, kind: AnyKind, place: Place, templates: Templates
) -> Iterator[Problem]:
    if kind.value == "required" and spec.value is None:
        yield Problem(place, f"{spec.type} needs a value")
    if kind.value == "none" and spec.value is not None:
        yield Problem(place, f"{spec.type} takes no value; it would be passed over", "warning")
    if spec.value is None or _later(spec.value, templates):
        return
    if kind.value != "none":
        try:
            fitted(spec.type, kind, spec.value)
        except AssayError as error:
            yield Problem(place, str(error))
            return
    validate = VALIDATORS.get(kind.name)
    why = validate(spec.value) if validate is not None else None
    if why:
        yield Problem(place, f"{spec.type}: {why}")


def _later(value: Any, templates: Templates) -> bool:
    """Whether a value is known only when a test is run."""
    if isinstance(value, str):
        return value.startswith("file://") or templates.has_template(value)
    if isinstance(value, list):
        return any(_later(one, templates) for one in value)
    return isinstance(value, dict) and any(_later(one, templates) for one in value.values())


def _threshold(
    spec: AssertionSpec, kind: AnyKind, place: Place, *, negated: bool
) -> Iterator[Problem]:
    given = spec.threshold
    if kind.threshold == "required" and given is None:
        yield Problem(place, f"{spec.type} needs a threshold")
    if kind.threshold == "none" and given is not None:
        yield Problem(place, f"{spec.type} takes no threshold; it holds or not", "warning")
    if given is None or kind.threshold == "none" or kind.bounds is None:
        return
    low, high = kind.bounds
    why = f"scores go from {low:g} to {high:g}"
    if given > high or given < min(low, 0.0):
        yield Problem(place, f"{spec.type}: the threshold is {given:g}, and {why}")
        return
    always = given >= high if kind.lower_is_better else given <= low
    never = given < low if kind.lower_is_better else given > high
    if always != never:
        often = "never" if always is negated else "always"
        better = "lower" if kind.lower_is_better else "higher"
        said = f"{spec.type} with threshold {given:g} {often} passes: {why}, and {better} is better"
        yield Problem(place, said, "warning")


def _config(spec: AssertionSpec, kind: AnyKind, place: Place) -> Iterator[Problem]:
    if kind.config is None:
        return
    graded = isinstance(kind, GradedKind)
    known = [*kind.config, *(["undefined"] if graded else [])]
    for key, value in spec.config.items():
        if key not in known:
            near = did_you_mean(key, known) if known else "it has none"
            yield Problem(place, f"{spec.type}: unknown config key {key!r}; {near}")
        elif key == "undefined" and value not in IF_UNDEFINED:
            yield Problem(place, f"{spec.type}: undefined must be one of {', '.join(IF_UNDEFINED)}")
        elif key in _CHOICES and value not in _CHOICES[key] and "{{" not in str(value):
            near = did_you_mean(str(value), list(_CHOICES[key]))
            yield Problem(place, f"{spec.type}: config.{key} is {value!r}; {near}")


_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType({"mode": MODES, "dialect": DIALECTS})


def _case(case: TestCase) -> Iterator[Problem]:
    try:
        prompts_of(case.options.rubric_prompt)
    except AssayError as error:
        yield Problem(case.place, str(error))
    if not case.assertions:
        yield Problem(case.place, "the test has no assertions: it passes whatever comes", "warning")
    if case.threshold is not None:
        yield from _of_mean("the test's", case.threshold, case.place)
    if case.assertions and all(one.spec.weight == 0 for one in case.assertions):
        yield Problem(case.place, "all assertions have weight 0: the test cannot fail", "warning")


def _of_mean(whose: str, threshold: float, place: Place) -> Iterator[Problem]:
    """What is wrong with a threshold for a mean of scores."""
    if not 0 <= threshold <= 1:
        why = f"{whose} threshold is {threshold:g}, and the mean of scores goes from 0 to 1"
        yield Problem(place, why)
    elif threshold == 0:
        why = f"{whose} threshold 0 makes no difference: it must be above 0 and at most 1"
        yield Problem(place, why, "warning")


def _providers(spec: SuiteSpec, document: Document, cases: Sequence[TestCase]) -> Iterator[Problem]:
    every = spec.providers or spec.targets
    key = "providers" if spec.providers else "targets"
    seen: set[str] = set()
    for n, one in enumerate(every):
        label = one.label or one.id
        if label in seen:
            why = f"two providers are called {label!r}: give one a label of its own"
            yield Problem(document.place((key, n)), why)
        seen.add(label)
