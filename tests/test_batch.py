"""Batch files: two stages are two batches, scores are those of the synchronous judge."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import servers
from assay import evaluate, evaluate_async
from assay.asks import Entail, Extract
from assay.errors import ConfigError, JudgeRejected, JudgeUnavailable, JudgeUnusable
from assay.judges.batch.completing import cancel_batches
from assay.judges.batch.following import Polling
from assay.judges.batch.judge import BatchJudge, open_batch_judge
from assay.judges.openai import openai_judge
from assay.judges.retrying import Backoff
from batch_server import BatchServer, Course

FAST = Polling(first=0.002, longest=0.01)
NOW = Backoff(first=0.001, longest=0.002)
KEY = "sk-very-secret-0123456789"
METRICS = "faithfulness,noise_sensitivity,answer_correctness"
SAMPLES = [
    {
        "id": f"s{n}",
        "question": "What is it?",
        "response": f"Rain {n} is wet. Snow {n} is cold. Fog {n} is sweet.",
        "contexts": [f"They say that rain {n} is wet here.", f"They say fog {n} is sweet."],
        "reference": f"Rain {n} is wet. Snow {n} is cold.",
    }
    for n in range(12)
]


def batch_judge(server: BatchServer, state: Path, **options: Any) -> BatchJudge:
    given = {"quiet": 0.05, "polling": FAST, "backoff": NOW, **options}
    return open_batch_judge("fake", state=state, base_url=server.url, **given)


def scores(run: Any) -> list[dict[str, Any]]:
    return [{name: score.as_dict() for name, score in row.scores.items()} for row in run]


async def claims(judge: BatchJudge, *texts: str) -> list[Any]:
    """The answers, or errors, to one request a text, all asked at once."""
    asks = (judge.answer(Extract(text)) for text in texts)
    return await asyncio.gather(*asks, return_exceptions=True)


async def test_two_stages_are_two_batches_and_scores_are_the_same(tmp_path: Path) -> None:
    async with servers.FakeOpenAI() as plain:
        at_once = openai_judge("fake", base_url=plain.url)
        expected = await evaluate_async(SAMPLES, METRICS, at_once)
        await at_once.aclose()
    async with BatchServer() as server:
        judge = batch_judge(server, tmp_path)
        run = await evaluate_async(SAMPLES, METRICS, judge, concurrency=100_000)
        await judge.aclose()
    assert scores(run) == scores(expected)
    assert not run.failed
    assert len(server.batches) == 2
    assert len(set(server.lines)) == len(server.lines) == plain.calls
    assert run.provenance["usage"]["calls"] == plain.calls
    assert run.provenance["usage"]["prompt_tokens"] > 0
    assert "POST /chat/completions" not in server.log


async def test_the_identity_is_that_of_the_synchronous_judge(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    batch = open_batch_judge("fake", state=tmp_path, base_url=url)
    plain = openai_judge("fake", base_url=url)
    assert (batch.name, batch.fingerprint) == (plain.name, plain.fingerprint)
    assert batch.can("embed")


async def test_what_is_missing_is_a_further_small_batch(tmp_path: Path) -> None:
    async with BatchServer(faults=[None, servers.WRONG_NONCE, None]) as server:
        judge = batch_judge(server, tmp_path)
        found = await claims(judge, "A b.", "C d.", "E f.")
        await judge.aclose()
    assert [[claim.text for claim in one] for one in found] == [["A b."], ["C d."], ["E f."]]
    assert [len(ids) for ids in server.inputs] == [3, 1]
    assert len(set(server.lines)) == 4  # with another nonce
    assert judge.tally.reasked == 1


async def test_lines_that_failed_go_into_the_next_batch_up_to_twice(tmp_path: Path) -> None:
    busy, broken = servers.status(429), servers.status(500)
    async with BatchServer(faults=[busy, None, broken, broken, None, broken]) as server:
        judge = batch_judge(server, tmp_path)
        found = await claims(judge, "A b.", "C d.", "E f.")
        await judge.aclose()
    assert [len(ids) for ids in server.inputs] == [3, 2, 1]
    assert [len(one) for one in found[1:]] == [1, 1]
    assert isinstance(found[0], JudgeUnavailable)
    assert "HTTP 500" in str(found[0])
    assert "3 batches" in str(found[0])
    assert judge.usage.retries == 3


async def test_an_expired_batch_keeps_its_answers_and_the_rest_is_asked_again(
    tmp_path: Path,
) -> None:
    async with BatchServer(courses=[Course("expired", answered=1)]) as server:
        judge = batch_judge(server, tmp_path)
        found = await claims(judge, "A b.", "C d.", "E f.")
        await judge.aclose()
    assert [claim.text for one in found for claim in one] == ["A b.", "C d.", "E f."]
    assert [len(ids) for ids in server.inputs] == [3, 2]


@pytest.mark.parametrize("status", ["expired", "cancelled", "failed"])
async def test_a_batch_without_any_answer_is_submitted_once_more(
    tmp_path: Path, status: str
) -> None:
    lost = Course(status, answered=0)
    async with BatchServer(courses=[lost]) as server:
        judge = batch_judge(server, tmp_path / "a")
        (found,) = await claims(judge, "A b.")
        assert [claim.text for claim in found] == ["A b."]
        await judge.aclose()
        assert any(status in note for note in judge.usage.notes)
    async with BatchServer(courses=[lost, lost]) as server:
        judge = batch_judge(server, tmp_path / "b")
        (error,) = await claims(judge, "A b.")
        assert isinstance(error, JudgeUnavailable)
        assert status in str(error)
        assert len(server.batches) == 2
        await judge.aclose()


async def test_a_file_that_is_refused_ends_the_run_in_the_endpoint_s_words(tmp_path: Path) -> None:
    wrong = {"code": "model_not_found", "message": f"The model is not there, {KEY}", "line": 1}
    async with BatchServer(courses=[Course("failed", errors=[wrong])]) as server:
        judge = batch_judge(server, tmp_path)
        (error,) = await claims(judge, "A b.")
        await judge.aclose()
    assert isinstance(error, JudgeUnusable)
    assert "The model is not there" in str(error)
    assert len(server.batches) == 1


async def test_a_full_queue_makes_smaller_files_one_at_a_time(tmp_path: Path) -> None:
    full = Course("failed", errors=[{"code": "token_limit_exceeded", "message": "limit reached"}])
    async with BatchServer(courses=[full, full]) as server:
        judge = batch_judge(server, tmp_path)
        found = await claims(judge, *(f"A {n}." for n in range(8)))
        await judge.aclose()
    assert all(len(one) == 1 for one in found)
    assert [len(ids) for ids in server.inputs] == [2, 2, 2, 2]
    assert any("limit reached" in note for note in judge.usage.notes)
    gets = [line for line in server.log if line.startswith("GET /batches/")]
    assert gets == sorted(gets)  # never two at once


async def test_a_queue_that_takes_not_even_one_is_an_error(tmp_path: Path) -> None:
    full = Course("failed", errors=[{"code": "token_limit_exceeded", "message": "limit reached"}])
    async with BatchServer(courses=[full] * 4) as server:
        judge = batch_judge(server, tmp_path)
        found = await claims(judge, "A b.", "C d.")
        await judge.aclose()
    assert all(isinstance(one, JudgeUnavailable) for one in found)


async def test_limits_split_files(tmp_path: Path) -> None:
    async with BatchServer() as server:
        judge = batch_judge(server, tmp_path / "a", max_requests=4)
        await claims(judge, *(f"A {n}." for n in range(10)))
        await judge.aclose()
        assert sorted(len(ids) for ids in server.inputs) == [2, 4, 4]
    async with BatchServer() as server:
        judge = batch_judge(server, tmp_path / "b", max_bytes=8000)
        found = await claims(judge, *(f"A {n}." for n in range(10)), "x" * 9000)
        assert isinstance(found[-1], JudgeRejected)
        assert all(len(one) == 1 for one in found[:-1])
        assert len(server.inputs) > 1
        sizes = [len(text) for name, text in server.files.items() if name.startswith("file-in")]
        assert max(sizes) <= 8000
        await judge.aclose()


async def test_what_goes_on_is_told_and_when_it_ends_at_the_latest(tmp_path: Path) -> None:
    said: list[str] = []
    async with BatchServer() as server:
        judge = batch_judge(server, tmp_path, on_state=said.append)
        await claims(judge, "A b.", "C d.")
        await judge.aclose()
    batch = server.batches["batch_0"]
    assert "2 requests" in said[0]
    assert "within 24h, at the latest by 20" in said[0]
    assert said[0].endswith("UTC")
    assert said[-1] == f"batch {batch['id']}: completed, 2 of 2 answered"
    assert set(server.metadata[0]) == {"assay_run", "assay_file"}


async def test_parameters_that_are_refused_are_left_out_of_the_next_batch(tmp_path: Path) -> None:
    async with BatchServer(unsupported=["seed"], formats=["json_object"]) as server:
        judge = batch_judge(server, tmp_path)
        found = await claims(judge, "A b.", "C d.")
        assert all(len(one) == 1 for one in found)
        assert [len(ids) for ids in server.inputs] == [2, 2, 2]
        (cells,) = await judge.answer(Entail(("A b.",), ("A b.",)))
        assert cells[0].verdict.name == "ENTAILED"
        assert [len(ids) for ids in server.inputs] == [2, 2, 2, 1]
        await judge.aclose()


async def test_a_reply_that_was_cut_off_gets_more_room_in_the_next_batch(tmp_path: Path) -> None:
    async with BatchServer(faults=[servers.LENGTH]) as server:
        judge = batch_judge(server, tmp_path)
        (found,) = await claims(judge, "A b.")
        await judge.aclose()
    assert [claim.text for claim in found] == ["A b."]
    assert [body["max_tokens"] for body in server.bodies] == [4096, 16_384]


async def test_embeddings_are_asked_for_at_once(tmp_path: Path) -> None:
    from assay.asks import Embed

    async with BatchServer() as server:
        judge = batch_judge(server, tmp_path)
        vectors = await judge.answer(Embed(("a", "b")))
        assert len(vectors) == 2
        await judge.aclose()
    assert server.log == ["POST /embeddings"]
    assert judge.usage.calls == 1


async def test_cancel_ends_open_batches_and_the_run_can_go_on(tmp_path: Path) -> None:
    async with BatchServer(courses=[Course(held=True, answered=1)]) as server:
        judge = batch_judge(server, tmp_path)
        work = asyncio.create_task(claims(judge, "A b.", "C d."))
        while not any(line.startswith("GET") for line in server.log):
            await asyncio.sleep(0.002)
        assert await judge.cancel() == ["batch_0"]
        found = await work
        assert len(found[0]) == 1
        assert isinstance(found[1], JudgeUnavailable)
        await judge.aclose()
        assert len(server.batches) == 1
        again = batch_judge(server, tmp_path)
        assert all(len(one) == 1 for one in await claims(again, "A b.", "C d."))
        await again.aclose()
        assert [len(ids) for ids in server.inputs] == [2, 1]


async def test_batches_of_another_process_are_cancelled_by_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with BatchServer(courses=[Course(held=True)], key=KEY) as server:
        said: list[str] = []
        judge = batch_judge(server, tmp_path, on_state=said.append)
        work = asyncio.create_task(claims(judge, "A b."))
        while not any(line.startswith("GET") for line in server.log):
            await asyncio.sleep(0.002)
        with pytest.raises(ConfigError, match="in use"):
            await cancel_batches(tmp_path)
        await judge.aclose()
        await asyncio.gather(work, return_exceptions=True)
        assert "1 batch goes on at" in said[-1]
        assert await cancel_batches(tmp_path) == ["batch_0"]
        assert server.batches["batch_0"]["status"] == "cancelling"
        assert await cancel_batches(tmp_path / "nothing") == []
    assert KEY not in "".join(p.read_text() for p in tmp_path.iterdir()) + "".join(said)


def test_a_judge_goes_on_in_another_event_loop(tmp_path: Path) -> None:
    with BatchServer().in_thread() as server:
        assert isinstance(server, BatchServer)
        judge = batch_judge(server, tmp_path)
        first = evaluate(SAMPLES[:2], "faithfulness", judge, concurrency=100)
        paid = list(server.lines)
        second = evaluate(SAMPLES[:2], "faithfulness", judge, concurrency=100)
        assert scores(first) == scores(second)
        assert server.lines == paid


def test_requests_are_one_line_each_whatever_is_in_them(tmp_path: Path) -> None:
    odd = "A\u2028b\x85c\u2029 \ud800 \x0b\x1c é 😀\nd."
    with BatchServer(splitter=lambda text: [text]).in_thread() as server:
        assert isinstance(server, BatchServer)
        judge = batch_judge(server, tmp_path)
        sample = {"id": "x", "response": odd, "contexts": [odd]}
        run = evaluate([sample], "faithfulness", judge)
        assert run.rows[0].scores["faithfulness"].value == 1.0
        names = [name for name in server.files if name.startswith("file-in")]
        assert all(len(server.files[name].splitlines()) == 1 for name in names)
        assert json.loads(server.files[names[0]])["method"] == "POST"
