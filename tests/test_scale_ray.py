"""Runs by Ray: the same tables, also where workers are killed; limits over all workers."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge
from assay.asks import Ask, T
from assay.errors import AssayError, ConfigError, JudgeUnavailable, JudgeUnusable, MissingExtra
from assay.judges.limiting import Limiter
from assay.judges.openai import openai_judge
from assay.judges.reaching import Reach
from assay.runs import merge, score_to, start
from assay.runs import run as run_here
from assay.runs.outages import OutageError
from assay.runs.usage import read_usage
from assay.scale.cluster import cluster, load_ray
from assay.scale.ray import run
from scored_runs import METRICS, Flaky, rows, write
from servers import FakeOpenAI, status

try:
    load_ray()
except MissingExtra as error:
    pytest.skip(str(error), allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")


class Slow(ScriptedJudge):
    """Takes its time, and says in which process it was made."""

    def __init__(self, folder: Path, seconds: float = 0.02) -> None:
        super().__init__()
        (folder / f"{os.getpid()}.pid").touch()
        self._seconds = seconds

    async def answer(self, ask: Ask[T]) -> T:
        await asyncio.sleep(self._seconds)
        return await super().answer(ask)


@pytest.fixture(scope="module")
def _ray() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # Workers import the judges of this file.
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        with cluster(None, 4):
            yield


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", rows(60))


def merged(folder: Path) -> bytes:
    out = folder.with_name(folder.name + ".jsonl")
    merge(folder, out)
    return out.read_bytes()


def pids(folder: Path) -> list[int]:
    return [int(path.stem) for path in folder.glob("*.pid")]


def test_a_cluster_that_is_not_there_is_named_at_once() -> None:
    # This comes first: afterwards, a cluster is connected.
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConfigError, match=f"no Ray cluster at {address}"), cluster(address, 1):
        pass


@pytest.mark.usefixtures("_ray")
def test_the_table_is_that_of_a_local_run_and_one_goes_on_with_the_other(
    tmp_path: Path, data: Path
) -> None:
    score_to(tmp_path / "here", data, METRICS, ScriptedJudge(), shard_rows=7)
    start(data, METRICS, ScriptedJudge(), tmp_path / "there", shard_rows=7)
    run_here(tmp_path / "there", ScriptedJudge(), part=(1, 3))
    told: list[str] = []
    outcome = run(tmp_path / "there", lambda: Slow(tmp_path), actors=2, watch=told.append)
    assert merged(tmp_path / "there") == merged(tmp_path / "here")
    assert len(outcome.reports) == 9
    assert (outcome.scored, outcome.failed, outcome.stopped) == (60 - 3 * 7, 9, False)
    assert len(told) == outcome.scored
    assert sum(map(bool, told)) == 6  # rows without a reference
    assert outcome.usage.calls == 3 * (60 - 3 * 7) - 6
    made = len(pids(tmp_path))
    assert 1 <= made <= 2  # a judge for each actor that came in time, made once
    assert 2 <= read_usage(tmp_path / "there" / "usage.jsonl").processes <= 1 + made
    again = run(tmp_path / "there", lambda: Slow(tmp_path))
    assert (again.scored, len(again.reports)) == (0, 9)


@pytest.mark.usefixtures("_ray")
def test_what_a_killed_worker_was_at_is_done_again(tmp_path: Path, data: Path) -> None:
    score_to(tmp_path / "here", data, METRICS, ScriptedJudge(), shard_rows=10)
    start(data, METRICS, ScriptedJudge(), tmp_path / "there", shard_rows=10)
    killed: list[int] = []

    def watch(_: str) -> None:
        if not killed:
            killed.append(pids(tmp_path)[0])
            os.kill(killed[0], signal.SIGKILL)

    outcome = run(
        tmp_path / "there",
        lambda _: Slow(tmp_path, 0.1),
        actors=2,
        concurrency=2,
        rpm=6000,  # the pool of the rates is found again
        watch=watch,
    )
    assert killed
    assert len(pids(tmp_path)) >= 2  # another took its place, if there was work left
    assert not outcome.elsewhere
    assert merged(tmp_path / "there") == merged(tmp_path / "here")


@pytest.mark.usefixtures("_ray")
def test_all_actors_together_keep_the_rate(tmp_path: Path) -> None:
    data = write(tmp_path / "in.jsonl", rows(30))
    server = Stamped()
    with server.in_thread():
        options: dict[str, Any] = {"base_url": server.url, "embedding_model": None}
        start(data, "faithfulness", openai_judge("m", **options), tmp_path / "run", shard_rows=2)
        outcome = run(
            tmp_path / "run", "openai:m", actors=2, options=options, rpm=1200, concurrency=8
        )
    assert (outcome.failed, outcome.usage.calls) == (0, 90)
    times = server.times
    # 20 a second after a first second's worth
    assert times[-1] - times[0] >= 0.9 * (90 - 20) / 20
    assert max(sum(t <= u < t + 1 for u in times) for t in times) <= 3 * 20


class Stamped(FakeOpenAI):
    """Notes when requests come."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.times: list[float] = []

    async def _answer(self, request: Any) -> Any:
        self.times.append(time.monotonic())
        return await super()._answer(request)


@pytest.mark.usefixtures("_ray")
def test_a_wait_that_one_is_told_to_keep_is_kept_by_all(tmp_path: Path) -> None:
    data = write(tmp_path / "in.jsonl", rows(12))
    server = Stamped(faults=[None] * 6 + [status(429, Retry_After="2")])
    with server.in_thread():
        url = server.url

        def made(limiter: Limiter | None = None) -> Any:
            return openai_judge("m", base_url=url, embedding_model=None, limiter=limiter)

        start(data, "faithfulness", made(), tmp_path / "run", shard_rows=1)
        server.latency = 0.1
        outcome = run(tmp_path / "run", made, actors=2, concurrency=1, rpm=60_000)
    assert (outcome.failed, outcome.usage.calls, outcome.usage.retries) == (0, 37, 1)
    times = server.times
    # What was on its way comes in yet; then nobody asks for two seconds.
    assert sum(a - times[6] < 1.9 for a in times[7:]) <= 2


@pytest.mark.usefixtures("_ray")
def test_a_judge_that_cannot_be_used_ends_the_run(tmp_path: Path, data: Path) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=10)

    def made() -> ScriptedJudge:
        judge = Flaky()
        judge.unusable_after = 20
        return judge

    with pytest.raises(JudgeUnusable, match="the key is wrong"):
        run(tmp_path / "run", made, actors=2)
    score_to(tmp_path / "here", data, METRICS, ScriptedJudge(), shard_rows=10)
    assert run(tmp_path / "run", ScriptedJudge, actors=1).failed == 9
    assert merged(tmp_path / "run") == merged(tmp_path / "here")


class Leaving(ScriptedJudge):
    """An endpoint that is out after so many asks."""

    @property
    def reach(self) -> Reach:
        out = self.usage.calls >= 20
        return Reach(out, "10 calls in a row failed" if out else "")

    async def answer(self, ask: Ask[T]) -> T:
        if self.reach.outage:
            raise JudgeUnavailable("connection refused")
        return await super().answer(ask)


@pytest.mark.usefixtures("_ray")
def test_an_endpoint_that_goes_away_stops_the_run_and_loses_no_row(
    tmp_path: Path, data: Path
) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=10)
    with pytest.raises(OutageError, match=r"^10 calls in a row failed$"):
        run(tmp_path / "run", Leaving, actors=2)
    score_to(tmp_path / "here", data, METRICS, ScriptedJudge(), shard_rows=10)
    resumed = run(tmp_path / "run", ScriptedJudge, actors=1)
    assert 0 < resumed.scored < 60
    assert merged(tmp_path / "run") == merged(tmp_path / "here")


@pytest.mark.usefixtures("_ray")
def test_what_cannot_work_is_said_before_anything_is_asked(tmp_path: Path, data: Path) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=10)
    with pytest.raises(ConfigError, match="has another judge: scripted"):
        run(tmp_path / "run", "embedded", actors=1)
    with pytest.raises(ConfigError, match="connected already"):
        run(tmp_path / "run", ScriptedJudge, address="127.0.0.1:1")
    with pytest.raises(ConfigError, match="actors must be at least 1, not 0"):
        run(tmp_path / "run", ScriptedJudge, actors=0)
    with pytest.raises(ConfigError, match="rpm must be above 0"):
        run(tmp_path / "run", "openai:m", rpm=-1)
    with pytest.raises(ConfigError, match="rpm is that of all actors"):
        run(tmp_path / "run", "openai:m", options={"rpm": 3})
    with pytest.raises(ConfigError, match=r"judge 'openai:m': .*'colour'"):
        run(tmp_path / "run", "openai:m", options={"colour": 3}, actors=1)
    with pytest.raises(ConfigError, match="not called over a network"):
        run(tmp_path / "run", "embedded", rpm=60)


@pytest.mark.usefixtures("_ray")
def test_a_function_that_workers_do_not_find_is_named(tmp_path: Path, data: Path) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=30)
    nowhere = types.ModuleType("nowhere")
    sys.modules["nowhere"] = nowhere

    def made() -> ScriptedJudge:
        return ScriptedJudge()

    made.__module__, made.__qualname__ = "nowhere", "made"
    nowhere.made = made  # type: ignore[attr-defined]
    try:
        with pytest.raises(AssayError, match=r"all workers died: .*No module named 'nowhere'"):
            run(tmp_path / "run", made, actors=2)
    finally:
        del sys.modules["nowhere"]


ALONE = """
import sys
from pathlib import Path
from assay import ScriptedJudge
from assay.runs import start
from assay.scale.ray import run
from test_scale_ray import Slow

here = Path(sys.argv[1])
outcome = run(here / "run", lambda: Slow(here, 0.3), actors=1, concurrency=2,
              watch=lambda _: print("row", flush=True), on_stop=lambda: print("stop", flush=True))
print(outcome.stopped, flush=True)
"""


def test_a_cluster_of_its_own_is_not_reached_from_outside_and_stops_in_order(
    tmp_path: Path, data: Path
) -> None:
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=10)
    (tmp_path / "alone.py").write_text(ALONE)
    before = listening()
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "alone.py"), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    try:
        assert process.stdout is not None
        with alarm(process, 60):
            assert process.stdout.readline() == "row\n"
            opened = listening() - before
            process.send_signal(signal.SIGINT)
            said = process.stdout.read().splitlines()
    finally:
        process.kill()
        process.wait()
    assert opened
    assert all(is_loopback(address) for address in opened), opened
    assert "stop" in said
    assert said[-1] == "True"
    left = run_here(tmp_path / "run", ScriptedJudge())
    assert 0 < left.scored < 60
    score_to(tmp_path / "here", data, METRICS, ScriptedJudge(), shard_rows=10)
    assert merged(tmp_path / "run") == merged(tmp_path / "here")


class alarm:  # noqa: N801 - reads as what it does
    """Ends a process that takes too long."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        self._timer = threading.Timer(seconds, process.kill)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def listening() -> set[bytes]:
    """The addresses with ports at which anybody listens on this machine, as the kernel has them."""
    found = set()
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not Path(name).exists():
            pytest.skip("this system does not say who listens")
        for line in Path(name).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A":
                found.add(local.encode())
    return found


def is_loopback(address: bytes) -> bool:
    raw = bytes.fromhex(address.decode().partition(":")[0])
    words = [raw[n : n + 4][::-1] for n in range(0, len(raw), 4)]
    text = socket.inet_ntop(socket.AF_INET6 if len(raw) > 4 else socket.AF_INET, b"".join(words))
    return text.removeprefix("::ffff:").startswith("127.") or text == "::1"
