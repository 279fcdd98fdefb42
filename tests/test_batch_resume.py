"""A run in batch files that is killed goes on, and nothing is paid twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay.judges.batch.following import Polling
from assay.judges.batch.judge import BatchJudge, open_batch_judge
from assay.judges.openai import openai_judge
from assay.judges.retrying import Backoff
from batch_server import BatchServer, Course
from servers import FakeOpenAI

METRICS = "faithfulness,noise_sensitivity"
SAMPLES = [
    {
        "id": f"s{n}",
        "question": "What is it?",
        "response": f"Rain {n} is wet. Snow {n} is cold. Fog {n} is sweet.",
        "contexts": [f"They say that rain {n} is wet here.", f"They say fog {n} is sweet."],
        "reference": f"Rain {n} is wet. Snow {n} is cold.",
    }
    # two that are equal: their requests are told apart, before and after
    for n in (0, 1, 2, 2)
]
for place, one in enumerate(SAMPLES):
    one["id"] = f"s{place}"

PROGRAM = """
import json, sys
from assay import evaluate
from assay.judges.batch.following import Polling
from assay.judges.batch.judge import open_batch_judge
judge = open_batch_judge("fake", state=sys.argv[1], base_url=sys.argv[2], quiet=0.05,
                         polling=Polling(first=0.005, longest=0.02), on_state=print)
run = evaluate(json.loads(sys.argv[3]), sys.argv[4], judge, concurrency=10_000)
"""


def judge_at(server: BatchServer, state: Path, **options: Any) -> BatchJudge:
    given = {
        "quiet": 0.05,
        "polling": Polling(first=0.002, longest=0.01),
        "backoff": Backoff(first=0.001, longest=0.002),
        **options,
    }
    return open_batch_judge("fake", state=state, base_url=server.url, **given)


@contextmanager
def working(server: BatchServer, state: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that scores the samples; killed with SIGKILL in the end."""
    arguments = [str(state), server.url, json.dumps(SAMPLES), METRICS]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) in (-signal.SIGKILL, 0)


def until(true: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until something is true, while a process works."""
    for _ in range(2000):
        if true() or process.poll() is not None:
            break
        time.sleep(0.005)
    assert true()


def scores(run: Any) -> list[dict[str, Any]]:
    return [{name: score.as_dict() for name, score in row.scores.items()} for row in run]


@pytest.fixture(scope="module")
def expected() -> tuple[list[dict[str, Any]], int]:
    """The scores of the synchronous judge, and how many requests they take."""
    with FakeOpenAI().in_thread() as server:
        judge = openai_judge("fake", base_url=server.url)
        return scores(evaluate(SAMPLES, METRICS, judge)), server.calls


def check_the_rest(
    server: BatchServer, state: Path, expected: tuple[list[dict[str, Any]], int]
) -> None:
    """Let the run come to its end: right scores, and each request was paid once."""
    run = evaluate(SAMPLES, METRICS, judge_at(server, state), concurrency=10_000)
    assert scores(run) == expected[0]
    assert len(server.lines) == len(set(server.lines)) == expected[1]


@pytest.mark.parametrize("stage", [1, 2])
def test_a_kill_while_a_batch_is_in_work(
    tmp_path: Path, expected: tuple[list[dict[str, Any]], int], stage: int
) -> None:
    with BatchServer().in_thread() as server:
        assert isinstance(server, BatchServer)
        server.course(stage - 1).held = True
        with working(server, tmp_path) as process:
            last = f"GET /batches/batch_{stage - 1}"
            until(lambda: server.log.count(last) > 1, process)
        server.course(stage - 1).held = False
        check_the_rest(server, tmp_path, expected)
        assert len(server.batches) == 2


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_while_a_batch_is_made(
    tmp_path: Path, expected: tuple[list[dict[str, Any]], int], moment: str
) -> None:
    with BatchServer().in_thread() as server:
        assert isinstance(server, BatchServer)
        server.hang = moment
        with working(server, tmp_path) as process:
            asked = "POST /batches"
            until(
                lambda: asked in server.log and len(server.batches) == (moment == "after"), process
            )
            time.sleep(0.02)
        server.hang = ""
        check_the_rest(server, tmp_path, expected)
        assert len(server.batches) == 2


def test_kills_at_any_time(tmp_path: Path, expected: tuple[list[dict[str, Any]], int]) -> None:
    with BatchServer().in_thread() as server:
        assert isinstance(server, BatchServer)
        for steps in (1, 2, 3, 2):
            seen = len(server.log)
            with working(server, tmp_path) as process:
                goal = seen + steps
                until(lambda goal=goal: len(server.log) >= goal, process)  # type: ignore[misc]
        check_the_rest(server, tmp_path, expected)


def test_a_finished_run_is_read_from_its_folder(
    tmp_path: Path, expected: tuple[list[dict[str, Any]], int]
) -> None:
    with BatchServer().in_thread() as server:
        assert isinstance(server, BatchServer)
        check_the_rest(server, tmp_path, expected)
        asked = len(server.log)
        check_the_rest(server, tmp_path, expected)
        assert len(server.log) == asked


def test_lines_that_failed_are_asked_again_after_a_restart(
    tmp_path: Path, expected: tuple[list[dict[str, Any]], int]
) -> None:
    with BatchServer(courses=[Course("expired", answered=3)]).in_thread() as server:
        assert isinstance(server, BatchServer)
        with working(server, tmp_path) as process:
            until(lambda: "GET /files/file-out0/content" in server.log, process)
        run = evaluate(SAMPLES, METRICS, judge_at(server, tmp_path), concurrency=10_000)
        assert scores(run) == expected[0]
        answered = server.inputs[0][:3]
        assert not set(answered) & {one for ids in server.inputs[1:] for one in ids}


def test_what_an_endpoint_refuses_is_found_out_again_without_asking(
    tmp_path: Path, expected: tuple[list[dict[str, Any]], int]
) -> None:
    with BatchServer(unsupported=["seed", "temperature"]).in_thread() as server:
        assert isinstance(server, BatchServer)
        for _ in range(2):
            run = evaluate(SAMPLES, METRICS, judge_at(server, tmp_path), concurrency=10_000)
            assert scores(run) == expected[0]
            assert len(server.batches) == 4  # two for what is refused, two for the stages
        assert len(server.lines) == len(set(server.lines))


def test_other_samples_pay_for_what_is_new(tmp_path: Path) -> None:
    with BatchServer().in_thread() as server:
        assert isinstance(server, BatchServer)
        for n in (1, 2):
            judge = judge_at(server, tmp_path)
            evaluate(SAMPLES[:n], "faithfulness", judge, concurrency=10_000)
            assert len(server.lines) == len(set(server.lines)) == 3 * n


def test_a_part_of_the_samples_pays_for_nothing_more(tmp_path: Path) -> None:
    with BatchServer().in_thread() as server:
        assert isinstance(server, BatchServer)
        server.hang = "before"
        with working(server, tmp_path) as process:
            until(lambda: "POST /batches" in server.log, process)
        server.hang = ""
        run = evaluate(SAMPLES[:1], "faithfulness", judge_at(server, tmp_path))
        assert run.rows[0].scores["faithfulness"].value is not None
        assert len(server.lines) == 3  # not the file of all samples, which was never made a batch
