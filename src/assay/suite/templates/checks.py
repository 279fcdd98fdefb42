"""What ``{{ x is … }}`` can ask, and ``select`` and ``reject`` with it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.suite.templates.arguments import Function, finite
from assay.suite.templates.limits import Meter
from assay.suite.templates.values import (
    UNDEFINED,
    Value,
    is_list,
    is_number,
    order,
    same,
    truth,
)


def _divisible(meter: Meter, value: Value, by: Value) -> bool:
    return finite(value, meter) % finite(by, meter) == 0


def _odd(meter: Meter, value: Value) -> bool:
    return finite(value, meter) % 2 == 1


def _even(meter: Meter, value: Value) -> bool:
    return finite(value, meter) % 2 == 0


def _same(meter: Meter, value: Value, other: Value) -> bool:
    return same(value, other, meter)


def _ordered(*orders: int) -> Function:
    def check(meter: Meter, value: Value, other: Value) -> bool:
        return order(value, other, meter) in orders

    return check


def _nothing(meter: Meter, value: Value) -> bool:
    return value is None


CHECKS: Mapping[str, Function] = MappingProxyType(
    {
        "defined": lambda meter, value: value is not UNDEFINED,
        "divisibleby": _divisible,
        "eq": _same,
        "equalto": _same,
        "even": _even,
        "falsy": lambda meter, value: not truth(value),
        "ge": _ordered(0, 1),
        "greaterthan": _ordered(1),
        "gt": _ordered(1),
        "iterable": lambda meter, value: isinstance(value, str) or is_list(value),
        "le": _ordered(-1, 0),
        "lessthan": _ordered(-1),
        "lower": lambda meter, value: isinstance(value, str) and value == value.lower(),
        "lt": _ordered(-1),
        "mapping": lambda meter, value: isinstance(value, Mapping),
        "ne": lambda meter, value, other: not same(value, other, meter),
        "none": _nothing,
        "null": _nothing,
        "number": lambda meter, value: is_number(value),
        "odd": _odd,
        "sameas": _same,
        "string": lambda meter, value: isinstance(value, str),
        "truthy": lambda meter, value: truth(value),
        "undefined": lambda meter, value: value is UNDEFINED,
        "upper": lambda meter, value: isinstance(value, str) and value == value.upper(),
    }
)
