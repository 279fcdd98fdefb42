"""JSONPath searches through JSON data that may be hostile: bounded, and never without a find."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, ConfigError

if TYPE_CHECKING:
    from jsonpath import JSONPathEnvironment

LONGEST = 2000
"""Characters of an expression."""
_FROM_ROOT = re.compile(r"\$.*?(?:[*:?]|\.\.)")
_MOST_MATCHES = 10_000
_MOST_STEPS = 2_000_000
_LISTED = 12
_MAX_DEPTH = 100


class NothingFoundError(AssayError):
    """Data has nothing where a path points."""


def search(expression: str, data: Any, *, listed: bool = False) -> Any:
    """What a JSONPath finds: one match as it is, several as a list.

    With ``listed`` a path that may find several (a wildcard, slice, filter, union or descent)
    always gives a list, an empty one where it finds nothing. Raises NothingFoundError, ConfigError.
    """
    from jsonpath.exceptions import JSONPathError

    path = compiled(expression)
    listed = listed and not path.singular_query()
    if not isinstance(data, Mapping | list):
        if expression == "$":
            return data
        return _nothing(expression, data, listed=listed)
    _affordable(expression, data)
    try:
        found = [match.obj for match in islice(path.finditer(data), _MOST_MATCHES + 1)]
    except (JSONPathError, RecursionError) as error:
        why = str(error) or type(error).__name__
        raise NothingFoundError(f"{short(expression)} cannot be searched for: {why}") from None
    if len(found) > _MOST_MATCHES:
        raise NothingFoundError(f"{short(expression)} finds more than {_MOST_MATCHES} values")
    if not found:
        return _nothing(expression, data, listed=listed)
    return found[0] if len(found) == 1 and not listed else found


def _nothing(expression: str, data: Any, *, listed: bool) -> list[Any]:
    """What a path that finds nothing gives; raises NothingFoundError if that is no list."""
    if listed:
        return []
    raise NothingFoundError(f"nothing at {short(expression)}: {shape(data)}")


def compiled(expression: str) -> Any:
    """The JSONPath; raises ConfigError for what is none."""
    from jsonpath.exceptions import JSONPathError

    if len(expression) > LONGEST:
        raise ConfigError(f"{short(expression)} is longer than {LONGEST} characters")
    try:
        return _environment().compile(expression)
    except (JSONPathError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise ConfigError(f"{short(expression)} is no JSONPath: {why}") from None


def _environment() -> JSONPathEnvironment:
    """RFC 9535 without match() and search(): a hostile text can hang a regular expression."""
    from jsonpath import JSONPathEnvironment

    environment = JSONPathEnvironment(strict=True)
    for name in ("match", "search"):
        environment.function_extensions.pop(name, None)
    return environment


def _affordable(expression: str, data: Any) -> None:
    """Raise NothingFoundError for a search that visits the same values over and over."""
    passes = expression.count("..") + expression.count("?")
    if not passes:
        return
    nodes, depth = _size(data)
    if depth > _MAX_DEPTH:
        raise NothingFoundError(f"the data is more than {_MAX_DEPTH} levels deep")
    # A second descent meets a value once for each level above it; a filter that looks through
    # the data from its root meets everything for each value.
    again = depth
    if _FROM_ROOT.search(expression, 1):
        passes, again = max(passes, 2), nodes
    if nodes * again ** (passes - 1) > _MOST_STEPS:
        raise NothingFoundError(f"{short(expression)} takes too long on data of {nodes} values")


def _size(data: Any) -> tuple[int, int]:
    """The number of values in the data, and its depth."""
    nodes, depth = 0, 0
    level = [data]
    while level:
        nodes, depth = nodes + len(level), depth + 1
        below: list[Any] = []
        for value in level:
            if isinstance(value, Mapping):
                below.extend(value.values())
            elif isinstance(value, list | tuple):
                below.extend(value)
        level = below
    return nodes, depth


def shape(data: Any) -> str:
    """What data is, for a message: the keys of a mapping, the length of a list, or its type.

    >>> shape({"answer": 1, "id": 2}), shape([1, 2]), shape("text"), shape(None)
    ('the keys there are answer, id', 'there is a list of 2', 'there is a text', 'there is null')
    """
    if isinstance(data, Mapping):
        names = [short(str(key)) if len(str(key)) > 60 else str(key) for key in data]
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        listed = ", ".join(names[:_LISTED])
        return f"the keys there are {listed}{more}" if names else "there is an empty object"
    if isinstance(data, list | tuple):
        return f"there is a list of {len(data)}"
    if data is None:
        return "there is null"
    return "there is a text" if isinstance(data, str) else f"there is a {type(data).__name__}"


def short(text: str) -> str:
    """The text in quotes, cut to 80 characters."""
    return repr(text if len(text) <= 80 else text[:77] + "...")
