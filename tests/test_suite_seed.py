"""The YAML of promptfoo's page on noise-sensitivity, block by block, run as it stands there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.app import run
from suite_endpoint import Endpoint, evaluated, parts_of, ran, rows_of, statuses

BASIC = """\
assert:
  - type: noise-sensitivity
    value: "Paris is the capital of France"  # Ground truth
    threshold: 0.2  # Maximum 20% incorrect claims
"""

WITH_CONFIG = """\
tests:
  - vars:
      query: "What is the capital of France?"
      context: |
        Paris is the capital of France. The city has a population of over 2 million.
        Berlin is the capital of Germany. London is known for its fog.
        Tokyo has excellent sushi restaurants.
    assert:
      - type: noise-sensitivity
        value: "Paris is the capital of France. It has a population of over 2 million people."
        threshold: 0.1
        config:
          mode: relevant
          noiseContext: "Rome is famous for pasta. Madrid has great weather."
"""

LABELLED = """\
providers:
  - openai:gpt-4

tests:
  - vars:
      query: "What are the main features of Python?"
      contextChunks:
        - text: "Python is a high-level programming language known for its simplicity and \
readability."
          relevant: true
        - text: "JavaScript is used for web development. Java requires compilation."
          relevant: false
        - text: "Python supports multiple programming paradigms including procedural and \
object-oriented."
          relevant: true
        - text: "Ruby was created by Yukihiro Matsumoto in 1995."
          relevant: false
    assert:
      - type: noise-sensitivity
        value: |
          Python is a high-level programming language known for its simplicity and readability.
          It supports multiple programming paradigms including procedural and object-oriented \
programming.
        threshold: 0.2
        config:
          mode: irrelevant
          contextChunks: '{{contextChunks}}'
"""

LEGACY = """\
tests:
  - vars:
      query: "What is the capital of France?"
      context: "Paris is the capital of France. Berlin is the capital of Germany."
    assert:
      - type: noise-sensitivity
        value: "Paris is the capital of France"
        threshold: 0.1
"""

ROBUSTNESS = """\
# Test if your RAG system can focus on relevant information
tests:
  - vars:
      query: "What is the main export of Brazil?"
      contextChunks:
        - text: "Brazil's main export is soybeans, accounting for billions in revenue."
          relevant: true
        - text: "Argentina is famous for its beef exports."
          relevant: false
        - text: "Chile exports large amounts of copper."
          relevant: false
"""

DISTRACTION = """\
# Test if the model gets distracted by similar but irrelevant information
tests:
  - vars:
      query: "When was the iPhone first released?"
      contextChunks:
        - text: "The iPhone was first released by Apple in 2007."
          relevant: true
        - text: "The iPad was released in 2010."
          relevant: false
        - text: "Samsung released the Galaxy S in 2010."
          relevant: false
"""

STEPS = "Python is a high-level language. JavaScript is also popular."
FIRST, SECOND = "Python is a high-level language.", "JavaScript is also popular."

JUDGES = pytest.mark.parametrize("judge", ["openai:judge", "embedded"])


def told(claim: str, premise: str, question: str | None) -> str:
    """What the page says of its example, and for the rest whether the words are there."""
    if claim == FIRST:
        return "entailed" if premise.startswith("Python is a high-level") else "neutral"
    if claim == SECOND:
        return "entailed" if premise.startswith("JavaScript is used") else "neutral"
    return "entailed" if claim.strip(" .").casefold() in premise.casefold() else "neutral"


def reply(prompt: str) -> str:
    return {
        "What is the capital of France?": "Paris is the capital of France.",
        "What are the main features of Python?": STEPS,
        "What is the main export of Brazil?": "Soybeans.",
        "When was the iPhone first released?": "In 2007.",
    }[prompt]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint(told, answer=reply).in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        yield endpoint


ADDED = ("-r", "openai:gpt-4", "-p", "{{query}}")


@JUDGES
@pytest.mark.parametrize("config", [WITH_CONFIG, LEGACY])
def test_a_text_context_and_a_right_answer_pass(
    tmp_path: Path, server: Endpoint, config: str, judge: str
) -> None:
    code, record = evaluated(tmp_path, config, *ADDED, "--grader", judge)
    (part,) = parts_of(record)
    assert (code, part["status"], part["value"], part["score"]) == (0, "pass", 0, 1)
    assert part["assertion"]["threshold"] == 0.1
    assert server.prompts == ["What is the capital of France?"]
    assert (server.judged > 0) is (judge != "embedded")


def test_noise_joins_the_context_as_a_relevant_text(tmp_path: Path, server: Endpoint) -> None:
    ran(tmp_path, WITH_CONFIG, *ADDED, "--grader", "openai:judge")
    premises = [data["premise"] for data in server.asked("verdicts")]
    assert "Rome is famous for pasta. Madrid has great weather." in premises
    assert any(premise.startswith("Paris is the capital") for premise in premises)


@JUDGES
def test_labelled_chunks_run_without_a_context_variable(
    tmp_path: Path, server: Endpoint, judge: str
) -> None:
    (part,) = ran(tmp_path, LABELLED, "-p", "{{query}}", "--grader", judge)
    assert part["status"] in ("pass", "fail")
    assert [claim["claim"] for claim in part["claims"]] == [FIRST, SECOND]
    assert server.prompts == ["What are the main features of Python?"]


@pytest.mark.parametrize("mode", ["relevant", "irrelevant"])
def test_the_calculation_step_by_step(tmp_path: Path, server: Endpoint, mode: str) -> None:
    config = LABELLED.replace("mode: irrelevant", f"mode: {mode}")
    code, record = evaluated(tmp_path, config, "-p", "{{query}}", "--grader", "openai:judge")
    (part,) = parts_of(record)
    assert (code, part["status"], part["value"]) == (100, "fail", 0.5)
    first, second = part["claims"]
    assert (first["correct"], first["hit"]) == (True, False)
    assert (second["correct"], second["hit"]) == (False, True)
    assert second["evidence"]["context"] == 1  # the page counts from 1: chunk 2
    assert part["figures"]["relevant"] == part["figures"]["irrelevant"] == 0.5
    assert "“JavaScript is also popular.” (context 1)" in part["reason"]


@JUDGES
@pytest.mark.parametrize("config", [ROBUSTNESS, DISTRACTION])
def test_a_use_case_without_assertions_runs_and_is_warned_of(
    tmp_path: Path,
    server: Endpoint,
    capsys: pytest.CaptureFixture[str],
    config: str,
    judge: str,
) -> None:
    code, record = evaluated(tmp_path, config, *ADDED, "--grader", judge)
    assert (code, [row["status"] for row in rows_of(record)]) == (0, ["pass"])
    assert server.judged == 0
    assert "suite.yaml:3:5: warning: the test has no assertions" in capsys.readouterr().err


@JUDGES
def test_a_use_case_with_the_assertion_beside_it(
    tmp_path: Path, server: Endpoint, judge: str
) -> None:
    shared = ROBUSTNESS + 'defaultTest: {assert: [{type: noise-sensitivity, value: "Soybeans."}]}\n'
    (part,) = ran(tmp_path, shared, *ADDED, "--grader", judge)
    assert (part["status"], part["value"]) == ("pass", 0)
    assert part["assertion"]["threshold"] == 0.2


@JUDGES
def test_the_basic_example_grades_recorded_outputs(
    tmp_path: Path, server: Endpoint, judge: str
) -> None:
    asserts, outputs = tmp_path / "assert.yaml", tmp_path / "outputs.json"
    asserts.write_text(BASIC, "utf-8")
    said = ["Paris is the capital of France.", "Lyon has been a seat of silk weavers for ages."]
    outputs.write_text(json.dumps(said), "utf-8")
    out = tmp_path / "out.json"
    command = ["eval", "-a", str(asserts), "--model-outputs", str(outputs), "--grader", judge]
    assert run([*command, "-o", str(out), "-q"]) == 100
    record = json.loads(out.read_text("utf-8"))
    assert [row["response"]["output"] for row in rows_of(record)] == said
    assert statuses([parts_of(record, row)[0] for row in (0, 1)]) == ["pass", "fail"]
    assert [parts_of(record, row)[0]["value"] for row in (0, 1)] == [0, 1]
    assert server.prompts == []
