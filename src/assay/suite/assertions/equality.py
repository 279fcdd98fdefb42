"""equals: the output is this text, or this data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.suite.assertions.base import Found, Given, Kind
from assay.suite.assertions.jsontext import read_json
from assay.suite.assertions.quoting import plain, quoted, shown

_SIDE = 50
"""Characters shown of each side of a difference."""


def equals(given: Given) -> Found:
    """Whether the output is the value: a text to the letter, data by what it says as JSON."""
    output, value = given.answer.output, given.value
    if isinstance(value, str) and not isinstance(output, str):
        return _text_or_data(given.text, output, value)
    if isinstance(value, Mapping | list | tuple) or not isinstance(output, str | None):
        return _data(output, value)
    return _text(given.text, plain(value))


def _text_or_data(text: str, output: Any, value: str) -> Found:
    """Data against a text: spaces between the parts of its JSON do not count."""
    if value == text:
        return Found(True, f"the output is {quoted(text)}")
    try:
        return _data(output, read_json(value))
    except ValueError:
        return _text(text, value)


def _text(text: str, value: str) -> Found:
    if text == value:
        return Found(True, f"the output is {quoted(text)}")
    at = _first_difference(text, value)
    line = text.count("\n", 0, at) + 1
    where = f"from character {at + 1}" + (f" (line {line})" if line > 1 else "")
    sides = f"found {_side(text, at)}, expected {_side(value, at)}"
    return Found(False, f"the output differs {where}: {sides}{_hint(text, value)}")


def _first_difference(left: str, right: str) -> int:
    """Where two texts begin to differ, by halving."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _side(text: str, at: int) -> str:
    return quoted(text[at : at + _SIDE + 1], _SIDE) if at < len(text) else "the end"


def _hint(text: str, value: str) -> str:
    if text.strip() == value.strip():
        return "; only space at the ends differs"
    if len(text) == len(value) and text.casefold() == value.casefold():
        return "; only upper and lower case differ"
    return ""


def _data(output: Any, value: Any) -> Found:
    """Whether the output is the data; as text it is read as JSON."""
    if isinstance(output, str):
        try:
            output = read_json(output)
        except ValueError as error:
            return Found(False, f"the output is no JSON: {error}; it begins {quoted(output)}")
    difference = _difference(output, value)
    return Found(difference is None, difference or f"the output equals {shown(value)}")


def _difference(output: Any, value: Any) -> str | None:
    """The first difference of two pieces of data, None where there is none."""
    waiting: list[tuple[str, Any, Any]] = [("output", output, value)]
    while waiting:
        where, found, expected = waiting.pop()
        pairs: Iterable[tuple[Any, Any, Any]]
        if isinstance(found, Mapping) and isinstance(expected, Mapping):
            left, right = _named(found), _named(expected)
            if left.keys() != right.keys():
                return f"{_path(where)} {_keys(left, right)}"
            pairs = ((key, left[key], each) for key, each in right.items())
        elif isinstance(found, list | tuple) and isinstance(expected, list | tuple):
            if len(found) != len(expected):
                return f"{_path(where)} has {len(found)} items, expected {len(expected)}"
            pairs = ((n, one, expected[n]) for n, one in enumerate(found))
        else:
            pairs = ((None, found, expected),)
        for step, one, other in pairs:
            if _alike(one, other):
                waiting.append((where + _step(step), one, other))
            elif isinstance(one, bool) is not isinstance(other, bool) or one != other:
                sides = f"{shown(one, _SIDE)}, expected {shown(other, _SIDE)}"
                return f"{_path(where + _step(step))} is {sides}"
    return None


def _named(data: Mapping[Any, Any]) -> Mapping[str, Any]:
    """The object with texts for keys: those that YAML takes for numbers too."""
    if all(isinstance(key, str) for key in data):
        return data
    return {plain(key): each for key, each in data.items()}


def _step(key: str | int | None) -> str:
    if key is None:
        return ""
    return f".{key}" if isinstance(key, str) else f"[{key}]"


def _alike(one: Any, other: Any) -> bool:
    """Whether both are objects, or both lists."""
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple)
    return isinstance(one, Mapping) and isinstance(other, Mapping)


def _path(where: str) -> str:
    """A path on one line, its end where it is long."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in where[-80:])
    return line if len(line) <= 80 else "…" + line[-79:]


def _keys(left: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    """Which keys are missing, and which are too many."""
    missing = [key for key in right if key not in left]
    more = [key for key in left if key not in right]
    parts = []
    if missing:
        parts.append(f"lacks {_some(missing)}")
    if more:
        parts.append(f"has {_some(more)} that the value has not")
    return " and ".join(parts)


def _some(keys: list[str]) -> str:
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return f"the key {quoted(keys[0], 40)}{more}"


KINDS = (
    Kind(
        "equals",
        "the output is the value: a text to the letter, an object or list as JSON",
        equals,
        types=(str, int, float, bool, dict, list),
    ),
)
