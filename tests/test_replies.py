"""Replies are read whole and by id; quotes are found where they stand or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judges.replies import (
    Said,
    UnreadableError,
    find_quote,
    read_claims,
    read_verdicts,
)
from assay.verdicts import Verdict

NONCE = "a1b2c3d4e5f60718"
WANTED = {("c1", ""), ("c2", "")}


def reply(*items: tuple[str, str], **changes: Any) -> str:
    verdicts = [{"claim": c, "verdict": v, "quote": "", "reason": "r"} for c, v in items]
    return json.dumps({"nonce": NONCE, "verdicts": verdicts, **changes})


def said(text: str) -> dict[str, str]:
    read = read_verdicts(text, NONCE, WANTED, packed=False)
    return {claim: s.verdict.value for (claim, _), s in read.said.items()}


def test_verdicts_are_taken_by_id_in_any_order() -> None:
    assert said(reply(("c2", "neutral"), ("c1", "entailed"))) == {"c1": "entailed", "c2": "neutral"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "entailed",
        "[]",
        "null",
        '"entailed"',
        reply(("c1", "entailed"))[:-1],
        "Sure! " + reply(("c1", "entailed")),
        reply(("c1", "entailed")) + " Anything else?",
        reply(("c1", "entailed")) + reply(("c1", "neutral")),
        "```json\n" + reply(("c1", "entailed")),
        "```json\n" + reply(("c1", "entailed")) + "\n```\nDone.",
        "```python\n" + reply(("c1", "entailed")) + "\n```",
        reply(("c1", "entailed"), nonce="0123456789abcdef"),
        reply(("c1", "entailed"), nonce=None),
        json.dumps({"verdicts": [{"claim": "c1", "verdict": "entailed"}]}),
        reply(verdicts={"c1": "entailed"}),
        reply(("c1", "entailed"))[:-1] + ', "verdicts": []}',
        "[" * 100_000,
    ],
)
def test_anything_but_one_object_with_the_nonce_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_verdicts(text, NONCE, WANTED, packed=False)


def test_one_code_fence_around_everything_is_allowed() -> None:
    assert said("```json\n" + reply(("c1", "entailed")) + "\n```") == {"c1": "entailed"}
    assert said(" ```\n" + reply(("c1", "entailed")) + "```\n") == {"c1": "entailed"}


@pytest.mark.parametrize("word", ["unknown", "yes", "supported", "", "entailed "])
def test_a_verdict_that_is_none_counts_as_invalid(word: str) -> None:
    read = read_verdicts(reply(("c1", word), ("c2", "neutral")), NONCE, WANTED, packed=False)
    assert list(read.said) == [("c2", "")]
    assert read.invalid == 1


def test_unknown_ids_and_odd_parts_are_passed_over() -> None:
    odd = [{"claim": 1, "verdict": "entailed"}, "c1", None, {"claim": "c2"}]
    good = {"claim": "c1", "verdict": "Contradicted", "quote": 7, "reason": None}
    text = json.dumps({"nonce": NONCE, "verdicts": [*odd, {**good, "claim": "c9"}, good]})
    read = read_verdicts(text, NONCE, WANTED, packed=False)
    assert read.said == {("c1", ""): Said(Verdict.CONTRADICTED, "", "")}
    assert read.invalid == 5


def test_a_claim_with_two_different_verdicts_has_none() -> None:
    text = reply(("c1", "entailed"), ("c1", "contradicted"), ("c2", "neutral"), ("c2", "neutral"))
    assert said(text) == {"c2": "neutral"}


def test_packed_replies_are_keyed_by_claim_and_premise() -> None:
    items = [
        {"claim": "c1", "premise": "p2", "verdict": "entailed"},
        {"claim": "c1", "verdict": "neutral"},
        {"claim": "c1", "premise": "p3", "verdict": "neutral"},
    ]
    text = json.dumps({"nonce": NONCE, "verdicts": items})
    read = read_verdicts(text, NONCE, {("c1", "p1"), ("c1", "p2")}, packed=True)
    assert list(read.said) == [("c1", "p2")]
    assert read.invalid == 2


def test_claims_are_read_with_their_quotes() -> None:
    items = [{"claim": " A is B. ", "quote": "a is b"}, {"claim": "C."}]
    text = json.dumps({"nonce": NONCE, "claims": items})
    assert read_claims(text, NONCE) == [("A is B.", "a is b"), ("C.", "")]


@pytest.mark.parametrize("item", [{"claim": ""}, {"quote": "x"}, "x", None, {"claim": 3}])
def test_a_list_with_something_that_is_no_claim_is_unreadable(item: object) -> None:
    text = json.dumps({"nonce": NONCE, "claims": [{"claim": "A."}, item]})
    with pytest.raises(UnreadableError):
        read_claims(text, NONCE)


@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), st.lists))
def test_no_json_value_is_taken_for_a_verdict(value: Any) -> None:
    text = json.dumps({"nonce": NONCE, "verdicts": [value, {"claim": "c1", "verdict": value}]})
    assert said(text) == {}


@given(st.text())
def test_no_text_does_anything_but_be_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_verdicts(text, NONCE, WANTED, packed=False)


@pytest.mark.parametrize(
    ("source", "quote", "start", "end"),
    [
        ("Paris is big.", "is big", 6, 12),
        ("Paris\n  is\tBIG.", " paris is big ", 0, 14),
        ("x “so” – y", '"so" - Y', 2, 10),
        ("a (b) [c]* a", "(B) [c]*", 2, 10),
        ("北京是中国的首都。", "中国的首都", 3, 8),
        ("ab 🙂 שלום", "🙂 שלום", 3, 9),
        ("nul\x00 byte", "nul\x00", 0, 4),
    ],
)
def test_a_quote_is_found_with_true_offsets(source: str, quote: str, start: int, end: int) -> None:
    span = find_quote(source, quote)
    assert span is not None
    assert (span.start, span.end) == (start, end)
    assert source[start:end] == span.quote


@pytest.mark.parametrize("quote", ["", "   ", "Paris … big", "big is Paris", "x" * 5000])
def test_a_quote_that_does_not_stand_there_is_not_found(quote: str) -> None:
    assert find_quote("Paris is big.", quote) is None


@given(st.text(min_size=1), st.data())
def test_every_part_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    span = find_quote(text, text[start:end])
    if not text[start:end].strip():
        assert span is None
    else:
        assert span is not None
        assert span.quote == text[span.start : span.end] == text[start:end].strip()
