"""Endpoints that go away while a run is at work: it stops, and is gone on with later."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from assay import ScriptedJudge, evaluate
from assay.asks import Ask, Judge, T
from assay.cli.runs import score_run
from assay.errors import JudgeError, JudgeUnavailable
from assay.judges.budget import Budgeted, Limit
from assay.judges.limiting import Limiter
from assay.judges.limits.circuit import Circuit
from assay.judges.memory.store import MemoryStore
from assay.judges.openai import openai_judge
from assay.judges.reaching import Reach, reach_of
from assay.judges.remembering import RememberingJudge
from assay.judges.retrying import Backoff
from assay.judges.route import RoutedJudge
from assay.runs import merge, score_to
from assay.runs.outages import OutageError
from scored_runs import METRICS, rows, write
from servers import FakeOpenAI, Fault, status

FAST = 200.0
"""How many times as fast the clock of a limiter goes here."""


def hurried(url: str, **options: int) -> Judge:
    """A judge whose waits for an endpoint take a two-hundredth of their time."""
    backoff = Backoff(sleep=lambda seconds: asyncio.sleep(seconds / FAST))
    limiter = Limiter(
        options.pop("concurrency", 8),
        deadline=None,
        adaptive_timeout=False,
        backoff=backoff,
        clock=lambda: time.monotonic() * FAST,
    )
    return openai_judge("fake", base_url=url, limiter=limiter)


def merged(folder: Path) -> bytes:
    out = folder.with_name(folder.name + ".jsonl")
    merge(folder, out)
    return out.read_bytes()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", rows(40))


def away(after: int) -> list[Fault | None]:
    """Proper answers, and then none any more."""
    return [None] * after + [status(503)] * 10_000


@pytest.mark.parametrize(("concurrency", "shard_rows"), [(1, 7), (1, 1), (16, 7), (64, 1)])
def test_a_run_whose_endpoint_goes_away_stops_and_is_gone_on_with(
    tmp_path: Path, data: Path, concurrency: int, shard_rows: int
) -> None:
    with FakeOpenAI().in_thread() as server:
        judge = hurried(server.url)
        score_to(tmp_path / "alone", data, METRICS, judge, shard_rows=shard_rows)
        server.faults = away(100)
        options: dict[str, Any] = {"shard_rows": shard_rows, "concurrency": concurrency}
        with pytest.raises(OutageError, match=r"calls in a row failed \(the last: .*503"):
            score_to(tmp_path / "run", data, METRICS, hurried(server.url), **options)
        kept = len(list((tmp_path / "run/shards").glob("*[0-9].jsonl")))
        assert kept < len(list((tmp_path / "alone/shards").glob("*[0-9].jsonl")))
        server.faults, before = [], server.calls
        score_to(tmp_path / "run", data, METRICS, hurried(server.url), **options, resume=True)
        assert server.calls > before
    assert merged(tmp_path / "run") == merged(tmp_path / "alone")


class Closing(FakeOpenAI):
    """A server whose port closes after ``most`` calls, until it is opened again."""

    most: float = float("inf")

    async def __aenter__(self) -> FakeOpenAI:
        self._loop = asyncio.get_running_loop()
        return await super().__aenter__()

    def come_back(self) -> None:
        self.most = float("inf")
        asyncio.run_coroutine_threadsafe(self._open_again(), self._loop).result(10)

    async def _open_again(self) -> None:
        assert self._runner is not None
        await web.TCPSite(self._runner, "127.0.0.1", urlsplit(self.url).port).start()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if self.calls < self.most:
            return await super()._answer(request)
        assert self._runner is not None
        for site in list(self._runner.sites):
            await site.stop()
        if request.transport is not None:
            request.transport.abort()
        return web.Response()


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_server_that_ends_and_is_started_again_leaves_no_trace(
    tmp_path: Path, data: Path, concurrency: int
) -> None:
    server = Closing()
    with server.in_thread():
        score_to(tmp_path / "alone", data, METRICS, hurried(server.url), shard_rows=9)
        server.most = server.calls + 70
        options: dict[str, Any] = {"shard_rows": 9, "concurrency": concurrency}
        folder = tmp_path / "run"
        with pytest.raises(OutageError, match=r"\(the last: cannot reach http://127\.0\.0\.1"):
            score_to(folder, data, METRICS, hurried(server.url), **options)
        with pytest.raises(OutageError, match="cannot reach"):  # it is not back yet
            score_to(folder, data, METRICS, hurried(server.url), **options, resume=True)
        server.come_back()
        resumed = score_to(folder, data, METRICS, hurried(server.url), **options, resume=True)
    assert 0 < resumed.scored < 40
    assert merged(folder) == merged(tmp_path / "alone")


def test_the_command_says_what_failed_how_far_it_is_and_how_to_go_on(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOpenAI().in_thread() as server:
        server.faults = away(100)
        folder = tmp_path / "run"
        names = ",".join(METRICS)
        code = score_run(str(data), names, folder, hurried(server.url), concurrency=4, quiet=True)
        assert code == 2
        said = capsys.readouterr()
        assert said.out == ""
        (line,) = said.err.splitlines()
        assert "calls in a row failed (the last: " in line
        done = int(line.partition(" of 40 rows are done")[0].rpartition(" ")[2])
        assert 0 < done < 40
        assert "the same command with --resume goes on" in line
        # While it is still out, a run stops after a few calls, and loses nothing.
        before = server.calls
        assert (
            score_run(str(data), names, folder, hurried(server.url), resume=True, quiet=True) == 2
        )
        assert f"{done} of 40 rows are done" in capsys.readouterr().err
        assert server.calls - before < 64
        server.faults = []
        assert score_run(str(data), names, folder, hurried(server.url), resume=True) == 2
        said = capsys.readouterr()
    assert f"to score: {40 - done} rows" in said.err  # without a reference, precision cannot be had
    assert "--retry-errors" not in said.err


def test_a_retry_that_meets_an_outage_leaves_the_shards_as_they_were(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOpenAI().in_thread() as server:
        score_to(tmp_path / "alone", data, METRICS, hurried(server.url))
        server.faults = [None, None, *[status(400)] * 3] * 30
        folder = tmp_path / "run"
        score_to(folder, data, METRICS, hurried(server.url), concurrency=1)
        assert (before := merged(folder)) != merged(tmp_path / "alone")
        server.faults = away(2)
        names = ",".join(METRICS)
        code = score_run(str(data), names, folder, hurried(server.url), retry_errors=True)
        assert code == 2
        assert "the same command with --retry-errors goes on" in capsys.readouterr().err
        assert merged(folder) == before
        server.faults = []
        score_to(folder, data, METRICS, hurried(server.url), retry_errors=True)
    assert merged(folder) == merged(tmp_path / "alone")


def test_a_fault_of_a_few_calls_is_no_outage(tmp_path: Path, data: Path) -> None:
    with FakeOpenAI().in_thread() as server:
        server.faults = [*[None] * 20, *[status(500)] * 9]
        outcome = score_to(
            tmp_path / "run", data, "faithfulness", hurried(server.url), concurrency=1
        )
    assert outcome.scored == 40
    assert outcome.failed == 1  # five attempts were one call's, and the next call got through


def test_in_memory_every_row_is_accounted_for(data: Path) -> None:
    with FakeOpenAI().in_thread() as server:
        server.faults = away(60)
        run = evaluate(data, "faithfulness", hurried(server.url))
    assert len(run) == 40
    assert 0 < run.failed < 40


class Cut(ScriptedJudge):
    """Answers so many asks, then fails; silent at first, and out from a further ask on."""

    def __init__(self, served: int, out_after: int, back_after: int | None = None) -> None:
        super().__init__()
        self._served, self._out, self._back = served, out_after, back_after
        self._asked = 0

    @property
    def reach(self) -> Reach:
        back = self._back is not None and self._asked > self._back
        silent = self._asked > self._served and not back
        return Reach(silent, "gone" if silent and self._asked > self._out else "")

    async def answer(self, ask: Ask[T]) -> T:
        self._asked += 1
        if self.reach.silent:
            raise JudgeUnavailable("connection refused")
        return await super().answer(ask)


@pytest.mark.parametrize("shard_rows", [1, 3, 100])
def test_rows_that_fail_before_the_endpoint_is_given_up_are_left_for_later(
    tmp_path: Path, data: Path, shard_rows: int
) -> None:
    score_to(tmp_path / "alone", data, METRICS, ScriptedJudge(), shard_rows=shard_rows)
    told: list[str] = []
    with pytest.raises(OutageError, match="gone"):
        score_to(
            tmp_path / "run",
            data,
            METRICS,
            Cut(served=30, out_after=50),
            shard_rows=shard_rows,
            concurrency=2,
            watch=lambda row: told.append(row.failure),
        )
    assert 0 < len(told) < 30
    assert not any("refused" in reason for reason in told)
    resumed = score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), resume=True)
    assert resumed.scored == 40 - len(told)
    assert merged(tmp_path / "run") == merged(tmp_path / "alone")


@pytest.mark.parametrize("shard_rows", [1, 3, 100])
@pytest.mark.parametrize("back_after", [50, None])
def test_rows_that_failed_are_put_down_when_others_are_served_or_none_are_left(
    tmp_path: Path, data: Path, shard_rows: int, back_after: int | None
) -> None:
    judge = Cut(served=30, out_after=10**9, back_after=back_after)
    told: list[str] = []
    outcome = score_to(
        tmp_path / "run",
        data,
        METRICS,
        judge,
        shard_rows=shard_rows,
        concurrency=2,
        watch=lambda row: told.append(row.failure),
    )
    assert outcome.scored == len(told) == 40
    refused = sum("refused" in reason for reason in told)
    assert refused == outcome.failed - sum("no references" in reason for reason in told)
    assert refused > 0


def test_more_rows_than_are_kept_back_are_put_down_in_turn(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", rows(600))
    judge = Cut(served=0, out_after=500)
    told: list[str] = []
    with pytest.raises(OutageError):
        score_to(
            tmp_path / "run",
            path,
            "faithfulness",
            judge,
            shard_rows=1,
            watch=lambda row: told.append(row.failure),
        )
    assert 500 - 256 - 40 < len(told) <= 500 - 256


def test_judges_around_a_judge_pass_on_how_its_calls_go() -> None:
    out = Cut(served=-1, out_after=-1)
    fine = ScriptedJudge()
    assert reach_of(fine) == Reach()
    assert reach_of(RememberingJudge(out, MemoryStore())).outage == "gone"
    assert reach_of(Budgeted(out, Limit(calls=5))).outage == "gone"
    assert reach_of(RoutedJudge(extract=fine, entail=out)).outage == "gone"
    assert reach_of(RoutedJudge(extract=out, entail=fine)).outage == "gone"
    assert reach_of(RoutedJudge(extract=fine, entail=fine)) == Reach()
    assert reach_of(object()) == Reach()


def test_a_circuit_tells_hope_from_none() -> None:
    circuit = Circuit()
    assert circuit.reach(0) == Reach()
    circuit.served(0)
    for _ in range(9):
        circuit.failed(1, "HTTP 500", limited=False, probe=False)
    assert circuit.reach(99) == Reach(silent=True)  # not open: it is still asked
    circuit.failed(1, "HTTP 500", limited=False, probe=False)
    assert circuit.reach(29) == Reach(silent=True)
    assert circuit.reach(30) == Reach(True, "10 calls in a row failed (the last: HTTP 500)")
    circuit.served(40)
    assert circuit.reach(40) == Reach()


def test_an_outage_is_an_error_of_the_judge() -> None:
    assert issubclass(OutageError, JudgeError)
