"""Runs in a folder: failures, what is refused, merging."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge, evaluate
from assay.errors import ConfigError, DataError, JudgeUnusable
from assay.runs import merge, run, score_shard, score_to, start
from scored_runs import METRICS, Flaky, rows, table, write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", rows(25))


# --- failures --------------------------------------------------------------------------------


def test_failed_rows_are_listed_and_can_be_scored_again(tmp_path: Path, data: Path) -> None:
    judge = Flaky()
    judge.bad = frozenset({"When did mill 5 open?", "When did mill 10 open?"})
    outcome = score_to(tmp_path / "run", data, METRICS, judge, shard_rows=8)
    assert outcome.failed == 5
    told = [
        json.loads(line)
        for line in (tmp_path / "run/shards/00001.errors.jsonl").read_text("utf-8").splitlines()
    ]
    assert told == [
        {
            "row": 11,
            "id": "11",
            "metric": name,
            "status": "failed",
            "reason": "the sample has no references"
            if name == "precision"
            else "JudgeUnavailable: 429",
            "error": "MissingField" if name == "precision" else "JudgeUnavailable",
            "retryable": name != "precision",
        }
        for name in METRICS
    ]
    # Going on does not score them again; trying again does, and only those.
    assert score_to(tmp_path / "run", data, METRICS, Flaky(), resume=True).scored == 0
    again = Flaky()
    outcome = score_to(tmp_path / "run", data, METRICS, again, retry_errors=True)
    assert (outcome.scored, outcome.failed) == (2, 4)
    assert {getattr(ask, "question", None) for ask in again.asked} == judge.bad
    expected = evaluate(data, METRICS, ScriptedJudge())
    assert table(tmp_path / "run") == [row.as_dict() for row in expected]
    assert score_to(tmp_path / "run", data, METRICS, Flaky(), retry_errors=True).scored == 0


@pytest.mark.parametrize("shard_format", ["jsonl", "parquet"])
def test_a_retry_that_is_cut_short_is_gone_on_with(
    tmp_path: Path, data: Path, shard_format: str
) -> None:
    judge = Flaky()
    judge.bad = frozenset(f"When did mill {n} open?" for n in range(0, 25, 2))
    score_to(tmp_path / "run", data, METRICS, judge, shard_rows=25, shard_format=shard_format)
    before = table(tmp_path / "run")
    cut = Flaky()
    cut.unusable_after = 12
    with pytest.raises(JudgeUnusable):
        score_to(tmp_path / "run", data, METRICS, cut, retry_errors=True, concurrency=1)
    assert table(tmp_path / "run") == before
    outcome = score_to(tmp_path / "run", data, METRICS, Flaky(), retry_errors=True)
    assert 0 < outcome.scored < 13
    expected = evaluate(data, METRICS, ScriptedJudge())
    assert table(tmp_path / "run") == [row.as_dict() for row in expected]


def test_a_row_that_cannot_be_read_is_a_failed_row(tmp_path: Path) -> None:
    good = [json.dumps(row) for row in rows(103)]
    lines = [*good[:101], '{"question": ', '{"response": {"a": 1}, "contexts": ["x"]}', good[102]]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    outcome = score_to(tmp_path / "run", path, "faithfulness", ScriptedJudge(), shard_rows=50)
    assert outcome.failed == 2
    made = table(tmp_path / "run")
    assert [row["id"] for row in made] == [str(n) for n in range(1, 105)]
    broken = made[101]["scores"]["faithfulness"]
    assert broken["status"] == "failed"
    assert broken["reason"].startswith("DataError: in.jsonl, line 102: not JSON")
    assert "column 'response'" in made[102]["scores"]["faithfulness"]["reason"]


# --- what is refused -------------------------------------------------------------------------


def test_a_second_start_needs_resume(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge())
    with pytest.raises(ConfigError, match=r"a run already \(of in\.jsonl\).*--resume"):
        score_to(tmp_path / "run", data, METRICS, ScriptedJudge())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, data: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("x")
    with pytest.raises(ConfigError, match=r"holds files \(thesis.tex\) and no plan.json"):
        score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), resume=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ["faithfulness"]}, "--metrics: faithfulness, precision, not faithfulness "),
        ({"metrics": METRICS[::-1]}, "--metrics: faithfulness, precision, not precision, faith"),
        ({"judge": ScriptedJudge(name="other")}, "--judge: scripted, not other "),
        ({"columns": {"id": "question"}}, "--map: none, not id=question "),
        ({"shard_rows": 9}, "--shard-rows: 4, not 9 "),
        ({"shard_format": "parquet"}, "--shard-format: jsonl, not parquet "),
    ],
)
def test_another_plan_is_refused_and_named(
    tmp_path: Path, data: Path, changes: dict[str, Any], message: str
) -> None:
    given: dict[str, Any] = {"metrics": METRICS, "judge": ScriptedJudge()}
    score_to(tmp_path / "run", data, **given, shard_rows=4)
    with pytest.raises(ConfigError, match=f"another run, begun with {message}"):
        score_to(tmp_path / "run", data, **given | changes, resume=True)


def test_other_data_are_refused_and_moved_data_are_not(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), shard_rows=4)
    (tmp_path / "run/shards/00003.jsonl").unlink()
    moved = data.rename(tmp_path / "moved.jsonl")
    assert score_to(tmp_path / "run", moved, METRICS, ScriptedJudge(), resume=True).scored == 4
    moved.write_text(moved.read_text("utf-8").replace("mill 3", "mill x"), "utf-8")
    with pytest.raises(ConfigError, match=r"data: moved.jsonl had other content then"):
        score_to(tmp_path / "run", moved, METRICS, ScriptedJudge(), resume=True)
    (tmp_path / "run/shards/00000.jsonl").unlink()
    with pytest.raises(DataError, match=r"moved\.jsonl was changed since the run began"):
        run(tmp_path / "run", ScriptedJudge())


def test_another_judge_or_shard_is_refused_by_the_shard_itself(tmp_path: Path, data: Path) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run")
    with pytest.raises(ConfigError, match="has another judge"):
        asyncio.run(score_shard(tmp_path / "run", 0, ScriptedJudge(name="other")))
    with pytest.raises(ConfigError, match="there is no shard 1"):
        asyncio.run(score_shard(tmp_path / "run", 1, ScriptedJudge()))
    with pytest.raises(DataError, match="is not the folder of a run"):
        asyncio.run(score_shard(tmp_path / "nowhere", 0, ScriptedJudge()))


def test_what_no_sample_has_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    judge = ScriptedJudge()
    given = [{"answer": "Yes.", "contexts": ["So."]}] * 3
    with pytest.raises(ConfigError, match="metric precision needs references, and no sample"):
        score_to(tmp_path / "run", given, METRICS, judge)
    assert judge.asked == []
    # The folder is as good as new.
    assert score_to(tmp_path / "run", given, "faithfulness", judge).scored == 3


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 1}', b"\xff"])
def test_a_damaged_plan_is_named(tmp_path: Path, data: Path, damage: bytes) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run")
    (tmp_path / "run" / "plan.json").write_bytes(damage)
    with pytest.raises(DataError, match=r"plan\.json is damaged"):
        run(tmp_path / "run", ScriptedJudge())


@pytest.mark.parametrize("spooled", [False, True])
def test_a_damaged_index_is_made_anew(tmp_path: Path, data: Path, spooled: bool) -> None:
    given = rows(25) if spooled else data
    score_to(tmp_path / "run", given, METRICS, ScriptedJudge(), shard_rows=4)
    before = table(tmp_path / "run")
    (tmp_path / "run/shards/00003.jsonl").unlink()
    (tmp_path / "run" / "index.jsonl").write_bytes(b"[1]\n[2]\n")
    with pytest.raises(DataError, match=r"index\.jsonl is damaged; run .* with --resume"):
        run(tmp_path / "run", ScriptedJudge())
    assert score_to(tmp_path / "run", given, METRICS, ScriptedJudge(), resume=True).scored == 4
    assert table(tmp_path / "run") == before


def test_a_row_with_one_bad_column_keeps_its_id_and_its_good_columns(tmp_path: Path) -> None:
    made = [row | {"id": f"mill-{n}"} for n, row in enumerate(rows(3))]
    made[1] |= {"contexts": 42}
    data = write(tmp_path / "in.jsonl", made)
    outcome = score_to(tmp_path / "run", data, METRICS, ScriptedJudge())
    assert outcome.failed == 1
    failed = table(tmp_path / "run")[1]
    assert (failed["id"], failed["response"]) == ("mill-1", made[1]["response"])
    assert "contexts" not in failed
    for name in METRICS:
        assert failed["scores"][name]["status"] == "failed"
        assert failed["scores"][name]["reason"] == (
            "DataError: in.jsonl, line 3: column 'contexts': "
            "expected a text or a list of texts, found a number (42)"
        )
    errors = (tmp_path / "run/shards/00000.errors.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["id"] for line in errors} == {"mill-1"}


# --- merging ---------------------------------------------------------------------------------


def test_missing_shards_are_listed(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), shard_rows=2)
    for number in (1, 4, 5, 6):
        (tmp_path / f"run/shards/{number:05d}.jsonl").unlink()
    with pytest.raises(DataError, match=r"4 of 13 shards are missing \(1, 4-6\)"):
        table(tmp_path / "run")
    made = table(tmp_path / "run", partial=True)
    assert len(made) == 25 - 8
    told = json.loads((tmp_path / "out.jsonl.run.json").read_text("utf-8"))
    assert told["missing_shards"] == ["1", "4-6"]


def test_a_shard_that_is_not_whole_is_never_merged(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), shard_rows=10)
    shard = tmp_path / "run/shards/00001.jsonl"
    shard.write_bytes(shard.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"00001.jsonl holds 9 rows instead of 10; delete it"):
        table(tmp_path / "run")
    assert not (tmp_path / "out.jsonl").exists()
    shard.unlink()
    assert score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), resume=True).scored == 10
    assert len(table(tmp_path / "run")) == 25


def test_the_run_and_its_input_are_not_overwritten(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge())
    for out in (tmp_path / "run/shards/00000.jsonl", tmp_path / "run/usage.jsonl", data):
        with pytest.raises(ConfigError, match="give another -o"):
            merge(tmp_path / "run", out)
    with pytest.raises(ConfigError, match="known endings"):
        merge(tmp_path / "run", tmp_path / "out.txt")
