"""Runs in a folder: what comes out, and going on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from assay import Sample, ScriptedJudge, evaluate
from assay.errors import ConfigError, DataError, JudgeUnusable
from assay.runs import merge, run, score_shard, score_to, start
from assay.runs.running import shards_of
from assay.runs.usage import read_usage
from scored_runs import METRICS, Flaky, rows, table, write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", rows(25))


# --- what comes out --------------------------------------------------------------------------


@pytest.mark.parametrize("shard_format", ["jsonl", "parquet"])
@pytest.mark.parametrize("shard_rows", [1, 4, 25, 1000])
def test_the_table_is_that_of_evaluate(
    tmp_path: Path, data: Path, shard_rows: int, shard_format: str
) -> None:
    outcome = score_to(
        tmp_path / "run",
        data,
        METRICS,
        ScriptedJudge(),
        shard_rows=shard_rows,
        shard_format=shard_format,
        concurrency=3,
    )
    assert (outcome.scored, outcome.failed, outcome.stopped) == (25, 4, False)
    expected = evaluate(data, METRICS, ScriptedJudge())
    assert table(tmp_path / "run") == [row.as_dict() for row in expected]
    assert not list((tmp_path / "run" / "shards").glob("*.partial.jsonl"))
    assert len(list((tmp_path / "run" / "shards").glob(f"0*[0-9].{shard_format}"))) == -(
        -25 // shard_rows
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_flat_tables_are_those_of_evaluate(tmp_path: Path, data: Path, ending: str) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), shard_rows=4)
    merged = merge(tmp_path / "run", tmp_path / f"out{ending}")
    expected = evaluate(data, METRICS, ScriptedJudge())
    expected.save(tmp_path / f"expected{ending}")
    if ending == ".csv":
        assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    else:
        ours, theirs = (pq.read_table(tmp_path / f"{n}.parquet") for n in ("out", "expected"))
        assert ours.equals(theirs)
    for name in METRICS:
        one, other = merged.summaries[name], expected[name]
        assert (one.mean, one.interval, one.micro) == (other.mean, other.interval, other.micro)
        assert (one.n, one.undefined, one.failed) == (other.n, other.undefined, other.failed)


def test_the_sidecar_holds_totals(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), shard_rows=10)
    merge(tmp_path / "run", tmp_path / "out.jsonl")
    told = json.loads((tmp_path / "out.jsonl.run.json").read_text("utf-8"))
    assert (told["rows"], told["failed"], told["missing_shards"]) == (25, 4, [])
    assert told["summary"]["precision"]["n"] == 21
    assert told["usage"]["calls"] > 0
    assert told["metrics"]["precision"].startswith("precision v")


def test_rows_of_a_generator_are_put_by(tmp_path: Path) -> None:
    def given() -> Iterator[dict[str, Any]]:
        yield from rows(7)

    score_to(tmp_path / "run", given(), METRICS, ScriptedJudge(), shard_rows=3)
    expected = evaluate(rows(7), METRICS, ScriptedJudge())
    assert table(tmp_path / "run") == [row.as_dict() for row in expected]
    # The same rows go on with it, others do not.
    score_to(tmp_path / "run", given(), METRICS, ScriptedJudge(), resume=True)
    with pytest.raises(ConfigError, match="data: generator"):
        score_to(tmp_path / "run", iter(rows(8)), METRICS, ScriptedJudge(), resume=True)


def test_samples_keep_all_that_they_hold(tmp_path: Path) -> None:
    samples = [
        Sample(
            "q\u2028", "r. s.", [{"text": "r.", "id": "c", "relevant": True}], ["a", "b"], id="x"
        ),
        Sample(response="", contexts=[], references="", metadata={"k": [1, {"é": None}]}),
        Sample("q", "r.", response_claims=["r."], reference_claims=["a"], references="a"),
    ]
    score_to(tmp_path / "run", samples, ["precision"], ScriptedJudge())
    expected = evaluate(samples, ["precision"], ScriptedJudge())
    assert table(tmp_path / "run") == [row.as_dict() for row in expected]


def test_metadata_that_is_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 1 .*cannot be kept as JSON"):
        score_to(
            tmp_path / "run",
            [Sample(response="r", contexts=["r"], metadata={"k": {1, 2}})],
            "faithfulness",
            ScriptedJudge(),
        )


# --- going on --------------------------------------------------------------------------------


def test_a_judge_that_gives_up_leaves_what_was_done(tmp_path: Path, data: Path) -> None:
    judge = Flaky()
    judge.unusable_after = 30
    with pytest.raises(JudgeUnusable, match="the key is wrong"):
        score_to(tmp_path / "run", data, METRICS, judge, shard_rows=4, concurrency=2)
    first = judge.usage.calls
    again = Flaky()
    outcome = score_to(tmp_path / "run", data, METRICS, again, resume=True)
    assert 0 < outcome.scored < 20
    alone = Flaky()
    score_to(tmp_path / "alone", data, METRICS, alone, shard_rows=4)
    assert table(tmp_path / "run") == table(tmp_path / "alone")
    # At most the two samples in work were asked about again, three asks each.
    assert first + again.usage.calls <= alone.usage.calls + 2 * 4
    assert read_usage(tmp_path / "run" / "usage.jsonl").usage.calls == first + again.usage.calls


def test_a_whole_run_is_not_scored_again(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge())
    judge = ScriptedJudge()
    assert score_to(tmp_path / "run", data, METRICS, judge, resume=True).scored == 0
    assert judge.asked == []


def test_a_journal_is_used_line_by_line(tmp_path: Path, data: Path) -> None:
    judge = ScriptedJudge()
    start(data, METRICS, judge, tmp_path / "run", shard_rows=25)
    score_to(tmp_path / "other", data, METRICS, judge, shard_rows=25)
    judge.asked.clear()
    whole = Flaky()
    whole.unusable_after = 60
    with pytest.raises(JudgeUnusable):
        run(tmp_path / "run", whole, concurrency=1)
    journal = tmp_path / "run" / "shards" / "00000.partial.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) > 10
    assert all(isinstance(json.loads(line)[0], int) for line in lines)
    # One line was damaged, one belongs elsewhere, the last was cut short.
    lines[2] = lines[2].replace(b"red", b"rad", 1)
    lines[3] = b'[99,"00000000",{}]\n'
    lines[-1] = lines[-1][:40]
    journal.write_bytes(b"".join(lines))
    outcome = run(tmp_path / "run", ScriptedJudge())
    assert outcome.scored == 25 - (len(lines) - 3)
    assert table(tmp_path / "run") == table(tmp_path / "other")


def test_shards_can_be_scored_apart_in_any_order(tmp_path: Path, data: Path) -> None:
    judge = ScriptedJudge()
    start(data, METRICS, judge, tmp_path / "run", shard_rows=4)

    async def work() -> None:
        for number in (6, 2, 0, 1, 5, 3, 4, 4):
            report = await score_shard(tmp_path / "run", number, judge)
            assert report.shard == number
            assert report.rows == (1 if number == 6 else 4)
        assert (report.scored, report.kept) == (0, 4)

    asyncio.run(work())
    expected = evaluate(data, METRICS, ScriptedJudge())
    assert table(tmp_path / "run") == [row.as_dict() for row in expected]


def test_parts_make_up_the_whole(tmp_path: Path, data: Path) -> None:
    judge = ScriptedJudge()
    start(data, METRICS, judge, tmp_path / "run", shard_rows=4)
    scored = [run(tmp_path / "run", judge, part=(i, 3)).scored for i in (2, 3, 1)]
    assert scored == [8, 9, 8]
    for n in range(1, 9):
        parts = [shards_of((i, n), 7) for i in range(1, n + 1)]
        assert [number for part in parts for number in part] == list(range(7))
