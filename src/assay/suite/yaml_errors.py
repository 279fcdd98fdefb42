"""What is wrong with a text that is no YAML, in the words of who wrote it."""

from __future__ import annotations

import re
from typing import Any

from assay.suite.nodes import refusal
from assay.suite.problems import SuiteError

BREAK = re.compile(r"\r\n|\r|\n")
_GENERIC = (
    "this cannot be read as YAML; look at the indentation, quotes and colons of this line "
    "and of the one above"
)
_NEEDS_QUOTES = "text that begins with & or * must be in quotes"

_WORDS: tuple[tuple[str, str], ...] = (
    (
        "mapping values are not allowed",
        "a colon that does not belong here; put text with ': ' in quotes, or mend the indentation",
    ),
    (
        "unknown escape",
        "in double quotes \\ begins an escape; write \\\\ for a backslash, or use single quotes",
    ),
    ("escape", "an escape in double quotes names no character; write \\\\ or the character"),
    ("scanning an anchor", _NEEDS_QUOTES),
    ("scanning an alias", _NEEDS_QUOTES),
    ("quoted scalar", "the quotes opened on line {context} are not closed"),
    (
        "could not find expected ':'",
        "a key without a colon; write 'key: value', or indent the text that goes on from above",
    ),
    (
        "flow",
        "what is opened with {bracket} on line {context} is not closed, or a comma is missing",
    ),
    ("block scalar", "write the text on the lines after | or >, indented by spaces alone"),
    ("tag", "text that begins with ! must be in quotes"),
    ("directive", "a line that begins with % must be in quotes or indented"),
    ("incompatible", "only YAML 1.1 and 1.2 are read; leave the line with %YAML out"),
    (
        "block collection",
        "a list goes on here, but the line does not begin with '- ' in the column of its items",
    ),
    (
        "block sequence",
        "a list goes on here, but the line does not begin with '- ' in the column of its items",
    ),
    (
        "block mapping",
        "the indentation does not fit the lines above, or quotes end before the text does",
    ),
    ("sequence entries are not allowed", "a list item does not fit here; begin it on its own line"),
    ("<document start>", "this does not belong to what is above; look at brackets and indentation"),
)
"""What a parser's remark contains, and what it means; the first that fits is told."""

_AT_THE_START = ("unexpected end of stream", "could not find expected ':'")
"""Remarks that are about where a text begins, not about where the parser gave up."""


def in_plain_words(error: Any, text: str, name: str) -> SuiteError:
    """The error of a YAML parser about a text, with its place and what to do.

    Of the parser's own words nothing is told: they speak of its states, not of the file.
    """
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return refusal(name, 0, 0, _GENERIC)
    lines = BREAK.split(text)
    line = lines[mark.line] if mark.line < len(lines) else ""
    message = _message(error, line, mark.column, lines)
    if any(part in f"{error.context} {error.problem}" for part in _AT_THE_START):
        mark = error.context_mark or mark
    return refusal(name, mark.line + 1, mark.column + 1, message)


def _message(error: Any, line: str, column: int, lines: list[str]) -> str:
    """What to tell about an error in a column (from 0) of a line."""
    remark = f"{error.context} {error.problem}"
    mark = error.context_mark
    opened = lines[mark.line] if mark and mark.line < len(lines) else ""
    told = _of_the_line(remark, line, column)
    if told:
        return told
    if re.search(r":\s+\{\{", line) or re.search(r":\s+\{\{", opened):
        return "text that begins with {{ must be in quotes, as in '{{question}}'"
    for part, words in _WORDS:
        if part in remark:
            bracket = opened[mark.column : mark.column + 1] if mark else ""
            bracket = bracket if bracket in {"[", "{"} else "a bracket"
            above = str(mark.line + 1 if mark else 1)
            return words.replace("{context}", above).replace("{bracket}", bracket)
    return _GENERIC


def _of_the_line(remark: str, line: str, column: int) -> str:
    """What the line itself shows to be wrong; "" where it does not."""
    character = line[column : column + 1]
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "a tab is used as indentation; use spaces"
    if character == "\t":
        return "a tab where only spaces may be; use spaces"
    if "cannot start any token" in remark:
        return f"text cannot begin with {character} unless it is in quotes"
    if "node content" in remark and character:
        return f"a value is missing before '{character}', or text is not in quotes"
    return ""
