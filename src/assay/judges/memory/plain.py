"""Writers of values by type as JSON can hold them: what a reader of the type gives back equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Writer = Callable[[Any], Any]
"""From a value of its type to its JSON value; raises ValueError for any other."""


def writer(hint: Any) -> Writer:
    """The writer of a type, of which `reader` is the inverse.

    It takes values of exactly that type, down to the last part: what it takes, the reader of the
    type gives back equal, so that nobody need read it back to know. Raises TypeError for a type
    that has no reader.

    >>> writer(tuple[int, ...])((1, 2))
    [1, 2]
    >>> writer(tuple[int, ...])([1, 2])
    Traceback (most recent call last):
    ValueError: no tuple: [1, 2]
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _union(get_args(hint))
    if origin is Literal:
        return partial(_literal, get_args(hint))
    if origin is tuple:
        return _tuple(get_args(hint))
    return _of_class(hint)


def _of_class(hint: Any) -> Writer:
    if hint is float:
        return _number
    if hint in (str, bool, int, NoneType):
        return partial(_same, hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return partial(_member, hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _record(hint)
    raise TypeError(f"a value of type {hint} cannot be kept")


def _same(kind: type, value: Any) -> Any:
    # Exactly: True is no 1, and what another class adds to a str would be lost.
    if type(value) is kind:
        return value
    raise ValueError(f"no {kind.__name__}: {value!r:.40}")


def _number(value: Any) -> Any:
    if (type(value) is float and math.isfinite(value)) or type(value) is int:
        return value
    raise ValueError(f"no finite number: {value!r:.40}")


def _literal(known: tuple[Any, ...], value: Any) -> Any:
    for one in known:
        if type(value) is type(one) and value == one:
            return value
    raise ValueError(f"none of {known}: {value!r:.40}")


def _member(kind: type[Enum], value: Any) -> Any:
    if type(value) is kind:
        return value.value
    raise ValueError(f"no {kind.__name__}: {value!r:.40}")


def _union(hints: Sequence[Any]) -> Writer:
    writers = [writer(hint) for hint in hints if hint is not NoneType]
    nullable = NoneType in hints

    def write(value: Any) -> Any:
        if value is None and nullable:
            return None
        for one in writers[:-1]:
            try:
                return one(value)
            except ValueError:
                continue
        return writers[-1](value)

    return write


def _tuple(hints: Sequence[Any]) -> Writer:
    if len(hints) == 2 and hints[1] is ...:
        item = writer(hints[0])

        def write(value: Any) -> Any:
            return [item(one) for one in _parts(value)]

    else:
        items = [writer(hint) for hint in hints]

        def write(value: Any) -> Any:
            return [one(part) for one, part in zip(items, _parts(value), strict=True)]

    return write


def _parts(value: Any) -> tuple[Any, ...]:
    if type(value) is tuple:
        return value
    raise ValueError(f"no tuple: {value!r:.40}")


def _record(kind: type) -> Writer:
    hints = get_type_hints(kind)
    writers = [(field.name, writer(hints[field.name])) for field in fields(kind)]

    def write(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"no {kind.__name__}: {value!r:.40}")
        return {name: one(getattr(value, name)) for name, one in writers}

    return write
