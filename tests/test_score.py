"""Scores: finite or with a reason; fractions; evidence; the JSON form."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.score import MAX_UNKNOWN, Evidence, Item, Score, fraction
from assay.verdicts import Span, Truth, Verdict

truths = st.lists(st.sampled_from([True, False, None]), max_size=30)


@given(truths)
def test_a_fraction_is_hits_over_known_or_says_why_not(values: list[Truth]) -> None:
    score = fraction(values, "nothing")
    known = [v for v in values if v is not None]
    unknown = len(values) - len(known)
    assert score.unknown == unknown
    if values and unknown <= MAX_UNKNOWN * len(values):
        assert score.value == sum(known) / len(known)
        assert (score.hits, score.total) == (sum(known), len(known))
    else:
        assert (score.value, score.status) == (None, "failed" if values else "undefined")


def test_fractions_without_a_value_say_why() -> None:
    assert fraction([], "no claims here").reason == "no claims here"
    assert fraction([None, True]).reason == "the judge left 1 of 2 unanswered"
    assert fraction([None]).reason == "the judge left 1 of 1 unanswered"


def test_a_fifth_unknown_is_left_out_and_more_has_failed() -> None:
    assert fraction([True, True, False, False, None]).value == 0.5
    assert fraction([True] * 8 + [None] * 2).value == 1.0
    assert fraction([True] * 7 + [None] * 2).status == "failed"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_is_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Score(value)


def test_a_value_and_ok_go_together() -> None:
    with pytest.raises(ValueError, match="cannot have the value"):
        Score(None)
    with pytest.raises(ValueError, match="cannot have the value"):
        Score(0.0, "undefined")
    with pytest.raises(ValueError, match="cannot have the value"):
        Score(1.0, "failed")


def test_undefined_and_failed_hold_the_reason_and_no_value() -> None:
    assert Score.undefined("empty", 3) == Score(None, "undefined", "empty", unknown=3)
    assert Score.failed("gone") == Score(None, "failed", "gone")
    assert (Score.failed("gone").hits, Score.failed("gone").total) == (None, None)


def test_showing_adds_items_and_changes_nothing_else() -> None:
    item = Item("c", Verdict.NEUTRAL)
    assert fraction([True]).showing([item]) == Score(
        1.0, stats={"hits": 1.0, "total": 1.0}, items=(item,)
    )


def test_the_json_form_of_a_score_and_its_items() -> None:
    span = Span("quote", 3, 8)
    items = [
        Item("a", Verdict.ENTAILED, "context", 0.123456, Evidence("context", 1, span), True, False),
        Item("b", Verdict.UNKNOWN, "reference", reason="no answer"),
        Item("c", Verdict.CONTRADICTED, "reference", 0.0, Evidence("reference", 2), False),
    ]
    form = Score(0.5, stats={"hits": 1.0, "total": 2.0}, unknown=1, items=tuple(items)).as_dict()
    assert json.loads(json.dumps(form)) == {
        "value": 0.5,
        "status": "ok",
        "reason": None,
        "hits": 1.0,
        "total": 2.0,
        "unknown": 1,
        "items": [
            {
                "claim": "a",
                "against": "context",
                "verdict": "entailed",
                "probability": 0.1235,
                "evidence": {"context": 1, "quote": "quote", "start": 3, "end": 8},
                "hit": True,
                "correct": False,
            },
            {
                "claim": "b",
                "against": "reference",
                "verdict": "unknown",
                "probability": None,
                "evidence": None,
                "hit": None,
                "reason": "no answer",
            },
            {
                "claim": "c",
                "against": "reference",
                "verdict": "contradicted",
                "probability": 0.0,
                "evidence": {
                    "context": None,
                    "reference": 2,
                    "quote": None,
                    "start": None,
                    "end": None,
                },
                "hit": False,
            },
        ],
    }
