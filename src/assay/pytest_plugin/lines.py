"""Untrusted text on lines of limited width."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

WIDTH = 92
"""Columns of a line; pytest puts eight before each line of a message."""


def one_line(value: object, most: int) -> str:
    """The text on one line, of so many characters at most; nothing in it acts on a terminal.

    >>> one_line("a\\nb \\x1b[31mc", 20), one_line("abcdef", 3)
    ('a b [31mc', 'abc…')
    """
    text = str(value)
    # Only what can be shown is looked at: an answer may be megabytes.
    head = text[: most * 8]
    kept = (c if unicodedata.category(c) not in ("Cc", "Cf", "Cs") else " " for c in head)
    flat = " ".join("".join(kept).split())
    if len(flat) <= most and len(text) <= most * 8:
        return flat
    return f"{flat[:most].rstrip()}…"


def columns(text: str) -> int:
    """The columns that a text takes on a terminal; East Asian wide characters take two.

    >>> columns("abc"), columns("日本")
    (3, 4)
    """
    return sum(_width(c) for c in text)


def folded(text: str, *, first: str = "", rest: str = "", width: int = WIDTH) -> list[str]:
    """The text on lines of at most ``width`` columns, the first and the others indented so.

    >>> folded("to be or not", first="- ", rest="  ", width=8)
    ['- to be', '  or not']
    """
    lines: list[str] = []
    line, empty = first, True
    for word in _words(text, width - max(columns(first), columns(rest))):
        if not empty and columns(line) + 1 + columns(word) > width:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line]


def _words(text: str, most: int) -> Iterator[str]:
    """The words; one that takes more columns than a line has comes in pieces."""
    for word in text.split():
        piece, used = "", 0
        for c in word:
            if used + _width(c) > most:
                yield piece
                piece, used = "", 0
            piece, used = piece + c, used + _width(c)
        yield piece


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
