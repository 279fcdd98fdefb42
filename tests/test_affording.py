"""Budgets that finish the rows that they begin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from assay import Sample, ScriptedJudge, openai
from assay.api import open_metrics
from assay.asks import Judge
from assay.cli.judging import Judging
from assay.cli.score_commands import score
from assay.errors import ConfigError
from assay.judges.budget import Budgeted, Limit
from assay.judges.reaching import Reach
from assay.metrics import Metric
from assay.planning.affording import SHARE, Thrifty, held_to_budget
from scored_runs import rows, write
from servers import FakeOpenAI

CALLS = 3
"""Calls that a row of `rows` takes for faithfulness: claims, and a verdict for each context."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI(latency=0.01).in_thread() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def samples(n: int) -> list[Sample]:
    return [
        Sample(r["question"], r["response"], r["contexts"], id=str(k))
        for k, r in enumerate(rows(n))
    ]


def thrifty(judge: Judge, limit: int, **options: float) -> Thrifty:
    budget = Budgeted(judge, Limit(calls=limit))
    return Thrifty(budget, budget, judge, **options)


@pytest.mark.parametrize(
    ("limit", "most", "expected"),
    [(1, 64, 1), (30, 64, 1), (96, 64, 4), (10**6, 64, 64), (960, 7, 7)],
)
async def test_an_eighth_of_what_is_paid_for_is_in_work(
    limit: int, most: int, expected: int
) -> None:
    judge, metrics = openai("m", base_url="http://127.0.0.1:1/v1"), open_metrics("faithfulness")
    assert await thrifty(judge, limit).at_once(most, samples(50), metrics) == expected
    assert judge.usage.calls == 0
    assert SHARE == 1 / 8
    half = await thrifty(judge, limit, share=0.5).at_once(999, samples(50), metrics)
    assert half == min(999, max(1, limit // CALLS // 2))


async def test_without_a_budget_or_foresight_nothing_is_held_back() -> None:
    metrics = open_metrics("faithfulness")
    assert await held_to_budget(ScriptedJudge(), 64, samples(3), metrics) == 64
    judge = thrifty(ScriptedJudge(), 5)
    assert await held_to_budget(judge, 64, [], metrics) == 64

    class Odd:
        @property
        def needs(self) -> tuple[object, ...]:
            raise ConfigError("what this takes cannot be foreseen")

    odd = {"odd": cast("Metric", Odd())}
    assert await held_to_budget(judge, 64, samples(3), odd) == 64


def test_it_passes_on_all_of_the_judge() -> None:
    class Out(ScriptedJudge):
        reach = Reach(silent=True, outage="gone")

    inner = Out(name="n")
    judge = thrifty(inner, 5)
    assert (judge.name, judge.fingerprint, judge.usage) == ("n", inner.fingerprint, inner.usage)
    assert judge.reach.outage == "gone"
    assert judge.can("entail") == inner.can("entail")


@pytest.mark.parametrize("in_folder", [True, False])
def test_small_budgets_finish_most_of_the_rows_that_they_pay_for(
    tmp_path: Path, server: FakeOpenAI, in_folder: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(tmp_path / "in.jsonl", rows(200))
    where = {"folder": tmp_path / "run"} if in_folder else {"out": str(tmp_path / "o.jsonl")}
    code = score(
        str(data), "faithfulness", judge="openai:m", budget_calls=10 * CALLS, quiet=True, **where
    )
    assert code == 2
    assert server.calls <= 10 * CALLS
    files = [*tmp_path.glob("run/shards/*.partial.jsonl"), *tmp_path.glob("*.partial")]
    (path,) = files
    assert len(path.read_bytes().splitlines()) >= 8
    assert "30 of 30 calls" in capsys.readouterr().err


def test_a_resumed_budget_is_told_as_a_whole(
    tmp_path: Path, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(tmp_path / "in.jsonl", rows(200))

    def go(calls: int) -> int:
        return score(
            str(data),
            "faithfulness",
            judge="openai:m",
            budget_calls=calls,
            folder=tmp_path / "run",
            resume=True,
            quiet=True,
        )

    assert go(30) == 2
    with pytest.raises(ConfigError, match="the run has used 30 calls already: give a --budget-cal"):
        go(30)
    capsys.readouterr()
    assert go(60) == 2
    assert "60 of 60 calls (this process: 30; the next ask: " in capsys.readouterr().err
    assert server.calls == 60
    told = (tmp_path / "run/usage.jsonl").read_text("utf-8").splitlines()
    assert json.loads(told[-1])["calls"] == 30


def test_a_budget_of_a_batch_may_have_half_of_the_rows_in_work(tmp_path: Path) -> None:
    opened = Judging("openai:m", requests=600, batch=tmp_path / "b").opened()
    assert isinstance(opened.judge, Thrifty)
    alone = Judging("openai:m").opened()
    assert not isinstance(alone.judge, Thrifty)
