"""Runs from the command line: what is said, and the exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assay import ScriptedJudge
from assay.cli.runs import merge_run, score_run
from assay.errors import ConfigError, DataError, JudgeUnusable
from scored_runs import Flaky, rows, write


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(write(tmp_path / "in.jsonl", rows(20)))


def test_a_run_says_what_it_does_and_how_to_merge(
    tmp_path: Path, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert score_run(data, "faithfulness", folder, ScriptedJudge(), shard_rows=8) == 0
    said, shown = reversed(capsys.readouterr())
    assert "in.jsonl: 20 rows in 3 shards; columns: question -> question" in said
    assert "judge: scripted; to score: 20 rows" in said
    assert "95 % interval" in shown
    assert re.search(r"20 rows in \d+\.\d s \(\d+\.\d/s\), 40 calls$", shown, re.MULTILINE)
    assert f"one table: assay merge {folder} -o FILE.jsonl" in shown
    assert merge_run(folder, tmp_path / "out.jsonl") == 0
    shown = capsys.readouterr().out
    assert "95 % interval" in shown
    assert "0.500" in shown
    assert "20 rows, 40 calls" in shown
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 20


def test_failed_rows_make_exit_code_2_until_they_are_scored(
    tmp_path: Path, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    judge = Flaky()
    judge.bad = frozenset({"When did mill 5 open?"})
    assert score_run(data, "faithfulness", folder, judge, shard_rows=8) == 2
    said = capsys.readouterr().err
    assert "first failure: JudgeUnavailable: 429" in said
    assert "failed: 1 of 20 rows (faithfulness), e.g. 6: JudgeUnavailable: 429" in said
    assert "errors.jsonl; the same command with --retry-errors scores them again" in said
    assert merge_run(folder, tmp_path / "out.jsonl", quiet=True) == 2
    assert score_run(data, "faithfulness", folder, Flaky(), resume=True, quiet=True) == 2
    capsys.readouterr()
    assert score_run(data, "faithfulness", folder, Flaky(), retry_errors=True) == 0
    assert "to score: 1 row (19 of 20 are done)" in capsys.readouterr().err
    assert merge_run(folder, tmp_path / "out.jsonl", quiet=True) == 0


def test_parts_join_a_folder_without_resume(
    tmp_path: Path, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    for part in ("2/2", "1/2"):
        assert score_run(data, "f1", folder, ScriptedJudge(), shard=part, shard_rows=5) == 2
        said = capsys.readouterr().out
        assert "10 rows in " in said
        assert ("one table" in said) == (part == "1/2")
    assert merge_run(folder, tmp_path / "out.csv", quiet=True) == 2


def test_a_judge_that_gives_up_says_that_nothing_is_lost(
    tmp_path: Path, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = Flaky()
    judge.unusable_after = 7
    how = (
        r"wrong; 3 of 20 rows are done and kept in .*run: once that is put right, the same command"
    )
    with pytest.raises(JudgeUnusable, match=how):
        score_run(data, "faithfulness", tmp_path / "run", judge, concurrency=1)


def test_a_merge_of_what_is_there_says_what_is_not(
    tmp_path: Path, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    score_run(data, "faithfulness", folder, ScriptedJudge(), shard="1/2", shard_rows=5)
    with pytest.raises(DataError, match=r"2 of 4 shards are missing \(2-3\).*--partial"):
        merge_run(folder, tmp_path / "out.jsonl")
    capsys.readouterr()
    assert merge_run(folder, tmp_path / "out.jsonl", partial=True) == 0
    assert "2 of 4 shards are missing" in capsys.readouterr().out
    told = json.loads((tmp_path / "out.jsonl.run.json").read_text("utf-8"))
    assert told["rows"] == 10


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "²/3", "-1/2", ""])
def test_parts_that_do_not_exist_are_refused(tmp_path: Path, data: str, shard: str) -> None:
    with pytest.raises(ConfigError, match=r"--shard takes I/N|parts are counted from 1"):
        score_run(data, "faithfulness", tmp_path / "run", ScriptedJudge(), shard=shard)
    assert not (tmp_path / "run").exists()
