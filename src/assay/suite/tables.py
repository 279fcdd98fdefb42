"""Tests in CSV and TSV: columns are variables, but for those that begin with ``__``."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import ConfigError, DataError, did_you_mean
from assay.readers.tables import csv_rows
from assay.suite.case import Placed
from assay.suite.model import AssertionSpec, TestSpec
from assay.suite.problems import Place
from assay.suite.remarks import Remarks
from assay.suite.shorthand import assertion_of, near_type
from assay.suite.written import AROUND, Var, Written

EXPECTED = re.compile(r"__expected(?:[1-9]\d*)?")
_METADATA = "__metadata:"
_CONFIG = re.compile(r"__config:(?P<column>__expected(?:[1-9]\d*)?):(?P<key>.*)")
_PLAIN = ("__prefix", "__suffix", "__description", "__metric", "__threshold", "__providerOutput")
_SHOWN = ("__expected", *_PLAIN, "__metadata:KEY", "__config:__expected1:threshold")
_SINGLE = frozenset({name[1:] for name in _PLAIN} | {"_expected"})
_COMMA = re.compile(r"(?<!\\),")
_NEARLY = (
    "contains",
    "contains-all",
    "contains-any",
    "equals",
    "icontains",
    "is-json",
    "llm-rubric",
    "regex",
    "similar",
    "starts-with",
)
"""Types that a slip is looked for in: those that are mostly written in cells."""


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are for, by their names."""

    vars: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    thresholds: Mapping[str, str] = field(default_factory=dict)
    """Column with a threshold -> the column of the assertion that it is for."""


def table_tests(
    path: Path, name: str, known: Container[str], delimiter: str | None, remarks: Remarks
) -> Iterator[Written]:
    """The tests of a CSV or TSV file, one a row; every value is data.

    ``name`` is what places call the file; ``known`` holds the types of assertions; without a
    ``delimiter`` it is the comma, or where the header has none the semicolon or the tab.
    """
    columns: Columns | None = None
    number = 0
    try:
        with path.open("rb") as file:
            for line, cells in csv_rows(file, name, delimiter):
                number += 1
                place = Place(name, line, 1)
                row = {key: cell or "" for key, cell in cells.items()}
                if columns is None:
                    columns = _columns(row, Place(name, 1, 1), remarks)
                yield _Row(row, columns, place, known, remarks).test(number)
    except DataError as error:
        remarks.error(*_placed(str(error), name))
    except OSError as error:
        remarks.error(Place(name), f"the file cannot be read: {error.strerror}")
    if not number:
        remarks.warning(Place(name), "the file has no tests: it needs a header and rows below it")


def _placed(message: str, name: str) -> tuple[Place, str]:
    """The reader's message, with the line it begins with as a place."""
    found = re.match(rf"{re.escape(name)}(?:, line (\d+))?: ", message)
    if found is None:
        return Place(name), message
    return Place(name, int(found[1] or 0), 1 if found[1] else 0), message[found.end() :]


def _columns(names: Mapping[str, Any], place: Place, remarks: Remarks) -> Columns:
    """The columns by what they are for, with remarks on those that are for nothing."""
    variables, metadata, thresholds = [], [], {}
    expected = [name for name in names if EXPECTED.fullmatch(name)]
    for name in names:
        if not name.startswith("__"):
            variables.append(name)
            if name in _SINGLE:
                remarks.warning(place, f"column {name!r} is a variable; did you mean '_{name}'?")
        elif name.startswith(_METADATA) and name.removeprefix(_METADATA).strip("[] "):
            metadata.append(name)
        elif name.startswith("__config:"):
            try:
                thresholds[name] = _for_column(name, expected)
            except ConfigError as error:
                remarks.error(place, str(error))
        elif name not in _PLAIN and name not in expected:
            near = did_you_mean(name, list(_SHOWN))
            remarks.error(place, f"unknown column {name!r}; {near}")
    return Columns(tuple(variables), tuple(expected), tuple(metadata), thresholds)


def _for_column(name: str, expected: list[str]) -> str:
    """The column with the assertion that a ``__config:`` column is for."""
    found = _CONFIG.fullmatch(name)
    if found is None or found["key"] != "threshold":
        raise ConfigError(f"column {name!r} must be written as __config:__expected1:threshold")
    column = found["column"]
    first = {"__expected", "__expected1"}
    if column in first and column not in expected:
        column = next((other for other in expected if other in first), column)
    if column not in expected:
        raise ConfigError(f"column {name!r} is for {column!r}, which the table does not have")
    return column


@dataclass(frozen=True)
class _Row:
    """One row, as the parts of a test."""

    cells: Mapping[str, str]
    columns: Columns
    place: Place
    known: Container[str]
    remarks: Remarks

    def test(self, number: int) -> Written:
        """The row as a test, the ``number``-th of its table."""
        cells = self.cells
        spec: dict[str, Any] = {
            "description": cells.get("__description") or f"Row #{number}",
            "metadata": self._metadata(),
        }
        threshold = self._number("__threshold")
        if threshold is not None:
            spec["threshold"] = threshold
        if output := cells.get("__providerOutput"):
            spec["providerOutput"] = output
        around = {name: cell for name in AROUND if (cell := cells.get(f"__{name}"))}
        return Written(
            spec=TestSpec.model_validate({**spec, "options": around}),
            place=self.place,
            vars={name: Var(cells[name], self.place, True) for name in self.columns.vars},
            around={name: Var(cell, self.place, True) for name, cell in around.items()},
            assertions=tuple(self._assertions()),
        )

    def _assertions(self) -> Iterator[Placed]:
        thresholds = {of: self._number(name) for name, of in self.columns.thresholds.items()}
        metric = self.cells.get("__metric") or None
        for column in self.columns.expected:
            cell = self.cells[column].strip()
            if not cell:
                continue
            try:
                made = assertion_of(cell, self.known)
            except ConfigError as error:
                self.remarks.error(self.place, f"{column}: {error}")
                continue
            spelt = cell.startswith(("equals:", "equals(", "not-equals"))
            near = near_type(cell, _NEARLY, self.known)
            if made["type"] == "equals" and not spelt and near:
                why = f"{column}: {cell[:40]!r} is compared as a text; did you mean {near!r}?"
                if cell.removeprefix("not-").startswith(f"{near}("):
                    why += " Its parentheses take a threshold, and a value follows a colon"
                self.remarks.warning(self.place, why, once=f"{self.place.file} {near}")
            if thresholds.get(column) is not None:
                made["threshold"] = thresholds[column]
            if "{{" in str(made.get("value")):
                why = f"{column}: data is not filled in; {{{{...}}}} stays as it is"
                self.remarks.warning(self.place, why, once=f"{self.place.file} {column} {{{{")
            yield Placed(AssertionSpec(**made, metric=metric), self.place, data=True)

    def _metadata(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for column in self.columns.metadata:
            key, cell = column.removeprefix(_METADATA), self.cells[column]
            if not cell.strip():
                continue
            if key.endswith("[]"):
                out[key[:-2]] = [part.strip().replace("\\,", ",") for part in _COMMA.split(cell)]
            else:
                out[key] = cell
        return out

    def _number(self, column: str) -> float | None:
        """The number in a cell, None where it is empty."""
        cell = self.cells.get(column, "").strip()
        if not cell:
            return None
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.remarks.error(self.place, f"{column}: {cell[:40]!r} is not a number")
            return None
        return value
