"""One assertion in a cell: ``type:value``, ``type(0.8):value``, ``not-type:value`` or a text."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from difflib import get_close_matches
from typing import Any

from assay.errors import ConfigError

_INSIDE = r"(?:\((?P<inside>[^()]*)\))?(?P<end>:|\Z)"
_HEAD = re.compile(r"(?P<type>[A-Za-z][\w-]*)" + _INSIDE)
_DOUBLE_HEAD = re.compile(r"(?P<type>(?P<first>[A-Za-z][\w-]*):[A-Za-z][\w-]*)" + _INSIDE)
_OPENED = re.compile(r"(?P<type>[A-Za-z][\w-]*(?::[A-Za-z][\w-]*)?)\(")
_ITEM = re.compile(r'\s*+(?:"(?P<quoted>[^"]*(?:""[^"]*)*)"\s*|(?P<plain>[^",][^,]*)?)(?=,|\Z)')
_NUMBER = re.compile(r"\s*\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\s*")
_SCRIPT = re.compile(r"(?:javascript|fn|eval):|file://\S+\.[cm]?[jt]s(?::\w+)?\Z")
_PROGRAM = re.compile(r"file://.+\.py(?::\w+)?\Z")
_LISTS = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
_SIMILAR = 0.8
_SHARE = 0.75
_SHARES = frozenset(
    {
        "answer-relevance",
        "classifier",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "rouge-n",
    }
)


def assertion_of(cell: str, known: Container[str]) -> dict[str, Any]:
    """The assertion in a cell, in the keys of the config.

    What does not begin with a known type, a colon or the end behind it, is a text that the output
    must equal. Raises ConfigError for programs in other languages than Python and for quotes that
    do not close.

    >>> assertion_of("similar(0.9):a cat", {"similar"})
    {'type': 'similar', 'value': 'a cat', 'threshold': 0.9}
    >>> assertion_of("Note: a cat", {"similar"})
    {'type': 'equals', 'value': 'Note: a cat'}
    """
    text = cell.strip()
    if _SCRIPT.match(text):
        raise ConfigError(
            "JavaScript is not run: write the assertion as another type, or as python:"
        )
    if text.startswith("grade:"):
        return {"type": "llm-rubric", "value": text.removeprefix("grade:").strip() or None}
    if text.startswith("python:"):
        return {"type": "python", "value": text.removeprefix("python:").strip()}
    if _PROGRAM.match(text):
        return {"type": "python", "value": text}
    negated = text.startswith("not-")
    return _typed(text.removeprefix("not-"), "not-" if negated else "", known) or {
        "type": "equals",
        "value": text,
    }


def near_type(cell: str, known: Iterable[str], types: Container[str] = ()) -> str | None:
    """The known type that the beginning of a text nearly is, as in ``contians:cat``.

    Or is, with parentheses that hold no number or do not close: ``contains(x``, ``similar(abc)``.
    ``types`` are all there are, those that a slip is not looked for in included.
    """
    text = cell.strip().removeprefix("not-")
    if (opened := _OPENED.match(text)) and opened["type"] in types:
        return opened["type"]
    found = _HEAD.match(text)
    if opened is None and (found is None or not found["end"]):
        return None
    found = found or opened
    if found is None:
        return None
    return next(iter(get_close_matches(found["type"], list(known), n=1, cutoff=0.85)), None)


def _typed(text: str, negation: str, known: Container[str]) -> dict[str, Any] | None:
    """The assertion of a text that begins with a known type; None where it does not."""
    double = _DOUBLE_HEAD.match(text)
    if double and not double["end"] and double["first"] in known:
        double = None  # "similar:cosine" without a value is: similar to "cosine"
    for found in (double, _HEAD.match(text)):
        if found is None:
            continue
        inside = found["inside"]
        number = inside is not None and _NUMBER.fullmatch(inside) is not None
        name = found["type"] if inside is None or number else f"{found['type']}({inside})"
        if name in known:
            made = {"type": negation + name, "value": _value(name, text[found.end() :])}
            threshold = float(inside) if number else _default(name)
            return made if threshold is None else {**made, "threshold": threshold}
    return None


def _value(name: str, text: str) -> str | list[str] | None:
    if name in _LISTS:
        return _listed(text) or None
    return text.strip() or None


def _default(name: str) -> float | None:
    """promptfoo's threshold for what comes from a cell, where it has the sense of a share."""
    if name.partition(":")[0] == "similar":
        return _SIMILAR
    return _SHARE if name in _SHARES else None


def _listed(text: str) -> list[str]:
    """The values between commas; one with a comma in it is in double quotes, doubled inside.

    >>> _listed('a, "b, c", ""')
    ['a', 'b, c', '']
    """
    out: list[str] = []
    at = 0
    while at <= len(text):
        found = _ITEM.match(text, at)
        if found is None:
            raise ConfigError(f"a quote in {text[at : at + 40]!r} does not close before a comma")
        if found["quoted"] is not None:
            out.append(found["quoted"].replace('""', '"'))
        elif plain := (found["plain"] or "").strip():
            out.append(plain)
        at = found.end() + 1
    return out
