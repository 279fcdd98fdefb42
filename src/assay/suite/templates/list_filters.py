"""Filters that work on lists. A text reads as its characters, nothing as an empty list."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.suite.templates.arguments import Function, at_least_one, elements, made
from assay.suite.templates.limits import Meter, Refusal
from assay.suite.templates.lookup import attribute
from assay.suite.templates.methods import join, ordered
from assay.suite.templates.operators import add
from assay.suite.templates.values import UNDEFINED, Value, absent, is_list, kind, text, truth


def _batch(meter: Meter, value: Value, count: Value, fill: Value = UNDEFINED) -> list[Value]:
    items, size = elements(value, meter), at_least_one(count, meter)
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    if batches and truth(fill):
        missing = size - len(batches[-1])
        meter.make_items(missing)
        batches[-1] += [fill] * missing
    meter.make_items(3 * len(batches))
    return list(batches)


def _slice(meter: Meter, value: Value, count: Value, fill: Value = UNDEFINED) -> list[Value]:
    items, parts = elements(value, meter), at_least_one(count, meter)
    meter.make_items(3 * parts)
    size, extra = divmod(len(items), parts)
    slices, start = [], 0
    for position in range(parts):
        stop = start + size + (position < extra)
        filling = [fill] if truth(fill) and position >= extra else []
        slices.append(items[start:stop] + filling)
        start = stop
    return list(slices)


def _by_key(meter: Meter, value: Value, cased: Value = False, by: Value = "key") -> list[Value]:
    if not isinstance(value, Mapping) or by not in {"key", "value"}:
        raise Refusal("'dictsort' sorts a mapping by 'key' or by 'value'")
    meter.make_items(4 * len(value))
    meter.step(len(value))
    pairs = [[text(key, meter), item] for key, item in value.items()]
    return _in_order(meter, pairs, cased=cased, key=0 if by == "key" else 1)


def _in_order(
    meter: Meter, items: list[Value], *, cased: Value, key: Value, reverse: bool = False
) -> list[Value]:
    """The items in the order of what ``key`` finds in them; all of them if it is UNDEFINED."""

    def sort_key(item: Value) -> Value:
        found = item if key is UNDEFINED else attribute(meter, item, key)
        if truth(cased) or not isinstance(found, str):
            return found
        meter.make_text(len(found), found)
        return found.lower()

    return ordered(meter, items, sort_key, reverse)


def _sort(
    meter: Meter,
    value: Value,
    reverse: Value = False,
    case_sensitive: Value = False,
    attribute: Value = UNDEFINED,
) -> list[Value]:
    key = attribute if truth(attribute) else UNDEFINED
    items = elements(value, meter)
    return _in_order(meter, items, cased=case_sensitive, key=key, reverse=truth(reverse))


def _group(meter: Meter, value: Value, path: Value) -> dict[str, list[Value]]:
    groups: dict[str, list[Value]] = {}
    for item in elements(value, meter):
        key = attribute(meter, item, path)
        meter.make_items(4)
        groups.setdefault("undefined" if key is UNDEFINED else text(key, meter), []).append(item)
    return groups


def _picked(meter: Meter, value: Value, path: Value) -> list[Value]:
    """What ``path`` finds in each element; the elements themselves without a path."""
    items = elements(value, meter)
    return made(attribute(meter, item, path) for item in items) if truth(path) else items


def _join(meter: Meter, value: Value, separator: Value = "", attribute: Value = UNDEFINED) -> str:
    return join(meter, _picked(meter, value, attribute), separator)


def _sum(meter: Meter, value: Value, attribute: Value = UNDEFINED, start: Value = 0) -> Value:
    total = start
    for item in _picked(meter, value, attribute):
        total = add(total, item, meter)
    return total


def _where(meter: Meter, value: Value, path: Value, wanted: bool) -> list[Value]:
    items = elements(value, meter)
    return [item for item in items if truth(attribute(meter, item, path)) is wanted]


def _list(meter: Meter, value: Value) -> list[Value]:
    if not isinstance(value, Mapping):
        return elements(value, meter)
    meter.make_items(8 * len(value))
    return [{"key": key, "value": item} for key, item in value.items()]


def _reverse(meter: Meter, value: Value) -> Value:
    return value[::-1] if isinstance(value, str) else elements(value, meter)[::-1]


def _length(meter: Meter, value: Value) -> Value:
    sized = isinstance(value, (str, Mapping)) or is_list(value)
    if not sized and truth(value):
        raise Refusal(f"'length' needs text, a list or a mapping, not {kind(value)}")
    return len(value) if sized else 0


def _end(meter: Meter, value: Value, position: int) -> Value:
    if not (absent(value) or isinstance(value, str) or is_list(value)):
        raise Refusal(f"a list is needed, not {kind(value)}")
    return value[position] if value else UNDEFINED


LIST_FILTERS: Mapping[str, Function] = MappingProxyType(
    {
        "batch": _batch,
        "dictsort": _by_key,
        "first": lambda meter, value: _end(meter, value, 0),
        "groupby": _group,
        "join": _join,
        "last": lambda meter, value: _end(meter, value, -1),
        "length": _length,
        "list": _list,
        "rejectattr": lambda meter, value, path: _where(meter, value, path, wanted=False),
        "reverse": _reverse,
        "selectattr": lambda meter, value, path: _where(meter, value, path, wanted=True),
        "slice": _slice,
        "sort": _sort,
        "sum": _sum,
    }
)
