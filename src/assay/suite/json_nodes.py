"""Nodes of a JSON text, with the line and column of each."""

from __future__ import annotations

import json
import re
from math import isfinite

from assay.suite.nodes import Builder, Scalar
from assay.suite.problems import SuiteError

_SPACE = re.compile(r"[ \t\r\n]*")
_HALF = re.compile("[\ud800-\udfff]")
_CLOSING = {"{": "}", "[": "]"}


def compose_json(text: str, builder: Builder) -> None:
    """Give the nodes of a JSON text to the builder, without recursion.

    The builder's root stays None where the text holds nothing but space.

    Raises:
        SuiteError: the text is no JSON, a key occurs twice, or a number is not finite.
    """
    _Reader(text, builder).read()


class _Reader:
    """A place in a text, and the brackets that are open there."""

    def __init__(self, text: str, builder: Builder) -> None:
        self._text = text
        self._builder = builder
        self._at = 0
        self._line = 1
        self._line_start = 0
        self._open: list[str] = []
        self._just_opened = False
        self._decoder = json.JSONDecoder(
            parse_constant=self._constant, parse_float=self._float, parse_int=self._int
        )

    def read(self) -> None:
        """Go through the whole text."""
        if self._next() == "":
            return
        self._value()
        while self._open:
            if self._just_opened:
                self._after_bracket()
            else:
                self._after_value()
        if self._next():
            raise self._refusal("text after the end of the document; look at the brackets")

    def _after_bracket(self) -> None:
        """Go on behind an opening bracket: the first member, or none."""
        self._just_opened = False
        if self._next() == _CLOSING[self._open[-1]]:
            self._close()
        else:
            self._member()

    def _after_value(self) -> None:
        """Go on behind a value: a comma and what follows it, or a closing bracket."""
        character, bracket = self._next(), self._open[-1]
        if character == _CLOSING[bracket]:
            self._close()
        elif character == ",":
            self._at += 1
            if self._next() == _CLOSING[bracket]:
                raise self._refusal(f"leave out the comma before this {_CLOSING[bracket]}")
            self._member()
        elif not character:
            raise self._refusal(f"the file ends before {_CLOSING[bracket]} closes {bracket}")
        else:
            raise self._refusal(f"a comma or {_CLOSING[bracket]} is missing before this")

    def _member(self) -> None:
        """A list's item, or a key with its value."""
        if self._open[-1] == "{":
            if self._next() != '"':
                raise self._refusal('a key must be in double quotes, as in "key": 1')
            self._scalar()
            if self._next() != ":":
                raise self._refusal("a colon is missing between key and value")
            self._at += 1
        self._value()

    def _value(self) -> None:
        """A scalar, or an opening bracket."""
        character = self._next()
        if character not in _CLOSING:
            self._scalar()
            return
        self._builder.begin({} if character == "{" else [], self._line, self._column)
        self._open.append(character)
        self._at += 1
        self._just_opened = True

    def _close(self) -> None:
        self._at += 1
        self._open.pop()
        self._builder.end()

    def _scalar(self) -> None:
        try:
            value: Scalar
            value, end = self._decoder.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise self._no_scalar(error) from None
        if isinstance(value, str) and _HALF.search(value):
            raise self._refusal("an escape names half a character; write both halves")
        self._builder.scalar(value, self._line, self._column)
        self._at = end

    def _no_scalar(self, error: json.JSONDecodeError) -> SuiteError:
        if self._at == len(self._text):
            return self._refusal("the file ends where a value should be")
        if self._text[self._at] != '"':
            return self._refusal("not a value of JSON; put text in double quotes")
        self._at = error.pos
        if self._text[error.pos : error.pos + 1] == '"':
            return self._refusal("the quotes opened here are not closed")
        if "escape" in error.msg:
            return self._refusal("this escape names no character; write \\\\ for a backslash")
        return self._refusal("a line break or control character in a text; write it as \\n, \\u00…")

    def _constant(self, text: str) -> float:
        raise self._refusal(f"{text} is not a finite number")

    def _float(self, text: str) -> float:
        number = float(text)
        if not isfinite(number):
            raise self._refusal(f"{text[:40]} is not a finite number")
        return number

    def _int(self, text: str) -> int:
        try:
            return int(text)
        except ValueError:  # Python reads no more than some thousand digits
            raise self._refusal("a number of too many digits; write it as text") from None

    @property
    def _column(self) -> int:
        return self._at - self._line_start + 1

    def _next(self) -> str:
        """The character behind any white space; "" at the end."""
        match = _SPACE.match(self._text, self._at)
        end = match.end() if match else self._at
        lines = self._text.count("\n", self._at, end)
        if lines:
            self._line += lines
            self._line_start = self._text.rfind("\n", self._at, end) + 1
        self._at = end
        return self._text[end : end + 1]

    def _refusal(self, message: str) -> SuiteError:
        return self._builder.refusal(self._line, self._column, message)
