"""Operators between two values; a result that is no finite number is an error.

Nunjucks prints NaN, Infinity or "undefinedx" there, which nobody wants in a prompt.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay.suite.templates.limits import Meter, Refusal
from assay.suite.templates.values import Value, is_list, kind, number, plain, same, text

Binary = Callable[[Value, Value, Meter], Value]


def add(left: Value, right: Value, meter: Meter) -> Value:
    """The sum of numbers; joined texts if either side is text, a list or a mapping."""
    joined = (str, list, tuple, Mapping)
    if isinstance(left, joined) or isinstance(right, joined):
        return concat((left, right), meter)
    return _add(left, right, meter)


def concat(values: tuple[Value, ...], meter: Meter) -> str:
    """The values as one text; absent ones add nothing."""
    texts = [text(value, meter) for value in values]
    meter.make_text(sum(map(len, texts)), *texts)
    return "".join(texts)


def arithmetic(sign: str, function: Callable[[float, float], float]) -> Binary:
    """An operator on numbers; texts that look like numbers count as such."""

    def operate(left: Value, right: Value, meter: Meter) -> Value:
        try:
            result = plain(function(number(left, meter), number(right, meter)))
        except (OverflowError, ZeroDivisionError, ValueError):
            result = math.nan
        if not math.isfinite(result):
            raise Refusal(
                f"{kind(left)} {sign} {kind(right)} gives no finite number; "
                f"{sign!r} takes numbers, none too large"
            )
        return result

    return operate


def contains(needle: Value, where: Value, meter: Meter) -> bool:
    """``in``: an element of a list, a part of a text or a key of a mapping; raises Refusal."""
    if isinstance(where, str):
        meter.scan(where)
        return text(needle, meter) in where
    if is_list(where):
        meter.step(len(where))
        return any(same(needle, item, meter) for item in where)
    if isinstance(where, Mapping):
        return text(needle, meter) in where
    raise Refusal(f"'in' needs a list, text or mapping on its right, not {kind(where)}")


def negative(value: Value, meter: Meter) -> Value:
    """Minus ``value``."""
    return _subtract(0, value, meter)


_add = arithmetic("+", operator.add)
_subtract = arithmetic("-", operator.sub)

ARITHMETIC: Mapping[str, Binary] = MappingProxyType(
    {
        "+": add,
        "-": _subtract,
        "*": arithmetic("*", operator.mul),
        "/": arithmetic("/", operator.truediv),
        "//": arithmetic("//", lambda a, b: math.floor(a / b)),
        "%": arithmetic("%", math.fmod),
        "**": arithmetic("**", math.pow),
    }
)
"""Every result is a float or a whole number up to 2**53, so that none grows without end."""
