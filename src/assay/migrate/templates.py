"""promptfoo's templates and lists in variables, without a template language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from assay.errors import DataError

MOST_TESTS = 10_000
"""Tests that the lists of one test's variables may make."""

_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_WHOLE = frozenset({"context", "contextChunks"})


def filled(value: Any, variables: Mapping[str, Any]) -> Any:
    """The value with ``{{name}}`` replaced; a name by itself keeps its type. Once, not again.

    >>> filled("{{a}}", {"a": ["x"]}), filled("is {{a}}?", {"a": "x"})
    (['x'], 'is x?')
    """
    if not isinstance(value, str):
        return value
    if (alone := _NAME.fullmatch(value.strip())) and alone[1] in variables:
        return variables[alone[1]]

    def put(found: re.Match[str]) -> str:
        known = variables.get(found[1])
        return str(known) if isinstance(known, str | int | float) else found[0]

    return _NAME.sub(put, value)


def open_ends(value: Any) -> str | None:
    """The first template or file that a value still asks for, or None."""
    if isinstance(value, str):
        found = re.search(r"\{\{.{0,60}|\{%.{0,60}", value)
        return value[:80] if value.startswith("file://") else found and found[0]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return next((end for item in value if (end := open_ends(item))), None)
    return None


def spread(variables: Mapping[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
    """The variables of each test that lists of texts make; contexts are never taken apart.

    ``whole``: no list is. Raises DataError for more than 10,000 tests.

    >>> [v["q"] for v in spread({"q": ["a", "b"], "context": ["c", "d"]}, whole=False)]
    ['a', 'b']
    """
    lists = {
        key: value
        for key, value in variables.items()
        if not whole and key not in _WHOLE and isinstance(value, list)
        if value and isinstance(value[0], str)
    }
    if prod(len(value) for value in lists.values()) > MOST_TESTS:
        raise DataError(f"lists in vars make over {MOST_TESTS:,} tests")
    for values in product(*lists.values()):
        yield {**variables, **dict(zip(lists, values, strict=True))}
