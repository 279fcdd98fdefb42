"""regex: patterns as JavaScript reads them, with a limit of time and of size."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.suite.assertions.base import CannotCheckError, Found, Given, Kind
from assay.suite.assertions.quoting import quoted

if TYPE_CHECKING:
    from regex import Match, Pattern

SECONDS = 1.0
"""Time that one search may take."""

_LONGEST = 20_000
"""Characters of a pattern, also with the least number of all its repeats written out."""

_SPACES = r"\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_INLINE = re.compile(r"\(\?[aimsuxLbefrpwV01-]+[:)]|\(\?P[<=>]|\(\?[#|>]|\\[pPNXRAZmM]")
"""What Python's patterns have and JavaScript's (without flags) do not."""

_TOKEN = re.compile(r"\\.|\[\^?\]|\[(?:\\.|[^\]\\])*\]|\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL)
_IN_SET = re.compile(r"(\\s)|\\.|(\[)", re.DOTALL)

_OUTSIDE: Mapping[str, str] = MappingProxyType(
    {
        ".": r"[^\n\r\u2028\u2029]",
        "$": r"\Z",
        r"\s": f"[{_SPACES}]",
        r"\S": f"[^{_SPACES}]",
        r"\k": r"\g",
        "[]": "(?!)",
        "[^]": r"[\s\S]",
        "{": r"\{",
    }
)


def search(pattern: str, text: str) -> Match[str] | None:
    r"""The first match of a pattern in a text, with JavaScript's meaning.

    So \d, \w and \b know ASCII only, $ is the very end, and a dot is no end of line; a pattern
    with what only Python has, like (?i), keeps Python's meaning. Raises ValueError for what is no
    pattern, and TimeoutError after `SECONDS`.

    >>> search(r"\d+$", "1 and 22").group()
    '22'
    """
    return compiled(pattern).search(text, timeout=SECONDS)


def compiled(pattern: str) -> Pattern[str]:
    """The pattern, ready for searching; raises ValueError for what is none or is too large."""
    import regex

    python = _INLINE.search(pattern) is not None
    translated = _translated(pattern, python)
    try:
        return regex.compile(translated, 0 if python else regex.ASCII)
    except regex.error as error:
        why = str(error).partition(" at position")[0]
        raise ValueError(f"{quoted(pattern)} is no pattern: {why}") from error
    except (RecursionError, OverflowError) as error:
        raise ValueError(f"{quoted(pattern)} is nested too deeply") from error


def bad_pattern(value: Any) -> str | None:
    """What is wrong with a value that is to be a pattern; None if nothing is."""
    if not isinstance(value, str):
        return "the value must be a pattern, as text"
    if not value:
        return "the pattern is empty: every output matches it"
    try:
        compiled(value)
    except ValueError as error:
        return str(error)
    return None


def _translated(pattern: str, python: bool) -> str:
    """The pattern for Python; raises ValueError where repeats make it too large.

    Repeats are counted because the library writes out what must occur at least, which takes
    gigabytes for a few nested ones.
    """
    out: list[str] = []
    sizes, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        part = token[0]
        out.append(_meant(part))
        last = _grown(sizes, last, part, token["least"])
        if sum(sizes) > _LONGEST:
            raise ValueError(f"{quoted(pattern)} repeats too much: {_LONGEST:,} at most in all")
    return pattern if python else "".join(out)


def _meant(part: str) -> str:
    """A part of a pattern, such as a set, as Python is to read it."""
    if part[0] == "[" and len(part) > 1 and part not in _OUTSIDE:
        return "[" + _IN_SET.sub(_in_set, part[1:])
    return _OUTSIDE.get(part, part)


def _in_set(match: re.Match[str]) -> str:
    return _SPACES if match[1] else r"\[" if match[2] else match[0]


def _grown(sizes: list[int], last: int, part: str, least: str | None) -> int:
    """Add a part to the sizes of the open groups; the size of what a repeat would repeat."""
    if part == "(":
        sizes.append(0)
        return 0
    if part == ")" and len(sizes) > 1:
        last = sizes.pop()
    elif least is not None:
        times = int(least[:9])
        sizes[-1] += last * max(0, times - 1)
        return last * max(1, times)
    else:
        last = 1
    sizes[-1] += last
    return last


def matches(given: Given) -> Found:
    """Whether the pattern occurs in the output."""
    value = given.value
    if wrong := bad_pattern(value):
        raise CannotCheckError(wrong)
    try:
        found = search(value, given.text)
    except TimeoutError as error:
        raise CannotCheckError(
            f"{quoted(value)} takes too long on this output: avoid repeats within repeats"
        ) from error
    if found:
        where = f"{quoted(found.group(), 60)} at character {found.start() + 1}"
        return Found(True, f"the output matches {quoted(value)}: {where}")
    begins = f"it begins {quoted(given.text, 60)}" if given.text else "it is empty"
    return Found(False, f"the output does not match {quoted(value)}; {begins}")


KINDS = (Kind("regex", "the pattern occurs in the output", matches),)
