"""A test's variables: lists taken apart, files read, references to each other filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from assay.errors import AssayError, ConfigError
from assay.suite.document import read_document
from assay.suite.files import MAX_BYTES, Folder
from assay.suite.globs import has_wildcard
from assay.suite.problems import Place, SuiteError
from assay.suite.templates import Templates
from assay.suite.written import Var

WHOLE = frozenset({"context", "contexts", "contextChunks"})
"""Variables whose lists are the chunks of one answer, so that they are never taken apart."""

VALUE_FILES = (".txt", ".md", ".csv", ".json", ".yaml", ".yml")
_FILE = "file://"
_DEEPEST = 50


class VarError(ConfigError):
    """A variable that cannot be filled in, and where it is written."""

    def __init__(self, place: Place, message: str) -> None:
        self.place = place
        super().__init__(message)


class ValueFiles:
    """What files hold that variables name, each read once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read: dict[str, list[Any]] = {}
        self._values: dict[Path, Any] = {}

    def values(self, ref: str) -> list[Any]:
        """The content of each file that ``file://...`` names: parsed if JSON or YAML, else text.

        Raises ConfigError if there is none, one is outside of the folder, or cannot be read.
        """
        if "{{" in ref or "{%" in ref:
            raise ConfigError(f"{ref}: the path of a file cannot hold a template")
        if ref not in self._read:
            files = self._folder.glob(ref, VALUE_FILES)
            self._read[ref] = [self._value(file) for file in files]
        return self._read[ref]

    def value(self, ref: str) -> Any:
        """What one reference stands for: one file's content, or all of a pattern's as a list."""
        values = self.values(ref)
        return list(values) if has_wildcard(ref) else values[0]

    def _value(self, file: Path) -> Any:
        if file not in self._values:
            text = self._folder.read_text(file)
            parsed = file.suffix.lower() in (".json", ".yaml", ".yml")
            self._values[file] = self._parsed(text, file) if parsed else text.strip()
        return self._values[file]

    def _parsed(self, text: str, file: Path) -> Any:
        name = str(file.relative_to(self._folder.root))
        try:
            return read_document(text, name, max_bytes=MAX_BYTES, refs=False).data
        except SuiteError as error:
            raise ConfigError(str(error.problems[0])) from None


def combinations(
    variables: Mapping[str, Var], files: ValueFiles, *, whole: bool = False
) -> tuple[int, Iterator[dict[str, Var]]]:
    """How many tests the lists of texts and patterns of files make, and the variables of each.

    A list whose first element is a text makes a test an element, several make every combination;
    other lists, and those of ``WHOLE``, stay as they are, with ``whole`` all do. Raises VarError.
    """
    apart: dict[str, list[Var]] = {}
    for name, var in variables.items():
        if not (whole or name in WHOLE) and (elements := _elements(var, files)) is not None:
            apart[name] = elements
    made = (
        {**variables, **dict(zip(apart, chosen, strict=True))}
        for chosen in product(*apart.values())
    )
    return prod(map(len, apart.values())), made


def is_list_of_texts(value: Any) -> bool:
    """Whether a value is a list that makes a test an element."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def _elements(var: Var, files: ValueFiles) -> list[Var] | None:
    """The values that a variable takes one after the other; None for a single one."""
    if is_list_of_texts(var.value):
        out: list[Var] = []
        for element in var.value:
            one = var._replace(value=element)
            out += _elements(one, files) or [one] if isinstance(element, str) else [one]
        return out
    if not var.data and is_file(var.value) and has_wildcard(var.value):
        try:
            return [Var(value, var.place, True) for value in files.values(var.value)]
        except AssayError as error:
            raise VarError(var.place, str(error)) from None
    return None


class Filling:
    """Fills in one test's variables, each template once, after those that it names.

    So a value that comes from data is put in and never looked at again. ``templates`` that name
    each other in a circle raise VarError.
    """

    def __init__(
        self, variables: Mapping[str, Var], templates: Templates, files: ValueFiles
    ) -> None:
        self._vars, self._templates, self._files = variables, templates, files
        self._done = {name: var.value for name, var in variables.items() if var.data}

    def all(self) -> dict[str, Any]:
        """Every variable's final value, in the order in which they are written."""
        for name in self._vars:
            self._fill(name, ())
        return {name: self._done[name] for name in self._vars}

    def text(self, var: Var) -> Any:
        """A further text with the variables filled in; it is never the name of a file."""
        return var.value if var.data else self._rendered(var.value, var.place, ())

    def _fill(self, name: str, trail: tuple[str, ...]) -> None:
        if name in self._done:
            return
        var = self._vars[name]
        if name in trail:
            circle = " -> ".join((*trail[trail.index(name) :], name))
            raise VarError(var.place, f"variables name each other in a circle: {circle}")
        if len(trail) >= _DEEPEST:
            raise VarError(var.place, f"variables name each other more than {_DEEPEST} deep")
        self._done[name] = self._value(var.value, var.place, (*trail, name))

    def _value(self, value: Any, place: Place, trail: tuple[str, ...]) -> Any:
        if isinstance(value, str):
            return self._leaf(value, place, trail)
        if isinstance(value, Mapping):
            return {key: self._value(item, place, trail) for key, item in value.items()}
        if not isinstance(value, list):
            return value
        out: list[Any] = []
        for item in value:
            made = self._value(item, place, trail)
            if is_file(item) and has_wildcard(item):
                out += made
            else:
                out.append(made)
        return out

    def _leaf(self, text: str, place: Place, trail: tuple[str, ...]) -> Any:
        if not is_file(text):
            return self._rendered(text, place, trail)
        try:
            return self._files.value(text)
        except AssayError as error:
            raise VarError(place, str(error)) from None

    def _rendered(self, text: str, place: Place, trail: tuple[str, ...]) -> str:
        try:
            if not self._templates.has_template(text):
                return text
            for name in self._templates.names(text) & self._vars.keys():
                self._fill(name, trail)
            return self._templates.render(text, self._done)
        except VarError:
            raise
        except AssayError as error:
            raise VarError(place, str(error)) from None


def is_file(value: Any) -> bool:
    """Whether a value is a reference to a file."""
    return isinstance(value, str) and value.startswith(_FILE)
