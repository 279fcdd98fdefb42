"""The methods of JavaScript's texts, lists and numbers that templates may call.

Each gets the meter and the value. None changes the value that it works on: lists that JavaScript
would sort or reverse in place are copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cmp_to_key
from types import MappingProxyType

from assay.suite.templates.arguments import Function, bounds, elements, whole
from assay.suite.templates.limits import ITEM, Meter, Refusal
from assay.suite.templates.operators import concat
from assay.suite.templates.values import (
    SPACE,
    UNDEFINED,
    Value,
    is_list,
    is_number,
    number,
    number_text,
    order,
    same,
    text,
)

MOST_DIGITS = 100
NO_METHODS: Mapping[str, Function] = MappingProxyType({})


def methods_of(value: Value) -> Mapping[str, Function]:
    """The methods by name that ``value`` has; none for mappings, null and undefined."""
    if isinstance(value, str):
        return TEXT
    if is_list(value):
        return LIST
    if is_number(value):
        return NUMBER
    return BOOLEAN if isinstance(value, bool) else NO_METHODS


def to_text(meter: Meter, value: Value, base: Value = UNDEFINED) -> str:
    """The value as printed; only numbers know another ``base`` than 10, and that not here."""
    if whole(base, meter, 10) != 10:
        raise Refusal("toString knows base 10 only")
    return text(value, meter)


def split(meter: Meter, value: str, by: Value = UNDEFINED, most: Value = UNDEFINED) -> list[str]:
    """The pieces between the separators, at most ``most`` of them."""
    if by is UNDEFINED:
        return [value]
    separator = text(by, meter)
    meter.make(2 * ITEM * (value.count(separator) + 1))
    pieces = value.split(separator) if separator else list(value)
    return pieces[: max(0, whole(most, meter, len(pieces)))]


def join(meter: Meter, values: Value, separator: Value = ",") -> str:
    """The elements as one text with ``separator`` between them."""
    items = elements(values, meter)
    texts = [text(item, meter) for item in items]
    between = text(separator, meter)
    length = sum(map(len, texts)) + len(between) * max(0, len(texts) - 1)
    meter.make_text(length, between, *texts)
    return between.join(texts)


def replace(meter: Meter, value: str, old: str, new: str, most: int = -1) -> str:
    """``value`` with ``new`` for ``old``, for the first ``most`` of them; -1 means all."""
    found = value.count(old)
    times = found if most < 0 else min(found, most)
    meter.make_text(len(value) + times * max(0, len(new) - len(old)), value, new)
    return value.replace(old, new, most)


def _replace(meter: Meter, value: str, old: Value, new: Value) -> str:
    return replace(meter, value, text(old, meter), text(new, meter), 1)


def _replace_all(meter: Meter, value: str, old: Value, new: Value) -> str:
    return replace(meter, value, text(old, meter), text(new, meter))


def _repeat(meter: Meter, value: str, times: Value) -> str:
    count = max(0, whole(times, meter))
    meter.make_text(len(value) * count, value)
    return value * count


def _padding(meter: Meter, value: str, width: Value, fill: Value) -> str:
    missing, pad = whole(width, meter) - len(value), text(fill, meter)
    if missing <= 0 or not pad:
        return ""
    meter.make_text(2 * missing + len(value), value, pad)
    return (pad * (missing // len(pad) + 1))[:missing]


def _pad_start(meter: Meter, value: str, width: Value, fill: Value = " ") -> str:
    return _padding(meter, value, width, fill) + value


def _pad_end(meter: Meter, value: str, width: Value, fill: Value = " ") -> str:
    return value + _padding(meter, value, width, fill)


def part(meter: Meter, value: Value, start: Value = 0, stop: Value = UNDEFINED) -> Value:
    """The part of a text or list from ``start`` to before ``stop``; negative ones from the end."""
    first, last = bounds(len(value), start, stop, meter)
    return value[first:last]


def _substring(meter: Meter, value: str, start: Value = 0, stop: Value = UNDEFINED) -> str:
    ends = (whole(start, meter), whole(stop, meter, len(value)))
    return value[max(0, min(ends)) : max(0, *ends)]


def _substr(meter: Meter, value: str, start: Value = 0, length: Value = UNDEFINED) -> str:
    first, _ = bounds(len(value), start, UNDEFINED, meter)
    return value[first : first + max(0, whole(length, meter, len(value)))]


def _at(meter: Meter, value: Value, position: Value = 0) -> Value:
    index = whole(position, meter)
    return value[index] if -len(value) <= index < len(value) else UNDEFINED


def _char_at(meter: Meter, value: str, position: Value = 0) -> str:
    index = whole(position, meter)
    return value[index] if 0 <= index < len(value) else ""


def _index(meter: Meter, values: Value, wanted: Value) -> int:
    return next((n for n, item in enumerate(values) if same(item, wanted, meter)), -1)


def _last_index(meter: Meter, values: Value, wanted: Value) -> int:
    return max((n for n, item in enumerate(values) if same(item, wanted, meter)), default=-1)


def _concat(meter: Meter, values: Value, *more: Value) -> list[Value]:
    lists = [values, *(item if is_list(item) else [item] for item in more)]
    meter.make_items(sum(map(len, lists)))
    return [item for items in lists for item in items]


def _flat(meter: Meter, values: Value) -> list[Value]:
    lists = [item if is_list(item) else [item] for item in values]
    return _concat(meter, *lists) if lists else []


def ordered(
    meter: Meter, values: list[Value], key: Callable[[Value], Value], reverse: bool = False
) -> list[Value]:
    """The values in the order that ``<`` gives their keys; n log n steps."""
    meter.step(len(values) * len(values).bit_length())
    meter.make_items(3 * len(values))

    def compare(left: Value, right: Value) -> int:
        return order(left, right, meter) or 0

    comparable = cmp_to_key(compare)
    return sorted(values, key=lambda value: comparable(key(value)), reverse=reverse)


def _sort(meter: Meter, values: Value) -> list[Value]:
    return ordered(meter, elements(values, meter), lambda item: text(item, meter))


def _to_fixed(meter: Meter, value: float, digits: Value = 0) -> str:
    places, given = whole(digits, meter), number(value, meter)
    if not 0 <= places <= MOST_DIGITS:
        raise Refusal(f"toFixed takes 0 to {MOST_DIGITS} digits")
    if not math.isfinite(given) or abs(given) >= 1e21:
        return number_text(given)
    # Exact, because 1.005 is a little less than it looks and JavaScript knows.
    scaled = math.floor(Fraction(abs(given)) * 10**places + Fraction(1, 2))
    shown = f"{scaled:0{places + 1}d}"
    sign = "-" if given < 0 else ""
    return sign + (f"{shown[:-places]}.{shown[-places:]}" if places else shown)


TEXT: Mapping[str, Function] = MappingProxyType(
    {
        "at": _at,
        "charAt": _char_at,
        "concat": lambda meter, value, *more: concat((value, *more), meter),
        "endsWith": lambda meter, value, end: value.endswith(text(end, meter)),
        "includes": lambda meter, value, piece: text(piece, meter) in value,
        "indexOf": lambda meter, value, piece: value.find(text(piece, meter)),
        "lastIndexOf": lambda meter, value, piece: value.rfind(text(piece, meter)),
        "padEnd": _pad_end,
        "padStart": _pad_start,
        "repeat": _repeat,
        "replace": _replace,
        "replaceAll": _replace_all,
        "slice": part,
        "split": split,
        "startsWith": lambda meter, value, start: value.startswith(text(start, meter)),
        "substr": _substr,
        "substring": _substring,
        "toLowerCase": lambda meter, value: value.lower(),
        "toString": to_text,
        "toUpperCase": lambda meter, value: value.upper(),
        "trim": lambda meter, value: value.strip(SPACE),
        "trimEnd": lambda meter, value: value.rstrip(SPACE),
        "trimStart": lambda meter, value: value.lstrip(SPACE),
    }
)
LIST: Mapping[str, Function] = MappingProxyType(
    {
        "at": _at,
        "concat": _concat,
        "flat": _flat,
        "includes": lambda meter, values, wanted: _index(meter, values, wanted) >= 0,
        "indexOf": _index,
        "join": join,
        "lastIndexOf": _last_index,
        "reverse": lambda meter, values: elements(values, meter)[::-1],
        "slice": part,
        "sort": _sort,
        "toString": to_text,
    }
)
NUMBER: Mapping[str, Function] = MappingProxyType({"toFixed": _to_fixed, "toString": to_text})
BOOLEAN: Mapping[str, Function] = MappingProxyType({"toString": to_text})
