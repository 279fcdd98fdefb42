"""``assay plan`` on the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
from assay.asks import Extract
from assay.cli.plan import budgeted, open_prices, plan
from assay.errors import BudgetSpent, ConfigError
from assay.judges.batch.following import Polling
from assay.judges.batch.judge import open_batch_judge
from assay.judges.budget import Budgeted
from assay.planning.prices import Price, Prices
from batch_server import BatchServer
from servers import FakeOpenAI

ROWS = [
    {
        "id": str(k),
        "question": f"What of {k}?",
        "response": f"The lamp {k} was lit. The keeper {k} kept bees.",
        "contexts": [f"The lamp {k} was lit.", "The island has no trees."],
        "reference": f"The lamp {k} was lit.",
    }
    for k in range(8)
]
NAMES = "faithfulness,noise_sensitivity(mode=irrelevant),precision"


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return str(path)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI().in_thread() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@pytest.mark.parametrize("columns", [80, 100])
def test_the_tables_fit_the_terminal(
    data: str,
    server: FakeOpenAI,
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code = plan(data, NAMES, "openai:m", pilot=8, price_input=1.0, price_output=4.0)
    said = capsys.readouterr().out
    assert code == 0
    assert "8 samples, 3 metrics, judge openai:m" in said
    # A response, a reference, two contexts, and the response against the reference.
    assert server.calls == 8 * 5
    assert "calls   40 (exact)\n" in said
    assert "pilot   8 samples took 40 calls, $" in said
    assert "left: 0 calls, $0" in said
    table = [line for line in said.splitlines() if not line.startswith(("cost", "note"))]
    assert max(map(len, table)) <= columns


def test_json_has_every_quantity_with_its_interval(
    data: str, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(data, NAMES, "openai:m", pilot=0, as_json=True, price_input=1.0, price_output=4.0)
    said = json.loads(capsys.readouterr().out)
    assert server.calls == 0
    assert set(said["metrics"]) == {
        "faithfulness",
        "noise_sensitivity(mode=irrelevant)",
        "precision",
    }
    for name in ("calls", "prompt_tokens", "completion_tokens", "cost", "seconds"):
        amount = said["total"][name]
        assert amount["low"] <= amount["value"] <= amount["high"]
    assert said["pilot"]["samples"] == 0
    assert said["measured"] is False
    assert said["total"]["calls"]["exact"] is False
    assert said["work"]["claims"]["calls"] == {"value": 16, "low": 16, "high": 16, "exact": True}
    assert said["price"] == {"input": 1.0, "output": 4.0, "batch": None, "source": "given"}


def test_the_pilot_stays_in_the_cache_unless_told_otherwise(
    data: str, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(data, NAMES, "openai:m", pilot=8, cache=False)
    assert server.calls == 40
    plan(data, NAMES, "openai:m", pilot=4)
    assert server.calls == 60
    plan(data, NAMES, "openai:m", pilot=8)
    assert server.calls == 80
    said = capsys.readouterr().out
    # Two contexts are one ask, and two calls.
    assert "cached  16 answers, which save 20 calls" in said


def test_an_unknown_price_and_hostile_names_are_said_plainly(
    data: str, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(data, "faithfulness", "openai:evil\x1b[31m[bold]", pilot=0)
    said = capsys.readouterr().out
    assert "cost    price unknown" in said
    assert "note: price unknown: evil [31m[bold];" in said
    assert "\x1b" not in said


def test_a_local_judge_takes_pairs(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan(data, "faithfulness", "embedded", pilot=2)
    said = capsys.readouterr().out
    assert "2 samples took" in said
    assert "pairs" in said
    assert "$" not in said
    assert "tokens" not in said


def test_prices_come_in_twos(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="both"):
        open_prices(1.0, None)
    path = tmp_path / "prices.yaml"
    path.write_text("m: {input: 1, output: 2}", "utf-8")
    found = open_prices(path=str(path)).of("m", "http://127.0.0.1/v1")
    assert found is not None
    assert (found.input, found.source) == (1, "prices.yaml")


async def test_a_budget_reckons_batches_at_their_price(tmp_path: Path) -> None:
    prices = Prices(table={"m": Price(2, 8, batch=0.5)})
    asks = [Extract("The lamp was lit."), Extract("The lamp was dim.")]
    async with BatchServer() as server:
        plain = assay.openai("m", base_url=server.url)
        await plain.answer(asks[0])
        one = Price(2, 8).of(plain.usage.prompt_tokens, plain.usage.completion_tokens)
        limited = budgeted(plain, usd=1.75 * one, prices=prices)
        await limited.answer(asks[0])
        with pytest.raises(BudgetSpent):
            await limited.answer(asks[1])
        await limited.aclose()
        batched = open_batch_judge(
            "m",
            state=tmp_path / "run",
            base_url=server.url,
            quiet=0.01,
            polling=Polling(first=0.002, longest=0.01),
        )
        limited = budgeted(batched, usd=1.75 * one, prices=prices)
        for ask in asks:  # at half the price, both are paid for
            assert await limited.answer(ask)
        with pytest.raises(BudgetSpent):
            await limited.answer(Extract("The lamp was out."))
        await limited.aclose()


def test_budgets_from_options() -> None:
    judge = assay.openai("m", base_url="http://127.0.0.1:1/v1")
    assert budgeted(judge) is judge
    assert isinstance(budgeted(judge, tokens=5), Budgeted)
    assert isinstance(budgeted(judge, usd=5, prices=open_prices(1, 2)), Budgeted)
    with pytest.raises(ConfigError, match="price of openai:m is not known"):
        budgeted(judge, usd=5, prices=Prices())
