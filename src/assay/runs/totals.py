"""Means of a long table in one pass, by arrays of numbers."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.stats import Summary, mean_interval


@dataclass
class _Column:
    """One metric so far."""

    values: array[float] = field(default_factory=lambda: array("d"))
    hits: float = 0.0
    total: float = 0.0
    undefined: int = 0
    failed: int = 0
    unknown: int = 0

    def add(self, score: Mapping[str, Any]) -> None:
        self.undefined += score["status"] == "undefined"
        self.failed += score["status"] == "failed"
        self.unknown += score["unknown"]
        if score["value"] is None:
            return
        self.values.append(score["value"])
        if score["hits"] is not None and score["total"]:
            self.hits += score["hits"]
            self.total += score["total"]


class Totals:
    """Summaries of metrics over records as they go by: eight bytes a value."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._columns = {name: _Column() for name in metrics}
        self.rows = 0
        self.failed = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        self.rows += 1
        scores = record["scores"]
        for name, column in self._columns.items():
            column.add(scores[name])
        self.failed += any(score["status"] == "failed" for score in scores.values())

    def __getitem__(self, metric: str) -> Summary:
        """The summary of a metric; it holds no ``values``."""
        column = self._columns[metric]
        n = len(column.values)
        return Summary(
            mean=math.fsum(column.values) / n if n else None,
            interval=mean_interval(column.values),
            micro=column.hits / column.total if column.total else None,
            n=n,
            undefined=column.undefined,
            failed=column.failed,
            unknown=column.unknown,
            values=(),
        )
