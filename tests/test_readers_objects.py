"""Reading samples: tables, datasets and iterables in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from assay.errors import AssayError, DataError
from assay.readers import (
    open_samples,
    read_samples,
)
from assay.sample import Sample


def message(source: Any, **options: Any) -> str:
    with pytest.raises(AssayError) as caught:
        read_samples(source, **options)
    return str(caught.value)


def test_data_frame() -> None:
    frame = pd.DataFrame(
        {
            "Question": ["a", None],
            "answer": pd.array(["x", pd.NA], dtype="string"),
            "contexts": [np.array(["c", "d"]), []],
            "reference": [1987, np.nan],
            "n": pd.array([1, None], dtype="Int64"),
            "when": pd.to_datetime(["2020-01-01", None]),
        },
        index=[10, 20],
    )
    first, second = read_samples(frame)
    assert first == Sample(
        "a",
        "x",
        ["c", "d"],
        "1987",
        id="1",
        metadata={"n": 1, "when": "2020-01-01 00:00:00"},
    )
    assert second == Sample(contexts=[], id="2")


def test_data_frame_with_columns_of_one_name() -> None:
    frame = pd.DataFrame([["a", "b"]], columns=["question", "question"])
    assert message(frame) == (
        "DataFrame: the column name 'question' occurs more than once; rename one"
    )


def test_data_frame_with_numbered_columns() -> None:
    frame = pd.DataFrame([["a", "b"]])
    assert read_samples(frame, columns={"question": "0"})[0] == Sample(
        "a", id="1", metadata={"1": "b"}
    )


def test_arrow() -> None:
    table = pa.table({"question": ["a", "b"], "docs": [["c"], None]})
    for source in (table, table.to_batches()[0]):
        assert read_samples(source) == [Sample("a", None, ["c"], id="1"), Sample("b", id="2")]


class FakeDataset:
    """What the reader uses of a Hugging Face dataset."""

    column_names = ("question", "answer")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield {"question": "a", "answer": "r"}


class FakePolars:
    """What the reader uses of a polars DataFrame."""

    columns = ("question",)

    def iter_rows(self, *, named: bool) -> Iterator[dict[str, Any]]:
        assert named
        yield {"question": "a"}


class FakeDataModel:
    """What the reader uses of a pydantic object."""

    def model_dump(self) -> dict[str, Any]:
        return {"user_input": "a"}


class FakeEvaluationDataset:
    """What the reader uses of a ragas dataset."""

    def to_list(self) -> list[dict[str, Any]]:
        return [{"user_input": "a"}]


@dataclass
class Case:
    input: str
    retrieval_context: list[str] | None = None


@pytest.mark.parametrize(
    "source",
    [
        FakeDataset(),
        FakePolars(),
        [FakeDataModel()],
        FakeEvaluationDataset(),
        [Case("a")],
        ({"question": text} for text in "a"),
        [Sample("a")],
        ({1: "x", "question": "a"},),
    ],
)
def test_objects_are_recognised_by_what_they_do(source: Any) -> None:
    (sample,) = read_samples(source)
    assert (sample.question, sample.id) == ("a", "1")


def test_samples_pass_through_and_mix_with_rows() -> None:
    given = Sample("a", id="x", metadata={"k": 1})
    assert read_samples([given, {"query": "b"}]) == [given, Sample("b", id="2")]


def test_no_rows_in_memory_are_no_error() -> None:
    assert read_samples([]) == []
    assert read_samples(pd.DataFrame({"question": []})) == []


def test_generators_can_be_read_once() -> None:
    reading = open_samples({"question": text} for text in "ab")
    assert [s.question for s in reading] == ["a", "b"]
    with pytest.raises(DataError, match="the generator was read already; it can be read only onc"):
        list(reading)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            {"question": "q"},
            (
                "a dict with the keys 'question' is not a list of rows; for one row give [row], "
                "for columns a DataFrame or a Dataset"
            ),
        ),
        (
            {"train": FakeDataset(), "test": FakeDataset()},
            "the dict has the splits 'train', 'test'; give one of them: source['train']",
        ),
        (
            3,
            (
                "samples cannot be read from a number (3); give a path, a DataFrame, a dataset, or "
                "a list of mappings or Samples"
            ),
        ),
        ([["a"]], "list, row 1: a row must be an object with named columns, found a list"),
        (
            pd.Series(["a"]),
            "Series, row 1: a row must be an object with named columns, found the text 'a'",
        ),
    ],
)
def test_objects_that_are_no_samples(source: Any, text: str) -> None:
    assert message(source) == text
