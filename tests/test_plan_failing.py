"""Plans whose pilot fails, in whole or in part: nothing that is guessed passes for measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli.app import run
from assay.judges.memory.store import MemoryStore
from assay.judges.remembering import RememberingJudge
from assay.planning.pilot import PilotFailed
from assay.planning.planner import plan_async
from assay.sample import Sample
from servers import MALFORMED, FakeOpenAI, Fault, status

DEAD = "http://127.0.0.1:9/v1"
ROWS: list[dict[str, Any]] = [
    {
        "id": str(k),
        "question": f"What of {k}?",
        "response": f"The lamp {k} was lit. The keeper {k} kept bees.",
        "contexts": [f"The lamp {k} was lit.", "The island has no trees."],
    }
    for k in range(12)
]
SAMPLES = [Sample(**row) for row in ROWS]
"""A call for claims and one for each of two contexts: 36 in all."""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return str(path)


def planned(data: str, url: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    return run(["plan", data, "-m", "faithfulness", "--judge", "openai:m", *options])


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (FakeOpenAI(key="right"), "HTTP 401; check the key"),
        (FakeOpenAI(faults=[status(404, "no model m")] * 99), "HTTP 404: no model m"),
        (FakeOpenAI(faults=[Fault(garble=lambda _: "no JSON")] * 999), "no JSON"),
    ],
    ids=["key", "model", "nonsense"],
)
def test_a_refusing_endpoint_ends_with_1_and_says_why_at_the_top(
    server: FakeOpenAI,
    reason: str,
    data: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with server.in_thread() as running:
        code = planned(data, running.url, monkeypatch, "--pilot", "3")
    said = capsys.readouterr().out.splitlines()
    assert code == 1
    assert said[0].startswith("the pilot failed: ")
    if reason != "no JSON":
        assert reason in said[0]
    assert "guess" in said[1]
    assert any(line.startswith("calls   36 (guess: ") for line in said)
    assert any(line.endswith("; exact: 12 for claims") for line in said)
    assert any(line.split()[:2] == ["faithfulness", "~36"] for line in said)
    assert any(line.startswith("pilot   failed after ") for line in said)


def test_a_dead_endpoint_ends_with_1_and_json_says_so_too(
    data: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = planned(data, DEAD, monkeypatch, "--pilot", "1", "--json")
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert code == 1
    assert "cannot reach http://127.0.0.1:9/v1" in found["pilot"]["failure"]
    assert said.err.startswith("assay: the pilot failed: cannot reach")
    assert (found["pilot"]["samples"], found["pilot"]["failed"]) == (0, 1)
    assert found["measured"] is False
    assert found["total"]["calls"]["exact"] is False
    assert found["left"]["calls"]["value"] == found["total"]["calls"]["value"] == 36
    assert found["work"]["claims"]["calls"]["exact"] is True


def test_without_a_pilot_guesses_are_marked_and_the_exit_code_is_0(
    data: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert planned(data, DEAD, monkeypatch, "--pilot", "0") == 0
    said = capsys.readouterr().out
    assert said.startswith("12 samples, 1 metric, judge openai:m")
    assert "~: a guess, since no reply was seen" in said
    assert "calls   36 (guess: " in said


def test_where_a_part_of_the_pilot_fails_the_rest_counts_and_the_exit_code_is_2(
    data: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOpenAI(faults=[None] * 6 + [status(400, "bad")]).in_thread() as server:
        code = planned(data, server.url, monkeypatch, "--pilot", "8")
    said = capsys.readouterr().out
    assert code == 2
    assert "pilot   7 samples (1 more had no answer) took " in said
    assert "note: 1 of 8 pilot samples had no answer and are not counted: http://" in said
    assert "~" not in said


async def test_from_python_a_pilot_that_fails_raises() -> None:
    async with FakeOpenAI(faults=[status(400, "bad")] * 99) as server:
        judge = assay.openai("m", base_url=server.url)
        with pytest.raises(PilotFailed, match=r"the pilot failed: .*HTTP 400: bad") as failed:
            await plan_async(SAMPLES, "faithfulness", judge, pilot=3)
        assert failed.value.usage.calls == server.calls > 0
        await judge.aclose()


async def test_samples_that_failed_do_not_make_the_others_look_cheaper() -> None:
    async with FakeOpenAI() as server:
        judge = assay.openai("m", base_url=server.url)
        whole = await plan_async(SAMPLES, "faithfulness", judge, pilot=10)
        server.faults[:] = [None] * 9 + [status(400, "bad")] * 6
        found = await plan_async(SAMPLES, "faithfulness", judge, pilot=10)
        await judge.aclose()
    assert 0 < found.failed < 10
    assert found.pilot == 10 - found.failed
    ratio = found.total.completion_tokens.value / whole.total.completion_tokens.value
    assert ratio == pytest.approx(1, abs=0.05)
    # Those that failed will be asked again.
    assert found.left.calls.value == 3 * (2 + found.failed)


async def test_a_sample_of_which_one_request_had_no_reply_is_not_counted() -> None:
    async with FakeOpenAI(faults=[None, None, status(400, "bad")]) as server:
        judge = assay.openai("m", base_url=server.url)
        found = await plan_async(SAMPLES, "faithfulness", judge, pilot=6)
        await judge.aclose()
    assert (found.pilot, found.failed) == (5, 1)
    assert found.notes[0].startswith("1 of 6 pilot samples had no answer")


async def test_a_reply_that_is_asked_for_again_is_no_failure() -> None:
    async with FakeOpenAI(faults=[None, MALFORMED]) as server:
        judge = assay.openai("m", base_url=server.url)
        found = await plan_async(SAMPLES, "faithfulness", judge, pilot=6)
        await judge.aclose()
    assert (found.pilot, found.failed) == (6, 0)
    assert "the pilot sent 1 more request than planned: all tokens are counted" in found.notes


async def test_equal_samples_give_an_interval_that_holds_another_kind() -> None:
    import numpy as np

    # The first of those that the pilot does not draw has no claim, so two calls less.
    n, pilot = 40, 20
    odd = int(np.random.default_rng(0).permutation(n)[pilot])
    texts = {k: "Hm?" if k == odd else f"The lamp {k} was lit." for k in range(n)}
    samples = [SAMPLES[0].replace(id=str(k), response=text) for k, text in texts.items()]
    async with FakeOpenAI(splitter=lambda text: [] if text == "Hm?" else [text]) as server:
        judge, store = assay.openai("m", base_url=server.url), MemoryStore()
        found = await plan_async(samples, "faithfulness", judge, pilot=pilot, cache_store=store)
        assert server.calls == pilot * 3
        await assay.evaluate_async(samples, ["faithfulness"], RememberingJudge(judge, store))
        await judge.aclose()
    calls = found.total.calls
    assert (calls.value, server.calls) == (n * 3, n * 3 - 2)
    assert n * 3 - 10 < calls.low <= server.calls < calls.value < calls.high < n * 3 + 2
    assert found.works["claims"].calls.exact


async def test_a_pilot_that_the_cache_answers_tells_nothing_of_tokens() -> None:
    async with FakeOpenAI() as server:
        judge, store = assay.openai("m", base_url=server.url), MemoryStore()
        first = await plan_async(SAMPLES, "faithfulness", judge, pilot=6, cache_store=store)
        again = await plan_async(SAMPLES, "faithfulness", judge, pilot=6, cache_store=store)
        await judge.aclose()
    assert first.measured
    assert not again.measured
    assert again.paid.calls == 0
    assert again.total.completion_tokens.low < 0.5 * again.total.completion_tokens.value
    assert any("the cache had all answers for 6 of 6 pilot samples" in n for n in again.notes)
    # The answers say how many claims there are all the same.
    assert again.total.calls.value == first.left.calls.value
    assert not any("assumed: 1.5" in note or "counts no tokens" in note for note in again.notes)


async def test_tokens_that_the_endpoint_does_not_count_are_never_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.judges.chat._count", lambda *_: 0)
    async with FakeOpenAI() as server:
        judge = assay.openai("m", base_url=server.url)
        found = await plan_async(SAMPLES, "faithfulness", judge, pilot=12)
        await judge.aclose()
    assert found.total.calls.exact
    assert found.total.prompt_tokens.low == pytest.approx(0.8 * found.total.prompt_tokens.value)
    assert found.total.completion_tokens.high > 1.9 * found.total.completion_tokens.value
    assert "the endpoint counts no tokens: they are assumed" in found.notes
