"""A line that scores becomes one that plans: its options, its bad rows, its budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.app import run as command
from assay.errors import DataError
from assay.judges.budget import Limit
from assay.planning.budgeting import Sufficing, sufficing
from assay.planning.planner import plan as make_plan
from assay.planning.prices import Price, Prices
from assay.planning.readable import read_what_can_be
from scored_runs import rows, write
from servers import FakeOpenAI

PRICED = ["--price-input", "1", "--price-output", "4"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", rows(130))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI().in_thread() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("COLUMNS", "200")
        yield running


def spoil(data: Path, *lines: int) -> Path:
    """The same file with lines that cannot be read; they are counted from 1, without blank ones."""
    kept = [line for line in data.read_text("utf-8").splitlines() if line]
    for number in lines:
        kept[number - 1] = '{"id": "x", "response": 5, "contexts": 3}' if number % 2 else "{bad"
    data.write_text("\n".join(kept), "utf-8")
    return data


def planned(capsys: pytest.CaptureFixture[str], data: Path, *options: str) -> str:
    line = ["plan", str(data), "-m", "faithfulness", "-j", "openai:m", *options]
    assert command(line) == 0
    return capsys.readouterr().out


# --- rows that cannot be read ----------------------------------------------------------------


def test_bad_rows_are_left_out_and_counted(
    data: Path, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    said = planned(capsys, spoil(data, 111, 120), "--pilot", "2")
    assert "128 samples, 1 metric" in said
    assert "note: 2 rows cannot be read and are not counted; score --run gives them" in said
    assert "in.jsonl, line 111: column 'contexts'" in said
    told = json.loads(planned(capsys, data, "--pilot", "0", "--json"))
    assert (told["samples"], told["unread"]) == (128, 2)


def test_tables_and_documents_are_read_as_a_run_reads_them(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text("question,response,contexts\n" + 'a,b,"[""c""]"\n' * 120, "utf-8")
    assert len(read_what_can_be(str(table)).samples) == 120
    document = tmp_path / "in.json"
    document.write_text(json.dumps(rows(3)), "utf-8")
    found = read_what_can_be(str(document), columns={"id": "question"})
    assert (len(found.samples), found.unread, found.name) == (3, 0, "in.json")
    empty = tmp_path / "none.jsonl"
    empty.write_text("\n\n", "utf-8")
    with pytest.raises(DataError, match="holds no rows"):
        read_what_can_be(str(empty))
    spoiled = spoil(write(tmp_path / "bad.jsonl", rows(120)), 50)
    with pytest.raises(DataError, match="line 50"):
        read_what_can_be(str(spoiled))


# --- options ---------------------------------------------------------------------------------


def test_a_line_that_scores_plans_by_changing_one_word(
    data: Path, server: FakeOpenAI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = (
        "--budget 5 --budget-tokens 9000000 --budget-calls 9000 --tpm 600000 --rpm 600 --timeout 9 "
        "--calls 4 --concurrency 8 --run DIR --resume --retry-errors --shard 1/2 --shard-rows 9 "
        "--shard-format parquet --engine ray --workers 2 -q -o x.jsonl --no-cache"
    )
    options = line.replace("DIR", str(tmp_path / "run")).split()
    said = planned(capsys, data, *PRICED, *options, "--pilot", "3")
    assert "time    " in said
    assert "with 4 calls at once and 600 a minute, 600 k tokens a minute" in said
    ignored = "--out, --concurrency, --run, --resume, --retry-errors, --shard, --shard-rows"
    assert f"note: a plan does not depend on {ignored}" in said
    assert "budget  $5.00, 9.00 M tokens, 9,000 calls: suffices" in said
    assert not (tmp_path / "run").exists()


def test_offline_asks_nobody(
    data: Path, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    planned(capsys, data, "--offline")
    assert server.calls == 0


def test_a_limit_of_tokens_a_minute_takes_time() -> None:
    def seconds(**limits: Any) -> float:
        found = make_plan(rows(500), "faithfulness", "openai:m", pilot=0, **limits)
        assert found.total.seconds is not None
        tokens = found.total.prompt_tokens.value + found.total.completion_tokens.value
        return found.total.seconds.value / (tokens / 60)

    assert seconds(tpm=60 * 60) == pytest.approx(1, rel=0.01)
    assert seconds(tpm=1e12) == seconds()


def test_batches_have_their_price_and_their_time(
    data: Path, server: FakeOpenAI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("m: {input: 1, output: 4, batch: 0.5}", "utf-8")
    options = ["--pilot", "0", "--prices", str(prices), "--budget-calls", "50"]
    said = planned(capsys, data, *options, "--batch", str(tmp_path / "b"))
    assert "time    up to a day for each batch" in said
    assert " if it were not asked in batches; $1.00 in" in said
    assert "in the provider's batches, at half price" in said
    assert "if it were not" not in planned(capsys, data, *options)


# --- budgets ---------------------------------------------------------------------------------


def test_a_budget_is_told_how_far_it_goes(
    data: Path, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    said = planned(capsys, data, *PRICED, "--pilot", "10", "--budget-calls", "120")
    # Three calls a row; those of the pilot are in the cache.
    assert "budget  120 calls: pays for about 50 of 130 samples" in said
    told = json.loads(planned(capsys, data, "--pilot", "0", "--budget", "1", "--json"))
    assert told["budget"] is None
    assert "budget  $1.00: cannot be kept, since the price is unknown" in planned(
        capsys, data, "--pilot", "0", "--budget", "1"
    )


def test_half_a_price_pays_for_twice_the_rows() -> None:
    prices = Prices(table={"m": Price(1, 4, batch=0.5)})
    found = make_plan(rows(100), "faithfulness", "openai:m", pilot=0, prices=prices)
    assert found.total.cost is not None
    limit = Limit(usd=found.total.cost.value / 4)
    alone = sufficing(found, limit, remembers=True, batched=False)
    batched = sufficing(found, limit, remembers=True, batched=True)
    assert alone is not None
    assert batched is not None
    assert (alone.samples, batched.samples) == (25, 50)
    assert alone.at_least < alone.samples
    assert sufficing(found, Limit(tokens=10**9), remembers=False, batched=False) == Sufficing(
        100, 100, 100
    )


def test_a_local_judge_needs_no_budget_and_no_price(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [str(data), "-m", "faithfulness", "-j", "embedded", "--budget", "5"]
    assert command(["plan", *line, "--pilot", "0", "--rpm", "5", "--timeout", "9"]) == 0
    said = capsys.readouterr().out
    assert "budget  not needed: embedded is a model on this machine and costs nothing" in said
    assert "--price-input" not in said
    assert command(["score", *line]) == 1
    said = capsys.readouterr().err
    assert "the judge embedded is a model on this machine and costs nothing: leave out" in said
