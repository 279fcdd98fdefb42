"""Any value as plain JSON data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from numbers import Integral, Real
from typing import Any

DEEPEST = 100
"""Levels of lists and mappings that are kept."""


def jsonable(value: Any, _above: tuple[int, ...] = ()) -> Any:
    """The same value made of dict, list, str, int, finite float, bool and None only.

    Keys become text, a number that is not finite becomes None, what JSON has no form for becomes
    its text. Levels below `DEEPEST`, and what contains itself, are replaced by a remark.

    >>> jsonable({1: (float("nan"), {"b"}), "t": b"x"})
    {'1': [None, ['b']], 't': 'x'}
    """
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, Mapping | list | tuple | AbstractSet):
        return _nested(value, _above)
    if isinstance(value, Enum):
        return jsonable(value.value, _above)
    return _lone(value)


def _nested(value: Any, above: tuple[int, ...]) -> Any:
    if id(value) in above:
        return "(contains itself)"
    if len(above) >= DEEPEST:
        return "(nested too deeply)"
    inner = (*above, id(value))
    if isinstance(value, Mapping):
        return {_key(key): jsonable(one, inner) for key, one in value.items()}
    if isinstance(value, AbstractSet):
        value = sorted(value, key=str)
    return [jsonable(one, inner) for one in value]


def _lone(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if callable(plain := getattr(value, "tolist", None)):
        return jsonable(plain())  # of numpy
    return str(value)


def _key(key: Any) -> str:
    return key if type(key) is str else str(jsonable(key))
