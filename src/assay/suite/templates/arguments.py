"""Arguments of methods and filters, read as JavaScript would, within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from assay.errors import did_you_mean
from assay.suite.templates.limits import Meter, Refusal
from assay.suite.templates.values import UNDEFINED, Value, absent, is_list, kind, number

FAR = 10**15
"""Further than any text or list reaches."""

Function = Callable[..., Value]
"""A filter, method or test: the meter, the value it works on, its arguments."""


def finite(value: Value, meter: Meter) -> float:
    """A number that is one; raises Refusal."""
    given = number(value, meter)
    if not math.isfinite(given):
        raise Refusal(f"a number is needed, not {kind(value)}")
    return given


def whole(value: Value, meter: Meter, default: int = 0) -> int:
    """A whole number between -FAR and FAR; ``default`` where none is given."""
    if absent(value):
        return default
    given = number(value, meter)
    if math.isnan(given):
        raise Refusal(f"a number is needed, not {kind(value)}")
    return int(max(-FAR, min(given, FAR)))


def at_least_one(value: Value, meter: Meter) -> int:
    """A whole number of at least 1; raises Refusal."""
    if (count := whole(value, meter)) < 1:
        raise Refusal("a number of at least 1 is needed")
    return count


def bounds(length: int, start: Value, stop: Value, meter: Meter) -> tuple[int, int]:
    """First and last but one position of a part; negative positions count from the end."""
    first, last = whole(start, meter), whole(stop, meter, length)
    return (
        max(0, first + length) if first < 0 else min(first, length),
        max(0, last + length) if last < 0 else min(last, length),
    )


def elements(value: Value, meter: Meter) -> list[Value]:
    """A new list of the elements of a list, or the characters of a text; none of nothing.

    Raises Refusal for anything else.
    """
    if absent(value):
        return []
    if not (is_list(value) or isinstance(value, str)):
        raise Refusal(f"a list is needed, not {kind(value)}")
    meter.make_items(len(value))
    meter.step(len(value))
    return list(value)


def made(values: Iterable[Value]) -> list[Value]:
    """The values as a list that holds null where one is undefined, as JSON would."""
    return [None if value is UNDEFINED else value for value in values]


def apply(
    what: str,
    function: Function,
    meter: Meter,
    given: Sequence[Value],
    named: Mapping[str, Value] = MappingProxyType({}),
) -> Value:
    """The result of a filter, method or test; raises Refusal where the arguments do not fit."""
    try:
        return function(meter, *given, **named)
    except (TypeError, ValueError, LookupError, ArithmeticError):
        kinds = [kind(value) for value in (*given, *named.values())]
        raise Refusal(f"{what} cannot work on {' and '.join(kinds) or 'nothing'}") from None


def known(what: str, name: str, table: Mapping[str, Function]) -> Function:
    """The function of that name; raises Refusal with the nearest names."""
    if name not in table:
        raise Refusal(f"there is no {what} {name[:40]!r}; {did_you_mean(name[:40], list(table))}")
    return table[name]
