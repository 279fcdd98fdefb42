"""Readers of JSON values by type: exact, or ValueError."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Reader = Callable[[Any], Any]
"""From a JSON value to the value of its type; raises ValueError for any other."""


def reader(hint: Any) -> Reader:
    """The reader of a type: dataclasses, enums, tuples, unions, literals and plain values.

    A dataclass is an object with exactly its fields, a tuple a list, an enum its value. Data never
    names a type. Raises TypeError for a type that is none of these.

    >>> reader(tuple[int, ...])([1, 2])
    (1, 2)
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _union(get_args(hint))
    if origin is Literal:
        return partial(_literal, get_args(hint))
    if origin is tuple:
        return _tuple(get_args(hint))
    return _of_class(hint)


def _of_class(hint: Any) -> Reader:
    if hint is float:
        return _number
    if hint in (str, bool, int, NoneType):
        return partial(_plain, hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return partial(_member, hint, {member.value: member for member in hint})
    if isinstance(hint, type) and is_dataclass(hint):
        return _record(hint)
    raise TypeError(f"a value of type {hint} cannot be kept")


def _plain(kind: type, value: Any) -> Any:
    # Exactly: True is no 1.
    if type(value) is kind:
        return value
    raise ValueError(f"no {kind.__name__}: {value!r:.40}")


def _number(value: Any) -> Any:
    if (type(value) is float and math.isfinite(value)) or type(value) is int:
        return value
    raise ValueError(f"no finite number: {value!r:.40}")


def _literal(known: tuple[Any, ...], value: Any) -> Any:
    for one in known:
        if value == one and type(value) is type(one):
            return one
    raise ValueError(f"none of {known}: {value!r:.40}")


def _member(kind: type[Enum], members: dict[Any, Enum], value: Any) -> Any:
    if isinstance(value, str | int) and value in members:
        return members[value]
    raise ValueError(f"no {kind.__name__}: {value!r:.40}")


def _union(hints: Sequence[Any]) -> Reader:
    readers = [reader(hint) for hint in hints if hint is not NoneType]
    nullable = NoneType in hints

    def read(value: Any) -> Any:
        if value is None and nullable:
            return None
        for one in readers[:-1]:
            try:
                return one(value)
            except ValueError:
                continue
        return readers[-1](value)

    return read


def _tuple(hints: Sequence[Any]) -> Reader:
    if len(hints) == 2 and hints[1] is ...:
        item = reader(hints[0])

        def read(value: Any) -> Any:
            return tuple(map(item, _list(value)))

    else:
        items = [reader(hint) for hint in hints]

        def read(value: Any) -> Any:
            pairs = zip(items, _list(value), strict=True)
            return tuple(one(part) for one, part in pairs)

    return read


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise ValueError(f"no list: {value!r:.40}")


def _record(kind: type) -> Reader:
    hints = get_type_hints(kind)
    readers = {field.name: reader(hints[field.name]) for field in fields(kind)}

    def read(value: Any) -> Any:
        if not isinstance(value, dict) or value.keys() != readers.keys():
            raise ValueError(f"no {kind.__name__}: {value!r:.40}")
        return kind(**{name: one(value[name]) for name, one in readers.items()})

    return read
