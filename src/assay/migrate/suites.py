"""Suites from YAML: safe types only, and no more of them than the text is worth."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from assay.errors import DataError, MissingExtra

MOST_NODES = 1_000_000
"""Values in a document, those that aliases repeat counted each time."""


def is_suite(value: object) -> bool:
    """Whether a value is an object with promptfoo's tests, scenarios or prompts."""
    return isinstance(value, Mapping) and bool(
        {"scenarios", "prompts"} & set(value)
        or ("tests" in value and not {"results", "samples", "data", "rows"} & set(value))
    )


def load_yaml(text: str, name: str) -> Any:
    """The value of a YAML document of plain types.

    Raises DataError for what is no YAML, has tags of a programming language, refers to itself, or
    holds more than a million values; MissingExtra without PyYAML.
    """
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError:
        raise MissingExtra("PyYAML", "yaml") from None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise DataError(f"{name}: it is empty")
        _size(node, {}, name)
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise DataError(f"{name}: not YAML of plain types: {_reason(error)}") from None
    except RecursionError:
        raise DataError(f"{name}: it is nested too deeply") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{name}: a value cannot be read: {error}") from None


def _size(node: Any, known: dict[int, int], name: str) -> int:
    """Values in a node, with aliases spelt out; each node is looked into once."""
    if (size := known.get(id(node))) is not None:
        if not size:
            raise DataError(f"{name}: an alias refers to what it is part of")
        return size
    known[id(node)] = 0
    size = 1
    if isinstance(node.value, list):
        for item in node.value:
            for part in item if isinstance(item, tuple) else (item,):
                size += _size(part, known, name)
    if size > MOST_NODES:
        raise DataError(f"{name}: with its aliases it holds over {MOST_NODES:,} values")
    known[id(node)] = size
    return size


def _reason(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark else ""
    return where + (getattr(error, "problem", None) or str(error).splitlines()[0])
