"""Nodes of a YAML text, by the core schema of YAML 1.2.

Only ``true`` and ``false`` are truth values (``yes``, ``no``, ``on`` and ``off`` stay text), a
leading zero does not make a number octal, and dates stay text: what a suite means does not hang
on the reader that another program would have used.
"""

from __future__ import annotations

import re
from importlib import import_module
from itertools import islice
from math import isfinite
from typing import Any

from assay.errors import MissingExtra, did_you_mean
from assay.suite.nodes import Builder, Node, Scalar, short
from assay.suite.yaml_errors import BREAK, in_plain_words

_CORE = "tag:yaml.org,2002:"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTHS = frozenset({"true", "True", "TRUE"})
_UNTRUTHS = frozenset({"false", "False", "FALSE"})
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_SPECIAL_STARTS = frozenset("~nNtTfF0123456789+-.")
_HALF = re.compile("[\ud800-\udfff]")
_UNREADABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]",
)
_SEPARATORS = "\x85\u2028\u2029"


def compose_yaml(text: str, builder: Builder) -> None:
    """Give the nodes of the one document of a YAML text to the builder.

    The builder's root stays None where the text holds nothing but space and comments.

    Raises:
        SuiteError: the text is no YAML, or holds what a suite cannot: several documents, tags of
            programs, numbers that are not finite.
        MissingExtra: PyYAML is not installed.
    """
    yaml = _pyyaml()
    _check_characters(text, builder)
    shield, unshield = _shields(text)
    # Only the parser of the loader is used: it makes events, never objects.
    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(
        text.translate(shield) if shield else text
    )
    composer = _Composer(builder, unshield)
    try:
        while parser.check_event():
            composer.take(parser.get_event())
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise in_plain_words(error, text, builder.name) from None
    finally:
        parser.dispose()


def _check_characters(text: str, builder: Builder) -> None:
    """Refuse what a YAML file cannot hold as it is."""
    match = _UNREADABLE.search(text)
    if match:
        lines = BREAK.split(text[: match.start()])
        code = ord(match.group())
        advice = f', or write it in double quotes as "\\u{code:04x}"'
        raise builder.refusal(
            len(lines),
            len(lines[-1]) + 1,
            f"the character U+{code:04X} cannot be in a YAML file; delete it"
            + ("" if _HALF.match(match.group()) else advice),
        )


def _pyyaml() -> Any:
    try:
        return import_module("yaml")
    except ImportError:
        raise MissingExtra("PyYAML", "yaml") from None


def _shields(text: str) -> tuple[dict[int, str], dict[int, str]]:
    """Tables that hide Unicode's line separators from the parser, and bring them back.

    To YAML 1.2 they are characters as any other; PyYAML ends the line at them.
    """
    present = [separator for separator in _SEPARATORS if separator in text]
    if not present:
        return {}, {}
    taken = set(text)
    spare = (chr(code) for code in range(0xF4A30, 0x10FFFD) if chr(code) not in taken)
    pairs = list(zip(present, islice(spare, len(present)), strict=False))
    return {ord(old): new for old, new in pairs}, {ord(new): old for old, new in pairs}


class _Composer:
    """The nodes that a stream of events stands for."""

    def __init__(self, builder: Builder, unshield: dict[int, str]) -> None:
        self._builder = builder
        self._unshield = unshield
        self._anchors: dict[str, Node] = {}
        self._open: list[str | None] = []
        self._documents = 0

    def take(self, event: Any) -> None:
        """Go on by one event."""
        name = type(event).__name__
        mark = event.start_mark
        line, column = mark.line + 1, mark.column + 1
        match name:
            case "ScalarEvent":
                self._scalar(event, line, column)
            case "MappingStartEvent":
                self._begin({}, "map", event, line, column)
            case "SequenceStartEvent":
                self._begin([], "seq", event, line, column)
            case "MappingEndEvent" | "SequenceEndEvent":
                anchor = self._open.pop()
                self._remember(anchor, self._builder.end())
            case "AliasEvent":
                self._alias(event.anchor, line, column)
            case "DocumentStartEvent":
                self._document(line, column)
            case _:
                pass

    def _document(self, line: int, column: int) -> None:
        self._documents += 1
        if self._documents > 1:
            raise self._refusal(
                line, column, "a second document begins here (---); keep one document to a file"
            )

    def _begin(self, value: Any, kind: str, event: Any, line: int, column: int) -> None:
        if event.tag not in {None, "!", _CORE + kind}:
            raise self._wrong_tag(event.tag, line, column)
        self._builder.begin(value, line, column)
        self._open.append(event.anchor)

    def _scalar(self, event: Any, line: int, column: int) -> None:
        text: str = event.value.translate(self._unshield) if self._unshield else event.value
        plain = event.tag is None and event.implicit[0]
        if text == "<<" and self._builder.expects_key and (plain or event.tag == _CORE + "merge"):
            self._builder.merge(line, column)
            return
        value: Scalar = text
        if plain:
            value = self._plain(text, line, column)
        elif event.tag not in {None, "!", _CORE + "str"}:
            value = self._tagged(event.tag, text, line, column)
        if isinstance(value, str) and _HALF.search(value):
            raise self._refusal(line, column, "an escape names half a character; write it whole")
        if text == "" and plain and not self._open and not event.anchor:
            return  # a bare '---' is an empty document
        self._remember(event.anchor, self._builder.scalar(value, line, column))

    def _plain(self, text: str, line: int, column: int) -> Scalar:
        """What a text without quotes stands for."""
        if text and text[0] not in _SPECIAL_STARTS:
            return text
        if text in _NULLS:
            return None
        if text in _TRUTHS or text in _UNTRUTHS:
            return text in _TRUTHS
        return self._number(text, line, column)

    def _number(self, text: str, line: int, column: int) -> int | float | str:
        if _DECIMAL.fullmatch(text) or _BASED.fullmatch(text):
            try:
                return int(text, 10 if _DECIMAL.fullmatch(text) else 0)
            except ValueError:  # Python reads no more than some thousand digits
                raise self._refusal(
                    line, column, "a number of too many digits; write it as text in quotes"
                ) from None
        number = float(text) if _FLOAT.fullmatch(text) else None
        if _ENDLESS.fullmatch(text) or (number is not None and not isfinite(number)):
            raise self._refusal(
                line,
                column,
                f"{short(text)} is not a finite number; if it is text, put it in quotes",
            )
        return text if number is None else number

    def _tagged(self, tag: str, text: str, line: int, column: int) -> Scalar:
        """A value whose kind is written before it, as in ``!!float 1``."""
        value = self._plain(text, line, column)
        kinds: dict[str, tuple[type, ...]] = {
            "null": (type(None),),
            "bool": (bool,),
            "int": (int,),
            "float": (float, int),
        }
        kind = tag.removeprefix(_CORE)
        if not tag.startswith(_CORE) or kind not in kinds:
            raise self._wrong_tag(tag, line, column)
        if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "bool"):
            raise self._refusal(line, column, f"{short(text)} does not fit !!{kind} before it")
        return float(value) if kind == "float" and isinstance(value, int) else value

    def _alias(self, anchor: str, line: int, column: int) -> None:
        if anchor in self._open:
            raise self._refusal(
                line, column, f"{short('*' + anchor)} is inside of what it refers to"
            )
        if anchor not in self._anchors:
            known = list(self._anchors)
            hint = f" ({did_you_mean(anchor, known)})" if 0 < len(known) <= 20 else ""
            raise self._refusal(
                line,
                column,
                f"{short('*' + anchor)} refers to a name that is not set above with &{hint}; "
                "text that begins with * must be in quotes",
            )
        self._builder.again(self._anchors[anchor], line, column)

    def _remember(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node

    def _wrong_tag(self, tag: str, line: int, column: int) -> Exception:
        shown = short(tag.replace(_CORE, "!!"))
        return self._refusal(
            line,
            column,
            f"the tag {shown} is not known here; leave it out, or put text that begins with ! "
            "in quotes",
        )

    def _refusal(self, line: int, column: int, message: str) -> Exception:
        return self._builder.refusal(line, column, message)
