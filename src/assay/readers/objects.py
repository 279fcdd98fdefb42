"""Objects in memory as sources of rows; their libraries are never imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Any

from assay.errors import DataError
from assay.readers.cells import kind
from assay.readers.source import Row, Source, once
from assay.sample import Sample

_BATCH = 512


def open_object(source: Any) -> Source:
    """The rows of a pandas, polars or Arrow table, a Hugging Face dataset, or any iterable of rows.

    Rows are mappings, Samples, dataclasses or pydantic objects. Raises DataError for anything
    else, such as a lone mapping or a dictionary of splits.
    """
    name = type(source).__name__
    if isinstance(source, Mapping):
        raise DataError(_lone_mapping(name, source))
    for attribute, rows_of in _TABLES:
        if hasattr(source, attribute):
            return Source(name, "row", True, False, partial(rows_of, source))
    if hasattr(source, "to_list"):
        return Source(name, "row", False, False, partial(_counted, source.to_list()))
    if isinstance(source, Sample | bytes) or not isinstance(source, Iterable):
        raise DataError(
            f"samples cannot be read from {kind(source)}; give a path, a DataFrame, a dataset, or "
            "a list of mappings or Samples"
        )
    rows = partial(_counted, source)
    if isinstance(source, Iterator):
        return Source(name, "row", False, False, once(f"the {name}", rows))
    return Source(name, "row", False, False, rows)


def _batches(source: Any) -> Iterator[Row]:
    _check_labels(type(source).__name__, list(source.schema.names))
    number = 0
    for batch in source.to_batches(max_chunksize=_BATCH):
        for row in batch.to_pylist():
            number += 1
            yield number, row


def _frame(source: Any) -> Iterator[Row]:
    _check_labels(type(source).__name__, list(source.columns))
    for start in range(0, len(source), _BATCH):
        part = source.iloc[start : start + _BATCH]
        yield from enumerate(map(_row, part.to_dict("records")), start + 1)


def _polars(source: Any) -> Iterator[Row]:
    return _counted(source.iter_rows(named=True))


def _arrow_batch(source: Any) -> Iterator[Row]:
    return _counted(source.to_pylist())


def _counted(items: Iterable[Any]) -> Iterator[Row]:
    return ((number, _row(item)) for number, item in enumerate(items, 1))


def _row(item: Any) -> Any:
    if isinstance(item, Sample):
        return item
    if not isinstance(item, Mapping):
        if is_dataclass(item) and not isinstance(item, type):
            item = asdict(item)
        elif callable(dump := getattr(item, "model_dump", None)):
            item = dump()
    if isinstance(item, Mapping) and not all(isinstance(key, str) for key in item):
        return {str(key): value for key, value in item.items()}
    return item


def _check_labels(name: str, labels: list[Any]) -> None:
    twice = [label for label, count in Counter(map(str, labels)).items() if count > 1]
    if twice:
        listed = ", ".join(repr(label) for label in twice)
        raise DataError(f"{name}: the column name {listed} occurs more than once; rename one")


def _lone_mapping(name: str, source: Mapping[Any, Any]) -> str:
    keys = ", ".join(repr(str(key)) for key in list(source)[:8])
    if source and all(hasattr(part, "column_names") for part in source.values()):
        first = next(iter(source))
        return f"the {name} has the splits {keys}; give one of them: source[{first!r}]"
    return (
        f"a {name} with the keys {keys} is not a list of rows; for one row give [row], for "
        "columns a DataFrame or a Dataset"
    )


_TABLES: tuple[tuple[str, Callable[[Any], Iterator[Row]]], ...] = (
    ("to_batches", _batches),
    ("to_pylist", _arrow_batch),
    ("itertuples", _frame),
    ("iter_rows", _polars),
    ("column_names", _counted),
)
