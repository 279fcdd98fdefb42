"""Assertions whose answer never came, or had nothing to measure: they say what they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suite_endpoint import evaluated, rows_of

NOISE: dict[str, Any] = {
    "type": "noise-sensitivity",
    "value": "Red.",
    "threshold": 0.3,
    "weight": 2,
    "metric": "misled",
    "config": {"mode": "irrelevant", "contextChunks": [{"text": "Red.", "relevant": True}]},
}
SET: dict[str, Any] = {
    "type": "assert-set",
    "threshold": 0.5,
    "config": {"owner": "me"},
    "assert": [NOISE, {"type": "contains", "value": "red"}],
}


def test_an_assertion_that_could_not_be_asked_keeps_its_config(tmp_path: Path) -> None:
    test = {"vars": {"context": "Red."}, "assert": [NOISE, SET, {"type": "is-json"}]}
    provider = {"id": "http://127.0.0.1:1/", "config": {"maxRetries": 0}}
    code, record = evaluated(tmp_path, json.dumps({"providers": [provider], "tests": [test]}))
    assert code == 100
    (row,) = rows_of(record)
    noise, group, plain = row["gradingResult"]["componentResults"]
    assert noise["assertion"] == {
        "type": "noise-sensitivity",
        "value": None,
        "threshold": 0.3,
        "weight": 2,
        "metric": "misled",
        "config": {"mode": "irrelevant"},
    }
    assert group["assertion"]["config"] == {"owner": "me"}
    assert group["assertion"]["threshold"] == 0.5
    assert [one["assertion"]["type"] for one in group["componentResults"]] == [
        "noise-sensitivity",
        "contains",
    ]
    assert group["componentResults"][0]["assertion"] == noise["assertion"]
    assert plain["assertion"]["config"] == {}
    for part in (noise, group, plain, *group["componentResults"]):
        assert part["status"] == "error"
        assert "cannot reach http://127.0.0.1:1/" in part["reason"]
    assert [one["config"] for one in row["testCase"]["assert"]] == [
        {"mode": "irrelevant"},
        {"owner": "me"},
        {},
    ]


def test_a_set_has_its_config_whatever_came_of_it(tmp_path: Path) -> None:
    tests = [{"providerOutput": "red", "assert": [{**SET, "assert": SET["assert"][1:]}]}]
    _, record = evaluated(tmp_path, json.dumps({"tests": tests}))
    (row,) = rows_of(record)
    (group,) = row["gradingResult"]["componentResults"]
    assert (group["status"], group["assertion"]["config"]) == ("pass", {"owner": "me"})


@pytest.mark.parametrize(
    ("type", "policy", "lower", "value"),
    [
        ("context-faithfulness", "pass", False, 1),
        ("not-context-faithfulness", "pass", True, 0),
        ("noise-sensitivity", "pass", True, 0),
        ("not-noise-sensitivity", "pass", False, 1),
        ("context-faithfulness", "fail", False, None),
        ("not-context-faithfulness", "fail", True, None),
        ("not-noise-sensitivity", "fail", False, None),
        ("not-noise-sensitivity", "skip", False, None),
    ],
)
def test_nothing_to_measure_has_the_direction_of_a_score(
    tmp_path: Path, type: str, policy: str, lower: bool, value: float | None
) -> None:
    """As it is where something is measured: what is better turns round with not-."""
    spec = {"type": type, "value": "Red.", "metric": "named"}
    variables = {"context": "Red."}
    tests = [
        {
            "providerOutput": "...",
            "vars": variables,
            "assert": [{**spec, "config": {"undefined": policy}}],
        },
        {"providerOutput": "The sky is red.", "vars": variables, "assert": [spec]},
    ]
    _, record = evaluated(tmp_path, json.dumps({"tests": tests}))
    row, other = rows_of(record)
    (nothing,), (measured,) = (one["gradingResult"]["componentResults"] for one in (row, other))
    assert nothing["lowerIsBetter"] is measured["lowerIsBetter"] is lower
    assert nothing["value"] == value
    if policy == "fail":  # the worst that there is, as it is shown
        assert row["namedScores"] == {"named": 1.0 if lower else 0.0}
    elif policy == "pass":
        assert row["namedScores"] == {"named": value}
