"""One row as one sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from assay.errors import DataError
from assay.readers.cells import brief, clean, jsonable, kind, parse_object, plain
from assay.readers.columns import Plan, Take
from assay.readers.fields import (
    as_claims,
    as_contexts,
    as_id,
    as_ids,
    as_labels,
    as_references,
    as_text,
)
from assay.sample import Context, Sample

_CONVERT: Mapping[str, Callable[[Any, bool], Any]] = MappingProxyType(
    {
        "question": as_text,
        "response": as_text,
        "contexts": as_contexts,
        "references": as_references,
        "id": as_id,
        "response_claims": as_claims,
        "reference_claims": as_claims,
        "context_ids": as_ids,
        "context_relevance": as_labels,
    }
)
_DIRECT = ("question", "response", "references", "response_claims", "reference_claims")
_VALOR = frozenset({"groundtruth", "prediction"})


def flatten(row: Mapping[str, Any], dotted: Iterable[str] = ()) -> Mapping[str, Any]:
    """The row with the keys of promptfoo's ``vars`` and Valor's ``context`` as dotted columns.

    A row that assay wrote becomes the sample that it was.

    ``dotted`` are further paths into nested objects, such as "response.output".

    >>> flatten({"vars": {"query": "Who?"}, "output": "Me."})
    {'output': 'Me.', 'vars.query': 'Who?'}
    """
    row = _scored(row)
    open_up = [
        name
        for name in ("vars", "context")
        if isinstance(inner := row.get(name), Mapping)
        and (name == "vars" or (inner and _VALOR.issuperset(inner)))
    ]
    if not open_up and not dotted:
        return row
    flat = {name: value for name, value in row.items() if name not in open_up}
    for name in open_up:
        flat |= {f"{name}.{key}": value for key, value in row[name].items()}
    for path in dotted:
        if path not in flat and (value := _walk(row, path)) is not None:
            flat[path] = value
    return flat


def _scored(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row that assay wrote, as the sample that it was; its claims are used again."""
    claims = row.get("claims")
    if not ("format" in row and "scores" in row and isinstance(claims, Mapping)):
        return row
    kept = {name: row[name] for name in row if name not in {"format", "scores", "claims"}}
    return kept | {f"{of}_claims": made for of, made in claims.items()}


def read_row(
    row: Mapping[str, Any], plan: Plan, number: int, cells: bool
) -> tuple[Sample, list[str]]:
    """The sample in a flattened row, and what cannot be read: the column and what was found there.

    Such a column is left out of the sample. ``number`` is the id where the row has none that can
    be read; ``cells`` says that a text may hold a list, as in CSV.
    """
    faults = _Faults()
    got: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for take in plan.takes:
        value = plain(row.get(take.column))
        if value is None and take.spare is not None:
            value = plain(row.get(take.spare))
        if value is None:
            continue
        if take.field == "metadata":
            metadata |= _metadata(value, take.column, cells)
            continue
        with faults.at(take.column, take.field):
            got[take.field] = _CONVERT[take.field](value, cells)
        if take.spare is not None and take.field in got:
            with faults.at(take.spare, take.field):
                _check_spare(plain(row.get(take.spare)), take, got[take.field], cells)
    for name in plan.rest:
        if (value := jsonable(row.get(name))) is not None:
            metadata[clean(name)] = value
    contexts = _contexts(got, metadata, row, plan, faults)
    direct = {name: got[name] for name in _DIRECT if name in got}
    shared: dict[str, Any] = {
        "contexts": contexts,
        "id": got.get("id") or str(number),
        "metadata": metadata,
    }
    try:
        return Sample(**shared, **direct), faults.found
    except DataError as error:  # each field is right, and the claims do not fit the references
        faults.found.append(str(error))
        direct.pop("reference_claims", None)
        return Sample(**shared, **direct), faults.found


class _Faults:
    """What is wrong with a row."""

    def __init__(self) -> None:
        self.found: list[str] = []

    @contextmanager
    def at(self, column: str, field: str) -> Iterator[None]:
        """Takes a DataError inside for a fault of a column."""
        try:
            yield
        except DataError as error:
            said = str(error).replace("FIELD=COLUMN", f"{field}={column}")
            self.found.append(f"column {column!r}: {said}")


def _contexts(
    got: Mapping[str, Any],
    metadata: dict[str, Any],
    row: Mapping[str, Any],
    plan: Plan,
    faults: _Faults,
) -> tuple[Context, ...] | None:
    contexts: tuple[Context, ...] | None
    contexts, rests = got.get("contexts", (None, []))
    if rests:
        metadata["context_metadata"] = jsonable(rests)
    for take in plan.takes:
        if take.field not in {"context_ids", "context_relevance"}:
            continue
        values = got.get(take.field)
        with faults.at(take.column, take.field):
            if contexts is None or values is None:
                _keep(row, take, metadata, refused=take.field in got and values is None)
            else:
                contexts = _marked(contexts, take.field, values)
    return contexts


def _marked(
    contexts: tuple[Context, ...], field: str, values: Sequence[Any]
) -> tuple[Context, ...]:
    """Contexts with the ids or labels that stand in a column beside; their own labels stay."""
    if len(values) != len(contexts):
        found = f"it has {len(values)} entries for {len(contexts)} contexts"
        raise DataError(f"{found}; they must be parallel")
    name = "id" if field == "context_ids" else "relevant"
    return tuple(
        replace(context, **{name: value}) if getattr(context, name) is None else context
        for context, value in zip(contexts, values, strict=True)
    )


def _keep(row: Mapping[str, Any], take: Take, metadata: dict[str, Any], refused: bool) -> None:
    value = jsonable(row.get(take.column))
    if value is None:
        return
    if refused and take.sure:
        raise DataError(
            f"expected a list of true, false, 1 or 0, one per context, found {kind(value)}"
        )
    metadata[clean(take.column)] = value


def _check_spare(value: Any, take: Take, taken: Any, cells: bool) -> None:
    singular = () if value is None else as_references(value, cells)
    if not set(singular) <= set(taken):
        raise DataError(
            f"{brief(' | '.join(singular))} is not among the texts of column {take.column!r}; "
            f"say which to take with --map references={take.column!r}"
        )


def _metadata(value: Any, column: str, cells: bool) -> dict[str, Any]:
    if isinstance(value, str) and cells:
        value = parse_object(value) or value
    if isinstance(value, Mapping):
        inner: dict[str, Any] = jsonable(value)
        return {key: item for key, item in inner.items() if item is not None}
    return {column: jsonable(value)}


def _walk(row: Mapping[str, Any], path: str) -> Any:
    value: Any = row
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
