"""Reading samples: what cells and JSON values become."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay.errors import AssayError
from assay.readers import (
    iter_samples,
    read_samples,
)
from assay.sample import Claim, Context, Sample


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


def test_string_is_one_context_even_when_it_looks_like_a_list() -> None:
    assert one({"question": "q", "contexts": '["a", "b"]'}).contexts == (Context('["a", "b"]'),)


@pytest.mark.parametrize("name", ["contexts", "references", "response_claims"])
@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['a', 'it''s']".replace("''", "\\'"), ["a", "it's"]),
        ("[]", []),
        ("plain", ["plain"]),
        ("[1] See above.", ["[1] See above."]),
        ("[2024]", ["[2024]"]),
        ("[not a list]", ["[not a list]"]),
        (r"['\d']", [r"\d"]),
    ],
)
def test_lists_in_csv_cells(put: Any, name: str, cell: str, texts: list[str]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["question", name], ["q", cell]])
    (sample,) = read_samples(put("a.csv", out.getvalue()))
    found = getattr(sample, name)
    assert [item if isinstance(item, str) else item.text for item in found] == texts


def test_objects_in_csv_cells(put: Any) -> None:
    cell = json.dumps([{"text": "a", "relevant": True}]).replace('"', '""')
    (sample,) = read_samples(put("a.csv", f'q,contexts,metadata\n1,"{cell}","{{""k"": 1}}"\n'))
    assert sample.contexts == (Context("a", None, True),)
    assert sample.metadata == {"q": "1", "k": 1}


def test_empty_cell_is_absent_and_empty_list_is_present(put: Any) -> None:
    absent, empty = read_samples(put("a.csv", "question,contexts\nq,\nq,[]\n"))
    assert absent.contexts is None
    assert empty.contexts == ()


def test_labels_in_csv(put: Any) -> None:
    text = 'contexts,relevant,context_ids\n"[""a"", ""b""]","[True, False]","[1, 2]"\n'
    (sample,) = read_samples(put("a.csv", text))
    assert sample.contexts == (Context("a", "1", True), Context("b", "2", False))


def test_numpy_list_as_pandas_prints_it_is_refused(put: Any) -> None:
    assert message(put("a.csv", "question,contexts\nq,['a' 'b']\n")) == (
        "a.csv, line 2: column 'contexts': the cell holds a numpy array as pandas prints it, "
        "without commas (\"['a' 'b']\"); turn the arrays into lists before writing the file: "
        "df[col].map(list)"
    )


@pytest.mark.parametrize("cell", ["['a', nan]", "['" + "a" * 32_765])
def test_broken_or_cut_list_is_refused(put: Any, cell: str) -> None:
    text = message(put("a.csv", f'question,contexts\nq,"{cell}"\n'))
    assert text.startswith(
        "a.csv, line 2: column 'contexts': the cell looks like a list but cannot be read as one"
    )
    assert text.endswith('write it as JSON, ["first", "second"]')


def test_long_python_list_is_refused(put: Any) -> None:
    cell = "['" + "a" * 1_000_000 + "']"
    assert message(put("a.csv", f'question,contexts\nq,"{cell}"\n')) == (
        "a.csv, line 2: column 'contexts': the cell holds a list of 1,000,004 characters that is "
        "not JSON; Python lists are read up to 1,000,000; write it as JSON"
    )


def test_numbers_become_text() -> None:
    sample = one({"question": 1, "response": 2.5, "reference": 1987})
    assert (sample.question, sample.response, sample.references) == ("1", "2.5", ("1987",))


def test_nan_in_json_is_absent(put: Any) -> None:
    (sample,) = read_samples(put("a.jsonl", '{"question": NaN, "response": "r", "x": [NaN]}'))
    assert sample.question is None
    assert sample.metadata == {"x": [None]}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"response": True}, "column 'response': expected text, found true"),
        (
            {"response": {"output": "x"}},
            (
                "column 'response': expected text, found an object with the keys 'output'; take "
                "one part of it with --map response=response.output"
            ),
        ),
        ({"user_input": [{}]}, "column 'user_input': expected text, found a list"),
        ({"reference": ["a", None]}, "column 'reference': item 2 must be text, found null"),
        (
            {"claims": ["a", 3]},
            (
                "column 'claims': item 2 must be a text, an object with 'text' or a triplet of "
                "texts, found a number (3)"
            ),
        ),
        (
            {"contexts": 3},
            "column 'contexts': expected a text or a list of texts, found a number (3)",
        ),
        (
            {"docs": ["a", None]},
            "column 'docs': item 2 must be a text or an object with 'text', found null",
        ),
        (
            {"docs": ["a", 3]},
            "column 'docs': item 2 must be a text or an object with 'text', found a number (3)",
        ),
        (
            {"docs": [{"title": "t"}]},
            (
                "column 'docs': item 1 has no text under 'text', 'content', 'page_content': it is "
                "an object with the keys 'title'"
            ),
        ),
        (
            {"docs": ["a", "b"], "relevant": [True]},
            "column 'relevant': it has 1 entries for 2 contexts; they must be parallel",
        ),
        (
            {"docs": {"text": ["a", "b"], "id": ["1"]}},
            "column 'docs': its lists differ in length: text 2, id 1",
        ),
        (
            {"docs": ["a"], "context_ids": 3},
            "column 'context_ids': expected a list of ids, found a number (3)",
        ),
        ({"question": "q", "id": [1]}, "column 'id': expected text, found a list"),
        (
            {"question": b"q"},
            "column 'question': expected text, found binary data",
        ),
    ],
)
def test_wrong_values(row: Mapping[str, Any], text: str) -> None:
    assert message([row]) == "list, row 1: " + text


def test_context_objects() -> None:
    contexts = [
        {"content": "a", "is_relevant": 1, "chunk_id": 4},
        {"page_content": "b", "metadata": {"source": "x.pdf"}},
        {"text": "c", "relevance": 0.7},
    ]
    sample = one({"question": "q", "contexts": contexts})
    assert sample.contexts == (Context("a", "4", True), Context("b"), Context("c"))
    assert sample.metadata == {
        "context_metadata": [{}, {"metadata": {"source": "x.pdf"}}, {"relevance": 0.7}]
    }


@pytest.mark.parametrize("labels", [["correct", "noise"], [0.7, 1.0], [2, 1]])
def test_words_and_grades_are_no_labels(labels: list[Any]) -> None:
    inside = [{"text": t, "relevance": v} for t, v in zip("ab", labels, strict=True)]
    for row in (
        {"contexts": ["a", "b"], "relevant": labels},
        {"contexts": inside},
    ):
        sample = one(row)
        assert sample.contexts == (Context("a"), Context("b"))
        assert str(labels[0]) in json.dumps(sample.metadata)


def test_context_objects_keep_their_own_labels_beside_mappings() -> None:
    contexts = [Context("a", None, True), {"text": "b", "relevant": False}, "c"]
    assert one({"contexts": contexts}).contexts == (
        Context("a", None, True),
        Context("b", None, False),
        Context("c"),
    )


def test_parallel_labels_with_gaps() -> None:
    sample = one({"contexts": ["a", "b"], "context_relevance": [None, np.bool_(False)]})
    assert sample.contexts == (Context("a"), Context("b", None, False))


def test_mapped_labels_must_be_labels() -> None:
    row = {"docs": ["a"], "label": ["noise"]}
    assert message([row], columns={"context_relevance": "label"}) == (
        "list, row 1: column 'label': expected a list of true, false, 1 or 0, one per context, "
        "found a list"
    )


def test_labels_without_contexts_are_metadata() -> None:
    assert one({"question": "q", "relevant": [True]}).metadata == {"relevant": [True]}


def test_object_of_lists_is_a_list_of_objects() -> None:
    sample = one({"docs": {"text": ["a", "b"], "doc_id": ["1", "2"]}})
    assert sample.contexts == (Context("a", "1"), Context("b", "2"))


def test_claims_as_one_text_or_objects() -> None:
    assert one({"claims": "one claim"}).response_claims == (Claim("one claim"),)
    claims = [{"claim": "c", "start": 2, "end": 5, "source": 1}, Claim("d")]
    assert one({"claims": claims}).response_claims == (Claim("c", 2, 5, 1), Claim("d"))


def test_metadata_holds_json_only() -> None:
    sample = one(
        {
            "question": "q",
            "metadata": {"a": 1, "gone": None},
            "when": pd.Timestamp("2020-01-01"),
            "inf": float("inf"),
            "set": {1},
            "array": np.array([[1, 2]]),
            "bytes": b"ab",
            "gone too": float("nan"),
        }
    )
    assert sample.metadata == {
        "a": 1,
        "when": "2020-01-01 00:00:00",
        "inf": "inf",
        "set": [1],
        "array": [[1, 2]],
        "bytes": "ab",
    }
    json.dumps(sample.metadata, allow_nan=False)


def test_metadata_that_is_no_object_keeps_its_name() -> None:
    assert one({"question": "q", "metadata": "note"}).metadata == {"metadata": "note"}


def test_lone_surrogates_are_replaced_so_that_results_can_be_written(put: Any) -> None:
    path = put("a.jsonl", '{"question": "a\\ud83d", "x": "\\udc00", "response": "\\ud83d\\ude00"}')
    (sample,) = read_samples(path)
    assert (sample.question, sample.metadata["x"], sample.response) == ("a\ufffd", "\ufffd", "😀")


def test_nul_is_kept(put: Any) -> None:
    for path in (
        put("a.jsonl", '{"question": "a\\u0000b"}'),
        put("a.csv", "question,response\na\0b,r\n"),
    ):
        assert [s.question for s in read_samples(path)] == ["a\0b"]


def test_ids_are_row_numbers_unless_given() -> None:
    rows: list[Any] = [{"question": "a"}, {"question": "b", "id": 7}, {"question": "c", "id": " "}]
    assert [s.id for s in read_samples(rows)] == ["1", "7", "3"]


def test_whole_float_ids_of_tables_are_whole() -> None:
    frame = pd.DataFrame({"question": ["a", "b"], "id": [5, np.nan]})
    assert [s.id for s in read_samples(frame)] == ["5", "2"]


def test_duplicate_ids(put: Any) -> None:
    path = put("a.jsonl", '{"id": 1, "question": "a"}\n\n{"id": "1", "question": "b"}\n')
    assert message(path) == (
        "a.jsonl: the id '1' is on lines 1 and 3; take another column with --map id=COLUMN, or "
        "number the rows with --map id= (in Python: columns={'id': ''})"
    )
    assert [s.id for s in iter_samples(path)] == ["1", "1"]
