"""Providers by name; those that only repeat what they are given; their settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError, ConfigError, DataError
from assay.suite.case import TestCase
from assay.suite.files import Folder
from assay.suite.problems import Place
from assay.suite.providers.base import Answer, Provider, Request
from assay.suite.providers.given import GivenProvider, outputs_file
from assay.suite.providers.named import PROVIDERS, open_provider
from assay.suite.providers.openai import VENDORS
from assay.suite.providers.replay import recorded
from assay.suite.secrets import Secrets
from assay.suite.templates import Templates


def opened(folder: Path, spec: Any, *, allow_code: bool = False) -> Provider:
    return open_provider(
        spec,
        templates=Templates(),
        folder=Folder(folder),
        secrets=Secrets(),
        allow_code=allow_code,
        concurrency=4,
    )


def replaying(folder: Path, rows: Any, name: str = "answers.jsonl") -> Provider:
    lines = "\n".join(json.dumps(row) for row in rows)
    text = lines if name.endswith("l") else json.dumps(rows)
    (folder / name).write_text(text, "utf-8")
    return opened(folder, f"replay:{name}")


# --- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    ["openai:gpt-4o", "ollama:chat:qwen3:8b", "echo", "https://example.org/ask", " echo "],
)
def test_a_provider_is_known_by_its_id_or_its_label(tmp_path: Path, spec: str) -> None:
    assert opened(tmp_path, spec).id == opened(tmp_path, spec).label == spec.strip()
    named = opened(tmp_path, {"id": spec, "label": "mine", "config": None, "delay": 5})
    assert (named.id, named.label) == (spec.strip(), "mine")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opnai:gpt-4o", "did you mean 'openai'"),
        ("bedrock:x", "openai:MODEL with config.apiBaseUrl"),
        ("gpt-4o", "known: "),
        ("", "no id"),
        ({"config": {}}, "no id"),
        ({"id": 5}, "no id"),
        ({"id": "echo", "label": 5}, "label must be a text"),
        ({"id": "https://a.b", "config": []}, "config must be a mapping"),
        ("python:x.py", "--allow-code"),
        ("file://x.py:ask", "--allow-code"),
        ("exec: cat", "--allow-code"),
        ("file://x.js", "a file of Python"),
        ("python:x.rb", "a file of Python"),
        ("replay:none.jsonl", "does not exist"),
        ("replay:../x.jsonl", "leads out of the folder"),
        ("replay:x.csv", "allowed: .jsonl"),
    ],
)
def test_what_cannot_be_opened_says_why(tmp_path: Path, spec: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        opened(tmp_path, spec)


@pytest.mark.parametrize("spec", ["python:none.py", "exec:", "exec: 'half"])
def test_programs_that_cannot_run(tmp_path: Path, spec: str) -> None:
    with pytest.raises(ConfigError):
        opened(tmp_path, spec, allow_code=True)


def test_every_vendor_is_in_the_list() -> None:
    assert {name.partition(":")[0] for name in PROVIDERS} >= set(VENDORS)


# --- echo and given ----------------------------------------------------------------------------


async def test_echo_says_the_prompt(tmp_path: Path) -> None:
    echo = opened(tmp_path, "echo")
    assert (await echo.call(Request("Grüezi {{ x }}"))).output == "Grüezi {{ x }}"
    answer = await echo.call(Request([{"role": "user", "content": "é"}]))
    assert answer.output == '[{"role": "user", "content": "é"}]'
    assert (answer.cost, answer.calls) == (0.0, 0)


@pytest.mark.parametrize(
    ("given", "output", "contexts"),
    [
        ("text", "text", None),
        ({"output": "o", "contexts": ["c"]}, "o", ["c"]),
        ({"answer": "data"}, {"answer": "data"}, None),
        ([1], [1], None),
    ],
)
async def test_a_given_output(given: Any, output: Any, contexts: Any) -> None:
    answer = await GivenProvider(given).call(Request("ignored"))
    assert (answer.output, answer.contexts, answer.latency_ms) == (output, contexts, None)


# --- replay ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["answers.jsonl", "answers.json"])
async def test_answers_in_the_order_of_tests(tmp_path: Path, name: str) -> None:
    rows = ["a\u2028b", {"response": {"x": 1}, "latency_ms": 5, "cost": 0.1, "contexts": ["c"]}]
    replay = replaying(tmp_path, [*rows, {"error": "it failed"}], name)
    answers = [await replay.call(Request("p", test=k)) for k in range(4)]
    assert answers[0] == Answer(output="a\u2028b", raw="a\u2028b")
    assert (answers[1].output, answers[1].latency_ms, answers[1].cost) == ({"x": 1}, 5.0, 0.1)
    assert answers[1].contexts == ["c"]
    assert answers[2].error == "it failed"
    assert answers[3].error == f"replay:{name} has 3 answers and none for test 4"


async def test_answers_by_variables(tmp_path: Path) -> None:
    replay = replaying(
        tmp_path,
        [
            {"vars": {"q": "a"}, "output": "any a"},
            {"vars": {"q": "a", "n": 1}, "output": "a1"},
            {"vars": {"q": "a", "n": 1}, "output": "a1 again"},
            {"vars": {"n": [1, {"b": 2, "a": 1}]}, "output": "list"},
        ],
    )

    async def said(repeat: int = 0, **variables: Any) -> Any:
        answer = await replay.call(Request("p", variables, test=9, repeat=repeat))
        return answer.output or answer.error

    assert await said(q="a") == "any a"
    assert await said(q="a", n=1, more=2) == "a1"
    assert [await said(k, q="a", n="1") for k in (1, 2)] == ["a1 again", "a1"]
    assert await said(q="x", n=[1, {"a": 1, "b": 2}]) == "list"
    assert "no answer whose n or n, q or q match" in await said(q="b")


async def test_ids_match_where_tests_have_them(tmp_path: Path) -> None:
    replay = replaying(tmp_path, [{"id": 2, "output": "two"}, {"id": 1, "output": "one"}])
    assert (await replay.call(Request("p", {"id": "1"}))).output == "one"
    assert (await replay.call(Request("p", {"q": "x"}))).output == "two"
    assert (await replay.call(Request("p", {"id": 3}))).error is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "answer 1: an answer is a text or an object, not int"),
        ('["a", null]', "answer 2: .*not null"),
        ('"a"\n{"vars": {}}', ":2: no output, response, answer or error among its keys: vars"),
        ('"a"\n{"output": ', ":2: no JSON"),
        ("[" * 100_000, "no JSON list"),
        ('"a"\n{"vars": {"x": 1}, "output": 1}', "answer 1 has no vars"),
    ],
)
def test_files_that_hold_no_answers(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.jsonl").write_text(text, "utf-8")
    with pytest.raises(AssayError, match=said):
        opened(tmp_path, "file://x.jsonl")


# --- recorded outputs --------------------------------------------------------------------------


def test_recorded_outputs_join_the_tests_in_order(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    path.write_text('\ufeff["a", {"output": "b", "tags": ["t"]}, {"answer": {"x": 1}}]', "utf-8")
    assert outputs_file(path)[0] == "a"
    cases = [TestCase(k, "", {}, (), Place("suite.yaml"), metadata={"k": k}) for k in range(3)]
    done = recorded(cases, path)
    assert [case.has_output for case in done] == [True] * 3
    assert done[0].provider_output == "a"
    assert done[1].metadata == {"k": 1, "tags": ["t"]}
    assert done[2].provider_output["output"] == {"x": 1}
    with pytest.raises(ConfigError, match="3 outputs, and there are 2 tests"):
        recorded(cases[:2], path)


def test_a_file_of_outputs_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\xff")
    for name, said in [("none", "No such file"), ("bad", "not UTF-8"), (".", "directory")]:
        with pytest.raises(DataError, match=said):
            outputs_file(tmp_path / name)
