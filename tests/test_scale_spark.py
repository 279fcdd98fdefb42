"""The function for Spark, on iterators of pandas DataFrames as Spark would give them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay import Faithfulness, ScriptedJudge, evaluate
from assay.errors import ConfigError, DataError, JudgeUnusable
from assay.scale import spark
from assay.scale.spark import schema, scorer
from scored_runs import METRICS, Flaky, rows


def frames(made: list[dict[str, Any]], size: int) -> Iterator[pd.DataFrame]:
    for start in range(0, len(made), size):
        yield pd.DataFrame(made[start : start + size])


def numbered(count: int) -> list[dict[str, Any]]:
    return [{"id": f"é{n}", **row} for n, row in enumerate(rows(count))]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_rows_and_scores_are_those_of_evaluate_in_order(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "ROWS", 9)
    made = numbered(25)
    out = list(scorer(METRICS, ScriptedJudge)(frames(made, size)))
    assert [len(frame) for frame in out] == [9, 9, 7]
    whole = pd.concat(out)
    expected = evaluate(pd.DataFrame(made), METRICS, ScriptedJudge())
    assert [json.loads(row) for row in whole["row"]] == [row.as_dict() for row in expected]
    assert list(whole["id"]) == [row["id"] for row in made]
    values = [row.scores["precision"].value for row in expected]
    assert [None if np.isnan(v) else v for v in whole["precision"]] == values
    assert list(whole["precision.status"])[:5] == ["ok", "ok", "ok", "failed", "ok"]
    assert whole["precision"].dtype == "float64"


def test_the_schema_names_the_columns_of_the_frames() -> None:
    names = ["faithfulness", "noise_sensitivity(mode=irrelevant)", str(Faithfulness(joined=True))]
    (out,) = scorer(names, ScriptedJudge)(frames(numbered(2), 2))
    told = [part.rpartition("` ") for part in schema(names).split(", `")]
    assert [name.lstrip("`") for name, _, _ in told] == list(out.columns)
    assert [kind for name, _, kind in told if name.lstrip("`") in names] == ["DOUBLE"] * 3
    assert {kind for *_, kind in told} == {"STRING", "DOUBLE"}


def test_arrays_and_missing_values_are_read_as_spark_gives_them() -> None:
    frame = pd.DataFrame(
        {
            "user_input": ["q", None],
            "answer": ["It is red.", "It is red."],
            "retrieved_contexts": [np.array(["It is red.", "No."], dtype=object), None],
        }
    )
    (out,) = scorer("faithfulness", ScriptedJudge)(iter([frame]))
    assert list(out["faithfulness.status"]) == ["ok", "failed"]
    assert out["faithfulness"][0] == 1.0
    assert list(out["id"]) == [None, None]  # numbers would come again in each partition
    (mapped,) = scorer("faithfulness", ScriptedJudge, columns={"question": "answer"})(iter([frame]))
    assert list(mapped["question"]) == ["It is red."] * 2


def test_rows_that_cannot_be_read_have_failed_scores() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "response": ["r.", 3], "contexts": [["r."], 5.5]})
    (out,) = scorer("faithfulness", ScriptedJudge)(iter([frame]))
    assert list(out["faithfulness.status"]) == ["ok", "failed"]
    assert out["faithfulness.reason"][1].startswith("DataError: row 2 of the partition: column")


def test_an_empty_partition_gives_nothing_and_opens_no_judge() -> None:
    def never() -> ScriptedJudge:
        raise AssertionError

    assert list(scorer("faithfulness", never)(iter([]))) == []
    assert list(scorer("faithfulness", never)(iter([pd.DataFrame({"id": []})]))) == []


class Closing(Flaky):
    """Notes its openings and closings."""

    log: list[str]

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log = log
        log.append("opened")

    async def aclose(self) -> None:
        self.log.append("closed")
        await super().aclose()


def test_the_judge_is_opened_once_a_partition_and_closed_however_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark, "ROWS", 5)
    log: list[str] = []
    function = scorer(METRICS, lambda: Closing(log))
    assert len(list(function(frames(numbered(20), 3)))) == 4
    assert log == ["opened", "closed"]
    left = function(frames(numbered(20), 3))
    next(left)
    left.close()  # type: ignore[attr-defined]
    assert log == ["opened", "closed"] * 2

    def broken() -> Closing:
        judge = Closing(log)
        judge.unusable_after = 20
        return judge

    with pytest.raises(JudgeUnusable, match="the key is wrong"):
        list(scorer(METRICS, broken)(frames(numbered(20), 3)))
    assert log == ["opened", "closed"] * 3


def test_frames_are_drawn_as_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "ROWS", 10)
    drawn = 0

    def endless() -> Iterator[pd.DataFrame]:
        nonlocal drawn
        while True:
            drawn += 1
            yield pd.DataFrame(numbered(4))

    out = scorer("faithfulness", ScriptedJudge)(endless())
    for taken in range(1, 30):
        next(out)
        assert 4 * (drawn - 1) <= 10 * taken + 4


def test_what_cannot_work_is_said_at_once() -> None:
    with pytest.raises(ConfigError, match="unknown metric"):
        scorer("faithfulnes", "embedded")
    with pytest.raises(ConfigError, match="lives in this process"):
        scorer("faithfulness", ScriptedJudge())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="there is no field 'colour'"):
        scorer("faithfulness", "embedded", columns={"colour": "x"})
    with pytest.raises(DataError, match="no column 'x'"):
        list(scorer("faithfulness", ScriptedJudge, columns={"id": "x"})(frames(numbered(2), 2)))
    with pytest.raises(ConfigError, match="needs a judge that does opinions, toxic"):
        list(scorer("toxicity", "embedded")(frames(numbered(2), 2)))
    twice = pd.DataFrame([["r", "r"]], columns=["response", "response"])
    with pytest.raises(DataError, match="occurs more than once"):
        list(scorer("faithfulness", ScriptedJudge)(iter([twice])))
