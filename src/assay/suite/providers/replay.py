"""The provider that replays answers from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ConfigError
from assay.suite.providers.answers import OUTPUTS, answer_of
from assay.suite.providers.base import Answer, Request
from assay.suite.providers.given import outputs_file

if TYPE_CHECKING:
    from assay.suite.case import TestCase

Key = tuple[str, ...]


class ReplayProvider:
    """Answers with the rows of a file, by the order of tests or by matching variables.

    Where rows have ``vars``, a row answers the prompts whose variables agree in all of them (the
    row with the most counts); where they have an ``id``, those whose variable ``id`` is that, if
    tests have such a variable. Several rows for the same are used in turn by repeats. Raises
    ConfigError for rows of which only some say what they match.
    """

    def __init__(self, id: str, rows: Sequence[Any], label: str | None = None) -> None:
        self.id, self.label = id, label or id
        self._rows = rows
        self._matching: dict[Key, dict[Key, list[Any]]] = {}
        wanted = [_wanted(row) for row in rows]
        if any(wanted) and not all(wanted):
            number = 1 + next(k for k, names in enumerate(wanted) if not names)
            raise ConfigError(
                f"provider {id}: answer {number} has no vars (nor id) to match on, and others have"
            )
        for row, values in zip(rows, wanted, strict=True):
            if values:
                names = tuple(sorted(values))
                group = self._matching.setdefault(names, {})
                group.setdefault(_key(names, values), []).append(row)

    async def call(self, request: Request) -> Answer:
        """The row for this prompt; an error where there is none."""
        if self._matching and (set(self._matching) != {("id",)} or "id" in request.vars):
            return self._matched(request)
        if 0 <= request.test < len(self._rows):
            return answer_of(self._rows[request.test])
        return Answer(
            error=f"{self.id} has {len(self._rows)} answers and none for test {request.test + 1}"
        )

    def misfit(self, tests: int, *, ids: bool) -> str | None:
        """That answers in the order of tests are not as many; ``ids``: tests have such a variable.

        None where they are, and where answers are found by what they match.
        """
        by_match = bool(self._matching) and (set(self._matching) != {("id",)} or ids)
        if by_match or len(self._rows) == tests:
            return None
        return (
            f"{self.id} has {len(self._rows)} answers, and there are {tests} tests: without vars"
            " to match on they go by the order of the tests"
        )

    async def aclose(self) -> None:
        """Nothing is open."""

    def _matched(self, request: Request) -> Answer:
        for names in sorted(self._matching, key=lambda names: (-len(names), names)):
            if all(name in request.vars for name in names):
                rows = self._matching[names].get(_key(names, request.vars))
                if rows:
                    return answer_of(rows[request.repeat % len(rows)])
        tried = " or ".join(sorted(", ".join(names) for names in self._matching))
        return Answer(error=f"{self.id} has no answer whose {tried} match those of the test")


def recorded(cases: Sequence[TestCase], path: Path) -> list[TestCase]:
    """The tests with the outputs of a file in the same order; ``tags`` join their metadata.

    Raises ConfigError where the numbers differ, DataError for a file that cannot be read.
    """
    rows = outputs_file(path)
    if len(rows) != len(cases):
        raise ConfigError(f"{path} has {len(rows)} outputs, and there are {len(cases)} tests")
    return [_with_output(case, row) for case, row in zip(cases, rows, strict=True)]


def _with_output(case: TestCase, row: Any) -> TestCase:
    if not isinstance(row, Mapping):
        return replace(case, provider_output=row, has_output=True)
    output = next((row[name] for name in OUTPUTS if name in row), None)
    metadata = {**case.metadata, **({"tags": row["tags"]} if "tags" in row else {})}
    whole = {**row, "output": output}
    return replace(case, provider_output=whole, has_output=True, metadata=metadata)


def _wanted(row: Any) -> Mapping[str, Any]:
    """The variables that a row matches on; {} if it says nothing."""
    if not isinstance(row, Mapping):
        return {}
    values = row.get("vars")
    if isinstance(values, Mapping) and values:
        return values
    return {"id": row["id"]} if row.get("id") is not None else {}


def _key(names: Key, values: Mapping[str, Any]) -> Key:
    """The values as texts: 1 and "1", from a CSV file, are the same."""
    return tuple(_text(values[name]) for name in names)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
