"""The tests of a suite as they are run: read, merged with their defaults, expanded."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from typing import Any

from assay.suite.assertions.native import PREFIX
from assay.suite.case import TestCase
from assay.suite.document import Document
from assay.suite.files import Folder
from assay.suite.kinds import ELSEWHERE, KINDS, SET
from assay.suite.making import Making
from assay.suite.model import SuiteSpec, TestSpec
from assay.suite.problems import Place, Problem
from assay.suite.remarks import Remarks
from assay.suite.scenarios import Scenarios
from assay.suite.sources import Sources
from assay.suite.templates import Templates
from assay.suite.variables import ValueFiles, is_file
from assay.suite.written import Var, Written

_YES = frozenset({"1", "true", "yes", "on"})


class Types(Container[str]):
    """The names of every type of assertion, also of those that are not done here."""

    def __contains__(self, name: object) -> bool:
        known = name in KINDS or name in ELSEWHERE or name == SET
        return known or (isinstance(name, str) and name.startswith(PREFIX))


def expand(
    spec: SuiteSpec,
    document: Document,
    folder: Folder,
    templates: Templates,
    *,
    overrides: Mapping[str, Any] | None = None,
    known_types: Container[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[list[TestCase], list[Problem]]:
    """The tests of a suite in order, with what is wrong with them and where.

    Args:
        overrides: variables that go before those of every test, as they are.
        known_types: what an assertion in a cell may begin with; all there are by default.
        env: settings (PROMPTFOO_CSV_DELIMITER, PROMPTFOO_DISABLE_VAR_EXPANSION); those of the
            config's ``env`` go before them. The environment by default.
    """
    settings = {**(os.environ if env is None else env), **spec.env}
    remarks = Remarks()
    delimiter = settings.get("PROMPTFOO_CSV_DELIMITER", "").replace("\\t", "\t") or None
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        why = "PROMPTFOO_CSV_DELIMITER must be one character, and no quote"
        remarks.error(document.place(()), why)
        delimiter = None
    sources = Sources(
        document,
        folder,
        remarks,
        known=Types() if known_types is None else known_types,
        delimiter=delimiter,
    )
    making = Making(
        spec,
        templates,
        ValueFiles(folder),
        remarks,
        _overriding(overrides or {}, templates, remarks),
        whole=settings.get("PROMPTFOO_DISABLE_VAR_EXPANSION", "").lower() in _YES,
    )
    base = _default_test(spec, document, sources, remarks)
    written = 0
    for test in _written(spec, document, sources, remarks):
        written += 1
        making.add(base, test)
    if not written and not spec.tests and not spec.scenarios:
        place = document.place(())
        if document.data:  # without a config, whoever calls knows that it has no tests
            why = "no tests: every prompt is run once, without variables of a test"
            remarks.warning(place, why)
        making.add(base, Written(TestSpec(), place))
    return making.cases, remarks.listed()


def _default_test(
    spec: SuiteSpec, document: Document, sources: Sources, remarks: Remarks
) -> Written:
    """What all tests share; in a file of its own if ``defaultTest`` names one."""
    place = document.place(("defaultTest",))
    if spec.default_test is None:
        return Written(TestSpec(), place)
    found = list(sources.test(spec.default_test, document.place, ("defaultTest",)))
    if len(found) > 1:
        remarks.error(place, f"defaultTest names {len(found)} tests: it must be one")
    return found[0] if found else Written(TestSpec(), place)


def _written(
    spec: SuiteSpec, document: Document, sources: Sources, remarks: Remarks
) -> Iterator[Written]:
    """Every test as it is written, then those of the scenarios."""
    yield from sources.tests(spec.tests, document.place, ("tests",))
    yield from Scenarios(sources, remarks).tests(spec.scenarios, document.place, ("scenarios",))


def _overriding(
    overrides: Mapping[str, Any], templates: Templates, remarks: Remarks
) -> dict[str, Var]:
    """The overrides as variables; like data they are taken as they are."""
    place = Place("--var")
    for name, value in overrides.items():
        if isinstance(value, str) and (templates.has_template(value) or is_file(value)):
            why = f"{name} is taken as it is: templates and file:// work in the config only"
            remarks.warning(place, why)
    return {name: Var(value, place, True) for name, value in overrides.items()}
