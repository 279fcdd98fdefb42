"""The record of a suite's run: promptfoo's shape, our additions, odd values."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from assay.suite.outcome import SuiteRun
from assay.suite.outputs.jsonable import DEEPEST, jsonable
from assay.suite.outputs.record import as_record
from assay.suite.outputs.totals import totals
from assay.suite.providers.base import Answer
from assay.suite.titles import titled
from suite_runs import (
    BROKEN,
    CONTAINS,
    FAITHFUL,
    LABELLED,
    LATE,
    MISLED,
    every_status,
    repeated,
    result,
)


def rows(*results: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = as_record(SuiteRun(results))["results"]["results"]
    return made


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return as_record(every_status())


def test_the_record_survives_json(record: dict[str, Any]) -> None:
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_the_head_is_promptfoos(record: dict[str, Any]) -> None:
    results = record["results"]
    assert results["version"] == 3
    assert results["timestamp"] == "2025-03-04T05:06:07+00:00"
    assert record["config"] == {
        "prompts": ["{{query}}"],
        "tests": "file://tests.csv",
        "description": "Gliders",
    }
    assert record["vars"] == ["context", "query"]
    assert record["metadata"]["assayVersion"] == "0.3.0"
    assert record["metadata"]["judges"] == {"openai:gpt-4o": "f00d"}


def test_stats_count_results_and_tokens(record: dict[str, Any]) -> None:
    stats = record["results"]["stats"]
    assert (stats["successes"], stats["failures"], stats["errors"], stats["skipped"]) == (
        1,
        2,
        2,
        1,
    )
    assert stats["passRate"] == 0.2
    assert stats["durationMs"] == 12340
    used = stats["tokenUsage"]
    assert (used["total"], used["prompt"], used["completion"]) == (230, 210, 20)
    assert (used["cached"], used["numRequests"]) == (100, 5)
    assert used["assertions"]["total"] == 980
    assert used["assertions"]["numRequests"] == 7
    assert stats["cost"] == 0.004


def test_each_provider_and_prompt_has_its_metrics(record: dict[str, Any]) -> None:
    first, second = record["results"]["prompts"]
    assert (first["provider"], second["provider"]) == ("echo", "openai:chat:gpt-4o-mini")
    metrics = second["metrics"]
    counts = [metrics[f"test{kind}Count"] for kind in ("Pass", "Fail", "Error", "Skipped")]
    assert counts == [0, 1, 1, 1]
    assert metrics["score"] == 0.7
    # The parts of the set count, the set itself does not.
    assert (metrics["assertPassCount"], metrics["assertFailCount"]) == (1, 2)
    assert metrics["namedScores"] == {"grounded": 0.5}
    assert metrics["namedScoresCount"] == {"grounded": 1}
    assert (metrics["totalLatencyMs"], metrics["latencyCount"]) == (1234.5, 1)
    assert first["metrics"]["latencyCount"] == 2


def test_rows_tell_failures_from_errors(record: dict[str, Any]) -> None:
    said = [
        (row["status"], row["success"], row["failureReason"], row["score"], row["value"])
        for row in record["results"]["results"]
    ]
    assert said == [
        ("pass", True, 0, 1.0, 1.0),
        ("fail", False, 1, 0.7, 0.7),
        ("fail", False, 1, 0.5, 0.5),
        ("error", False, 2, 0, None),
        ("error", False, 2, 0, None),
        ("skipped", False, 0, 0, None),
    ]


def test_errors_say_which() -> None:
    no_answer, erred, passed = rows(
        result(0, "error", answer=Answer(error="HTTP 429"), outcomes=(), score=None, reason="none"),
        result(1, "error", outcomes=(BROKEN,), score=None, reason="1 assertion erred"),
        result(2),
    )
    assert no_answer["error"] == "HTTP 429"
    assert no_answer["gradingResult"] is None
    assert erred["error"] == "1 assertion erred"
    assert erred["gradingResult"]["pass"] is False
    assert passed["error"] is None


def test_components_hold_claims_with_evidence(record: dict[str, Any]) -> None:
    grading = record["results"]["results"][1]["gradingResult"]
    a_set, noise, late = grading["componentResults"]
    contains, faithful = a_set["componentResults"]
    assert contains["assertion"]["value"] == "22,646"
    assert faithful["assertion"] == {
        "type": "context-faithfulness",
        "value": None,
        "threshold": 0.8,
        "weight": 2.0,
        "metric": "grounded",
        "config": {},
    }
    assert faithful["claims"] == [item.as_dict() for item in FAITHFUL.items]
    assert faithful["figures"] == {"claims": 2.0, "unanswered": 0.0, "coverage": None}
    assert (noise["value"], noise["lowerIsBetter"]) == (0.5, True)
    assert (late["status"], late["pass"], late["score"], late["value"]) == (
        "skipped",
        False,
        0,
        None,
    )


def test_an_assertion_has_its_config_and_evidence_the_label_of_its_chunk() -> None:
    ((row),) = rows(result(0, "fail", outcomes=(MISLED,), vars={"contextChunks": LABELLED}))
    (part,) = row["gradingResult"]["componentResults"]
    assert part["assertion"]["config"] == {"mode": "irrelevant", "dialect": "ragas"}
    assert row["testCase"]["assert"][0]["config"] == part["assertion"]["config"]
    assert [claim["evidence"]["relevant"] for claim in part["claims"]] == [True, False]


@pytest.mark.parametrize(
    "chunks",
    [
        [LABELLED[0]],
        list(reversed(LABELLED)),
        [one["text"] for one in LABELLED],
        [{"text": one["text"], "relevant": "no"} for one in LABELLED],
        [None, {"text": 5, "relevant": False}],
        "text",
    ],
)
def test_without_a_label_of_that_very_chunk_evidence_has_none(chunks: Any) -> None:
    ((row),) = rows(result(0, "fail", outcomes=(MISLED,), vars={"contextChunks": chunks}))
    (part,) = row["gradingResult"]["componentResults"]
    assert "relevant" not in part["claims"][1]["evidence"]


def test_a_component_without_goodness_counts_by_its_status() -> None:
    held = replace(CONTAINS, value=None, goodness=None)
    ((row),) = rows(result(0, outcomes=(held, LATE, BROKEN)))
    scores = [one["score"] for one in row["gradingResult"]["componentResults"]]
    assert scores == [1, 0, 0]


def test_no_assertions_is_a_pass_with_a_grading() -> None:
    ((row),) = rows(result(0, outcomes=(), reason="no assertions"))
    assert row["gradingResult"] == {
        "pass": True,
        "score": 1.0,
        "reason": "no assertions",
        "namedScores": {},
        "componentResults": [],
    }


def test_every_cell_of_promptfoos_table_has_one_result() -> None:
    made = rows(
        *(
            result(test, prompt_index=prompt, provider=provider, repeat=repeat)
            for test in range(3)
            for prompt in range(2)
            for provider in ("a", "b")
            for repeat in range(2)
        )
    )
    assert len({(row["testIdx"], row["promptIdx"]) for row in made}) == 24
    assert {row["promptIdx"] for row in made} == {0, 1, 2, 3}
    assert all(row["testIdx"] == row["test"] for row in made if row["repeat"] == 0)


def test_tokens_come_from_answers_where_the_provenance_is_silent() -> None:
    stats = as_record(repeated(3))["results"]["stats"]
    assert stats["tokenUsage"]["total"] == 30
    assert stats["tokenUsage"]["assertions"]["total"] == 0
    assert stats["durationMs"] is None
    assert stats["cost"] is None


def test_totals_are_for_people(record: dict[str, Any]) -> None:
    total = totals(record)
    assert total.counts == "1 passed, 2 failed, 2 errors, 1 skipped; pass rate 20.0\xa0%"
    assert total.judges == "openai:gpt-4o · 7 calls, 980 tokens (900 in, 80 out)"
    assert total.took == "12.3 s"
    assert totals(as_record(SuiteRun([]))).lines == []


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0.0 s"), (185, "3 min 5 s"), (7260, "2 h 1 min")]
)
def test_long_runs_are_told_in_minutes_and_hours(seconds: float, said: str) -> None:
    assert totals(as_record(SuiteRun([], provenance={"seconds": seconds}))).took == said


# --- odd values ----------------------------------------------------------------------------------


def test_odd_values_become_json() -> None:
    odd = {
        "nan": float("nan"),
        "inf": -float("inf"),
        "day": date(2025, 3, 4),
        "set": {"b", "a"},
        "tuple": (1, True),
        "path": Path("a"),
        None: b"\xff",
        7: "lone \ud800",
    }
    ((row),) = rows(result(0, vars=odd, answer=Answer({"x": float("inf")})))
    assert row["vars"] == {
        "nan": None,
        "inf": None,
        "day": "2025-03-04",
        "set": ["a", "b"],
        "tuple": [1, True],
        "path": "a",
        "None": "�",
        "7": "lone \ud800",
    }
    assert row["response"]["output"] == {"x": None}


def test_what_contains_itself_or_is_too_deep_ends() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert jsonable(loop) == [1, "(contains itself)"]
    deep: Any = "end"
    for _ in range(5000):
        deep = [deep]
    text = json.dumps(jsonable(deep))
    assert text.count("[") == DEEPEST
    assert "nested too deeply" in text
    twice = ["same"]
    assert jsonable([twice, twice]) == [["same"], ["same"]]


def test_values_of_numpy_are_plain() -> None:
    import numpy as np

    values = [np.float32(0.5), np.int64(3), np.bool_(True), np.array([1.0, np.nan])]
    assert jsonable(values) == [0.5, 3, True, [1.0, None]]
    assert json.dumps(jsonable(values)) == "[0.5, 3, true, [1.0, null]]"


# --- titles --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "t"),
        ({"dialect": "ragas", "undefined": "skip"}, "t (ragas)"),
        ({"joined": False, "count": 3, "share": 0.5}, "t (joined=false, count=3, share=0.5)"),
        ({"a": None, "b": [1], "c": {"d": 1}, "e": ""}, "t"),
        ({"text": "x" * 25, "x" * 25: 1, "line": "a\nb", "esc": "\x1b[31m", "bidi": "\u202e"}, "t"),
        ({f"k{n}": n for n in range(9)}, "t (k0=0, k1=1, k2=2, k3=3)"),
        ({"n": 10**400}, "t"),
    ],
)
def test_a_title_has_the_short_settings(config: dict[str, Any], said: str) -> None:
    assert titled("t", config) == said
