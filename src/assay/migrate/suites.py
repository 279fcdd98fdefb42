"""Suites from YAML, by the reader of suites: plain data, and no more than the text is worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.errors import DataError


def is_suite(value: object) -> bool:
    """Whether a value is an object with promptfoo's tests, scenarios or prompts."""
    return isinstance(value, Mapping) and bool(
        {"scenarios", "prompts"} & set(value)
        or ("tests" in value and not {"results", "samples", "data", "rows"} & set(value))
    )


def load_yaml(path: Path) -> Any:
    """The data of a YAML file as `assay eval` reads it, with the same limits.

    References (``$ref``) are resolved. Raises DataError with the line and column of what cannot be
    read, MissingExtra without PyYAML.
    """
    from assay.suite.document import load_document
    from assay.suite.problems import SuiteError

    try:
        return load_document(path).data
    except SuiteError as error:
        problem = error.problems[0]
        line = f":{problem.place.line}:{problem.place.column}" if problem.place.line else ""
        raise DataError(f"{path.name}{line}: {problem.message}") from None
