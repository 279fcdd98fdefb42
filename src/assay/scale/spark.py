"""A function for Spark's ``mapInPandas``: DataFrames of samples in, DataFrames of scores out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from assay.api import Metrics, check_skills, open_metrics
from assay.asks import Judge
from assay.errors import MissingExtra
from assay.metrics import Metric
from assay.readers.columns import check_map
from assay.readers.objects import open_object
from assay.readers.reading import Reading
from assay.readers.source import Row as Read
from assay.readers.source import Source
from assay.run import Row
from assay.runner import score_sample
from assay.runs.engine import unreadable
from assay.sample import Sample
from assay.scale.recipe import Making, Recipe, recipe
from assay.store import columns as columns_of
from assay.store import flat, to_json

ROWS = 500
"""Rows that are held, scored and handed on together."""

Frames = Iterator[Any]
Drawn = tuple[Sample, str]


def schema(metrics: Metrics) -> str:
    """The columns that `scorer` gives, as the DDL that ``mapInPandas`` takes.

    >>> schema("faithfulness").split(", ")[2:5]
    ['`response` STRING', '`faithfulness` DOUBLE', '`faithfulness.status` STRING']
    """
    names = list(open_metrics(metrics))
    told = ((name, "DOUBLE" if name in names else "STRING") for name in columns_of(names))
    return ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in (*told, _ROW))


_ROW = ("row", "STRING")


def scorer(
    metrics: Metrics,
    judge: Making,
    *,
    columns: Mapping[str, str] | None = None,
    concurrency: int = 32,
    packed: bool = False,
    options: Mapping[str, Any] | None = None,
    cache: bool = False,
    threads: int | None = 1,
) -> Callable[[Frames], Frames]:
    """A function that scores the rows of pandas DataFrames, for ``df.mapInPandas``.

    ``df.mapInPandas(scorer("faithfulness", "embedded"), schema("faithfulness"))`` has a row for
    each row of ``df``, in order: id, question and response, the scores with status and reason, and
    ``row``, the whole as JSON, with claims and verdicts. Columns are recognised as `assay.load`
    does, or named by ``columns``. Rows without an id get none, since their number in a partition
    would tell them from no other. What cannot be read or scored has failed scores.

    ``judge``, ``packed``, ``options`` and ``cache`` are those of `assay.scale.ray.run`; each
    partition opens its own judge, and closes it at its end. At most ``concurrency`` samples are in
    work in a partition, and some `ROWS` are held. Limits such as ``rpm`` among the options are of
    one partition. Metrics are given by name where Spark sends the function to other machines.

    Raises ConfigError at once for what cannot work; the function raises JudgeUnusable if no sample
    can be scored.
    """
    open_metrics(metrics)
    check_map(dict(columns or {}))
    made = recipe(judge, packed=packed, options=options, cache=cache, threads=threads)
    work = _Work(metrics, made, dict(columns or {}), concurrency)
    return work.scored


class _Work:
    """What goes to the processes of Spark: names and values."""

    def __init__(
        self, metrics: Metrics, made: Recipe, columns: Mapping[str, str], concurrency: int
    ) -> None:
        self._metrics, self._recipe = metrics, made
        self._columns, self._concurrency = columns, concurrency

    def scored(self, frames: Frames) -> Frames:
        """The scores of a partition's frames."""
        pandas = _pandas()
        metrics = open_metrics(self._metrics)
        samples = _samples(frames, self._columns)
        first = next(samples, None)
        if first is None:
            return
        samples = chain([first], samples)
        judge = self._recipe.open()
        # Between two parts nothing is in work, so that a slow reader holds up no call.
        with asyncio.Runner() as runner:
            try:
                while part := list(islice(samples, ROWS)):
                    check_skills(metrics, (sample for sample, _ in part), judge)
                    rows = runner.run(_scored(part, metrics, judge, self._concurrency))
                    yield _frame(pandas, rows, list(metrics))
            finally:
                runner.run(judge.aclose())


async def _scored(
    part: Iterable[Drawn], metrics: Mapping[str, Metric], judge: Judge, concurrency: int
) -> list[Row]:
    """A row for each sample, in order."""
    slots = asyncio.Semaphore(concurrency)

    async def one(sample: Sample, trouble: str) -> Row:
        if trouble:
            return unreadable(sample, metrics, trouble)
        async with slots:
            return await score_sample(sample, metrics, judge)

    tasks = [asyncio.create_task(one(*drawn)) for drawn in part]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _samples(frames: Frames, columns: Mapping[str, str]) -> Iterator[Drawn]:
    """The samples of frames one by one, each with why it cannot be read ("" if it can)."""
    reading: Reading | None = None
    for position, row in _rows(frames):
        if reading is None:
            reading = _reading((position, row), columns)
        sample, fault = reading.attempt(row, position)
        if "id" not in reading.mapping.values():
            sample = sample.replace(id=None)
        yield sample, f"row {position} of the partition: {fault}" if fault else ""


def _reading(first: Read, columns: Mapping[str, str]) -> Reading:
    """What makes samples of rows; raises DataError if columns that are named are not there."""
    source = Source("the partition", "row", True, False, lambda: iter([first]))
    return Reading(source, columns, unique_ids=False)


def _rows(frames: Frames) -> Iterator[Read]:
    rows = chain.from_iterable(open_object(frame).rows() for frame in frames)
    return ((number, row) for number, (_, row) in enumerate(rows, 1))


def _frame(pandas: Any, rows: Iterable[Row], metrics: list[str]) -> Any:
    records = [row.as_dict() for row in rows]
    values = [[*flat(record, metrics), to_json(record)] for record in records]
    frame = pandas.DataFrame(values, columns=[*columns_of(metrics), "row"], dtype=object)
    return frame.astype(dict.fromkeys(metrics, "float64"))


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("pandas", "pandas") from None
    return pd
