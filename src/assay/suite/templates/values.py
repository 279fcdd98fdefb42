"""Values as JavaScript sees them: text, truth, number, equality, order."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final

from assay.suite.templates.limits import Meter, Refusal

Value = Any
"""Text, a number, a boolean, None, UNDEFINED, a list or a mapping of these."""

SAFE_INTEGER = 2**53
"""Whole numbers up to here are exact in JavaScript."""

SPACE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What JavaScript calls white space."""

LONGEST_NUMBER = 400
"""Characters of a text that can still be a number."""

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
HEX = re.compile(r"0[xX][0-9a-fA-F]+")


class _Undefined:
    """What a name stands for that nobody gave a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = _Undefined()


def absent(value: Value) -> bool:
    """Whether there is no value: undefined or null."""
    return value is None or value is UNDEFINED


def is_number(value: Value) -> bool:
    """Whether ``value`` is a number; a boolean is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_list(value: Value) -> bool:
    """Whether ``value`` is a list."""
    return isinstance(value, (list, tuple))


def kind(value: Value) -> str:
    """What ``value`` is, for messages; never the value itself.

    >>> kind([1]), kind(None), kind(2.5)
    ('a list', 'nothing', 'a number')
    """
    if absent(value):
        return "nothing"
    if isinstance(value, bool):
        return "a boolean"
    names = ((str, "text"), ((int, float), "a number"), ((list, tuple), "a list"))
    return next(
        (name for types, name in names if isinstance(value, types)),
        "a mapping" if isinstance(value, Mapping) else f"a value of type {type(value).__name__}",
    )


def text(value: Value, meter: Meter) -> str:
    """``value`` as JavaScript prints it; null and undefined print nothing.

    Raises Refusal for types that a suite's data never has.
    """
    if isinstance(value, str):
        return value
    if is_list(value):
        parts: list[str] = []
        _list_text(value, parts, meter)
        return "".join(parts)
    return _scalar_text(value)


def _scalar_text(value: Value) -> str:
    if absent(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, Mapping):
        return "[object Object]"
    if isinstance(value, date):
        return value.isoformat()
    raise Refusal(f"it cannot print {kind(value)}; give text, numbers, lists or mappings")


def _list_text(values: Value, parts: list[str], meter: Meter) -> None:
    """Adds the elements with commas between them; lists within lists are flat in JavaScript."""
    for position, value in enumerate(values):
        meter.step()
        if position:
            parts.append(",")
        if is_list(value):
            _list_text(value, parts, meter)
            continue
        part = value if isinstance(value, str) else _scalar_text(value)
        meter.make_text(len(part) + 1, part)
        parts.append(part)


def number_text(value: float) -> str:
    """A number as JavaScript prints it; whole numbers of any size keep every digit.

    >>> [number_text(n) for n in (5.0, 0.1 + 0.2, 1e21, 1e-7, 0.00001, -0.0)]
    ['5', '0.30000000000000004', '1e+21', '1e-7', '0.00001', '0']
    """
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def truth(value: Value) -> bool:
    """Whether ``value`` counts as true: empty lists and mappings do, in JavaScript."""
    if value is UNDEFINED:
        return False
    if is_list(value) or isinstance(value, Mapping):
        return True
    return bool(value) and not (isinstance(value, float) and math.isnan(value))


def number(value: Value, meter: Meter) -> float:
    """``value`` as a number; nan where it is none. Raises OverflowError for a giant one."""
    if isinstance(value, (int, float)):
        return plain(value)
    if value is None:
        return 0
    if is_list(value):
        value = text(value, meter)
    return _parsed(value.strip(SPACE)) if isinstance(value, str) else math.nan


def _parsed(digits: str) -> float:
    if not digits:
        return 0
    if len(digits) > LONGEST_NUMBER:
        return math.nan
    if NUMBER.fullmatch(digits):
        return plain(float(digits))
    return plain(int(digits, 16)) if HEX.fullmatch(digits) else math.nan


def plain(value: float) -> float:
    """The number as an int where JavaScript is exact about it, else as a float."""
    if isinstance(value, int):
        return int(value) if abs(value) <= SAFE_INTEGER else float(value)
    whole = value.is_integer() and abs(value) <= SAFE_INTEGER
    return int(value) if whole else value


def same(left: Value, right: Value, meter: Meter) -> bool:
    """``===``: equal and of the same type; lists and mappings only if they are the same one."""
    if is_number(left) and is_number(right):
        return bool(left == right)
    if isinstance(left, str) and isinstance(right, str):
        meter.scan(left if len(left) == len(right) else "")
        return left == right
    return left is right


def equal(left: Value, right: Value, meter: Meter) -> bool:
    """``==``: equal after JavaScript's conversions, so the text "1" equals the number 1."""
    if absent(left) or absent(right):
        return absent(left) and absent(right)
    compound = [is_list(value) or isinstance(value, Mapping) for value in (left, right)]
    if any(compound) and not all(compound):
        left, right = text(left, meter), text(right, meter)
    if all(compound) or (isinstance(left, str) and isinstance(right, str)):
        return same(left, right, meter)
    return number(left, meter) == number(right, meter)


def order(left: Value, right: Value, meter: Meter) -> int | None:
    """-1, 0 or 1 as ``left`` is less than, equal to or more than ``right``; None if neither.

    By characters between texts, by size otherwise.
    """
    if is_list(left) or is_list(right):
        left, right = text(left, meter), text(right, meter)
    if isinstance(left, str) and isinstance(right, str):
        meter.scan(left)
    else:
        left, right = number(left, meter), number(right, meter)
    if left < right:
        return -1
    return 0 if left == right else (1 if left > right else None)
