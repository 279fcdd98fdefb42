"""Values of columns as fields of samples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.errors import DataError
from assay.readers.cells import clean, kind, parse_flags, parse_list, plain
from assay.sample import Claim, Context

_TEXT_KEYS = ("text", "content", "page_content")
_CLAIM_KEYS = ("text", "claim", "content")
_ID_KEYS = frozenset({"id", "docid", "documentid", "chunkid"})
_LABEL_KEYS = ("relevant", "isrelevant", "relevance")


def as_text(value: Any, cells: bool) -> str:
    """A question or a response; numbers become text. Raises DataError for anything else."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, cells)
    if isinstance(value, Mapping):
        raise DataError(f"expected text, found {kind(value)}; {_part_of(value)}")
    raise DataError(f"expected text, found {kind(value)}")


def as_id(value: Any, cells: bool) -> str | None:
    """An identifier as text; None when it is blank."""
    return as_text(value, cells).strip() or None


def as_references(value: Any, cells: bool) -> tuple[str, ...]:
    """Alternative right answers; a lone text or number is one."""
    items = _items(value, cells)
    if items is None:
        return (as_text(value, cells),)
    return tuple(_item(n, item, cells) for n, item in enumerate(items, 1))


def as_claims(value: Any, cells: bool) -> tuple[Claim, ...]:
    """Claims from texts, objects with ``text`` or (subject, predicate, object) triplets."""
    items = _items(value, cells)
    if items is None:
        items = [value]
    return tuple(_claim(n, plain(item)) for n, item in enumerate(items, 1))


def as_contexts(value: Any, cells: bool) -> tuple[tuple[Context, ...], list[dict[str, Any]]]:
    """Contexts, and per context what its object holds besides text, id and label.

    The second part is empty when no context has anything more.
    """
    items = _items(value, cells)
    if items is None:
        if not isinstance(value, str | Mapping | Context):
            raise DataError(f"expected a text or a list of texts, found {kind(value)}")
        items = _rows_of_columns(value) if isinstance(value, Mapping) else [value]
    pairs = [_context(n, plain(item)) for n, item in enumerate(items, 1)]
    contexts, rests = [context for context, _ in pairs], [rest for _, rest in pairs]
    if (key := _label_key(rests)) is not None:
        for n, rest in enumerate(rests):
            if (label := _is_label(_pop(rest, key))) is not None:
                contexts[n] = replace(contexts[n], relevant=label)
    return tuple(contexts), rests if any(rests) else []


def as_labels(value: Any, cells: bool) -> list[bool | None] | None:
    """Relevance labels of the contexts: a list of true/false, 0/1 and null; else None.

    Words, grades and single values are no labels, so that a score that happens to be called
    "relevant" is not taken for one.
    """
    if cells and isinstance(value, str):
        value = parse_flags(value)
    if not isinstance(value, list | tuple):
        return None
    items = [plain(item) for item in value]
    if any(item is not None and _is_label(item) is None for item in items):
        return None
    return [_is_label(item) for item in items]


def as_ids(value: Any, cells: bool) -> list[str | None]:
    """Identifiers of the contexts."""
    items = parse_flags(value) if cells and isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise DataError(f"expected a list of ids, found {kind(value)}")
    return [None if plain(i) is None else as_id(plain(i), cells) for i in items]


def _items(value: Any, cells: bool) -> Sequence[Any] | None:
    if isinstance(value, list | tuple):
        return value
    return parse_list(value) if cells and isinstance(value, str) else None


def _item(n: int, value: Any, cells: bool) -> str:
    try:
        return as_text(plain(value), cells)
    except DataError:
        raise DataError(f"item {n} must be text, found {kind(plain(value))}") from None


def _claim(n: int, value: Any) -> Claim:
    if isinstance(value, str):
        return Claim(clean(value))
    if isinstance(value, Claim):
        return value
    if isinstance(value, Mapping):
        text = next((value[key] for key in _CLAIM_KEYS if isinstance(value.get(key), str)), None)
        if text is not None:
            start, end = _offset(value.get("start")), _offset(value.get("end"))
            return Claim(clean(text), start, end, _offset(value.get("source")) or 0)
    if isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value):
        return Claim(clean(" ".join(value)))
    raise DataError(
        f"item {n} must be a text, an object with 'text' or a triplet of texts, found {kind(value)}"
    )


def _offset(value: Any) -> int | None:
    value = plain(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _context(n: int, value: Any) -> tuple[Context, dict[str, Any]]:
    if isinstance(value, str):
        return Context(clean(value)), {}
    if isinstance(value, Context):
        return value, {}
    if not isinstance(value, Mapping):
        raise DataError(f"item {n} must be a text or an object with 'text', found {kind(value)}")
    key = next((key for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
    if key is None:
        raise DataError(
            f"item {n} has no text under {', '.join(map(repr, _TEXT_KEYS))}: it is {kind(value)}"
        )
    ident: str | None = None
    rest: dict[str, Any] = {}
    for name, raw in value.items():
        part = plain(raw)
        if name == key or part is None:
            continue
        if ident is None and _squash(name) in _ID_KEYS:
            ident = as_id(part, False)
        else:
            rest[str(name)] = part
    return Context(clean(value[key]), ident), rest


def _rows_of_columns(value: Mapping[str, Any]) -> list[Any]:
    """An object of lists, as data sets store lists of objects, turned into a list of objects."""
    columns = {key: plain(column) for key, column in value.items()}
    lists = {key: column for key, column in columns.items() if isinstance(column, list)}
    if not any(key in lists for key in _TEXT_KEYS):
        return [value]
    if len({len(column) for column in lists.values()}) > 1:
        sizes = ", ".join(f"{key} {len(column)}" for key, column in lists.items())
        raise DataError(f"its lists differ in length: {sizes}")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _label_key(rests: list[dict[str, Any]]) -> str | None:
    """The key that labels these contexts: grades and words in any of them rule it out."""
    for key in _LABEL_KEYS:
        values = [v for rest in rests for name, v in rest.items() if _squash(name) == key]
        if values and all(_is_label(value) is not None for value in values):
            return key
    return None


def _pop(rest: dict[str, Any], key: str) -> Any:
    name = next((name for name in rest if _squash(name) == key), None)
    return None if name is None else rest.pop(name)


def _squash(key: Any) -> str:
    return re.sub(r"[\s_-]+", "", str(key)).casefold()


def _is_label(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return bool(value) if isinstance(value, int) and value in {0, 1} else None


def _number(value: float, cells: bool) -> str:
    # A table turns whole numbers into 1987.0 as soon as one row of the column is empty.
    whole = cells and isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value)


def _part_of(value: Mapping[str, Any]) -> str:
    keys = [str(key) for key, part in value.items() if isinstance(part, str)] or ["KEY"]
    return f"take one part of it with --map FIELD=COLUMN.{keys[0]}"
