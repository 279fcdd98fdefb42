"""Request bodies: written once where they repeat, and byte for byte as if written anew."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.judges.carrier import _Writing

Body = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def body(system: str, user: str, name: str = "claims", **more: Any) -> Body:
    """A body as a chat has it."""
    wanted = {"name": name, "strict": True, "schema": SCHEMA}
    return {
        "temperature": 0.0,
        "response_format": {"type": "json_schema", "json_schema": wanted},
        "model": "m",
        **more,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
    }


@pytest.mark.parametrize(
    "given",
    [
        body('sé"\n{}', "u\\ \u2028 é"),
        body("s", "u", "verdicts"),
        body("s", "u", model={"x": [1, 2]}),
        body("s", "u", response_format="odd"),
        body("s", "u", response_format={"type": "text", "json_schema": None}),
        {"messages": [{"role": "user", "content": "x"}]},
        {"model": "m", "messages": []},
        {"model": "m", "messages": ({"role": "user", "content": "x"},)},
        {"model": "m", "messages": [{"role": "system", "content": None}]},
        {"model": "m", "messages": [{"role": "system", "content": "a", "name": "n"}]},
        {"model": "m", "messages": [{"content": "a", "role": "system"}, {"role": ["system"]}]},
        {"model": "m", "input": ["a"]},
        {},
    ],
)
def test_a_body_is_the_json_of_its_content_each_time(given: Body) -> None:
    writing = _Writing()
    for _ in range(3):
        assert json.loads(writing.encoded(given)) == json.loads(json.dumps(given))


def test_bodies_that_differ_in_anything_are_written_anew() -> None:
    writing = _Writing()
    bodies = [
        body("s", "u"),
        body("s", "v"),
        body("t", "u"),
        body("s", "u", seed=3),
        body("s", "u", temperature=0.7),
        body("s", "u", "labels"),
        body("s", "u", model="n"),
    ]
    for given in (*bodies, *reversed(bodies)):
        assert json.loads(writing.encoded(given)) == given


@pytest.mark.parametrize("place", ["system", "user", "model"])
def test_what_utf8_cannot_carry_is_escaped(place: str) -> None:
    given = body("s", "u", model="m")
    if place == "model":
        given["model"] = "\ud800"
    else:
        given["messages"] = [{"role": place, "content": "\ud800"}]
    writing = _Writing()
    for _ in range(2):
        raw = writing.encoded(given)
        assert raw.isascii()
        assert json.loads(raw) == given


def test_what_is_kept_is_bounded() -> None:
    writing = _Writing()
    for n in range(1000):
        given = body(f"s{n}", "u", str(n))
        assert json.loads(writing.encoded(given)) == given
    assert len(writing._heads) <= 64
    assert writing._text.cache_info().currsize <= 64
