"""Data in the shape of the config's models, with a problem for whatever does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from assay.errors import did_you_mean
from assay.suite.model import IGNORED, REFUSED
from assay.suite.problems import Place
from assay.suite.remarks import Remarks

Shape = TypeVar("Shape", bound=BaseModel)
Path = tuple[str | int, ...]


class PlaceOf(Protocol):
    """Where the value at a path is written, or its key."""

    def __call__(self, path: Sequence[str | int], /, *, key: bool = False) -> Place: ...


def shaped(shape: type[Shape], data: Any, place_of: PlaceOf, remarks: Remarks) -> Shape | None:
    """The data as a model; None if it does not fit, which ``remarks`` then say."""
    if not isinstance(data, Mapping):
        what = "empty" if data is None else f"a {type(data).__name__}"
        remarks.error(place_of(()), f"it must be a mapping of keys, not {what}")
        return None
    try:
        model = shape.model_validate(_without_nulls(data))
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            remarks.error(place_of(one["loc"]), _misfit(one))
        return None
    unknown_keys(model, place_of, remarks)
    return model


def _without_nulls(data: Any) -> Any:
    """The mapping without keys that are written and left empty, as if they were not there."""
    if isinstance(data, Mapping):
        return {
            key: value if key in _ANY else _without_nulls(value)
            for key, value in data.items()
            if value is not None or key in _ANY
        }
    return [_without_nulls(one) for one in data] if isinstance(data, list) else data


_ANY = frozenset({"vars", "value", "providerOutput", "config", "metadata", "body"})
"""Keys whose values are the user's own, where null may mean something."""


def unknown_keys(model: BaseModel, place_of: PlaceOf, remarks: Remarks, path: Path = ()) -> None:
    """Remarks on each key that no model inside knows."""
    known = [field.alias or name for name, field in type(model).model_fields.items()]
    for key in model.model_extra or ():
        if key == "$schema":
            continue
        place = place_of((*path, key), key=True)
        if key in IGNORED:
            remarks.warning(place, f"{key!r} has no effect: {IGNORED[key]}")
        elif key in REFUSED:
            remarks.error(place, f"{key!r} is not done here: {REFUSED[key]}")
        else:
            remarks.error(place, f"unknown key {key!r}; {did_you_mean(key, known)}")
    for name in model.model_fields_set & type(model).model_fields.keys():
        alias = type(model).model_fields[name].alias or name
        for inner, rest in _models(getattr(model, name)):
            unknown_keys(inner, place_of, remarks, (*path, alias, *rest))


def _models(value: Any) -> Iterable[tuple[BaseModel, Path]]:
    if isinstance(value, BaseModel):
        return [(value, ())]
    if isinstance(value, list):
        return [(one, (n,)) for n, one in enumerate(value) if isinstance(one, BaseModel)]
    if isinstance(value, dict):
        return [(one, (key,)) for key, one in value.items() if isinstance(one, BaseModel)]
    return []


def _misfit(error: Any) -> str:
    """What does not fit, in the words of the config."""
    name = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"{name}: it is missing"
    if error["type"] == "model_type":
        return f"{name}: it must be a mapping of keys"
    said = str(error["msg"]).removeprefix("Value error, ").replace("Input should be", "it must be")
    return f"{name}: {said[:1].lower()}{said[1:]}".replace("dictionary", "mapping")
