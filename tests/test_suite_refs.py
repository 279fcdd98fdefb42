"""References inside a document, and JSON with its places."""

from __future__ import annotations

import pytest

from assay.suite.document import read_document
from assay.suite.problems import Place, SuiteError


def refused(text: str, name: str = "s.yaml") -> tuple[int, int, str]:
    """Line, column and message of the one problem of a text."""
    with pytest.raises(SuiteError) as caught:
        read_document(text, name)
    (problem,) = caught.value.problems
    return problem.place.line, problem.place.column, problem.message


TEMPLATES = """\
assertionTemplates:
  short: {type: javascript, threshold: 1}
tests:
- assert:
  - $ref: '#/assertionTemplates/short'
  - $ref: '#/assertionTemplates/short'
    threshold: 2
"""


def test_references_are_replaced_by_what_they_name() -> None:
    document = read_document(TEMPLATES, "s.yaml")
    assert document.data["tests"][0]["assert"] == [
        {"type": "javascript", "threshold": 1},
        {"type": "javascript", "threshold": 2},
    ]
    place = ("tests", 0, "assert", 0, "type")
    assert document.place(place) == Place("s.yaml", 2, 17)
    assert document.place(place, key=True) == Place("s.yaml", 2, 11)
    assert document.place(["tests", 0, "assert", 1, "threshold"]) == Place("s.yaml", 7, 16)
    first, second = document.data["tests"][0]["assert"]
    first["type"] = "x"
    assert second["type"] == document.data["assertionTemplates"]["short"]["type"] == "javascript"


def test_references_lead_through_references_lists_aliases_and_escapes() -> None:
    text = (
        "a: {$ref: '#/b'}\nb: {$ref: '#/c'}\nc: {d: [1, {e: 2}]}\nf: {$ref: '#/a/d/1/e'}\n"
        "'x/y': {'z~': 3}\ng: {$ref: '#/x~1y/z~0'}\nh: {$ref: '#/x%7E1y'}\n"
        "i: &i {$ref: '#/c'}\nj: *i\nk: {<<: *i, l: 4}\n"
    )
    data = read_document(text, "s.yaml").data
    assert data["a"] == data["b"] == data["j"] == {"d": [1, {"e": 2}]}
    assert (data["f"], data["g"], data["h"]) == (2, 3, {"z~": 3})
    assert data["k"] == {"d": [1, {"e": 2}], "l": 4}


def test_what_is_no_reference_stays() -> None:
    assert read_document("a: {$ref: 5}\nb: $ref", "s.yaml").data == {"a": {"$ref": 5}, "b": "$ref"}
    left = read_document("a: {$ref: '#/$defs/x'}", "schema.yaml", refs=False).data
    assert left == {"a": {"$ref": "#/$defs/x"}}


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        (TEMPLATES.replace("s/short'\n  -", "s/shrt'\n  -"), 5, 11, "did you mean 'short'?"),
        ("a: [1]\nb: {$ref: '#/a/1'}", 2, 11, "#/a has no '1'; the list there has 1 items"),
        ("a: [1]\nb: {$ref: '#/a/x'}", 2, 11, "has no 'x'"),
        ("a: [1]\nb: {$ref: '#/a/٠'}", 2, 11, "has no '٠'"),
        ("a: {$ref: 'other.yaml#/x'}", 1, 11, "leads out of this file"),
        ("a: {$ref: 'https://x.org/y'}", 1, 11, "leads out of this file"),
        ("a: {$ref: '#x'}", 1, 11, "leads out of this file"),
        ("a: {$ref: '#/b'}\nb: {$ref: '#/a'}", 1, 11, "in a circle (line 1 → line 2)"),
        ("a: {$ref: '#/a'}", 1, 11, "in a circle"),
        ("a: {$ref: '#/b', x: 1}\nb: {$ref: '#/a', y: 1}", 1, 11, "in a circle"),
        ("a: {b: {$ref: '#/a'}}", 1, 15, "leads to what it is part of"),
        ("a: {b: {$ref: '#'}}", 1, 15, "leads to what it is part of"),
        ("a: {x: {$ref: '#/b'}}\nb: {y: {$ref: '#/a'}}", 2, 15, "leads to what it is part of"),
        ("a: {$ref: '#/b', x: {$ref: '#/a'}}\nb: {}", 1, 28, "leads to what it is part of"),
        ("$ref: '#/a'\na: {}", 1, 7, "whole file cannot be a reference"),
        ("a: 1\nb: {$ref: '#/a', c: 2}", 2, 11, "need a reference to a mapping"),
    ],
)
def test_references_that_lead_nowhere(text: str, line: int, column: int, words: str) -> None:
    found = refused(text)
    assert words in found[2]
    assert found[:2] == (line, column)


def chain(item: str, order: int) -> str:
    lines = [item % (i, i + 1) for i in range(2000)] + ["a2000: 1"]
    return "\n".join(lines[::order])


@pytest.mark.parametrize(
    "text",
    [
        "a0: [x]\n"
        + "\n".join(
            f"a{i}: [" + ", ".join([f"{{$ref: '#/a{i - 1}'}}"] * 9) + "]" for i in range(1, 30)
        ),
        chain("a%d: {$ref: '#/a%d'}", 1),
        chain("a%d: [{$ref: '#/a%d'}]", 1),
        chain("a%d: [{$ref: '#/a%d'}]", -1),
        "t: " + "x" * 2_000_000 + "\nr:" + "\n- {$ref: '#/t'}" * 60,
        "t: {a: 1}\nb: {$ref: '#" + "/t" * 1_000_000 + "'}",
    ],
    ids=["ninefold", "chain", "deep", "deep backwards", "text", "long"],
)
def test_references_grow_no_further_than_the_limits(text: str) -> None:
    words = ("more than", "too many", "leads to nothing")
    assert any(word in refused(text)[2] for word in words)


def test_json_has_places_and_takes_tabs() -> None:
    text = '\ufeff{\r\n\t"a": [1, 2.5,\n\t\t{"é": "\\ud83d\\ude00", "b": {}}],\n\t"$ref": true\n}'
    document = read_document(text, "S.JSON")
    assert document.data == {"a": [1, 2.5, {"é": "😀", "b": {}}], "$ref": True}
    assert document.place(["a"], key=True) == Place("S.JSON", 2, 2)
    assert document.place(["a", 2, "b"]) == Place("S.JSON", 3, 30)
    assert document.place(["a", 1]) == Place("S.JSON", 2, 11)
    referring = read_document('{"a": {"x": 1}, "b": {"$ref": "#/a"}}', "s.json")
    assert referring.data["b"] == {"x": 1}


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{"a": {"b": 1,\n "c": 2, "b": 3}}', 2, 10, "'b' is on lines 1 and 2"),
        ("", 1, 1, "is empty"),
        ("[1,]", 1, 4, "leave out the comma before this ]"),
        ('{"a": 1,\n}', 2, 1, "leave out the comma before this }"),
        ("[1 2]", 1, 4, "a comma or ] is missing"),
        ("[1}", 1, 3, "a comma or ] is missing"),
        ('{"a" 1}', 1, 6, "a colon is missing"),
        ("{a: 1}", 1, 2, "must be in double quotes"),
        ("['a']", 1, 2, "put text in double quotes"),
        ("[NaN]", 1, 2, "not a finite number"),
        ("[-Infinity]", 1, 2, "not a finite number"),
        ("[1e999]", 1, 2, "not a finite number"),
        ("[" + "9" * 5000 + "]", 1, 2, "too many digits"),
        ('["\\ud800"]', 1, 2, "half a character"),
        ('[\n "x]', 2, 2, "quotes opened here are not closed"),
        ('["a\nb"]', 1, 4, "line break or control character"),
        ('["a\\q"]', 1, 4, "escape names no character"),
        ("[1] 2", 1, 5, "after the end"),
        ("[1", 1, 3, "ends before ] closes ["),
        ('{"a":', 1, 6, "ends where a value should be"),
        ("[01]", 1, 3, "a comma or ] is missing"),
        ("// c\n{}", 1, 1, "not a value of JSON"),
        ("[" * 100_000, 1, 61, "60 levels"),
        ('{"a":' * 100_000, 1, 297, "60 levels"),
    ],
)
def test_json_faults(text: str, line: int, column: int, words: str) -> None:
    found = refused(text, "s.json")
    assert words in found[2]
    assert found[:2] == (line, column)
