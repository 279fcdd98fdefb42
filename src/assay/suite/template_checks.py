"""Templates of a suite before it runs: their syntax, and the variables that nothing fills in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from assay.errors import AssayError, did_you_mean
from assay.suite.assertions.program import ProgramKind
from assay.suite.case import Placed, TestCase
from assay.suite.kinds import kind_of, leaves
from assay.suite.problems import Place, Problem
from assay.suite.prompts import Prompt
from assay.suite.providers.paths import Transform
from assay.suite.providers.settings import texts_in, unset_env
from assay.suite.remarks import Remarks
from assay.suite.templates import Templates


def check_prompts(
    prompts: Sequence[Prompt],
    place_of: Callable[[Prompt], Place],
    cases: Sequence[TestCase],
    templates: Templates,
) -> Iterator[Problem]:
    """Prompts that cannot be read, or that name variables which no test or environment has."""
    given = {name for case in cases for name in case.vars}
    asked = any(not case.has_output for case in cases)
    for prompt in prompts:
        place = place_of(prompt)
        try:
            for text in prompt.texts:
                templates.check(text)
            missing = sorted(set().union(*map(templates.names, prompt.texts)) - given - {"env"})
            unset = unset_env(list(prompt.texts), templates)
        except AssayError as error:
            yield Problem(place, str(error))
            continue
        if missing and asked:
            near = did_you_mean(missing[0], sorted(given)) if given else "no test has variables"
            why = f"no test has the variable {missing[0]!r} that prompt {prompt.label!r} names"
            yield Problem(place, f"{why}; {near}", "warning")
        if unset is not None:
            yield Problem(place, f"prompt {prompt.label!r}: {_unset(unset)}", "warning")


@dataclass
class _Named:
    """The variables that an assertion names, and how many of its tests lack each."""

    placed: Placed
    texts: tuple[str, ...]
    names: set[str]
    cases: int = 0
    known: set[str] = field(default_factory=set)
    lacking: Counter[str] = field(default_factory=Counter)


def check_assertions(cases: Sequence[TestCase], templates: Templates) -> list[Problem]:
    """Templates of assertions that cannot be read, or name variables that their tests lack."""
    remarks = Remarks()
    found: dict[int, _Named] = {}
    for _, leaf in _leaves_of(cases):
        if id(leaf.spec) not in found:
            found[id(leaf.spec)] = _read(leaf, templates, remarks)
    for case, leaf in _leaves_of(cases):
        named = found[id(leaf.spec)]
        named.cases += 1
        if named.names:
            named.known |= case.vars.keys()
            named.lacking.update(named.names - case.vars.keys())
    for case, leaf in _leaves_of(cases):
        _remark(found[id(leaf.spec)], case, remarks)
    return remarks.listed()


def _leaves_of(cases: Sequence[TestCase]) -> Iterator[tuple[TestCase, Placed]]:
    for case in cases:
        for placed in case.assertions:
            for leaf in leaves(placed):
                if not leaf.data:
                    yield case, leaf


def _read(leaf: Placed, templates: Templates, remarks: Remarks) -> _Named:
    spec = leaf.spec
    try:
        texts = tuple(_texts(leaf))
        for text in texts:
            templates.check(text)
        if spec.context_transform is not None:
            Transform(spec.context_transform, templates)
        names: set[str] = set().union(*map(templates.names, texts)) - {"env"}
        unset = unset_env(list(texts), templates)
    except AssayError as error:
        remarks.error(leaf.place, f"{spec.type}: {error}")
        return _Named(leaf, (), set())
    if unset is not None:
        remarks.warning(leaf.place, f"{spec.type}: {_unset(unset)}")
    return _Named(leaf, texts, names)


def _texts(leaf: Placed) -> Iterator[str]:
    """What of an assertion is filled in: value, config, name of the metric; files are not."""
    spec = leaf.spec
    try:
        program = isinstance(kind_of(spec.type), ProgramKind)
    except AssayError:  # a kind that there is none of is told elsewhere
        program = True
    value = None if program else spec.value  # code is not filled in
    for text in texts_in([value, spec.config, spec.metric]):
        if not text.startswith("file://"):
            yield text


def _remark(named: _Named, case: TestCase, remarks: Remarks) -> None:
    kind = named.placed.spec.type
    for name in sorted(named.lacking.keys() - case.vars.keys()):
        near = did_you_mean(name, sorted(named.known)) if named.known else "it has none"
        if named.lacking[name] == named.cases:
            why = f"{kind} names the variable {name!r}, which the test does not have; {near}"
            remarks.warning(named.placed.place, why)
        elif _plainly(name, named.texts):  # elsewhere it may be one that tests can leave out
            why = f"the test does not have the variable {name!r}, which {kind} names"
            remarks.warning(case.place, why)


def _plainly(name: str, texts: Sequence[str]) -> bool:
    lone = re.compile(r"\{\{-?\s*" + re.escape(name) + r"\s*-?\}\}")
    return any(lone.search(text) for text in texts)


def _unset(name: str) -> str:
    return f"the environment variable {name} is not set, so {{{{env.{name}}}}} is empty"
