"""Folders of runs that have done nothing yet: they give way to what is given next."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge
from assay.cli.runs import score_run
from assay.errors import ConfigError, JudgeUnusable
from assay.runs import merge, score_to
from assay.runs.shards import open_job
from assay.runs.starting import is_unused, start
from assay.runs.usage import read_usage
from scored_runs import METRICS, Flaky, rows, write
from servers import FakeOpenAI, status


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", rows(20))


def refused(after: int = 0, why: str = "the key is wrong", tokens: int = 0) -> Flaky:
    class Refused(Flaky):
        served = 0

        async def answer(self, ask: Any) -> Any:
            if self.served >= after:
                raise JudgeUnusable(why)
            self.served += 1
            self.usage.prompt_tokens += tokens
            return await super().answer(ask)

    return Refused()


def unused(folder: Path) -> bool:
    job = open_job(folder)
    return is_unused(job.folder, job.plan)


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("spooled", [True, False])
def test_a_run_that_did_nothing_gives_way_to_another(
    tmp_path: Path, data: Path, resume: bool, spooled: bool
) -> None:
    folder = tmp_path / "run"
    given: Any = rows(20) if spooled else data
    with pytest.raises(JudgeUnusable):
        score_to(folder, given, METRICS, refused(), shard_rows=3)
    assert len(list(folder.glob("shards/*"))) > 0  # empty journals
    other = ScriptedJudge(name="other")
    score_to(folder, given, "faithfulness", other, resume=resume, shard_rows=8)
    score_to(tmp_path / "new", given, "faithfulness", other, shard_rows=8)
    for name in ("run", "new"):
        merge(tmp_path / name, tmp_path / f"{name}.jsonl")
    assert (tmp_path / "run.jsonl").read_bytes() == (tmp_path / "new.jsonl").read_bytes()
    names = [sorted(p.name for p in (tmp_path / n).rglob("*")) for n in ("run", "new")]
    assert names[0] == names[1]
    assert read_usage(folder / "usage.jsonl").processes == 1


def test_the_shards_of_a_run_that_did_nothing_stay_unless_others_are_given(
    tmp_path: Path, data: Path
) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=7, shard_format="jsonl")
    assert start(data, METRICS, ScriptedJudge(), tmp_path / "run").shard_rows == 7
    assert start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=5).shard_rows == 5


def test_the_same_run_begun_twice_before_any_row_is_done_is_one(tmp_path: Path, data: Path) -> None:
    folder = tmp_path / "run"
    first = start(data, METRICS, ScriptedJudge(), folder, shard_rows=5)
    journal = folder / "shards/00000.partial.jsonl"
    journal.touch()
    (folder / "usage.jsonl").write_bytes(b"{}\n")
    for resume in (False, True):
        assert start(data, METRICS, ScriptedJudge(), folder, resume=resume) == first
    assert journal.exists()
    assert (folder / "usage.jsonl").exists()


def test_what_was_paid_for_or_is_at_work_does_not_give_way(tmp_path: Path, data: Path) -> None:
    folder, other = tmp_path / "run", ScriptedJudge(name="other")
    with pytest.raises(JudgeUnusable):
        score_to(folder, data, METRICS, refused(1, tokens=50), concurrency=1)
    assert not unused(folder)
    with pytest.raises(ConfigError, match="another run, begun with --judge: scripted, not other"):
        score_to(folder, data, METRICS, other, resume=True)
    (folder / "usage.jsonl").unlink()
    assert unused(folder)
    with (folder / "lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        with pytest.raises(ConfigError, match="another run, begun with"):
            start(data, METRICS, other, folder, resume=True)
        with pytest.raises(ConfigError, match="holds a run already"):
            start(data, METRICS, other, folder)
    assert start(data, METRICS, other, folder).judge == "other"


@pytest.mark.parametrize("shard_rows", [1, 1000])
@pytest.mark.parametrize("shard_format", ["jsonl", "parquet"])
def test_only_rows_with_a_score_are_kept_from_another_run(
    tmp_path: Path, data: Path, shard_rows: int, shard_format: str
) -> None:
    folder = tmp_path / "run"
    options: dict[str, Any] = {"shard_rows": shard_rows, "shard_format": shard_format}
    with pytest.raises(JudgeUnusable):  # rows without a reference have failed by then
        score_to(folder, data, "f1", refused(), **options)
    start(data, "f1", ScriptedJudge(name="other"), folder)
    with pytest.raises(JudgeUnusable):
        score_to(folder, data, "f1", refused(9), **options, resume=True, concurrency=1)
    with pytest.raises(ConfigError, match="another run, begun with --judge: scripted, not other"):
        start(data, "f1", ScriptedJudge(name="other"), folder, resume=True)


def test_samples_put_by_can_be_gone_on_with_by_their_own_file(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    start(rows(4), METRICS, ScriptedJudge(), folder)
    before = (folder / "input.jsonl").read_bytes()
    plan = start(folder / "input.jsonl", METRICS, ScriptedJudge(), folder, resume=True)
    assert plan.data.kind == "samples"
    assert (folder / "input.jsonl").read_bytes() == before


@pytest.mark.parametrize("damage", [b"[]\n", b'{"scores": 1}\n', b"\xff\n", b"{}\n"])
def test_a_run_with_a_damaged_shard_is_not_given_up(
    tmp_path: Path, data: Path, damage: bytes
) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=1)
    assert unused(tmp_path / "run")
    (tmp_path / "run/shards/00003.jsonl").write_bytes(damage)
    assert not unused(tmp_path / "run")


@pytest.mark.parametrize(
    ("why", "mended"),
    [
        ("http://h/v1: HTTP 401; check the key", "once the key is right, the same command with "),
        ("http://h/v1: HTTP 429: You exceeded your current quota", "once the account is topped up"),
        ("http://h/v1: HTTP 402; the account cannot pay for this", "once the account is topped up"),
        ("http://h/v1: HTTP 404; is the model's name right?", "once that is put right, the same"),
    ],
)
def test_advice_says_what_to_mend_first(tmp_path: Path, data: Path, why: str, mended: str) -> None:
    with pytest.raises(JudgeUnusable) as stopped:
        score_run(str(data), "faithfulness", tmp_path / "run", refused(3, why), concurrency=1)
    assert f"{why}; 1 of 20 rows is done and kept in " in str(stopped.value)
    assert f": {mended}" in str(stopped.value)
    assert str(stopped.value).endswith("--resume goes on")


def test_a_wrong_model_is_put_right_in_the_same_folder(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.judges.openai import openai_judge

    folder = tmp_path / "run"
    with FakeOpenAI().in_thread() as server:
        server.faults = [status(404, "no such model")] * 99
        with pytest.raises(
            JudgeUnusable, match=r"paid for yet: once that is put right.*--resume, also w"
        ):
            score_run(str(data), "f1", folder, openai_judge("wrong", base_url=server.url))
        server.faults = []
        right = openai_judge("right", base_url=server.url)
        assert score_run(str(data), "f1", folder, right, resume=True) == 2  # no references
    assert json.loads((folder / "plan.json").read_text("utf-8"))["judge"] == "openai:right"
    assert "20 rows in 1 shard" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parts", "shard_rows", "fitting"), [(2, 1000, 10), (6, 7, 3), (40, 1, 1), (4, 5, 0)]
)
def test_more_parts_than_shards_are_warned_of(
    tmp_path: Path,
    data: Path,
    parts: int,
    shard_rows: int,
    fitting: int,
    *,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options: dict[str, Any] = {"shard": f"1/{parts}", "shard_rows": shard_rows}
    score_run(str(data), "faithfulness", tmp_path / "run", ScriptedJudge(), **options)
    said = capsys.readouterr().err
    assert (f"cannot be shared by {parts} parts" in said) == bool(fitting)
    assert (f"--shard-rows {fitting}\n" in said) == bool(fitting)
