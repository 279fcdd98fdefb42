"""Samples: what they take, what they refuse, and their JSON form."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from assay.errors import DataError
from assay.sample import Claim, Context, Sample


def test_every_field_may_be_absent() -> None:
    sample = Sample()
    assert [getattr(sample, name) for name in Sample.__slots__] == [
        *(None,) * 5,
        {},
        None,
        None,
    ]
    assert sample.as_dict() == {"id": None}


def test_contexts_come_in_many_shapes() -> None:
    given: list[Any] = ["a", Context("b", "1", True), {"text": "c", "doc_id": 7}, {"text": "d"}]
    assert Sample(contexts=given).contexts == (
        Context("a"),
        Context("b", "1", True),
        Context("c", "7"),
        Context("d"),
    )
    assert Sample(contexts={"text": "x", "relevant": False}).contexts == (
        Context("x", relevant=False),
    )
    assert Sample(contexts=(c for c in "xy")).contexts == (Context("x"), Context("y"))


def test_a_lone_text_is_one_context_and_one_reference_never_its_letters() -> None:
    sample = Sample(contexts="one", references="two")
    assert sample.contexts == (Context("one"),)
    assert sample.references == ("two",)


def test_no_contexts_and_unknown_contexts_differ() -> None:
    assert Sample(contexts=[]).contexts == ()
    assert Sample(contexts=None).contexts is None


def test_given_claims_come_in_many_shapes() -> None:
    triplet: Any = ("Paris", "is in", "France")
    sample = Sample(
        references=["a", "b"],
        response_claims=["x", Claim("y", 1, 2), triplet],
        reference_claims=[{"text": "z", "start": 0, "end": 1, "source": 1}],
    )
    assert sample.response_claims == (
        Claim("x"),
        Claim("y", 1, 2),
        Claim("Paris is in France"),
    )
    assert sample.reference_claims == (Claim("z", 0, 1, 1),)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("question", 3, "question must be text, not a int"),
        ("response", ["a"], "response must be text, not a list"),
        ("response", float("nan"), "response must be text, not a float"),
        ("contexts", 3, "contexts must be a list of texts, not a int"),
        ("contexts", ["a", None], "contexts[1] must be text, not null"),
        ("contexts", [["a"]], "contexts[0] must be text, not a list"),
        ("contexts", [{"body": "a"}], "contexts[0] has no 'text'; it has ['body']"),
        ("contexts", [{"text": 1}], "contexts[0] has no 'text'; it has ['text']"),
        (
            "contexts",
            [{"text": "a", "relevant": "yes"}],
            "contexts[0].relevant must be true or false, not 'yes'",
        ),
        ("references", {"a": 1}, "references must be a text or a list of texts, not an object"),
        ("references", True, "references must be a text or a list of texts, not true/false"),
        ("references", ["a", 1], "references[1] must be text, not a int"),
        ("response_claims", "a", "response_claims must be a list of texts, not a str"),
        ("response_claims", [1], "response_claims[0] must be text, not a int"),
        ("response_claims", [[]], "response_claims[0] must be text, not a list"),
        ("reference_claims", [{"claim": "a"}], "reference_claims[0] must be text, not an object"),
        (
            "reference_claims",
            [{"text": "a", "source": 1}],
            "reference_claims[0].source names no reference: 1",
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_named(field: str, value: Any, message: str) -> None:
    with pytest.raises(DataError) as error:
        Sample(**{field: value})
    assert str(error.value) == message


@pytest.mark.parametrize("source", ["b", True, 0.5])
def test_a_claim_s_source_that_is_no_number_is_a_data_error(source: Any) -> None:
    with pytest.raises(DataError, match=r"reference_claims\[0\]"):
        Sample(references="a", reference_claims=[{"text": "a", "source": source}])


def test_ids_are_text() -> None:
    assert Sample(id=7).id == "7"  # type: ignore[arg-type]


def test_samples_are_frozen_and_compare_by_content() -> None:
    sample = Sample("q", metadata={"a": 1})
    with pytest.raises(FrozenInstanceError):
        sample.question = "other"  # type: ignore[misc]
    assert sample == Sample("q", metadata={"a": 1})
    assert sample != Sample("q")


def test_the_sample_keeps_its_own_metadata() -> None:
    given = {"a": 1}
    sample = Sample(metadata=given)
    given["a"] = 2
    assert sample.metadata == {"a": 1}


def test_replace_keeps_the_rest_and_checks_anew() -> None:
    sample = Sample("q", "r", ["c"], ["a"], id="1", metadata={"k": 1}, response_claims=["x"])
    changed = sample.replace(response="s")
    assert changed.response == "s"
    assert changed.replace(response="r") == sample
    with pytest.raises(DataError):
        sample.replace(contexts=3)


def test_samples_survive_copy_and_pickle() -> None:
    sample = Sample("q", "r", ["c"], ["a"], id="1", metadata={"k": [1]})
    assert copy.deepcopy(sample) == sample
    assert pickle.loads(pickle.dumps(sample)) == sample


def test_the_json_form_holds_what_is_present_and_reads_back() -> None:
    sample = Sample("q", "", [Context("c", "9", False), "d"], ["a", "b"], id="1", metadata={"k": 1})
    form = json.loads(json.dumps(sample.as_dict()))
    assert form == {
        "id": "1",
        "question": "q",
        "response": "",
        "contexts": [{"text": "c", "id": "9", "relevant": False}, {"text": "d"}],
        "references": ["a", "b"],
        "metadata": {"k": 1},
    }
    assert Sample(**form) == sample
