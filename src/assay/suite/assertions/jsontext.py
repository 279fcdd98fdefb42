"""Reading JSON strictly, and finding it in prose, in time linear in the length of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from assay.suite.assertions.base import CannotCheckError

STEPS = 300_000
"""Brackets looked at in one text, besides those of what can be read at once."""

_AT_ONCE = 8
"""Brackets at which reading is tried first; each try may go through the whole text."""

_TOO_DEEP = "the JSON is nested too deeply to be read"

_DIGITS = 300
"""Whole numbers of more digits are read as floats: Python refuses to read very long ones."""

_SPACE = r"[ \t\n\r]*+"
_STRING = r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_SCALAR = rf"(?>{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)"
_KEY = rf"{_STRING}{_SPACE}:{_SPACE}"


def _rest(key: str, close: str) -> str:
    """The members up to one that is a container, or up to the closing bracket."""
    return (
        rf"(?:{key}{_SCALAR}{_SPACE},{_SPACE})*+{key}"
        rf"(?:(?P<child>[\[{{])|{_SCALAR}{_SPACE}(?P<close>{close}))"
    )


def _first(key: str, close: str) -> re.Pattern[str]:
    return re.compile(rf"{_SPACE}(?:(?P<empty>{close})|{_rest(key, close)})")


def _next(key: str, close: str) -> re.Pattern[str]:
    return re.compile(rf"{_SPACE}(?:(?P<empty>{close})|,{_SPACE}{_rest(key, close)})")


_AFTER_BRACKET: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {"{": _first(_KEY, r"\}"), "[": _first("", r"\]")}
)
_AFTER_CHILD: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {"{": _next(_KEY, r"\}"), "[": _next("", r"\]")}
)
_BRACKET = re.compile(r"""\{(?=[ \t\n\r]*+["}])|\[(?=[ \t\n\r]*+[\]\["{tfn0-9-])""")


def read_json(text: str) -> Any:
    """The value of a JSON text; NaN and Infinity are no JSON.

    Raises ValueError (on one line) where it is none, and CannotCheckError where it is nested too
    deeply to be read.

    >>> read_json('{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=_whole)
    except json.JSONDecodeError as error:
        if not text.strip(" \t\n\r"):
            raise ValueError("it is empty") from error
        where = f"line {error.lineno} column {error.colno}"
        raise ValueError(f"{error.msg.removesuffix(' at')} at {where}") from error
    except RecursionError as error:
        raise CannotCheckError(_TOO_DEEP) from error


def is_json(text: str) -> bool:
    """Whether a text is one JSON value; raises CannotCheckError where it has too many brackets."""
    try:
        read_json(text)
    except ValueError:
        return False
    except CannotCheckError:  # however deep, brackets can be paired
        start = len(text) - len(text.lstrip(" \t\n\r"))
        return (start, len(text.rstrip(" \t\n\r"))) in containers(text, start)
    return True


def embedded(text: str) -> Iterator[Any]:
    """The JSON objects and arrays in a text, outermost ones, in order.

    Those within what is no JSON count too. Raises CannotCheckError for what is nested too deeply
    and for too many brackets.

    >>> list(embedded('See [1]: {"a": {"b": 2}}, {x: {"c": 3}}.'))
    [[1], {'a': {'b': 2}}, {'c': 3}]
    """
    decoder = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole)
    at = 0
    for _ in range(_AT_ONCE):
        if (found := _BRACKET.search(text, at)) is None:
            return
        try:
            data, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            break
        yield data
        at = end
    for start, _ in containers(text, at):
        try:
            yield decoder.raw_decode(text, start)[0]
        except RecursionError as error:
            raise CannotCheckError(_TOO_DEEP) from error


def containers(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Where the outermost JSON objects and arrays are: (start, end), in order.

    Raises CannotCheckError after `STEPS` brackets.

    >>> list(containers('{x: {"c": 3}} [1'))
    [(4, 12)]
    """
    scan = _Scan(text)
    at = start
    while found := _BRACKET.search(text, at):
        at = found.start()
        end = scan.end(at)
        if end is None:
            at += 1
        else:
            yield at, end
            at = end


class _Scan:
    """Where containers end, each looked at once.

    A container that is not closed properly makes every container around it one that is not
    either, so what failed is not tried again, and what is closed is stepped over.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends: dict[int, int] = {}
        self.broken: set[int] = set()
        self.steps = 0

    def end(self, start: int) -> int | None:
        """The end of the container that starts there, if it is one."""
        if start not in self.ends and start not in self.broken:
            self._walk(start)
        return self.ends.get(start)

    def _walk(self, start: int) -> None:
        text, ends, broken = self.text, self.ends, self.broken
        inside = [start]
        at, members = start + 1, _AFTER_BRACKET[text[start]]
        while inside:
            self.steps += 1
            if self.steps > STEPS:
                raise CannotCheckError(
                    f"the output has over {STEPS:,} brackets: too many to look for JSON"
                )
            found = members.match(text, at)
            if found is None:
                broken.update(inside)
                return
            at = found.end()
            if found.lastgroup == "child":
                child = at - 1
                if child in broken:
                    broken.update(inside)
                    return
                if child not in ends:
                    inside.append(child)
                    members = _AFTER_BRACKET[text[child]]
                    continue
                at = ends[child]
            else:
                ends[inside.pop()] = at
            if inside:
                members = _AFTER_CHILD[text[inside[-1]]]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)
