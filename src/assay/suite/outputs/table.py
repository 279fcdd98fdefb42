"""Results as a spreadsheet reads them: CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.suite.outputs.findings import (
    Row,
    output_text,
    rows_of,
    shortened,
    value_text,
    why,
)

LONGEST = 32_000
"""Characters of a cell; spreadsheets refuse more than 32,767."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters that make a cell a formula; some spreadsheets take the wide forms too."""


def render_csv(record: Mapping[str, Any]) -> str:
    """One line a result: test, repeat, description, variables, provider, prompt, output, status,
    score, metrics, reason.

    Tests and repeats count from 1. The score is 0 to 1, higher is better; metrics are in their own
    unit and direction; both are empty where there is none. Longer cells are cut and say so; a text
    that a spreadsheet would run as a formula starts with ``'``.
    """
    rows = rows_of(record)
    names = list(dict.fromkeys(name for row in rows for name in row["vars"]))
    metrics = list(dict.fromkeys(name for row in rows for name in row["namedScores"]))
    out = io.StringIO(newline="")
    sheet = csv.writer(out)
    head = ("Test", "Repeat", "Description", *names, "Provider", "Prompt", "Output", "Status")
    sheet.writerow([cell(one) for one in (*head, "Score", *metrics, "Reason")])
    for row in rows:
        sheet.writerow([cell(one) for one in _values(row, names, metrics)])
    return out.getvalue()


def _values(row: Row, names: list[str], metrics: list[str]) -> Iterator[Any]:
    yield row["test"] + 1
    yield row["repeat"] + 1
    yield row["testCase"]["description"]
    for name in names:
        yield value_text(row["vars"][name]) if name in row["vars"] else None
    yield row["provider"]["label"]
    yield row["prompt"]["label"]
    yield output_text(row)
    yield row["status"]
    yield row["value"]
    for name in metrics:
        yield row["namedScores"].get(name)
    yield why(row)


def cell(value: Any) -> Any:
    """What a cell may hold without being run: texts that start like a formula get a ``'``.

    >>> cell("=1+1"), cell("-5"), cell("- a list"), cell(-0.5)
    ("'=1+1", '-5', "'- a list", -0.5)
    """
    if not isinstance(value, str):
        return value
    text = shortened(value.replace("\0", ""), LONGEST)
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    if not text.isascii() or text != text.strip() or "_" in text:
        return False
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
