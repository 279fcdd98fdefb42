"""What a run says at its beginning and end: rows left, means, use, failures, advice."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from assay import ScriptedJudge, evaluate
from assay.asks import Ask, T, Usage
from assay.cli.app import run as command
from assay.cli.runs import score_run
from assay.errors import JudgeRejected, JudgeUnusable
from assay.judges.openai import openai_judge
from assay.runs import score_to, start
from assay.runs.differing import known_of
from assay.runs.failures import failures
from assay.runs.means import summaries
from assay.runs.shards import open_job
from assay.runs.standing import standing
from assay.runs.sums import Sums, from_list
from assay.stats import mean_interval
from scored_runs import METRICS, Flaky, paid, rows, write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", rows(20))


class Used(ScriptedJudge):
    """Says that its answers had tokens, and that some were known."""

    async def answer(self, ask: Ask[T]) -> T:
        answer = await super().answer(ask)
        self.usage.prompt_tokens += 100
        self.usage.cached += 1
        return answer


class Refusing(ScriptedJudge):
    async def answer(self, ask: Ask[T]) -> T:
        raise JudgeRejected("too long")


def failing(*mills: int) -> Flaky:
    """A judge that is not there for some rows."""
    judge = Flaky()
    judge.bad = frozenset(f"When did mill {n} open?" for n in mills)
    return judge


# --- sums ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [(0, 1), (0.9, 1), (1, 5), (-1, 1), (1, 1), (0, 0)])
@pytest.mark.parametrize("n", [0, 1, 2, 30, 500])
def test_sums_give_the_mean_and_interval_of_the_values(n: int, bounds: tuple[float, float]) -> None:
    draw = random.Random(n)
    values = [draw.uniform(*bounds) for _ in range(n)]
    whole, parts = Sums(), [Sums() for _ in range(4)]
    for k, value in enumerate(values):
        whole.add(value, "ok", k % 2)
        parts[draw.randrange(3)].add(value, "ok", k % 2)
    merged = Sums()
    for part in parts:
        told = json.loads(json.dumps(part.as_list()))
        again = from_list(told)
        assert again == part
        merged.merge(part)
    for sums in (whole, merged):
        found = sums.summary()
        assert (found.n, found.unknown) == (n, n // 2)
        assert found.mean == (pytest.approx(sum(values) / n) if n else None)
        expected = mean_interval(values)
        assert found.interval == (pytest.approx(expected, abs=1e-9) if expected else None)


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        [1] * 7,
        [-1, 0, 0, 0, 0, 0, 0, 0],
        [1, "x", 0, 0, 0, 0, 0, 0],
        [1, 0, 0, None, 0, 0, 0, 0],
    ],
)
def test_sums_that_are_none_are_told(told: object) -> None:
    assert from_list(told) is None


def test_means_are_those_of_all_rows_whoever_scored_them(tmp_path: Path, data: Path) -> None:
    judge = Flaky()
    judge.unusable_after = 25
    judge.bad = frozenset({"When did mill 5 open?"})
    folder = tmp_path / "run"
    with pytest.raises(JudgeUnusable):
        score_to(folder, data, METRICS, judge, shard_rows=6, concurrency=2)
    again = Flaky()
    again.bad = judge.bad
    score_to(folder, data, METRICS, again, resume=True)
    first = Flaky()
    first.bad = judge.bad
    expected = evaluate(data, METRICS, first)
    job = open_job(folder)

    def same() -> None:
        found = summaries(job, range(4))
        for name in METRICS:
            assert found[name].mean == pytest.approx(expected[name].mean)
            assert found[name].interval == pytest.approx(expected[name].interval)
            counts = expected[name].n, expected[name].failed, expected[name].undefined
            assert (found[name].n, found[name].failed, found[name].undefined) == counts

    same()
    # Notes that are damaged, of another file, or not there: the shards are read.
    notes = job.folder.totals
    notes.write_bytes(
        b'{"shard": 1, "file"\n[]\n{"shard": "x"}\n{"shard": 0}\n' + notes.read_bytes()
    )
    same()
    notes.write_bytes(notes.read_bytes().replace(b'"file": [', b'"file": [1'))
    same()
    notes.unlink()
    same()
    first.bad = frozenset()
    expected = evaluate(data, METRICS, ScriptedJudge())
    score_to(folder, data, METRICS, ScriptedJudge(), retry_errors=True)
    same()


# --- what is left ----------------------------------------------------------------------------


def test_rows_in_journals_are_not_to_be_scored(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = Flaky()
    judge.unusable_after = 31
    folder = tmp_path / "run"
    with pytest.raises(JudgeUnusable):
        score_to(folder, data, "faithfulness", judge, shard_rows=6, concurrency=1)
    job = open_job(folder)
    found = standing(job, range(4))
    assert (found.rows, found.done, found.left) == (20, 15, 5)  # 2 shards, and 3 rows of the next
    assert standing(job, [3]).left == 2
    assert score_run(str(data), "faithfulness", folder, again := Used(), resume=True) == 0
    said = capsys.readouterr()
    assert "judge: scripted; to score: 5 rows (15 of 20 are done)" in said.err
    assert again.usage.calls == 10
    assert "20 rows, 5 scored now in" in said.out
    assert "10 calls, 1000 tokens, 10 answers known already" in said.out
    assert "in all runs of this folder: " in said.out
    assert "41 calls, 1000 tokens" in said.out
    assert score_run(str(data), "faithfulness", folder, Used(), resume=True) == 0
    assert "20 rows, none of them scored now" in capsys.readouterr().out


def test_of_failed_rows_those_are_left_that_are_tried_again(tmp_path: Path, data: Path) -> None:
    judge = Flaky()
    judge.bad = frozenset(f"When did mill {n} open?" for n in (0, 4, 8))
    folder = tmp_path / "run"
    score_to(folder, data, METRICS, judge, shard_rows=20)
    job = open_job(folder)
    assert standing(job, range(1)).left == 0
    assert standing(job, range(1), retry_errors=True).left == 3  # not those without a reference
    cut = Flaky()
    cut.unusable_after = 4
    with pytest.raises(JudgeUnusable):
        score_to(folder, data, METRICS, cut, retry_errors=True, concurrency=1)
    assert standing(job, range(1), retry_errors=True).left == 2


# --- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "metrics", "advice"),
    [
        (Refusing(), "faithfulness", "trying again would not help: the data or the request must"),
        (ScriptedJudge(), "precision", "trying again would not help: the data or the request must"),
        (failing(3, 4), "faithfulness", "the same command with --retry-errors scores them again"),
        (failing(3, 4, 5), "faithfulness,precision", "may help with 3 of 5 rows, for the others"),
    ],
)
def test_advice_is_that_which_helps(
    data: Path,
    judge: ScriptedJudge,
    metrics: str,
    advice: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert score_run(str(data), metrics, data.parent / "run", judge, quiet=True) == 2
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) <= 6
    assert advice in lines[-1]
    assert all(line.startswith("failed: ") for line in lines[:-1])


def test_failures_are_counted_by_metric_and_kind(tmp_path: Path, data: Path) -> None:
    judge = Flaky()
    judge.bad = frozenset({"When did mill 5 open?"})
    score_to(tmp_path / "run", data, METRICS, judge, shard_rows=7)
    job = open_job(tmp_path / "run")
    found = failures(job.folder.errors(shard) for shard in range(3))
    assert dict(found.kinds) == {
        ("faithfulness", "JudgeUnavailable"): 1,
        ("precision", "JudgeUnavailable"): 1,
        ("precision", "MissingField"): 3,
    }
    assert found.examples["precision", "MissingField"] == "4: the sample has no references"
    assert (found.rows, found.retryable) == (4, 1)


# --- words -----------------------------------------------------------------------------------


def test_one_is_no_plural(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "in.jsonl", rows(1))
    assert score_run(str(path), "faithfulness", tmp_path / "run", ScriptedJudge()) == 0
    said = capsys.readouterr()
    assert "in.jsonl: 1 row in 1 shard; " in said.err
    assert "to score: 1 row\n" in said.err
    assert "1 row in " in said.out


def test_the_price_is_told_where_it_is_known(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def cost(usage: Usage) -> float:
        return usage.prompt_tokens / 1000

    score_run(str(data), "faithfulness", tmp_path / "run", Used(), cost=cost)
    assert "4000 tokens, $4.0000, 40 answers" in capsys.readouterr().out


def test_quiet_commands_print_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache.db"))
    path = write(tmp_path / "in.jsonl", rows(2))
    folder = tmp_path / "run"
    words = ["score", str(path), "-m", "faithfulness", "--no-cache", "-q"]
    assert command([*words, "--run", str(folder)]) == 0
    assert command([*words, "--run", str(folder), "--resume"]) == 0
    assert command(words) == 0
    assert capsys.readouterr() == ("", "")
    (folder / "file").write_text("x")
    assert command([*words, "--run", str(folder / "file")]) == 1
    assert "--run takes a folder, and" in capsys.readouterr().err


# --- another judge ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 0.7}, "judge: openai:m with temperature 0.0, not 0.7"),
        ({"base_url": "http://b/v1"}, "judge: openai:m with base_url http://a/v1, not http://b/v1"),
        ({"extra": {"x": "secret"}}, "judge: openai:m with another extra"),
        ({"seed": None}, "judge: openai:m with seed 0, not none"),
        ({"packed": True}, "with other options, such as its URL, prompts or --packed"),
    ],
)
def test_what_differs_of_the_judge_is_named(
    tmp_path: Path,
    data: Path,
    options: dict[str, object],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    judge = openai_judge("m", base_url="http://a/v1")
    start(data, "faithfulness", judge, tmp_path / "run")
    paid(tmp_path / "run")
    other = openai_judge("m", **{"base_url": "http://a/v1", **options})  # type: ignore[arg-type]
    with pytest.raises(Exception, match="another run, begun with") as caught:
        score_run(str(data), "faithfulness", tmp_path / "run", other, resume=True)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value) + str(known_of(other))


def test_options_that_only_the_command_knows_are_named(tmp_path: Path, data: Path) -> None:
    given = {"--packed": "no"}
    judge = openai_judge("m", base_url="http://a/v1")
    start(data, "faithfulness", judge, tmp_path / "run", judged_by=given)
    paid(tmp_path / "run")
    other = openai_judge("m", base_url="http://a/v1", packed=True)
    with pytest.raises(Exception, match="openai:m with --packed no, not yes"):
        start(
            data,
            "faithfulness",
            other,
            tmp_path / "run",
            resume=True,
            judged_by={"--packed": "yes"},
        )
