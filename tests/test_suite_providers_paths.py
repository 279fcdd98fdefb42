"""Paths into JSON data: what they find, what they refuse, and how much they cost."""

from __future__ import annotations

import time
from typing import Any

import pytest

from assay.errors import ConfigError
from assay.suite.providers.base import Answer
from assay.suite.providers.paths import Transform, find, transformed
from assay.suite.providers.searching import NothingFoundError
from assay.suite.templates import Templates

DATA = {"choices": [{"message": {"content": "Grüezi"}}, {"message": {"content": "b"}}], "n": None}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("$.choices[0].message.content", "Grüezi"),
        ("$..content", ["Grüezi", "b"]),
        ("$.choices[?@.message.content == 'b'].message", {"content": "b"}),
        ("choices[0].message.content", "Grüezi"),
        ("choices[1]?.message['content']", "b"),
        (" choices ", DATA["choices"]),
        ("$.n", None),
        ("$", DATA),
    ],
)
def test_what_a_path_finds(expression: str, found: Any) -> None:
    assert find(expression, DATA) == found


@pytest.mark.parametrize("expression", ["$.answer", "answer", "choices[2]", "choices.message"])
def test_what_is_not_there_is_an_error_that_says_what_is(expression: str) -> None:
    with pytest.raises(NothingFoundError, match=r"choices, n|a list of 2"):
        find(expression, DATA)


@pytest.mark.parametrize("data", ['{"a": 1}', 3, None, True])
def test_a_jsonpath_does_not_parse_what_is_a_text(data: Any) -> None:
    assert find("$", data) == data
    with pytest.raises(NothingFoundError):
        find("$.a", data)


@pytest.mark.parametrize(
    "expression",
    [
        "output.split(',')[0]",
        "a.map(x => x.b)",
        "a b",
        "",
        "a..b",
        "a[-1]",
        "$.a[",
        "$.a.search('(a+)+$')",
        "$[?search(@.a, '(a+)+$')]",
        "$" + "[0]" * 1000,
        "a" * 3000,
    ],
)
def test_what_is_no_path_is_refused(expression: str) -> None:
    with pytest.raises(ConfigError, match=r"JSONPath|longer|no path"):
        find(expression, DATA)


def test_hostile_data_cannot_make_a_search_long() -> None:
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"a": deep}
    wide = [{"a": [{"b": k} for k in range(100)]} for _ in range(300)]
    started = time.perf_counter()
    for expression, data in [
        ("$..a", deep),
        ("$..b..c..d..e..f", wide),
        ("$[?count($[*]) > 1]", wide),
        ("$..b", wide),
    ]:
        with pytest.raises(NothingFoundError, match=r"deep|too long|more than"):
            find(expression, data)
    assert time.perf_counter() - started < 5.0


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("$.a", [1]),
        ("json.a", [1]),
        ("a[0]", 1),
        ("(json, text) => json.a[0]", 1),
        ("json => json.a[0];", 1),
        ("text", "whole"),
        ("{{ json.a }}", [1]),
        ("first: {{ json.a[0] }} {{ text }}", "first: 1 whole"),
    ],
)
def test_transforms_see_the_values_they_name(expression: str, found: Any) -> None:
    transform = Transform(expression, Templates())
    assert transform.apply({"json": {"a": [1]}, "text": "whole"}) == found


@pytest.mark.parametrize(
    ("expression", "json"), [("$.a", True), ("a", True), ("text", False), ("{{ text }}", False)]
)
def test_a_transform_says_what_it_reads(expression: str, json: bool) -> None:
    assert Transform(expression, Templates()).reads("json", ("json", "text")) is json


@pytest.mark.parametrize(
    "expression", ["json.a.join()", "(json) => { return json.a }", "{{ a", "{% if %}"]
)
def test_transforms_that_cannot_be_read_are_refused_at_once(expression: str) -> None:
    with pytest.raises(ConfigError):
        Transform(expression, Templates())


@pytest.mark.parametrize(
    ("expression", "answer", "found"),
    [
        ("output.docs", Answer(output={"docs": ["a"]}), ["a"]),
        ("$.docs[*]", Answer(output={"docs": ["a", "b"]}), ["a", "b"]),
        ("output.docs", Answer(output='{"docs": ["a"]}'), ["a"]),
        ("$.docs", Answer(output="text", raw={"docs": ["a"]}), ["a"]),
        ("$.docs", Answer(output={"answer": "x"}, raw={"docs": ["a"]}), ["a"]),
        ("context.metadata.docs", Answer(output="x", metadata={"docs": ["a"]}), ["a"]),
        ("metadata.docs", Answer(output="x", metadata={"docs": ["a"]}), ["a"]),
        ("vars.docs", Answer(output="x"), ["from the test"]),
        ("{{ vars.docs }}", Answer(output="x"), ["from the test"]),
    ],
)
def test_contexts_are_found_in_an_answer(expression: str, answer: Answer, found: Any) -> None:
    variables = {"docs": ["from the test"]}
    assert transformed(expression, answer, variables, Templates()) == found


def test_contexts_that_are_nowhere_are_an_error() -> None:
    with pytest.raises(NothingFoundError):
        transformed("$.docs", Answer(output="x", raw={"a": 1}), {}, Templates())
    with pytest.raises(NothingFoundError):
        transformed("output.docs", Answer(output="no [JSON"), {}, Templates())
