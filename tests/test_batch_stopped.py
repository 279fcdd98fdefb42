"""Batch runs that are interrupted, out of reach or out of budget: nothing is paid twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay.asks import Extract
from assay.cli import scoring
from assay.cli.app import run
from assay.judges.batch import judge as batch_module
from assay.judges.batch.following import Polling
from assay.judges.batch.judge import BatchJudge, open_batch_judge
from assay.judges.batch.leaving import batches_of
from assay.judges.batch.nonces import RunNonces
from assay.judges.budget import Budgeted, Limit
from assay.judges.memory.store import MemoryStore
from assay.judges.openai import openai_judge
from assay.judges.remembering import RememberingJudge
from assay.judges.retrying import Backoff
from batch_server import BatchServer
from scored_runs import rows, write

QUICK: dict[str, Any] = {
    "quiet": 0.05,
    "polling": Polling(first=0.01, longest=0.05, outage=0.02),
    "backoff": Backoff(first=0.001, longest=0.002),
}
PROGRAM = """
import signal, sys
from test_batch_stopped import hurry
from assay.cli.app import main
signal.signal(signal.SIGINT, signal.default_int_handler)
hurry()
main()
"""


def hurry() -> None:
    """Have the command line ask for its batches more often, with fewer samples in work."""
    batch_module.open_batch_judge = partial(open_batch_judge, **QUICK)
    scoring.AT_ONCE = 100


def judge_at(server: BatchServer, state: Path) -> BatchJudge:
    return open_batch_judge("fake", state=state, base_url=server.url, **QUICK)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """An endpoint with batches, which commands ask in the place of OpenAI's."""
    monkeypatch.setattr(batch_module, "open_batch_judge", open_batch_judge)
    monkeypatch.setattr(scoring, "AT_ONCE", scoring.AT_ONCE)
    hurry()
    with BatchServer().in_thread() as running:
        assert isinstance(running, BatchServer)
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def command(folder: Path, where: str) -> list[str]:
    """Three samples to score in batches, into a file ("-o") or a run ("--run")."""
    data, out = write(folder / "in.jsonl", rows(3)), folder / "out.jsonl"
    words = ["score", str(data), "-m", "faithfulness", "-j", "openai:fake", "--no-cache"]
    return [*words, "--batch", str(folder / "state"), where, str(out)]


def check_the_rest(server: BatchServer, words: list[str]) -> None:
    """Let the command come to its end: each request was paid once."""
    assert run([*words, *(["--resume"] if "--run" in words else [])]) == 0
    assert len(server.lines) == len(set(server.lines)) == 9


@pytest.mark.parametrize("signals", [1, 5])
@pytest.mark.parametrize(
    ("where", "budget"), [("-o", []), ("--run", []), ("--run", ["--budget-calls", "100"])]
)
def test_the_first_interrupt_leaves_the_batches_and_says_how_to_go_on(
    tmp_path: Path, server: BatchServer, where: str, budget: list[str], signals: int
) -> None:
    server.course(0).held = True
    words = command(tmp_path, where)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words, *budget],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    try:
        until(lambda: server.log.count("GET /batches/batch_0") > 1)
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130, said
    last = said.splitlines()[-1]
    assert last.startswith("assay: stopped; ")
    assert "0 of 3" in last
    how = "go on with the same command and --resume" if where == "--run" else "the same command"
    assert f"1 batch goes on at the endpoint: {how}" in last
    assert said.count("assay:") == 1
    for noise in ("Traceback", "Unclosed", "Task was", "in work are finished"):
        assert noise not in said
    server.course(0).held = False
    check_the_rest(server, words)


@pytest.mark.parametrize("fault", ["POST /files", "POST /batches", "GET /batches/", "GET /files/"])
@pytest.mark.parametrize("where", ["-o", "--run"])
def test_an_endpoint_that_goes_away_ends_the_command_which_says_how_to_go_on(
    tmp_path: Path,
    server: BatchServer,
    capsys: pytest.CaptureFixture[str],
    where: str,
    fault: str,
) -> None:
    words = command(tmp_path, where)
    server.http[fault] = [503] * 200
    assert run(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "503" in said
    assert "when the endpoint is back, the same command" in said
    assert ("1 batch goes on at the endpoint" in said) == fault.startswith("GET")
    assert ("--resume" in said) == (where == "--run")
    server.http.clear()
    check_the_rest(server, words)
    assert "goes on" not in capsys.readouterr().err


SAMPLES = [
    {"id": f"s{n}", "response": f"Rain {n} is wet. Fog {n} is sweet.", "contexts": [f"Rain {n}."]}
    for n in range(4)
]


@pytest.mark.parametrize("bounded", [(True, False), (False, True)])
def test_a_budget_changes_no_request(
    tmp_path: Path, server: BatchServer, bounded: tuple[bool, bool]
) -> None:
    for budget in bounded:
        judge = judge_at(server, tmp_path)
        asked = Budgeted(judge, Limit(calls=100)) if budget else judge
        assert not evaluate(SAMPLES, "faithfulness", asked, concurrency=100).failed
        assert len(server.lines) == len(set(server.lines)) == 8


def test_what_a_budget_stopped_goes_on_without_it(tmp_path: Path, server: BatchServer) -> None:
    asked = Budgeted(judge_at(server, tmp_path), Limit(calls=3))
    stopped = evaluate(SAMPLES, "faithfulness", asked, concurrency=100)
    assert "stopped" in stopped.provenance
    result = evaluate(SAMPLES, "faithfulness", judge_at(server, tmp_path), concurrency=100)
    assert not result.failed
    assert len(server.lines) == len(set(server.lines)) == 8


def test_calls_that_are_only_measured_open_no_folder_and_draw_no_nonce(tmp_path: Path) -> None:
    judge = open_batch_judge("fake", state=tmp_path / "state", base_url="http://127.0.0.1:9/v1")
    plain = openai_judge("fake", base_url="http://127.0.0.1:9/v1")
    ask = Extract("It rains.")
    assert judge.calls_for(ask) == plain.calls_for(ask)
    assert not (tmp_path / "state").exists()
    nonces, others = RunNonces(lambda: b"x" * 32), RunNonces(lambda: b"x" * 32)
    with nonces.blank():
        assert nonces("a", "b") == nonces("a", "b") == "0" * 16
    assert nonces("a", "b") == others("a", "b") != "0" * 16


async def test_that_a_judge_waits_for_batches_is_seen_through_what_is_around_it(
    tmp_path: Path,
) -> None:
    judge = open_batch_judge("fake", state=tmp_path, base_url="http://127.0.0.1:9/v1")
    around = RememberingJudge(Budgeted(judge, Limit(calls=9)), MemoryStore())
    assert batches_of(judge) == batches_of(around) == 0
    plain = openai_judge("fake", base_url="http://127.0.0.1:9/v1")
    assert batches_of(plain) is None
    assert batches_of(object()) is None
