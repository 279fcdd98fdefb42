"""Ten worked cases of noise sensitivity, in both dialects and modes, through YAML and a judge."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite_endpoint import Endpoint, evaluated, parts_of, rows_of


@dataclass(frozen=True)
class Case:
    """Verdicts on claims by chunk and by the right answer, and the four shares they make.

    ``chunks``: a row a claim, a letter a chunk (E entails it). ``right``: a letter a claim, by
    the reference. ``useful``: a letter a chunk, E if it entails the reference. ``labels``: a
    letter a chunk, R relevant or I irrelevant.
    """

    chunks: tuple[str, ...]
    right: str
    useful: str
    labels: str
    promptfoo: tuple[float, float]
    ragas: tuple[float | None, float | None]


CASES = {
    "A the example as it is told": Case(("EN", "NE"), "EN", "EN", "RI", (0.5, 0.5), (0, 0.5)),
    "B the same by strict entailment": Case(("EN", "NN"), "EN", "EN", "RI", (0.5, 0), (0, 0)),
    "C the relevant chunk carries the error": Case(
        ("EN", "EN"), "EN", "EN", "RI", (0.5, 0), (0.5, 0)
    ),
    "D pure hallucination": Case(("E", "C"), "EC", "E", "R", (0.5, 0), (0, 0)),
    "E1 in both, the irrelevant chunk first": Case(
        ("NE", "EE"), "EN", "NE", "IR", (0.5, 0.5), (0.5, 0)
    ),
    "E2 in both, the relevant chunk first": Case(
        ("EN", "EE"), "EN", "EN", "RI", (0.5, 0), (0.5, 0)
    ),
    "F labelled relevant, and supports no right claim": Case(
        ("EN", "NE"), "EN", "EN", "RR", (0.5, 0), (0, 0.5)
    ),
    "G all correct": Case(("EN", "EE"), "EE", "EN", "RI", (0, 0), (0, 0)),
    "H five claims, one of noise, one of nowhere": Case(
        ("EN", "EN", "EN", "NE", "NN"), "EEENN", "EN", "RI", (0.4, 0.2), (0, 0.2)
    ),
    "I no claims": Case((), "", "EN", "RI", (0, 0), (None, None)),
}
MODES = ("relevant", "irrelevant")
LETTERS = {"E": "entailed", "N": "neutral", "C": "contradicted"}


def config() -> str:
    tests = []
    for name, case in CASES.items():
        output = " ".join(f"Claim {i} of {name}." for i in range(len(case.chunks))) or "..."
        chunks = [
            {"text": f"Chunk {c} of {name}", "relevant": label == "R"}
            for c, label in enumerate(case.labels)
        ]
        tests.append(
            {
                "description": name,
                "vars": {"query": "Which?", "contextChunks": chunks},
                "providerOutput": output,
                "assert": [
                    {
                        "type": "noise-sensitivity",
                        "value": f"Reference of {name}.",
                        "config": {"mode": mode, "dialect": dialect},
                    }
                    for dialect in ("promptfoo", "ragas")
                    for mode in MODES
                ],
            }
        )
    return json.dumps({"tests": tests})


def oracle(claim: str, premise: str, question: str | None) -> str:
    """The verdict that the case has for the claim and the premise."""
    what, _, name = claim.strip(".").partition(" of ")
    case = CASES[name]
    source = premise.partition(" of ")[0]
    if what == "Reference":
        return LETTERS[case.useful[int(source.split()[1])]]
    number = int(what.split()[1])
    if source == "Reference":
        return LETTERS[case.right[number]]
    return LETTERS[case.chunks[number][int(source.split()[1])]]


def splitter(text: str) -> list[str]:
    return [part.strip() + "." for part in text.split(".") if part.strip()]


@pytest.mark.parametrize("packed", [False, True])
def test_all_forty_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    with Endpoint(oracle, splitter).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        options = ["--grader", "openai:judge", *(["--packed"] if packed else [])]
        _, record = evaluated(tmp_path, config(), *options)
    found = {
        row["testCase"]["description"]: [part["value"] for part in parts_of(record, n)]
        for n, row in enumerate(rows_of(record))
    }
    expected = {name: [*case.promptfoo, *case.ragas] for name, case in CASES.items()}
    assert found == {name: pytest.approx(values) for name, values in expected.items()}


def test_a_share_above_the_threshold_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Endpoint(oracle, splitter).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        _, record = evaluated(tmp_path, config(), "--grader", "openai:judge", "-n", "9")
    cases = list(CASES.values())[:9]
    for n, case in enumerate(cases):
        parts = parts_of(record, n)
        shares = [share or 0.0 for share in (*case.promptfoo, *case.ragas)]
        assert [part["pass"] for part in parts] == [share <= 0.2 for share in shares]
        assert [part["score"] for part in parts] == pytest.approx([1 - share for share in shares])


def test_without_claims_promptfoo_passes_and_ragas_has_nothing_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Endpoint(oracle, splitter).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        code, record = evaluated(
            tmp_path, config(), "--grader", "openai:judge", "--filter-pattern", "^I "
        )
    parts = parts_of(record)
    assert [part["status"] for part in parts] == ["pass", "pass", "skipped", "skipped"]
    assert [part["value"] for part in parts] == [0, 0, None, None]
    assert all("nothing to measure" in part["reason"] for part in parts)
    assert (code, rows_of(record)[0]["status"]) == (0, "pass")


def test_a_case_needs_a_fixed_number_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims of output and reference; verdicts by the reference and by each of two chunks, those
    on the claims of both texts in one call: two chunks, two dialects, two modes, five calls.
    """
    with Endpoint(oracle, splitter).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        evaluated(tmp_path, config(), "--grader", "openai:judge", "--filter-pattern", "^A ")
        assert len(server.asked("claims")) == 2
        assert len(server.asked("verdicts")) == 1 + 2
