"""Filters that work on one text or number. Anything else is printed first, as {{ … }} would."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote

from assay.suite.templates.arguments import Function, finite, whole
from assay.suite.templates.dumping import dump, load
from assay.suite.templates.limits import ITEM, Meter, Refusal
from assay.suite.templates.methods import replace
from assay.suite.templates.values import (
    LONGEST_NUMBER,
    NUMBER,
    SPACE,
    UNDEFINED,
    Value,
    absent,
    is_list,
    plain,
    text,
    truth,
)

MARKUP = MappingProxyType(
    {"&": "&amp;", '"': "&quot;", "'": "&#39;", "<": "&lt;", ">": "&gt;", "\\": "&#92;"}
)
PIECE = 65_536
UNQUOTED = "-_.!~*'()"
DIGITS = string.digits + string.ascii_lowercase
MOST_PLACES = 300


def _capitalize(meter: Meter, value: Value) -> str:
    lower = text(value, meter).lower()
    return lower[:1].upper() + lower[1:]


def _title(meter: Meter, value: Value) -> str:
    given = text(value, meter)
    meter.make(2 * ITEM * given.count(" "))
    return " ".join(_capitalize(meter, word) for word in given.split(" "))


def _center(meter: Meter, value: Value, width: Value = 80) -> str:
    given = text(value, meter)
    missing = max(0, whole(width, meter) - len(given))
    meter.make_text(missing + len(given) + 1, given)
    before, after = math.ceil(missing / 2 - missing % 2), math.ceil(missing / 2)
    return " " * before + given + " " * after


def _indent(meter: Meter, value: Value, width: Value = 4, first: Value = False) -> str:
    given, count = text(value, meter), max(0, whole(width, meter)) or 4
    meter.make_text((given.count("\n") + 1) * count + len(given), given)
    pad = " " * count
    return (pad if given and truth(first) else "") + given.replace("\n", "\n" + pad)


def _escape(meter: Meter, value: Value) -> str:
    given = text(value, meter)
    for character, markup in MARKUP.items():
        given = replace(meter, given, character, markup)
    return given


def _nl2br(meter: Meter, value: Value) -> str:
    lines = replace(meter, text(value, meter), "\r\n", "\n")
    return replace(meter, lines, "\n", "<br />\n")


def _replace(
    meter: Meter, value: Value, old: Value = UNDEFINED, new: Value = "", most: Value = UNDEFINED
) -> str:
    return replace(
        meter, text(value, meter), text(old, meter), text(new, meter), whole(most, meter, -1)
    )


def _truncate(
    meter: Meter, value: Value, length: Value = 255, kill: Value = False, end: Value = "..."
) -> str:
    given, most = text(value, meter), max(0, whole(length, meter)) or 255
    if len(given) <= most:
        return given
    space = -1 if truth(kill) else given.rfind(" ", 0, most + 1)
    return given[: most if space < 0 else space] + text(end, meter)


def _words(meter: Meter, value: Value) -> int:
    words = 0
    for _ in re.finditer(r"\w+", text(value, meter)):
        meter.step()
        words += 1
    return words


def _strip_tags(meter: Meter, value: Value, keep_lines: Value = False) -> str:
    bare = _untagged(text(value, meter), meter).strip(SPACE)
    meter.make(2 * ITEM * sum(bare.count(space) for space in SPACE))
    if not truth(keep_lines):
        return re.sub(r"\s+", " ", bare)
    unix = bare.replace("\r\n", "\n").split("\n")
    lines = (re.sub(r" +", " ", line.strip(" ")) for line in unix)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _untagged(given: str, meter: Meter) -> str:
    """The text without <tags> and comments, in one pass however many of them never end."""
    parts, kept = [], 0
    ends = {"-->": True, ">": True}
    position = given.find("<")
    while position >= 0:
        meter.step()
        closing = _closing(given, position)
        end = given.find(closing, position) if closing and ends[closing] else -1
        if closing and end < 0:
            ends[closing] = False
        if end >= 0:
            parts.append(given[kept:position])
            kept = position = end + len(closing)
        else:
            position += 1
        position = given.find("<", position)
    return "".join([*parts, given[kept:]])


def _closing(given: str, position: int) -> Literal["-->", ">", ""]:
    """What ends the tag or comment that starts at ``position``; nothing if neither does."""
    if given.startswith("<!--", position):
        return "-->"
    start = given[position + 1 : position + 3].removeprefix("/")[:1]
    return ">" if start.isascii() and start.isalpha() else ""


def _url(meter: Meter, value: Value) -> str:
    if isinstance(value, Mapping) or is_list(value):
        pairs = value.items() if isinstance(value, Mapping) else value
        meter.step(len(value))
        return "&".join(f"{_url(meter, key)}={_url(meter, item)}" for key, item in pairs)
    given = text(value, meter)
    meter.make(len(given) * (3 if given.isascii() else 12))
    # In pieces, because quote makes a list of as many elements as there are bytes.
    pieces = (given[start : start + PIECE] for start in range(0, len(given), PIECE))
    return "".join(quote(piece, safe=UNQUOTED) for piece in pieces)


def _integer(meter: Meter, value: Value, default: Value = UNDEFINED, base: Value = 10) -> Value:
    """The whole number that a text starts with; ``default`` if it starts with none."""
    given = text(value, meter).strip(SPACE)[:LONGEST_NUMBER].lower()
    radix = whole(base, meter)
    if not 2 <= radix <= len(DIGITS):
        return default
    bare = given[1:] if given[:1] in {"+", "-"} else given
    if radix == 16:
        bare = bare.removeprefix("0x")
    digits = bare[: len(bare) - len(bare.lstrip(DIGITS[:radix]))]
    if not digits:
        return default
    return plain(int(digits, radix) * (-1 if given.startswith("-") else 1))


def _float(meter: Meter, value: Value, default: Value = UNDEFINED) -> Value:
    """The number that a text starts with; ``default`` if it starts with none."""
    found = NUMBER.match(text(value, meter).strip(SPACE)[:LONGEST_NUMBER])
    return plain(float(found.group())) if found else default


def _round(meter: Meter, value: Value, places: Value = 0, method: Value = "") -> Value:
    precision = max(-MOST_PLACES, min(whole(places, meter), MOST_PLACES))
    given, factor = finite(value, meter), 10.0**precision
    if method == "ceil":
        return plain(math.ceil(given * factor) / factor)
    return plain(math.floor(given * factor + (0 if method == "floor" else 0.5)) / factor)


def _random(meter: Meter, value: Value) -> Value:
    raise Refusal("'random' is left out, so that a suite gives the same prompts each time")


def _default(meter: Meter, value: Value, other: Value = "", falsy: Value = False) -> Value:
    missing = not truth(value) if truth(falsy) else value is UNDEFINED
    return other if missing else value


TEXT_FILTERS: Mapping[str, Function] = MappingProxyType(
    {
        "abs": lambda meter, value: abs(finite(value, meter)),
        "capitalize": _capitalize,
        "center": _center,
        "d": _default,
        "default": _default,
        "dump": dump,
        "e": _escape,
        "escape": _escape,
        "float": _float,
        "forceescape": _escape,
        "indent": _indent,
        "int": _integer,
        "load": lambda meter, value: UNDEFINED if absent(value) else load(meter, value),
        "lower": lambda meter, value: text(value, meter).lower(),
        "nl2br": _nl2br,
        "random": _random,
        "replace": _replace,
        "round": _round,
        "safe": lambda meter, value: text(value, meter),
        "string": lambda meter, value: text(value, meter),
        "striptags": _strip_tags,
        "title": _title,
        "trim": lambda meter, value: text(value, meter).strip(SPACE),
        "truncate": _truncate,
        "upper": lambda meter, value: text(value, meter).upper(),
        "urlencode": _url,
        "wordcount": _words,
    }
)
"""Null and undefined read as "" here, where some of Nunjucks' filters crash."""
