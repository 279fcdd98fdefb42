"""Checks of texts: equals, contains and its kin, starts-with, levenshtein, word-count."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.suite.assertions.base import CannotCheckError, Given
from assay.suite.assertions.table import CHECKS, VALIDATORS
from assay.suite.providers.base import Answer
from suite_checks import found, holds, reason, refused

VALUES: dict[str, Any] = {
    "equals": "x",
    "contains": "zzz",
    "icontains": "zzz",
    "contains-any": ["zz", "yy"],
    "icontains-any": "zz,yy",
    "contains-all": ["zz"] * 50,
    "icontains-all": ["é" * 500] * 9,
    "starts-with": "q" * 500,
    "regex": r"foo\d+$",
    "levenshtein": "a reference",
    "word-count": {"min": 2, "max": 4},
    "is-json": {"type": "object", "required": ["q" * 400]},
    "contains-json": {"type": "object", "required": ["q"]},
    "rouge-n": "a reference",
    "bleu": ["a reference", "b"],
    "gleu": "a reference",
}


@pytest.mark.parametrize(
    ("output", "value", "same"),
    [
        ("Paris", "Paris", True),
        ("Paris\n", "Paris", False),
        ("", "x", False),
        ("5", 5, True),
        ("5", 5.0, True),
        ("5.0", 5, False),
        ("0.00001", 1e-5, True),
        ("true", True, True),
        ("True", True, False),
        ('{"b": 2, "a": 1.0}', {"a": 1, "b": 2}, True),
        ('{"a": true}', {"a": 1}, False),
        ("[1, [2]]", [1, [2]], True),
        ("[1, [2]]", [1, [3]], False),
        ('{"0": 1}', [1], False),
        ('{"1": 1}', {1: 1}, True),
        ("no JSON", {"a": 1}, False),
        ("NaN", [1], False),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": [1]}, '{"a":[1]}', True),
        ({"a": [1]}, "a", False),
        (5.0, 5, True),
        (True, 1, False),
        (5, "5", True),
    ],
)
def test_equals(output: Any, value: Any, same: bool) -> None:
    assert holds("equals", output, value) is same


def test_equals_says_where_the_first_difference_is() -> None:
    assert "character 13 (line 3): found 'x', expected 'y'" in reason(
        "equals", "line1\nline2\nx", "line1\nline2\ny"
    )
    assert "found '\\n', expected the end; only space at the ends" in reason(
        "equals", "Paris\n", "Paris"
    )
    assert "only upper and lower case differ" in reason("equals", "PARIS", "Paris")
    assert reason("equals", '{"a": [1, {"b": 2}]}', {"a": [1, {"b": 3}]}) == (
        "output.a[1].b is 2, expected 3"
    )
    assert "output lacks the key 'a'" in reason("equals", '{"b": 1}', {"a": 1, "b": 1})
    assert "output has the key 'c'" in reason("equals", '{"b": 1, "c": 2}', {"b": 1})
    assert reason("equals", "[1, 2]", [1]) == "output has 2 items, expected 1"
    assert "no JSON: it is empty" in reason("equals", "", [1])


@pytest.mark.parametrize(
    ("kind", "output", "value", "expected"),
    [
        ("contains", "The capital is Paris.", "Paris", True),
        ("contains", "The capital is Paris.", "paris", False),
        ("icontains", "The capital is Paris.", "PARIS", True),
        ("icontains", "ÉCOLE", "école", True),
        ("contains", "it is 42", 42, True),
        ("contains", "it is 4", 42, False),
        ("contains", {"city": "Paris"}, '"city"', True),
        ("contains-any", "a b", ["x", "b"], True),
        ("contains-any", "a b", "x, b", True),
        ("contains-any", "a b", ["x", "y"], False),
        ("contains-any", "is 1.5", [1.5], True),
        ("contains-all", "a b", ["a", "b"], True),
        ("contains-all", "a b", "a,c", False),
        ("contains-all", 'x, y and "z"', r'"x, y","\"z\""', True),
        ("contains-all", "x and y", '"x, y"', False),
        ("icontains-any", "A B", ["x", "b"], True),
        ("icontains-all", "A B", "a, b", True),
        ("icontains-all", "A", "a, b", False),
        ("starts-with", "Yes, it is", "Yes", True),
        ("starts-with", " Yes", "Yes", False),
        ("starts-with", "", "Yes", False),
    ],
)
def test_contains_and_its_kin(kind: str, output: Any, value: Any, expected: bool) -> None:
    assert holds(kind, output, value) is expected


def test_contains_all_names_what_is_missing() -> None:
    assert "lacks 2 of 3: 'x', 'y'" in reason("contains-all", "abc", ["a", "x", "y"])
    assert "'w' and 2 more" in reason("contains-all", "abc", ["u", "v", "w", "x", "y"])


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("contains", "", "empty"),
        ("contains", ["a"], "must be a text"),
        ("starts-with", "", "empty"),
        ("contains-any", [], "names no text"),
        ("contains-any", " , ", "names no text"),
        ("contains-any", ["a", ""], "empty"),
        ("contains-all", ["a", {"b": 1}], "must be a text"),
        ("contains-all", '"a', "not closed"),
        ("contains-all", '"a" b', "a comma must follow"),
        ("word-count", {}, "min, max"),
        ("word-count", {"least": 1}, "min, max"),
        ("word-count", {"min": 3, "max": 2}, "greater"),
        ("word-count", -1, "0 or more"),
        ("word-count", True, "0 or more"),
        ("word-count", "many", "0 or more"),
        ("word-count", float("nan"), "0 or more"),
        ("word-count", 2.5, "whole"),
    ],
)
def test_a_value_that_decides_nothing_is_refused_beforehand(
    kind: str, value: Any, why: str
) -> None:
    assert why in (VALIDATORS[kind](value) or "")
    assert why in refused(kind, "an output", value)


def test_good_values_are_not_refused() -> None:
    assert [
        kind for kind, value in VALUES.items() if kind in VALIDATORS and VALIDATORS[kind](value)
    ] == []


@pytest.mark.parametrize(
    ("output", "value", "threshold", "edits", "holds"),
    [
        ("kitten", "sitting", None, 3, True),
        ("kitten", "sitting", 2, 3, False),
        ("kitten", "sitting", 3, 3, True),
        ("", "", 0, 0, True),
        ("", "abcdef", None, 6, False),
        ("Café", "Cafe", 0.5, 1, False),
        (42, 43, 1, 1, True),
    ],
)
def test_levenshtein(
    output: Any, value: Any, threshold: float | None, edits: int, holds: bool
) -> None:
    got = found("levenshtein", output, value, threshold)
    assert (got.holds, got.value) == (holds, edits)
    assert f"{edits} edit" in got.reason


def test_levenshtein_of_long_texts_is_bounded() -> None:
    long, other = "a" * 2_000_000, "b" * 2_000_000
    assert "over 5 edits" in reason("levenshtein", long, other)
    assert holds("levenshtein", long, long + "bb")
    assert "too long" in refused("levenshtein", long, other, 1e6)
    assert found("levenshtein", long, "b").value == 2_000_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, True),
        (4, False),
        ("3", True),
        (3.0, True),
        ({"min": 3}, True),
        ({"min": 4}, False),
        ({"max": 3}, True),
        ({"max": 2}, False),
        ({"min": 1, "max": "3"}, True),
    ],
)
def test_word_count(value: Any, expected: bool) -> None:
    got = found("word-count", " one\ttwo\n three ", value)
    assert got.holds is expected
    assert "3 words" in got.reason
    assert got.figures == {"words": 3}


def test_no_words() -> None:
    assert holds("word-count", "", 0)
    assert not holds("word-count", "", {"min": 1})


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("latency", Answer("x", latency_ms=100.0)), ("cost", Answer("x", cost=100.0))],
)
def test_latency_and_cost(kind: str, answer: Answer) -> None:
    check = CHECKS[kind].check
    at = Given(answer, threshold=100)
    assert (check(at).holds, check(at).value) == (True, 100)
    assert not check(replace(at, threshold=99.9)).holds
    nan = Answer("x", latency_ms=float("nan"), cost=float("nan"))
    for broken in (Given(Answer("x"), threshold=1.0), Given(answer), Given(nan, threshold=1.0)):
        with pytest.raises(CannotCheckError):
            check(broken)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_kinds_are_listed_under_their_names_on_one_line(name: str) -> None:
    kind = CHECKS[name]
    assert kind.name == name
    assert "\n" not in kind.about
    assert 10 < len(kind.about) < 100
    assert (kind.threshold == "optional") is (kind.default is not None)
    assert (kind.threshold == "none") is (kind.bounds is None)
    if kind.default is not None and kind.bounds is not None:
        assert kind.bounds[0] <= kind.default <= kind.bounds[1]


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec=None), max_size=300), st.sampled_from(sorted(VALUES)))
def test_a_reason_is_one_short_printable_line(output: str, kind: str) -> None:
    text = reason(kind, output * 3, VALUES[kind])
    assert 0 < len(text) < 300
    assert text.isprintable()


@pytest.mark.parametrize("kind", sorted(VALUES))
def test_long_outputs_are_fast(kind: str) -> None:
    output = " ".join(f"word{n % 9973}" for n in range(550_000))
    assert len(output) > 4_500_000
    began = time.perf_counter()
    text = reason(kind, output, VALUES[kind]) if kind != "is-json" else reason(kind, output)
    assert time.perf_counter() - began < 5  # a second on a machine with nothing else to do
    assert len(text) < 300
