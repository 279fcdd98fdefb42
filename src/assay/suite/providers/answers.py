"""Answers that were given before: read from files and made into answers of a provider."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from assay.errors import DataError
from assay.suite.providers.base import Answer

OUTPUTS = ("output", "response", "answer")
"""Names under which a row may hold its output, the first that is there counting."""


def read_rows(text: str, where: str) -> list[Any]:
    """The rows of a JSON list, or of JSON lines: texts, or objects with an output or error.

    ``where`` names the file in messages. Raises DataError.
    """
    text = text.removeprefix("\ufeff")
    rows = _whole(text, where) if text.lstrip()[:1] == "[" else _lines(text, where)
    for place, row in rows:
        if isinstance(row, str):
            continue
        if not isinstance(row, Mapping):
            raise DataError(f"{place}: an answer is a text or an object, not {_kind(row)}")
        if not any(name in row for name in (*OUTPUTS, "error")):
            keys = ", ".join(map(str, list(row)[:12])) or "none"
            raise DataError(f"{place}: no {', '.join(OUTPUTS)} or error among its keys: {keys}")
    return [row for _, row in rows]


def answer_of(row: Any, names: tuple[str, ...] = (*OUTPUTS, "error")) -> Answer:
    """The answer that a row holds; ``latency_ms`` is None unless the row has one.

    An object with none of the ``names`` is itself the output.

    >>> answer_of({"answer": "Bern", "contexts": ["Bern is in Switzerland."]}).output
    'Bern'
    """
    if not isinstance(row, Mapping) or not any(name in row for name in names):
        return Answer(output=row, raw=row)
    name = next((name for name in OUTPUTS if name in row), None)
    error = row.get("error")
    metadata = row.get("metadata")
    return Answer(
        output=None if name is None else row[name],
        error=None if error is None or error == "" else str(error),
        raw=row,
        contexts=row.get("contexts", row.get("context")),
        latency_ms=_number(row.get("latency_ms", row.get("latencyMs"))),
        cost=_number(row.get("cost")),
        metadata=metadata if isinstance(metadata, Mapping) else {},
    )


def _whole(text: str, where: str) -> list[tuple[str, Any]]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        if any(line.strip() for line in text.splitlines()[1:]):
            hint = "; JSON lines hold a text or an object each"
        else:
            hint = ""
        raise DataError(f"{where}: no JSON list: {error}{hint}") from None
    return [(f"{where}: answer {number}", row) for number, row in enumerate(rows, 1)]


def _lines(text: str, where: str) -> list[tuple[str, Any]]:
    """One row a line; only line feeds end lines, as a text may hold other separators."""
    out = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                out.append((f"{where}:{number}", json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where}:{number}: no JSON: {error}") from None
    return out


def _number(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) and value >= 0 else None
    return None


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
