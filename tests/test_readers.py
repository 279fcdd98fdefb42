"""Reading samples: the shapes of other systems, and which column holds which field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError, ConfigError
from assay.readers import (
    COLUMN_NAMES,
    Reading,
    open_samples,
    parse_map,
    read_samples,
)
from assay.sample import Claim, Context, Sample

ROW: dict[str, Any] = {"question": "Where?", "response": "Here."}


def one(row: Mapping[str, Any], **options: Any) -> Sample:
    (sample,) = read_samples([row], **options)
    return sample


@pytest.fixture
def put(tmp_path: Path) -> Any:
    def write(name: str, data: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


def message(source: Any, **options: Any) -> str:
    with pytest.raises(AssayError) as caught:
        read_samples(source, **options)
    return str(caught.value)


def test_native_row() -> None:
    sample = one(
        {
            "id": "a1",
            "question": "Where?",
            "response": "Here.",
            "contexts": ["c1", {"text": "c2", "id": "x", "relevant": False}],
            "references": ["There.", "Here."],
            "metadata": {"topic": "geo"},
            "response_claims": ["It is here."],
            "reference_claims": [{"text": "It is there.", "start": 0, "end": 6}],
        }
    )
    assert sample == Sample(
        question="Where?",
        response="Here.",
        contexts=["c1", Context("c2", "x", False)],
        references=["There.", "Here."],
        id="a1",
        metadata={"topic": "geo"},
        response_claims=["It is here."],
        reference_claims=[Claim("It is there.", 0, 6)],
    )


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "q", "response": "r", "retrieved_contexts": ["c"], "reference": "a"},
        {"question": "q", "answer": "r", "contexts": ["c"], "ground_truth": "a"},
        {"question": "q", "answer": "r", "contexts": ["c"], "ground_truths": ["a"]},
        {"query": "q", "gt_answer": "a", "response": "r", "retrieved_context": [{"text": "c"}]},
        {"query": "q", "context": "c", "output": "r", "expected": "a"},
        {"query": "q", "response": "r", "context": {"groundtruth": ["a"], "prediction": ["c"]}},
        {"input": "q", "actual_output": "r", "expected_output": "a", "retrieval_context": ["c"]},
        {"User Input": "q", "Actual-Output": "r", "retrievedContexts": ["c"], "GOLD_ANSWER": "a"},
        {"prompt": "q", "completion": "r", "passages": ["c"], "target": "a"},
        {"vars": {"query": "q", "contextChunks": [{"text": "c"}]}, "output": "r", "expected": "a"},
    ],
)
def test_systems_are_recognised(row: Mapping[str, Any]) -> None:
    sample = one(row)
    assert (sample.question, sample.response) == ("q", "r")
    assert sample.contexts == (Context("c"),)
    assert sample.references == ("a",)
    assert sample.metadata == {}


@pytest.mark.parametrize(
    ("field", "name"), [(f, name) for f, names in COLUMN_NAMES.items() for name in names]
)
def test_every_listed_name_is_recognised(field: str, name: str) -> None:
    spelled = name.title().replace("_", " ")
    other = "response" if field == "question" else "question"
    reading = open_samples([{other: "x", spelled: None}])
    assert reading.mapping[spelled] == field


def test_ragchecker_file(put: Any) -> None:
    row = {
        "query_id": 7,
        "query": "q",
        "gt_answer": "a",
        "response": "r",
        "retrieved_context": [{"doc_id": "d1", "text": "t"}],
        "response_claims": [["Paris", "is", "large"]],
        "gt_answer_claims": [["Lyon", "is", "small"]],
        "answer2response": ["Neutral"],
    }
    (sample,) = read_samples(put("in.json", json.dumps({"results": [row]})))
    assert sample.id == "7"
    assert sample.contexts == (Context("t", "d1"),)
    assert sample.response_claims == (Claim("Paris is large"),)
    assert sample.reference_claims == (Claim("Lyon is small"),)
    assert sample.metadata == {"answer2response": ["Neutral"]}


def test_ragas_labels_of_the_retriever_become_context_ids() -> None:
    sample = one(
        {"user_input": "q", "retrieved_contexts": ["a", "b"], "retrieved_context_ids": [3, "x"]}
    )
    assert sample.contexts == (Context("a", "3"), Context("b", "x"))


def test_deepeval_ideal_context_is_no_retrieved_context() -> None:
    sample = one({"input": "q", "context": ["ideal"], "retrieval_context": ["found"]})
    assert sample.contexts == (Context("found"),)
    assert sample.metadata == {"context": ["ideal"]}


def test_promptfoo_chunks_beat_the_joined_context() -> None:
    chunks = [{"text": "a", "relevant": True}, {"text": "b", "relevant": 0}]
    reading = open_samples(
        [{"vars": {"query": "q", "context": "a b", "contextChunks": chunks}, "output": "r"}]
    )
    assert reading.mapping == {
        "output": "response",
        "vars.query": "question",
        "vars.contextChunks": "contexts",
    }
    assert reading.ignored == ("vars.context",)
    assert next(iter(reading)).contexts == (Context("a", None, True), Context("b", None, False))


def test_promptfoo_directives_are_no_references() -> None:
    sample = one({"query": "q", "__expected": "factuality: a"})
    assert sample.references is None
    assert sample.metadata == {"__expected": "factuality: a"}


def test_rendered_prompt_gives_way_to_the_query() -> None:
    sample = one({"prompt": "Answer this: q", "query": "q"})
    assert sample.question == "q"
    assert sample.metadata == {"prompt": "Answer this: q"}


def test_native_name_wins_and_the_other_is_metadata() -> None:
    sample = one({"answer": "gold", "response": "r"})
    assert sample.response == "r"
    assert sample.metadata == {"answer": "gold"}


def test_exact_spelling_wins_over_the_same_name_in_capitals() -> None:
    assert one({"Response": "no", "response": "yes"}).response == "yes"


def test_references_hold_the_reference() -> None:
    sample = one({"reference": "a", "references": ["b", "a"]})
    assert sample.references == ("b", "a")
    assert sample.metadata == {}


def test_reference_stands_in_where_references_are_null() -> None:
    assert one({"reference": "a", "references": None}).references == ("a",)


def test_reference_that_references_lack_is_an_error() -> None:
    assert message([{"reference": "c", "references": ["a"]}]) == (
        "list, row 1: column 'reference': 'c' is not among the texts of column 'references'; "
        "say which to take with --map references='references'"
    )


def test_map_settles_reference_against_references() -> None:
    rows = {"reference": "c", "references": ["a"]}
    sample = one(rows, columns={"references": "references"})
    assert sample.references == ("a",)
    assert sample.metadata == {"reference": "c"}


def test_map_overrides_recognition() -> None:
    sample = one({"my col": "q", "question": "other"}, columns={"question": "my col"})
    assert sample.question == "q"
    assert sample.metadata == {"question": "other"}


def test_mapped_column_is_not_taken_for_another_field() -> None:
    sample = one({"answer": "gold", "output": "r"}, columns={"references": "answer"})
    assert (sample.response, sample.references) == ("r", ("gold",))


def test_one_column_may_feed_two_fields() -> None:
    reading = open_samples([{"text": "t"}], columns={"question": "text", "response": "text"})
    assert [(s.question, s.response) for s in reading] == [("t", "t")]
    assert reading.describe() == "columns: text -> question, text -> response"


def test_map_reaches_into_objects() -> None:
    row = {"question": "q", "response": {"output": {"text": "r"}}}
    sample = one(row, columns={"response": "response.output.text"})
    assert sample.response == "r"


def test_empty_map_switches_a_field_off() -> None:
    rows = [{"id": 1, "question": "a"}, {"id": 1, "question": "b"}]
    samples = read_samples(rows, columns={"id": ""})
    assert [s.id for s in samples] == ["1", "2"]
    assert [s.metadata for s in samples] == [{"id": 1}, {"id": 1}]


def test_mapped_column_may_be_absent_from_some_rows() -> None:
    samples = read_samples(
        [{"question": "a"}, {"question": "b", "truth": "t"}], columns={"references": "truth"}
    )
    assert [s.references for s in samples] == [None, ("t",)]


def test_parse_map() -> None:
    assert parse_map(["question=a=b", " response = my col "]) == {
        "question": "a=b",
        "response": "my col",
    }
    with pytest.raises(ConfigError, match="--map takes FIELD=COLUMN, not 'question'"):
        parse_map(["question"])
    with pytest.raises(ConfigError, match="--map gives id twice: 'a' and 'b'"):
        parse_map(["id=a", "id=b"])
    with pytest.raises(ConfigError, match=r"no field 'quesion' .*; did you mean 'question'\?"):
        parse_map(["quesion=a"])


def test_missing_mapped_column() -> None:
    assert message([ROW], columns={"question": "Questoin"}) == (
        "list: there is no column 'Questoin' to take question from (did you mean 'question'?); "
        "columns: 'question', 'response'"
    )


def test_unknown_field_in_the_map() -> None:
    with pytest.raises(ConfigError) as caught:
        read_samples([ROW], columns={"quest": "question"})
    assert str(caught.value) == (
        "there is no field 'quest' to map a column to; did you mean 'question'?"
    )


def test_ambiguous_columns(put: Any) -> None:
    assert message(put("a.jsonl", '{"answer": "a", "output": "b"}')) == (
        "a.jsonl, line 1: the columns 'answer', 'output' could all hold response; say which with "
        "--map response='answer' (in Python: columns={'response': 'answer'})"
    )


def test_no_known_column(put: Any) -> None:
    text = message(put("a.csv", "id,foo,bar\n1,2,3\n"))
    assert text.startswith(
        "a.csv: no known column among 'id', 'foo', 'bar'. Map yours with --map question=COLUMN "
        "(in Python: columns={'question': 'COLUMN'}). Known names:\n  question: question, query,"
    )
    assert "\n  references: references, reference, ground_truth," in text


def test_a_later_row_without_known_columns_is_an_error_too() -> None:
    rows: list[dict[str, Any]] = [{"question": "q"}] * 150 + [{"qestion": "q"}]
    assert message(rows).startswith("list, row 151: no known column among 'qestion'.")


def test_reading_describes_itself(put: Any) -> None:
    reading = open_samples(put("a.jsonl", '{"user_input": "q", "foo": 1}\n{"answer": "r"}\n'))
    assert isinstance(reading, Reading)
    assert reading.name == "a.jsonl"
    assert reading.mapping == {"user_input": "question", "answer": "response"}
    assert reading.ignored == ("foo",)
    assert reading.describe() == (
        "columns: user_input -> question, answer -> response; ignored: foo"
    )
    assert len(list(reading)) == 2
    assert len(list(reading)) == 2, "a file can be gone through again"
