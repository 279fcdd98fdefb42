"""Rows with something wrong: what is wrong is named, and what is right is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from assay.errors import DataError
from assay.readers import open_samples
from assay.sample import Sample

GOOD = {"id": "q7", "question": "Who?", "response": "Me.", "contexts": ["It was me."]}


def attempt(
    row: Any, columns: Mapping[str, str] | None = None, number: int = 3
) -> tuple[Sample, str]:
    return open_samples([GOOD], columns=columns).attempt(row, number)


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ({"contexts": 3}, "column 'contexts': expected a text or a list of texts, found a number"),
        ({"contexts": ["a", 7]}, "column 'contexts': item 2 must be a text"),
        ({"response": ["Me."]}, "column 'response': expected text, found a list"),
        ({"response": {"text": "Me."}}, "take one part of it with --map response=response.text"),
        ({"references": {"a": 1}}, "column 'references': expected text, found an object"),
        ({"response_claims": [4]}, "column 'response_claims': item 1 must be a text"),
        ({"context_ids": "c1"}, "column 'context_ids': expected a list of ids"),
        ({"context_ids": ["c1", "c2"]}, "column 'context_ids': it has 2 entries for 1 contexts"),
        ({"relevant": [True, False]}, "column 'relevant': it has 2 entries for 1 contexts"),
        ({"reference_claims": [{"text": "a", "source": 2}]}, "source names no reference: 2"),
    ],
)
def test_a_bad_column_leaves_the_others_alone(bad: dict[str, Any], fault: str) -> None:
    row = GOOD | {"topic": "mills"} | bad
    sample, found = attempt(row)
    assert fault in found
    assert sample.id == "q7"
    assert sample.metadata["topic"] == "mills"
    assert sample.question == "Who?"
    for name in {"response", "contexts"} - bad.keys():
        assert getattr(sample, name) == getattr(open_samples([GOOD]).sample(GOOD, 1), name)
    for name in {"response", "contexts", "references"} & bad.keys():
        assert getattr(sample, name) is None
    with pytest.raises(DataError) as error:
        open_samples([GOOD]).sample(row, 3)
    assert str(error.value) == found


def test_each_bad_column_is_named() -> None:
    sample, fault = attempt(GOOD | {"question": [], "contexts": 4})
    assert (sample.id, sample.response) == ("q7", "Me.")
    assert fault == (
        "column 'question': expected text, found a list; "
        "column 'contexts': expected a text or a list of texts, found a number (4)"
    )


@pytest.mark.parametrize("bad", [["q7"], {"a": 1}, True])
def test_a_bad_id_is_a_fault_and_the_number_takes_its_place(bad: object) -> None:
    sample, fault = attempt(GOOD | {"id": bad})
    assert "column 'id': expected text" in fault
    assert (sample.id, sample.response) == ("3", "Me.")


def test_a_label_of_contexts_that_cannot_be_read_is_put_by() -> None:
    sample, fault = attempt(GOOD | {"contexts": 3, "relevant": [True]})
    assert fault.startswith("column 'contexts'")
    assert sample.contexts is None
    assert sample.metadata["relevant"] == [True]


@pytest.mark.parametrize(
    ("row", "columns", "id"),
    [
        ({"id": "q7", "answer": "a", "output": "b"}, None, "q7"),
        ({"id": 7, "query_id": "q", "topic": "none is known"}, None, "7"),
        ({"query_id": "q7", "answer": "a", "output": "b"}, None, "q7"),
        ({"query_id": "q7", "sample_id": "s", "topic": 1}, None, "3"),
        ({"key": "k", "id": "q7", "answer": "a", "output": "b"}, {"id": "key"}, "k"),
        ({"id": "q7", "answer": "a", "output": "b"}, {"id": ""}, "3"),
        ({"id": [1], "topic": 1}, None, "3"),
        ({}, None, "3"),
    ],
)
def test_a_row_whose_columns_are_unclear_keeps_its_id(
    row: dict[str, Any], columns: dict[str, str] | None, id: str
) -> None:
    reading = open_samples([GOOD | {"key": "k"}], columns=columns)
    sample, fault = reading.attempt(row, 3)
    assert "could all hold" in fault or "no known column" in fault
    assert sample.id == id
    assert sample.response is None


def test_what_is_no_row_has_its_number() -> None:
    assert attempt([1]) == (
        Sample(id="3"),
        "a row must be an object with named columns, found a list",
    )
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    sample, fault = attempt(GOOD | {"more": deep})
    assert (sample.id, fault) == ("3", "the row is nested too deeply")


def test_a_good_row_has_no_fault() -> None:
    sample, fault = attempt(GOOD)
    assert fault == ""
    assert sample == open_samples([GOOD]).sample(GOOD, 3)
    assert attempt(Sample(response="a")) == (Sample(response="a", id="3"), "")
