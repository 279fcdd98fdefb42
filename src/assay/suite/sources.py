"""Tests in a config and in files that it names, as they are written."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.errors import AssayError, ConfigError, DataError
from assay.readers.source import decoded
from assay.suite.case import Placed
from assay.suite.document import Document, read_document
from assay.suite.files import Folder
from assay.suite.json_lines import json_value
from assay.suite.model import ScenarioSpec, TestSpec
from assay.suite.problems import Place, SuiteError
from assay.suite.remarks import Remarks
from assay.suite.shaping import PlaceOf, shaped
from assay.suite.tables import table_tests
from assay.suite.written import AROUND, Var, Written

TEST_FILES = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".tsv")
_YAML = (".yaml", ".yml")
_MOST_BYTES = 100_000_000
_MOST_NODES = 10_000_000
_PROGRAMS = (".py", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts")
_SHEETS = (".xlsx", ".xls")


class Sources:
    """Reads tests wherever they are; what is wrong with one goes to ``remarks``."""

    def __init__(
        self,
        document: Document,
        folder: Folder,
        remarks: Remarks,
        *,
        known: Container[str],
        delimiter: str | None = None,
    ) -> None:
        self._beside = Path(document.name).parent
        self._folder, self._remarks = folder, remarks
        self._known, self._delimiter = known, delimiter

    def tests(
        self,
        specs: Sequence[TestSpec],
        place_of: PlaceOf,
        path: tuple[str | int, ...],
        trail: tuple[Path, ...] = (),
    ) -> Iterator[Written]:
        """The tests of a list in a config, those in files that it names included."""
        for n, spec in enumerate(specs):
            yield from self.test(spec, place_of, (*path, n), trail)

    def test(
        self,
        spec: TestSpec,
        place_of: PlaceOf,
        path: tuple[str | int, ...],
        trail: tuple[Path, ...] = (),
    ) -> Iterator[Written]:
        """One test of a config, or those of the file that it names."""
        if spec.path is None:
            yield self._written(spec, place_of, path)
            return
        for file in self.named(spec, spec.path, place_of(path), trail, TEST_FILES):
            yield from self._from_file(file, (*trail, file))

    def named(
        self,
        spec: TestSpec | ScenarioSpec,
        ref: str,
        place: Place,
        trail: tuple[Path, ...],
        allowed: tuple[str, ...],
    ) -> Iterator[Path]:
        """The files that stand in the place of a test or scenario: what ``ref`` names.

        What is wrong with them is remarked; ``trail`` are files that led here.
        """
        if beside := sorted(spec.model_fields_set - {"path"}):
            why = f"what names a file stands alone; take out {', '.join(beside)}"
            self._remarks.error(place, why)
        try:
            files = self._files(ref, allowed)
        except AssayError as error:
            self._remarks.error(place, str(error))
            return
        for file in files:
            if file in trail:
                chain = " -> ".join(one.name for one in (*trail, file))
                self._remarks.error(place, f"files of tests name each other in a circle: {chain}")
            else:
                yield file

    def _files(self, ref: str, allowed: tuple[str, ...]) -> list[Path]:
        bare = ref.rpartition(":")[0] if ".py:" in ref or ".js:" in ref else ref
        if bare.lower().endswith(_PROGRAMS):
            raise ConfigError(f"{ref}: tests are not made by programs; save them as JSONL")
        if bare.partition("#")[0].lower().endswith(_SHEETS):
            raise ConfigError(f"{ref}: spreadsheets are not read; save it as CSV in UTF-8")
        return self._folder.glob(ref, allowed)

    def _from_file(self, file: Path, trail: tuple[Path, ...]) -> Iterator[Written]:
        name = self.name_of(file)
        suffix = file.suffix.lower()
        if suffix in (".csv", ".tsv"):
            mark = "\t" if suffix == ".tsv" else self._delimiter
            yield from table_tests(file, name, self._known, mark, self._remarks)
        elif suffix == ".jsonl":
            yield from self._from_lines(file, name)
        else:
            document = self.document(file)
            if document is not None:
                yield from self._from_document(document, suffix in _YAML, trail)

    def document(self, file: Path) -> Document | None:
        """The data of a YAML or JSON file; None if it cannot be read, which is remarked."""
        name = self.name_of(file)
        try:
            text = self._folder.read_text(file, max_bytes=_MOST_BYTES)
            if file.suffix.lower() in _YAML:
                return read_document(text, name)
            return read_document(
                text, name, max_bytes=_MOST_BYTES, max_nodes=_MOST_NODES, refs=False
            )
        except SuiteError as error:
            for problem in error.problems:
                self._remarks.error(problem.place, problem.message)
        except AssayError as error:
            self._remarks.error(Place(name), str(error))
        return None

    def _from_document(
        self, document: Document, config: bool, trail: tuple[Path, ...]
    ) -> Iterator[Written]:
        """The tests of a file: a list of them, or one. A YAML file is part of the config."""
        for n, (item, at) in enumerate(items_of(document)):
            if config and isinstance(item, str):
                yield from self.test(TestSpec(path=item), document.place, at, trail)
                continue
            place_of = within(document.place, at)
            spec = shaped(TestSpec, item, place_of, self._remarks)
            if spec is None:
                continue
            if config:
                yield from self.test(spec, place_of, (), trail)
            elif made := self._data(spec, place_of, n + 1):
                yield made

    def _from_lines(self, file: Path, name: str) -> Iterator[Written]:
        number = 0
        try:
            with file.open("rb") as lines:
                for line, text in decoded(lines, name):
                    if not text.strip():
                        continue
                    number += 1
                    place = Place(name, line, 1)
                    try:
                        item = json_value(text)
                    except DataError as error:
                        self._remarks.error(place, f"not JSON: {error}")
                        continue
                    spec = shaped(TestSpec, item, _always(place), self._remarks)
                    if spec and (made := self._data(spec, _always(place), number)):
                        yield made
        except (AssayError, OSError) as error:
            self._remarks.error(Place(name), str(error))
        if not number:
            self._remarks.warning(Place(name), "the file has no tests: it needs one a line")

    def _data(self, spec: TestSpec, place_of: PlaceOf, number: int) -> Written | None:
        """A test out of a data file, in which nothing names a file and nothing is rendered."""
        if spec.path is not None or not isinstance(spec.vars, dict):
            key = "path" if spec.path is not None else "vars"
            why = f"{key} names a file, and data files name none: write the variables out"
            self._remarks.error(place_of((key,)), why)
            return None
        if spec.description is None:
            spec = spec.model_copy(update={"description": f"Row #{number}"})
        return self._written(spec, place_of, (), data=True)

    def _written(
        self, spec: TestSpec, place_of: PlaceOf, path: tuple[str | int, ...], *, data: bool = False
    ) -> Written:
        given = spec.vars
        if isinstance(given, dict):
            variables = {
                name: Var(value, place_of((*path, "vars", name)), data)
                for name, value in given.items()
            }
        else:
            variables = self._vars_in(given, place_of((*path, "vars")))
        if "assert" in variables:
            place = variables["assert"].place
            self._remarks.warning(place, "assert is a variable here; it belongs beside vars")
        around = {
            name: Var(text, place_of((*path, "options", name)), data)
            for name in AROUND
            if (text := getattr(spec.options, name)) is not None
        }
        assertions = tuple(
            Placed(one, place_of((*path, "assert", n)), data)
            for n, one in enumerate(spec.assertions)
        )
        return Written(spec, place_of(path), variables, around, assertions)

    def _vars_in(self, refs: Sequence[str], place: Place) -> dict[str, Var]:
        """The variables of YAML and JSON files, later files first; those of JSON are data."""
        out: dict[str, Var] = {}
        try:
            files = [file for ref in refs for file in self._folder.glob(ref, (*_YAML, ".json"))]
        except AssayError as error:
            self._remarks.error(place, str(error))
            return out
        for file in files:
            document = self.document(file)
            if document is None:
                continue
            if not isinstance(document.data, dict):
                self._remarks.error(document.place(()), "it must be a mapping of variables")
                continue
            data = file.suffix.lower() == ".json"
            for name, value in document.data.items():
                out[name] = Var(value, document.place((name,)), data)
        return out

    def name_of(self, file: Path) -> str:
        """What places call a file: its path from where the config's begins."""
        return str(self._beside / file.relative_to(self._folder.root))


def items_of(document: Document) -> Iterator[tuple[Any, tuple[str | int, ...]]]:
    """What a file lists, each with its path; a file that is no list holds one thing."""
    if isinstance(document.data, list):
        yield from ((item, (n,)) for n, item in enumerate(document.data))
    else:
        yield document.data, ()


def within(place_of: PlaceOf, start: tuple[str | int, ...]) -> PlaceOf:
    """Where paths that begin at ``start`` are written."""

    def place(path: Sequence[str | int], /, *, key: bool = False) -> Place:
        return place_of((*start, *path), key=key)

    return place


def _always(place: Place) -> PlaceOf:
    def same(_: Sequence[str | int], /, *, key: bool = False) -> Place:
        return place

    return same
