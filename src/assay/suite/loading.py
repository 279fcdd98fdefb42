"""A config file as a suite: read, shaped, checked, with every problem and its place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import AssayError, ConfigError
from assay.suite.case import TestCase
from assay.suite.checking import check_cases
from assay.suite.document import Document, load_document
from assay.suite.expanding import expand
from assay.suite.files import Folder
from assay.suite.model import AssertionSpec, PromptSpec, ProviderSpec, SuiteSpec, TestSpec
from assay.suite.problems import Place, Problem, SuiteError
from assay.suite.prompts import Prompt, load_prompts
from assay.suite.remarks import Remarks
from assay.suite.shaping import shaped
from assay.suite.templates import Templates

DEFAULTS = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json", "assay.yaml")
"""Configs that are looked for where none is named."""


@dataclass(frozen=True, slots=True)
class Additions:
    """What goes before a config: variables for all tests, providers, prompts; more assertions."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    providers: Sequence[str] = ()
    prompts: Sequence[str] = ()
    assertions: Path | None = None
    """A YAML file with a list of assertions, which every test gets."""

    def applied(self, spec: SuiteSpec) -> SuiteSpec:
        """The config with what is added; raises SuiteError."""
        changes: dict[str, Any] = {}
        if self.providers:
            changes |= {"providers": [ProviderSpec(id=one) for one in self.providers]}
            changes |= {"targets": []}
        if self.prompts:
            changes |= {"prompts": [PromptSpec(raw=one) for one in self.prompts]}
        if self.assertions is not None:
            default = spec.default_test or TestSpec()
            more = [*default.assertions, *_assertions(self.assertions)]
            changes |= {"default_test": default.model_copy(update={"assertions": more})}
        return spec.model_copy(update=changes)


@dataclass(frozen=True)
class Suite:
    """A config that can run: its tests, prompts, and the warnings about it."""

    path: Path
    spec: SuiteSpec
    document: Document
    folder: Folder
    templates: Templates
    cases: Sequence[TestCase]
    prompts: Sequence[Prompt]
    warnings: Sequence[Problem] = ()
    added: Additions = field(default_factory=Additions)

    def setting(self, name: str) -> str | None:
        """A variable of the config's env or, without it there, of the environment."""
        return self.spec.env.get(name, os.environ.get(name))


def find_config(folder: Path) -> Path:
    """The config in a folder; raises ConfigError if there is none."""
    for name in DEFAULTS:
        if (folder / name).is_file():
            return folder / name
    raise ConfigError(f"no {', '.join(DEFAULTS[:-1])} or {DEFAULTS[-1]} here; name one with -c")


def _assertions(path: Path) -> list[AssertionSpec]:
    document = load_document(path)
    data = {"assert": document.data} if isinstance(document.data, list) else document.data
    remarks = Remarks()
    test = shaped(TestSpec, data, document.place, remarks)
    _raise(remarks.listed())
    if test is None or not test.assertions:
        raise SuiteError([Problem(document.place(()), "it has no list of assertions (assert)")])
    return test.assertions


def load_suite(path: Path | None, additions: Additions | None = None) -> Suite:
    """A suite, ready to run; without a path, one that is made of additions alone.

    Raises SuiteError with every error that was found.
    """
    additions = additions or Additions()
    document = Document({}, "the command line") if path is None else load_document(path)
    path = path or additions.assertions or Path("suite.yaml")
    remarks = Remarks()
    spec = shaped(SuiteSpec, document.data, document.place, remarks)
    problems = remarks.listed()
    _raise(problems)
    if spec is None:  # a shape that does not fit has raised
        raise SuiteError(problems)
    if spec.providers and spec.targets:
        why = "providers and targets are the same: keep one"
        _raise([_problem(document, ("targets",), why)])
    spec = additions.applied(spec)
    folder = Folder(path.resolve().parent)
    templates = Templates({**os.environ, **spec.env})
    try:
        prompts = load_prompts(spec, folder, templates)
    except ConfigError as error:
        _raise([*problems, _problem(document, ("prompts",), str(error))])
        raise
    try:
        cases, more = expand(spec, document, folder, templates, overrides=additions.variables)
    except SuiteError as error:
        _raise([*problems, *error.problems])
        raise
    except AssayError as error:
        _raise([*problems, _problem(document, ("tests",), str(error))])
        raise

    def prompt_place(prompt: Prompt) -> Place:
        return Place("-p") if additions.prompts else document.place(("prompts", prompt.entry))

    # What nobody has written is not remarked on: the prompt of a suite without a config.
    written = prompts if document.data or additions.prompts else ()
    problems += [
        *more,
        *check_cases(spec, document, cases, written, templates, prompt_place=prompt_place),
    ]
    _raise(problems)
    return Suite(path, spec, document, folder, templates, cases, prompts, problems, additions)


def _problem(document: Document, path: Sequence[str | int], message: str) -> Problem:
    return Problem(document.place(path), message)


def _raise(problems: Sequence[Problem]) -> None:
    """Raise SuiteError if there is an error among the problems."""
    errors = sorted((p for p in problems if p.severity == "error"), key=lambda p: p.place)
    if errors:
        raise SuiteError(errors)
