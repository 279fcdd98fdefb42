"""JSON out of and into templates, as JSON.stringify and JSON.parse have it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date

from assay.suite.templates.limits import ITEM, Meter, Refusal
from assay.suite.templates.values import (
    UNDEFINED,
    Value,
    is_list,
    is_number,
    kind,
    number_text,
    text,
)

WIDEST_INDENT = 10


def dump(meter: Meter, value: Value, spaces: Value = UNDEFINED) -> Value:
    """``value`` as JSON text, indented by ``spaces`` (at most 10) if given."""
    if value is UNDEFINED:
        return UNDEFINED
    writer = _Writer(meter, _indent(spaces))
    writer.write(value, "\n")
    return "".join(writer.parts)


def load(meter: Meter, value: Value) -> Value:
    """The value that a JSON text stands for; raises Refusal if it is not JSON."""
    source = text(value, meter)
    # Each of these may start an element, which costs more than its characters.
    marks = sum(source.count(mark) for mark in "[{,:")
    meter.make_text(len(source), source)
    meter.make(marks * 2 * ITEM)
    return parse(source)


def parse(source: str) -> Value:
    """The value of a JSON text; raises Refusal. NaN and Infinity are no JSON."""
    try:
        return json.loads(source, parse_constant=_no_constant)
    except ValueError as error:
        raise Refusal(f"it is not valid JSON ({error})") from None


def _no_constant(name: str) -> Value:
    raise ValueError(f"{name} is not JSON")


def _indent(spaces: Value) -> str:
    if is_number(spaces):
        return " " * int(max(0, min(spaces, WIDEST_INDENT)))
    return spaces[:WIDEST_INDENT] if isinstance(spaces, str) else ""


class _Writer:
    """JSON in pieces, each counted as it is made."""

    def __init__(self, meter: Meter, indent: str) -> None:
        self.parts: list[str] = []
        self._meter, self._indent = meter, indent

    def write(self, value: Value, newline: str) -> None:
        """Adds ``value``; ``newline`` starts a line at the depth that it stands on."""
        self._meter.step()
        if isinstance(value, Mapping):
            known = [(key, item) for key, item in value.items() if item is not UNDEFINED]
            self._write_all("{}", known, newline)
        elif is_list(value):
            self._write_all("[]", [(None, item) for item in value], newline)
        else:
            self._add(self._scalar(value))

    def _write_all(self, ends: str, items: list[tuple[Value, Value]], newline: str) -> None:
        self._meter.make_items(len(items))
        inner = newline + self._indent if self._indent else ""
        self._add(ends[0])
        for position, (key, item) in enumerate(items):
            self._add(("," if position else "") + inner)
            if ends == "{}":
                self._add(self._quoted(text(key, self._meter)) + (": " if inner else ":"))
            self.write(item, inner)
        self._add((newline if inner and items else "") + ends[1])

    def _scalar(self, value: Value) -> str:
        if isinstance(value, str):
            return self._quoted(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if is_number(value):
            return number_text(value) if math.isfinite(value) else "null"
        if isinstance(value, date):
            return self._quoted(value.isoformat())
        if value is None or value is UNDEFINED:
            return "null"
        raise Refusal(f"'dump' cannot write {kind(value)}")

    def _quoted(self, value: str) -> str:
        self._meter.make_text(len(value), value)
        return json.dumps(value, ensure_ascii=False)

    def _add(self, part: str) -> None:
        self._meter.make_text(len(part), part)
        self.parts.append(part)
