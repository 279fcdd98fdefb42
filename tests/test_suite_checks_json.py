"""is-json and contains-json: strict JSON, schemas, and bounds of time and depth."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.suite.assertions.base import CannotCheckError
from assay.suite.assertions.jsontext import containers, embedded
from assay.suite.assertions.table import VALIDATORS
from suite_checks import holds, reason, refused

NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"a": 1}', True),
        (" [1]\n", True),
        ("5", True),
        ('"x"', True),
        ("null", True),
        ("", False),
        ("x", False),
        ("NaN", False),
        ("[Infinity]", False),
        ("{'a': 1}", False),
        ('{"a": 1,}', False),
        ('{"a": 1} x', False),
        ("```json\n{}\n```", False),
        ("1" * 5000, True),
        ("[" * 9000 + "]" * 9000, True),
        ("[" * 9000, False),
        ("[" * 9000 + "]" * 9000 + "x", False),
        ({"a": 1}, True),
        (5, True),
    ],
)
def test_is_json(output: Any, expected: bool) -> None:
    assert holds("is-json", output) is expected


@pytest.mark.parametrize(
    ("schema", "output", "expected"),
    [
        (NAMED, '{"name": "x"}', True),
        (NAMED, {"name": "x"}, True),
        (NAMED, '{"name": 1}', False),
        (NAMED, "{}", False),
        (NAMED, "no JSON", False),
        ("type: object\nrequired: [name]", '{"name": 1}', True),
        (json.dumps(NAMED), '{"name": 1}', False),
        ({"pattern": r"^\d+$"}, '"12"', True),
        ({"pattern": r"^\d+$"}, '"12\\n"', False),
        ({"additionalProperties": False, "properties": {"a": {}}}, '{"a": 1}', True),
        ({"additionalProperties": False, "properties": {"a": {}}}, '{"b": 1}', False),
        ({"additionalProperties": {"type": "number"}}, '{"b": "x"}', False),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, '{"x1": 1}', True),
        ({"patternProperties": {"^x": {"type": "number"}}}, '{"x1": "a"}', False),
        ({"uniqueItems": True}, "[1, true, {}]", True),
        ({"uniqueItems": True}, "[1, 1.0]", False),
        ({"format": "email"}, '"no address"', True),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}}, "null", True),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}}, "1", False),
        ({"items": [{"type": "null"}]}, "[1]", False),  # as draft 7 has it
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "prefixItems": [{"type": "null"}],
            },
            "[1]",
            False,
        ),
    ],
)
def test_schemas(schema: Any, output: Any, expected: bool) -> None:
    assert VALIDATORS["is-json"](schema) is None
    assert holds("is-json", output, schema) is expected


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ("", "empty"),
        ("- a", "must be an object"),
        ("type: [", "neither JSON nor YAML"),
        ("a: &a [1]\nb: *a", "aliases"),
        ({"type": "objekt"}, "not valid: $.type is 'objekt'"),
        ({"$schema": "http://example.org/x"}, "unknown"),
        ({"properties": {"a": {"pattern": "("}}}, "missing )"),
        ({"patternProperties": {"(": {}}}, "missing )"),
        ({"$ref": "http://127.0.0.1:1/schema.json"}, "is not fetched"),
        ({"const": object()}, "cannot hold"),
    ],
)
def test_what_is_no_schema_is_an_error_rather_than_a_fail(schema: Any, why: str) -> None:
    assert why in (VALIDATORS["is-json"](schema) or "")
    assert why in refused("is-json", "{}", schema)
    assert why in refused("contains-json", "{}", schema)


def test_a_schema_that_cannot_be_applied_is_an_error() -> None:
    assert "'/definitions/a'" in refused("is-json", "1", {"$ref": "#/definitions/a"})
    assert "without end" in refused("is-json", "1", {"$ref": "#"})
    slow = {"properties": {"a": {"pattern": "^(x|xx)+y$"}}}
    assert "takes too long" in refused("is-json", json.dumps({"a": "x" * 60}), slow)
    assert "too deeply" in refused("is-json", "[" * 9000 + "]" * 9000, {"type": "array"})


def test_names_that_are_keywords_are_no_patterns() -> None:
    schema = {"properties": {"pattern": {"type": "string"}}, "enum": [{"pattern": "("}]}
    assert VALIDATORS["is-json"](schema) is None


def test_the_reason_says_where_and_which_rule() -> None:
    schema = {"properties": {"a": {"items": {"required": ["x"]}}}}
    assert reason("is-json", '{"a": [{}]}', schema) == "the JSON does not conform: $.a[0] lacks 'x'"
    assert "$.name is 1, against type: 'string'" in reason("is-json", '{"name": 1}', NAMED)
    assert "line 2 column 1" in reason("is-json", '{"a":\n}')


@pytest.mark.parametrize(
    ("output", "schema", "expected"),
    [
        ('Sure! {"name": "x"} ok', None, True),
        ('Sure! {"name": "x"} ok', NAMED, True),
        ("no JSON", None, False),
        ("", None, False),
        ("see {x}", None, False),
        ('{"a": 1', None, False),
        ("{'a': 1}", None, False),
        ('[1] said {"name": "x"}', NAMED, True),
        ('{"b": 1} and {"name": "x"}', NAMED, True),
        ('{"b": 1}', NAMED, False),
        ('[{"name": "x"}]', NAMED, True),
        ('{wrong {"name": "x"}', NAMED, True),
        ('{"text {"name": "x"}', NAMED, True),
        ('```json\n{"name": "x"}\n```', NAMED, True),
        ("as [1] and [2, 3] say", None, False),
        ("as [1] says", {"required": ["name"]}, False),
        ("so [1, 2]", {"type": "array"}, True),
        ('so ["a"]', None, True),
        ({"name": "x"}, NAMED, True),
        ([{"name": "x"}], NAMED, True),
        (5, None, False),
    ],
)
def test_contains_json(output: Any, schema: Any, expected: bool) -> None:
    assert holds("contains-json", output, schema) is expected


def test_contains_json_says_what_did_not_conform() -> None:
    assert "the JSON in the output does not conform: the whole lacks 'name'" in reason(
        "contains-json", 'x {"b": 1}', NAMED
    )
    assert "none of 2 pieces" in reason("contains-json", '{"b": 1} {"c": 1}', NAMED)
    many = '{"b": 1} ' * 200
    assert "none of the first 100" in refused("contains-json", many, NAMED)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.lists(st.dictionaries(st.text(max_size=3), values, max_size=3), max_size=4))
def test_what_is_put_into_prose_is_found(data: list[dict[str, Any]]) -> None:
    assert list(embedded(" and ".join(map(json.dumps, data)))) == data


@settings(max_examples=300)
@given(st.text(alphabet='{}[]":,1 a\\n', max_size=40))
def test_the_scan_finds_what_trying_every_bracket_finds(text: str) -> None:
    expected, at = [], 0
    decoder = json.JSONDecoder()
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at) if text[at] in "{[" else (None, at)
        except ValueError:
            end = at
        if end > at:
            expected.append((at, end))
        at = max(end, at + 1)
    assert list(containers(text)) == expected


@pytest.mark.parametrize(
    "piece", ["{", "[", '{"a":', '[{"a":', '{"', '{"\\"', "[]", '{"a":1,', "[1,", "{ ", '{"\\\\']
)
def test_hostile_brackets_take_linear_time(piece: str) -> None:
    output = piece * (1_000_000 // len(piece))
    began = time.perf_counter()
    with suppress(CannotCheckError):
        assert not holds("contains-json", output, NAMED)
    assert time.perf_counter() - began < 5
