"""From assertions to pass or fail: weights, thresholds, sets, negation, errors, what is skipped."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from suite_endpoint import evaluated, parts_of, rows_of, statuses

Spec = dict[str, Any]
OUTPUT = "red green"
PASS: Spec = {"type": "contains", "value": "red"}
FAIL: Spec = {"type": "contains", "value": "blue"}
HALF: Spec = {"type": "rouge-n", "value": "red brown", "threshold": 0.5}
"""Its score is 0.5."""
ERROR: Spec = {"type": "latency", "threshold": 1000}
"""A recorded answer has no latency."""
SKIP: Spec = {"type": "context-faithfulness"}
"""An output without claims has nothing that could be unfaithful."""
NO_CLAIMS = "..."


def row_of(folder: Path, *asserts: Spec, output: str = OUTPUT, **fields: Any) -> dict[str, Any]:
    test = {"providerOutput": output, "vars": {"context": "Red."}, "assert": asserts, **fields}
    code, record = evaluated(folder, json.dumps({"tests": [test]}))
    (row,) = rows_of(record)
    assert code == (0 if row["status"] == "pass" else 100)
    return row


def of(spec: Spec, **fields: Any) -> Spec:
    return {**spec, **fields}


def set_of(*asserts: Spec, **fields: Any) -> Spec:
    return {"type": "assert-set", "assert": list(asserts), **fields}


def inner(row: dict[str, Any]) -> list[dict[str, Any]]:
    return parts_of({"results": {"results": [row]}})


@pytest.mark.parametrize(
    ("asserts", "status", "score"),
    [
        ([PASS], "pass", 1),
        ([FAIL], "fail", 0),
        ([PASS, FAIL], "fail", 0.5),
        ([HALF, PASS], "pass", 0.75),
        ([of(HALF, weight=3), PASS], "pass", 0.625),
        ([of(HALF, weight=0.5), of(PASS, weight=1.5)], "pass", 0.875),
        ([of(FAIL, weight=0), PASS], "pass", 1),
        ([of(FAIL, weight=0)], "pass", 1),
        ([of(PASS, weight=0), FAIL], "fail", 0),
        ([], "pass", 1),
    ],
)
def test_the_score_is_the_mean_by_weight(
    tmp_path: Path, asserts: list[Spec], status: str, score: float
) -> None:
    row = row_of(tmp_path, *asserts)
    assert (row["status"], row["value"]) == (status, pytest.approx(score))


@pytest.mark.parametrize(
    ("asserts", "threshold", "status"),
    [
        ([PASS, FAIL], 0.5, "pass"),
        ([PASS, FAIL], 0.51, "fail"),
        ([FAIL], 0.01, "fail"),
        ([PASS, of(FAIL, weight=9)], 0.1, "pass"),
        ([PASS] * 3 + [FAIL] * 7, 0.3, "pass"),  # 0.1 + 0.2 is a little over 0.3 in binary
        ([HALF, HALF, PASS], 2 / 3, "pass"),
        ([of(HALF, threshold=0.9)], 0.5, "pass"),  # the test's threshold decides alone
    ],
)
def test_a_tests_threshold_decides_in_place_of_each_assertion(
    tmp_path: Path, asserts: list[Spec], threshold: float, status: str
) -> None:
    row = row_of(tmp_path, *asserts, threshold=threshold)
    assert row["status"] == status
    assert f"threshold at least {threshold:g}" in row["reason"]


def test_without_weight_a_failure_is_shown_and_its_named_score_kept(tmp_path: Path) -> None:
    row = row_of(tmp_path, of(HALF, threshold=0.9, weight=0, metric="overlap"), PASS)
    part = inner(row)[0]
    assert (row["status"], row["value"], part["status"]) == ("pass", 1, "pass")
    assert (part["value"], row["namedScores"]) == (0.5, {"overlap": 0.5})
    assert part["reason"].startswith("reported, weight 0: ")


def test_named_scores_are_means_by_weight_and_names_may_be_templates(tmp_path: Path) -> None:
    asserts = [
        of(PASS, metric="hue-{{hue}}", weight=3),
        of(HALF, metric="hue-{{hue}}"),
        set_of(
            of(FAIL, metric="inside"),
            of(PASS, metric="inside", weight=3),
            metric="whole",
            threshold=0.5,
        ),
    ]
    row = row_of(tmp_path, *asserts, vars={"hue": "{{7*7}}", "context": "c"})
    hue = row["vars"]["hue"]  # a variable in the config is a template itself
    assert hue == "49"
    assert row["namedScores"] == {"hue-49": 0.875, "inside": 0.75, "whole": 0.75}


@pytest.mark.parametrize(
    ("chosen", "status", "score"),
    [
        (set_of(PASS, PASS), "pass", 1),
        (set_of(PASS, FAIL), "fail", 0.5),
        (set_of(PASS, FAIL, threshold=0.5), "pass", 0.5),
        (set_of(PASS, FAIL, FAIL, threshold=0.5), "fail", 1 / 3),
        (set_of(of(PASS, weight=3), FAIL, threshold=0.75), "pass", 0.75),
        (set_of(FAIL, weight=0), "pass", 1),
        (set_of(of(FAIL, weight=0), PASS), "pass", 1),
    ],
)
def test_a_set_counts_as_one_assertion(
    tmp_path: Path, chosen: Spec, status: str, score: float
) -> None:
    alone = row_of(tmp_path, chosen)
    assert (alone["status"], alone["value"]) == (status, pytest.approx(score))
    if chosen.get("weight") != 0:
        beside = row_of(tmp_path, of(chosen, weight=2), of(PASS, weight=1))
        assert beside["value"] == pytest.approx((2 * score + 1) / 3)
    (part,) = inner(alone)
    assert len(part["componentResults"]) == len(chosen["assert"])


@pytest.mark.parametrize(
    ("spec", "status", "score", "value"),
    [
        (of(HALF, threshold=0.7), "pass", 0.5, 0.5),
        (of(HALF, threshold=0.5), "fail", 0.5, 0.5),
        (of(PASS), "fail", 0, 0),
        (of(FAIL), "pass", 1, 1),
        (of(FAIL, weight=0), "pass", 1, 1),
        (of(PASS, weight=0), "pass", 0, 0),
    ],
)
def test_not_holds_where_the_assertion_does_not(
    tmp_path: Path, spec: Spec, status: str, score: float, value: float
) -> None:
    """What only holds or not has the value 1 where it is as wanted; a measure keeps its own."""
    row = row_of(tmp_path, of(spec, type="not-" + spec["type"]))
    (part,) = inner(row)
    assert (part["status"], part["score"], part["value"]) == (status, score, value)
    assert part["lowerIsBetter"] is (spec["type"] == "rouge-n")


def test_a_reason_tells_the_first_and_how_many_more(tmp_path: Path) -> None:
    last = of(FAIL, metric="last")
    row = row_of(tmp_path, PASS, set_of(FAIL, PASS, FAIL), last)
    assert row["reason"].startswith("contains: the output does not have 'blue'; ")
    assert row["reason"].endswith("; and 2 more assertions")
    forgiven = row_of(tmp_path, set_of(FAIL, PASS, threshold=0.5), last)
    assert forgiven["reason"].startswith("last (contains): ")
    assert "more" not in forgiven["reason"]
    low = row_of(tmp_path, set_of(HALF, threshold=0.9))
    assert low["reason"] == "assert-set: score 0.5, threshold at least 0.9"


def test_a_name_has_the_score_as_it_is_shown(tmp_path: Path) -> None:
    """A score that is better when lower is turned round for the test's score only."""
    misled = {
        "type": "noise-sensitivity",
        "value": "Red.",
        "metric": "noise",
        "threshold": 1,
        "config": {"dialect": "ragas", "noiseContext": "Green."},
    }
    row = row_of(tmp_path, misled, output="Red. Green. Blue. Grey.")
    (part,) = inner(row)
    assert row["namedScores"] == {"noise": part["value"]}
    assert row["value"] == pytest.approx(1 - part["value"])
    assert part["assertion"]["config"] == {"dialect": "ragas"}
    nothing = of(misled, config={"undefined": "fail"})
    assert row_of(tmp_path, nothing, output=NO_CLAIMS)["namedScores"] == {"noise": 1}


def test_an_error_never_passes(tmp_path: Path) -> None:
    """With not-, without weight, under thresholds of test and set: whatever is around it."""
    tests = []
    for kind, weight, low, within in product(
        ("latency", "not-latency"), (1, 0), (False, True), (False, True)
    ):
        bar: dict[str, Any] = {"threshold": 0.01} if low else {}
        broken = of(ERROR, type=kind, weight=weight)
        chosen = set_of(broken, PASS, **bar) if within else broken
        tests.append({"providerOutput": OUTPUT, "assert": [chosen, PASS], **bar})
    code, record = evaluated(tmp_path, json.dumps({"tests": tests}))
    assert (code, len(rows_of(record))) == (100, 16)
    for n, row in enumerate(rows_of(record)):
        assert (row["status"], row["value"], row["failureReason"]) == ("error", None, 2)
        first, second = parts_of(record, n)
        assert (first["status"], first["value"], second["status"]) == ("error", None, "pass")


def test_an_error_in_a_set_leaves_the_others_their_outcomes(tmp_path: Path) -> None:
    row = row_of(tmp_path, set_of(ERROR, PASS, FAIL), FAIL)
    first, second = inner(row)
    assert statuses(first["componentResults"]) == ["error", "pass", "fail"]
    assert (row["status"], second["status"]) == ("error", "fail")
    assert "latency" in row["reason"]


def test_a_name_that_cannot_be_filled_in_is_that_assertions_error(tmp_path: Path) -> None:
    bad = "{{ ''.__class__ }}"
    row = row_of(tmp_path, of(PASS, metric=bad), set_of(PASS, metric=bad), PASS)
    assert statuses(inner(row)) == ["error", "error", "pass"]


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_what_is_skipped_counts_for_nothing(tmp_path: Path, threshold: float | None) -> None:
    bar: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    dots: Spec = {"type": "contains", "value": "."}
    row = row_of(tmp_path, of(SKIP, weight=9), dots, output=NO_CLAIMS, **bar)
    assert statuses(inner(row)) == ["skipped", "pass"]
    assert (row["status"], row["value"]) == ("pass", 1)
    failing = row_of(tmp_path, of(SKIP, weight=9), FAIL, output=NO_CLAIMS, **bar)
    assert (failing["status"], failing["value"]) == ("fail", 0)


@pytest.mark.parametrize("chosen", [SKIP, set_of(SKIP, SKIP), set_of(SKIP, threshold=0.5)])
def test_where_all_is_skipped_so_is_the_test_and_nothing_has_passed(
    tmp_path: Path, chosen: Spec
) -> None:
    row = row_of(tmp_path, chosen, output=NO_CLAIMS)
    assert (row["status"], row["success"], row["value"]) == ("skipped", False, None)


def test_skipped_tests_are_left_out_of_the_pass_rate(tmp_path: Path) -> None:
    skipped = {"providerOutput": NO_CLAIMS, "vars": {"context": "c"}, "assert": [SKIP]}
    passing = {"providerOutput": OUTPUT, "assert": [PASS]}
    code, record = evaluated(tmp_path, json.dumps({"tests": [skipped, passing]}))
    assert code == 0
    assert record["results"]["stats"]["skipped"] == 1
    assert record["results"]["stats"]["passRate"] == 1


NOISE: Spec = {"type": "noise-sensitivity", "value": "Red."}


POLICIES = {"pass": "pass", "fail": "fail", "skip": "skipped", "error": "error"}


@pytest.mark.parametrize("weight", [1, 0])
@pytest.mark.parametrize("spec", [SKIP, NOISE], ids=["faithfulness", "noise"])
@pytest.mark.parametrize("negated", ["", "not-"])
def test_a_config_says_what_becomes_of_nothing_to_measure(
    tmp_path: Path, spec: Spec, negated: str, weight: int
) -> None:
    """It is said of the assertion as it is written: with not- as well."""
    chosen = of(spec, type=negated + spec["type"], weight=weight)
    asserts = [of(chosen, config={"undefined": policy}) for policy in POLICIES]
    parts = inner(row_of(tmp_path, *asserts, output=NO_CLAIMS))
    ends = [one if weight or one != "fail" else "pass" for one in POLICIES.values()]
    assert statuses(parts) == ends
    assert all("nothing to measure" in part["reason"] for part in parts)


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        (SKIP, "skipped"),
        (of(SKIP, type="not-context-faithfulness"), "skipped"),
        (NOISE, "pass"),
        (of(NOISE, type="not-noise-sensitivity"), "fail"),
        (of(NOISE, config={"dialect": "ragas"}), "skipped"),
        (of(NOISE, config={"dialect": "assay"}), "skipped"),
    ],
)
def test_without_a_word_of_the_config_each_kind_has_its_own(
    tmp_path: Path, spec: Spec, status: str
) -> None:
    (part,) = inner(row_of(tmp_path, spec, output=NO_CLAIMS))
    assert part["status"] == status


@pytest.mark.parametrize("output", ["", "  \n"])
@pytest.mark.parametrize("negated", ["", "not-"])
@pytest.mark.parametrize(
    "spec",
    [
        NOISE,
        SKIP,
        {"type": "answer-relevance"},
        {"type": "context-recall", "value": " "},
    ],
)
def test_an_empty_output_or_right_answer_is_an_error_of_what_judges_claims(
    tmp_path: Path, spec: Spec, negated: str, output: str
) -> None:
    asserts = [of(spec, type=negated + spec["type"])]
    test = {"providerOutput": output, "vars": {"context": "Red.", "query": "Q?"}, "assert": asserts}
    if spec["type"] == "answer-relevance":
        asserts[0]["provider"] = {
            "id": "openai:x",
            "config": {"apiBaseUrl": "http://127.0.0.1:1/v1", "timeout": 1},
        }
    _, record = evaluated(tmp_path, json.dumps({"tests": [test]}))
    (part,) = parts_of(record)
    assert (part["status"], part["value"]) == ("error", None)
    assert "is empty" in part["reason"]
