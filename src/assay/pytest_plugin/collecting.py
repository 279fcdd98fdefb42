"""Suites in YAML as pytest files, and their tests as items."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError
from assay.pytest_plugin.opened import OpenSuite
from assay.pytest_plugin.plugin import SESSION
from assay.pytest_plugin.showing import (
    adapted,
    node_name,
    result_shown,
    trouble_shown,
)
from assay.suite.loading import load_suite
from assay.suite.running import Unit
from assay.suite.secrets import Secrets


class SuiteFile(pytest.File):
    """A suite; its judges and providers are opened once and closed after its last test."""

    opened: OpenSuite | None = None

    def collect(self) -> Iterator[SuiteItem]:
        """One item for every test, prompt, provider and repeat."""
        session = self.config.stash[SESSION]
        try:
            suite = load_suite(_near(self.path))
            opened = OpenSuite(suite, session)
            units = opened.units()
        except AssayError as error:
            secrets = Secrets.from_environment(os.environ)
            raise self.CollectError(said(error, secrets)) from None
        self.opened = opened
        for problem in suite.warnings:
            session.remark(opened.secrets.scrub(str(problem)))
        seen: Counter[str] = Counter()
        several = len(suite.prompts) > 1
        for unit in units:
            name = opened.secrets.scrub(_name(unit, several=several))
            seen[name] += 1
            if seen[name] > 1:
                name = f"{name[:-1]} #{seen[name]}]"
            yield SuiteItem.from_parent(self, name=name, unit=unit, opened=opened)

    def teardown(self) -> None:
        """Close what the tests used."""
        if self.opened is not None:
            self.opened.close()


class SuiteItem(pytest.Item):
    """One test of a suite with one prompt and one provider."""

    def __init__(self, *, unit: Unit, opened: OpenSuite, **about: Any) -> None:
        super().__init__(**about)
        self._unit, self._opened = unit, opened

    def runtest(self) -> None:
        """Ask, assert, and fail with what came of each assertion."""
        place, trouble = self._unit.case.place, ""
        row: dict[str, Any] = {}
        try:
            row = self._opened.row(self._unit)
        except AssayError as error:
            trouble = said(error, self._opened.secrets)
        if trouble:  # outside of the except, so that the error is not told twice
            pytest.fail(trouble_shown(trouble, place), pytrace=False)
        if row["status"] == "skipped":
            pytest.skip(f"{place}: {row['reason']}")
        if row["status"] != "pass":
            pytest.fail(result_shown(row, place), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The suite, the line of the test in it, and its name."""
        place = self._unit.case.place
        own = Path(place.file).name == self.path.name
        return self.path, place.line - 1 if own and place.line else None, self.name


def said(error: AssayError, secrets: Secrets) -> str:
    """An error in the words of pytest's options, without secrets."""
    return adapted(secrets.scrub(str(error)))


def _name(unit: Unit, *, several: bool) -> str:
    case = unit.case
    test = f"test {case.index + 1}" + (f": {case.description}" if case.description else "")
    where = [unit.provider.label]
    if several:
        where.append(unit.prompt.label)
    if unit.repeat:
        where.append(f"repeat {unit.repeat + 1}")
    return node_name(test, where)


def _near(path: Path) -> Path:
    """The path from here if it lies below, as messages name it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
