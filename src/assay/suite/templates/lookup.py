"""What a dot or a bracket finds: keys, positions, length. No attribute of any Python object."""

from __future__ import annotations

from collections.abc import Mapping

from assay.suite.templates.limits import Meter, Refusal
from assay.suite.templates.methods import methods_of
from assay.suite.templates.values import UNDEFINED, Value, is_list, is_number, text


def find(holder: Value, key: Value, meter: Meter) -> Value:
    """``holder.key`` or ``holder[key]``; UNDEFINED where there is nothing.

    Raises Refusal for a method that is not called and for a Python name like __class__.
    """
    if isinstance(holder, Mapping):
        found = _value(holder, key, meter)
    elif isinstance(holder, str) or is_list(holder):
        found = _position(holder, key, meter)
    else:
        found = UNDEFINED
    if found is UNDEFINED and isinstance(key, str):
        _refuse(holder, key)
    return found


def attribute(meter: Meter, value: Value, path: Value) -> Value:
    """What a dotted ``path`` such as "source.title" finds in ``value``."""
    for key in path.split(".") if isinstance(path, str) else [path]:
        value = find(value, key, meter)
    return value


def refuse_python(name: str) -> None:
    """Raises Refusal for a name that only Python's own objects have."""
    if name.startswith("__") and name.endswith("__"):
        raise Refusal(f"{name[:40]!r} is out of reach; templates see the suite's data only")


def _value(holder: Mapping[Value, Value], key: Value, meter: Meter) -> Value:
    if not isinstance(key, str) and not is_number(key):
        key = text(key, meter)
    if key in holder:
        return holder[key]
    # Keys are text in JavaScript, while YAML has whole numbers too.
    other = text(key, meter) if is_number(key) else _digits(key)
    return holder.get(other, UNDEFINED)


def _digits(key: str) -> Value:
    plain = key.isascii() and key.isdigit() and len(key) < 16
    return int(key) if plain else UNDEFINED


def _position(holder: Value, key: Value, meter: Meter) -> Value:
    if key == "length":
        return len(holder)
    if isinstance(key, str):
        key = _digits(key)
    if isinstance(key, float) and key.is_integer():
        key = int(key)
    if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key < len(holder):
        return UNDEFINED
    return holder[key]


def _refuse(holder: Value, key: str) -> None:
    refuse_python(key)
    if key in methods_of(holder):
        raise Refusal(f"{key!r} is a method; call it: {key}()")
