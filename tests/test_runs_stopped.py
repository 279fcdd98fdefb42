"""Runs that are killed, interrupted, held by another process, or on a full disk."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge
from assay.errors import ConfigError, DataError
from assay.runs import run, score_to, start
from assay.runs.folder import Folder
from assay.runs.stopping import Interrupts, ignore_interrupts
from assay.runs.usage import read_usage
from kills import SlowJudge, measure, table, write_rows
from scored_runs import METRICS

CODE = """
import signal, sys
from pathlib import Path
from kills import METRICS, SlowJudge
from assay.cli.app import exit_code
from assay.cli.runs import score_run
signal.signal(signal.SIGINT, signal.default_int_handler)
judge = SlowJudge(float(sys.argv[3]), None)
sys.exit(exit_code(lambda: score_run(sys.argv[1], ",".join(METRICS), Path(sys.argv[2]), judge,
    concurrency=4, shard_rows=5, resume="again" in sys.argv)))
"""


def process(data: Path, folder: Path, latency: float, *words: str) -> subprocess.Popen[str]:
    """A run as the command line makes it, in a process of its own."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(data), str(folder), str(latency), *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )


def wait_for(path: Path, size: int = 1) -> None:
    """Wait until a file is there and holds something."""
    end = time.monotonic() + 20
    while not (path.exists() and path.stat().st_size >= size):
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.01)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_rows(tmp_path / "in.jsonl", 60)
    return tmp_path / "in.jsonl"


def test_killed_runs_end_in_the_same_table() -> None:
    figures = measure(200, 5, latency=0.02, concurrency=8, shard_rows=20)
    assert figures.kills == 5
    assert figures.equal == figures.runs
    assert figures.twice <= 5 * 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_in_order_and_says_how_to_go_on(
    tmp_path: Path, data: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "run"
    running = process(data, folder, 0.1)
    wait_for(folder / "shards" / "00000.jsonl")
    running.send_signal(number)
    said = running.communicate(timeout=20)[1]
    assert running.returncode == 130
    assert "Traceback" not in said
    assert "go on with the same command and --resume" in said
    assert said.count("stopped") == 1
    # What was in work was finished: every row asked about is there.
    asked = read_usage(folder / "usage.jsonl").usage.calls
    again = SlowJudge(0, None)
    score_to(folder, data, METRICS, again, resume=True)
    score_to(tmp_path / "alone", data, METRICS, alone := SlowJudge(0, None), shard_rows=5)
    assert asked + again.usage.calls == alone.usage.calls
    assert table(folder) == table(tmp_path / "alone")


def test_a_second_interrupt_ends_at_once(tmp_path: Path, data: Path) -> None:
    folder = tmp_path / "run"
    running = process(data, folder, 60)
    wait_for(folder / "shards" / "00000.partial.jsonl", size=0)
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    assert running.stderr is not None
    while "once more stops at once" not in running.stderr.readline():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=10)[1]
    assert running.returncode == 130
    assert "Traceback" not in said


RUDE = """
import asyncio, signal, sys
import assay.cli.judging as judging
from assay import ScriptedJudge
from assay.cli.app import main
class Rude(ScriptedJudge):
    heard = 0
    async def answer(self, ask):
        self.heard += 1
        if self.heard > 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(3600)
        return await super().answer(ask)
    async def aclose(self):
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0.01)
        print("closed")
signal.signal(signal.SIGINT, signal.default_int_handler)
judging.open_judge = lambda *_, **__: Rude()
main()
"""


@pytest.mark.parametrize("where", ["-o", "--run"])
def test_interrupts_do_not_break_into_the_end(tmp_path: Path, data: Path, where: str) -> None:
    words = ["score", str(data), "-m", "faithfulness", "--concurrency", "1", "--no-cache"]
    done = subprocess.run(
        [sys.executable, "-c", RUDE, *words, where, str(tmp_path / "out.jsonl")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert (done.returncode, done.stdout) == (130, "closed\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("assay: stopped; ") == 1
    kept = {"-o": "so far are in", "--run": "done and kept in"}[where]
    assert kept in done.stderr.splitlines()[-1]


async def test_interrupts_are_counted_and_told_to_who_heeds_them() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    told: list[str] = []
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        with interrupts.heeded(partial(told.append, "first"), partial(told.append, "second")):
            await asyncio.sleep(0.01)
            assert told == ["first"]
            for _ in range(3):
                signal.raise_signal(signal.SIGTERM)
                await asyncio.sleep(0.01)
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.01)
        assert told == ["first", "second"]
        assert interrupts.count == 5
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


async def test_interrupts_are_left_alone_outside_the_main_thread() -> None:
    def work() -> bool:
        before = signal.getsignal(signal.SIGINT)
        with Interrupts():
            same = signal.getsignal(signal.SIGINT) is before
        ignore_interrupts()
        return same and signal.getsignal(signal.SIGINT) is before

    assert await asyncio.to_thread(work)


def test_a_second_run_in_the_folder_is_refused_and_a_dead_one_is_no_obstacle(
    tmp_path: Path, data: Path
) -> None:
    folder = tmp_path / "run"
    running = process(data, folder, 60)
    try:
        wait_for(folder / "shards" / "00000.partial.jsonl", size=0)
        with pytest.raises(ConfigError, match=r"another process works in .*run; wait for it"):
            score_to(folder, data, METRICS, SlowJudge(0, None), resume=True)
        with pytest.raises(ConfigError, match="another process works"):
            run(folder, SlowJudge(0, None), part=(1, 2))
    finally:
        running.kill()
        running.communicate()
    assert score_to(folder, data, METRICS, SlowJudge(0, None), resume=True).scored == 60


def test_parts_share_a_folder_and_leave_each_other_s_shards_alone(
    tmp_path: Path, data: Path
) -> None:
    judge = SlowJudge(0, None)
    folder = tmp_path / "run"
    start(data, METRICS, judge, folder, shard_rows=5)
    shards = Folder(folder).shards
    with Folder(folder).working(shared=True):
        from assay.runs.journal import Journal

        held = Journal.open(shards / "00003.partial.jsonl", "x", range(15, 20))
        assert held is not None
        outcome = run(folder, judge, part=(1, 2))
        assert outcome.elsewhere == [3]
        assert outcome.scored == 25
        with pytest.raises(ConfigError, match="another process works"):
            run(folder, judge)
        held.close()
    assert run(folder, judge).scored == 35


def test_usage_survives_lines_that_a_kill_cut_short(tmp_path: Path, data: Path) -> None:
    judge = ScriptedJudge()
    score_to(tmp_path / "run", data, METRICS, judge, shard_rows=30)
    usage = tmp_path / "run" / "usage.jsonl"
    with usage.open("ab") as file:
        file.write(b'{"process": "x", "calls": 1')
    (tmp_path / "run/shards/00001.jsonl").unlink()
    score_to(tmp_path / "run", data, METRICS, again := ScriptedJudge(), resume=True)
    spent = read_usage(usage)
    assert spent.usage.calls == judge.usage.calls + again.usage.calls
    assert spent.processes == 2


# --- full disks ------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """A file system of its own, where that is allowed."""
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("a file system cannot be mounted here")
    folder.mkdir()
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("shard_format", ["jsonl", "parquet"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_a_full_disk_loses_nothing(
    tmp_path: Path, data: Path, share: float, shard_format: str
) -> None:
    options: dict[str, Any] = {"shard_rows": 5, "shard_format": shard_format}
    score_to(tmp_path / "alone", data, METRICS, ScriptedJudge(), **options)
    files = [file for file in (tmp_path / "alone").rglob("*") if file.is_file()]
    pages = sum(-(-file.stat().st_size // 4096) for file in files)
    disk = tmp_path / "disk"
    # Where the disk is full differs: in the index, a journal, a shard.
    with small_disk(disk, f"{int(pages * share) * 4}k"):
        with pytest.raises(DataError, match=r"No space left on device; free some space.*--resume"):
            score_to(disk / "run", data, METRICS, ScriptedJudge(), **options)
        subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
        score_to(disk / "run", data, METRICS, ScriptedJudge(), **options, resume=True)
        assert table(disk / "run") == table(tmp_path / "alone")


def test_a_limit_on_files_is_a_full_disk(tmp_path: Path, data: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    start(data, METRICS, ScriptedJudge(), tmp_path / "run", shard_rows=60)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(DataError, match=r"partial\.jsonl: File too large; free some space"):
            run(tmp_path / "run", ScriptedJudge(), concurrency=3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    kept = (tmp_path / "run/shards/00000.partial.jsonl").read_bytes().count(b"\n")
    assert kept > 5
    assert run(tmp_path / "run", ScriptedJudge()).scored == 60 - kept
    score_to(tmp_path / "alone", data, METRICS, ScriptedJudge(), shard_rows=60)
    assert table(tmp_path / "run") == table(tmp_path / "alone")


def test_records_hold_nothing_that_varies(tmp_path: Path, data: Path) -> None:
    for name, rows_a_shard, concurrency in (("a", 7, 1), ("b", 60, 32)):
        score_to(
            tmp_path / name,
            data,
            METRICS,
            SlowJudge(0.002, None),
            shard_rows=rows_a_shard,
            concurrency=concurrency,
        )
    assert table(tmp_path / "a") == table(tmp_path / "b")
    assert len([json.loads(line) for line in table(tmp_path / "a").splitlines()]) == 60
