"""Batch files that come back broken, late or not at all, and endpoints that fail."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import servers
from assay.asks import Extract
from assay.errors import ConfigError, JudgeRejected, JudgeUnavailable, JudgeUnusable
from assay.judges.batch import lines
from assay.judges.batch.following import Polling
from assay.judges.batch.judge import BatchJudge, open_batch_judge
from assay.judges.retrying import Backoff
from assay.runs import score_to
from assay.runs.outages import OutageError
from batch_server import BatchServer, Course
from scored_runs import METRICS, rows, write

KEY = "sk-very-secret-0123456789"
TEXTS = ["A b.", "C d.", "E f."]


def judge_at(server: BatchServer, state: Path, **options: Any) -> BatchJudge:
    given = {
        "quiet": 0.03,
        "polling": Polling(first=0.002, longest=0.01),
        "backoff": Backoff(first=0.001, longest=0.002),
        **options,
    }
    return open_batch_judge("fake", state=state, base_url=server.url, **given)


async def claims(server: BatchServer, state: Path, *texts: str, **options: Any) -> list[Any]:
    """The claims of each text, or the error, asked all at once by a new judge."""
    judge = judge_at(server, state, **options)
    asks = (judge.answer(Extract(text)) for text in texts)
    found = await asyncio.gather(*asks, return_exceptions=True)
    await judge.aclose()
    return [one if isinstance(one, BaseException) else [c.text for c in one] for one in found]


def invented(text: str) -> str:
    line = json.loads(text.splitlines()[0])
    return json.dumps({**line, "custom_id": "nobody"}) + "\n" + text


HARMLESS: list[Callable[[str], str]] = [
    invented,
    lambda text: text + text,
    lambda text: "\n\n" + text.replace("\n", "\r\n"),
    lambda text: text + "<html>\n[]\n{}\nnull\n" + "[" * 100_000 + "\n",
    lambda text: "".join(text.splitlines(keepends=True)[::-1]),
]


@pytest.mark.parametrize("garble", HARMLESS)
async def test_lines_too_many_or_in_another_order_change_nothing(
    tmp_path: Path, garble: Callable[[str], str]
) -> None:
    async with BatchServer(courses=[Course(garble=garble)]) as server:
        assert await claims(server, tmp_path, *TEXTS) == [[text] for text in TEXTS]
    assert len(server.batches) == 1


async def test_the_first_of_two_answers_counts(tmp_path: Path) -> None:
    def forged(text: str) -> str:
        line = json.loads(text.splitlines()[0])
        line["response"] = {"status_code": 400, "body": {"error": {"message": "no"}}}
        return text + json.dumps(line) + "\n"

    async with BatchServer(courses=[Course(garble=forged)]) as server:
        judge = judge_at(server, tmp_path)
        (claim,) = await judge.answer(Extract("A b."))
        assert claim.text == "A b."
        await asyncio.sleep(0.05)  # the rest of the file is read
        assert any("1 lines passed over" in note for note in judge.usage.notes)
        await judge.aclose()


async def test_a_line_that_is_cut_off_is_asked_for_again(tmp_path: Path) -> None:
    async with BatchServer(courses=[Course(garble=lambda text: text[:-30])]) as server:
        assert await claims(server, tmp_path, *TEXTS) == [[text] for text in TEXTS]
    assert [len(ids) for ids in server.inputs] == [3, 1]


async def test_a_page_instead_of_answers_is_fetched_again_and_nothing_is_paid_twice(
    tmp_path: Path,
) -> None:
    page = f"<html><h1>502 Bad Gateway</h1>{KEY}</html>"
    async with BatchServer(courses=[Course(garble=lambda _: page)]) as server:
        (error,) = await claims(server, tmp_path, "A b.")
        assert isinstance(error, JudgeUnavailable)
        assert "no JSON lines" in str(error)
        right = server._completion(server.bodies[0], servers.Fault())
        answer = {"custom_id": server.lines[0], "response": {"status_code": 200, "body": right}}
        server.files["file-out0"] = json.dumps(answer)
        assert await claims(server, tmp_path, "A b.") == [["A b."]]
    assert len(server.batches) == 1


async def test_lines_that_are_refused_are_not_asked_again(tmp_path: Path) -> None:
    refused = servers.status(400, "your text is not nice")
    async with BatchServer(faults=[refused] * 3) as server:
        for _ in range(2):
            found = await claims(server, tmp_path, *TEXTS)
            assert all(isinstance(error, JudgeRejected) for error in found)
            assert "not nice" in str(found[0])
        batch = server.batches["batch_0"]
        assert (batch["output_file_id"], batch["error_file_id"]) == (None, "file-err0")
    assert len(server.batches) == 1


async def test_a_model_that_is_not_there_ends_the_run_and_is_asked_again_later(
    tmp_path: Path,
) -> None:
    async with BatchServer(models=["other"]) as server:
        (error,) = await claims(server, tmp_path, "A b.")
        assert isinstance(error, JudgeUnusable)
        server.models = ["fake"]
        assert await claims(server, tmp_path, "A b.") == [["A b."]]


async def test_an_empty_completion_is_asked_for_again(tmp_path: Path) -> None:
    async with BatchServer(faults=[servers.NO_CONTENT]) as server:
        assert await claims(server, tmp_path, "A b.") == [["A b."]]
    assert len(server.batches) == 2


async def test_files_that_are_named_late_are_waited_for(tmp_path: Path) -> None:
    async with BatchServer(courses=[Course(no_files=3)]) as server:
        assert await claims(server, tmp_path, "A b.") == [["A b."]]
    async with BatchServer(courses=[Course(no_files=50)]) as server:
        (error,) = await claims(server, tmp_path / "b", "A b.")
        assert isinstance(error, JudgeUnavailable)
        assert "no file of answers" in str(error)
        assert len(server.batches) == 1


async def test_a_batch_whose_making_was_not_confirmed_is_found(tmp_path: Path) -> None:
    async with BatchServer() as server:
        for n in range(5):  # more than a page of the list
            await claims(server, tmp_path / str(n), "A b.")
        server.mute = True
        assert await claims(server, tmp_path / "new", "A b.") == [["A b."]]
        assert len(server.batches) == 6
        assert "GET /batches" in server.log


@pytest.mark.parametrize("where", ["POST /files", "POST /batches", "GET /batches/", "GET /files/"])
async def test_passing_faults_of_the_endpoint_are_passed_over(tmp_path: Path, where: str) -> None:
    async with BatchServer() as server:
        server.http[where] = [500, 429, 503]
        assert await claims(server, tmp_path, "A b.") == [["A b."]]
    assert len(server.batches) == 1


@pytest.mark.parametrize("where", ["POST /files", "POST /batches", "GET /files/"])
async def test_an_endpoint_that_stays_broken_is_an_error_and_the_run_goes_on_later(
    tmp_path: Path, where: str
) -> None:
    async with BatchServer() as server:
        server.http[where] = [500] * 5
        (error,) = await claims(server, tmp_path, "A b.")
        assert isinstance(error, JudgeUnavailable)
        assert "HTTP 500" in str(error)
        assert await claims(server, tmp_path, "A b.") == [["A b."]]
    assert len(server.batches) == 1


async def test_an_outage_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    async with BatchServer() as server:
        server.http["GET /batches/"] = [503] * 20
        short = Polling(first=0.01, longest=0.01, outage=0.02)
        (error,) = await claims(server, tmp_path, "A b.", polling=short)
        assert isinstance(error, JudgeUnavailable)
        server.http.clear()
        assert await claims(server, tmp_path, "A b.") == [["A b."]]
    assert len(server.batches) == 1


@pytest.mark.parametrize("fault", ["POST /files", "POST /batches", "GET /batches/", "GET /files/"])
async def test_a_run_in_a_folder_stops_there_and_goes_on_with_the_same_batch(
    tmp_path: Path, fault: str
) -> None:
    data = write(tmp_path / "in.jsonl", rows(3))
    async with BatchServer() as server:
        server.http[fault] = [503] * 200
        short = Polling(first=0.01, longest=0.01, outage=0.02)
        run, state = tmp_path / "run", tmp_path / "state"
        with pytest.raises(OutageError, match="503"):
            await asyncio.to_thread(
                score_to, run, data, METRICS, judge_at(server, state, polling=short)
            )
        server.http.clear()
        outcome = await asyncio.to_thread(
            score_to, run, data, METRICS, judge_at(server, state), resume=True
        )
    assert (outcome.scored, outcome.failed) == (3, 0)


async def test_patience_ends_before_a_batch_that_does_not(tmp_path: Path) -> None:
    async with BatchServer(courses=[Course(held=True)]) as server:
        short = Polling(first=0.01, longest=0.01, patience=0.05)
        (error,) = await claims(server, tmp_path, "A b.", polling=short)
    assert isinstance(error, JudgeUnavailable)
    assert "the next start goes on waiting" in str(error)


async def test_a_wrong_key_ends_the_run_and_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said: list[str] = []
    async with BatchServer(key="another") as server:
        (error,) = await claims(server, tmp_path, "A b.", on_state=said.append)
        assert isinstance(error, JudgeUnusable)
        assert "OPENAI_API_KEY" in str(error)
        server.key = None
        server.http["POST /files"] = [400]
        (other,) = await claims(server, tmp_path, "A b.", on_state=said.append)
        assert isinstance(other, JudgeUnusable)
        assert "***" in str(other)
    told = "".join([*said, *traceback.format_exception(error), *traceback.format_exception(other)])
    assert KEY not in told + "".join(path.read_text() for path in tmp_path.iterdir())


async def test_a_batch_that_the_endpoint_does_not_know_is_not_paid_again(tmp_path: Path) -> None:
    async with BatchServer(courses=[Course(held=True)]) as server:
        judge = judge_at(server, tmp_path)
        work = asyncio.create_task(judge.answer(Extract("A b.")))
        while not server.batches:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.02)
        await judge.aclose()
        await asyncio.gather(work, return_exceptions=True)
        server.batches.clear()
        (error,) = await claims(server, tmp_path, "A b.")
        assert isinstance(error, JudgeUnusable)
        assert "same project" in str(error)
        assert not server.batches


async def test_an_endpoint_without_batches_says_so(tmp_path: Path) -> None:
    async with servers.FakeOpenAI() as plain:
        judge = open_batch_judge("fake", state=tmp_path, base_url=plain.url, quiet=0.01)
        with pytest.raises(JudgeUnusable, match="does this endpoint take batch files"):
            await judge.answer(Extract("A b."))
        await judge.aclose()


async def test_what_nobody_waits_for_is_not_submitted(tmp_path: Path) -> None:
    async with BatchServer() as server:
        judge = judge_at(server, tmp_path, quiet=0.1)
        work = [asyncio.create_task(judge.answer(Extract(text))) for text in TEXTS]
        await asyncio.sleep(0.02)
        work[0].cancel()
        await asyncio.gather(*work, return_exceptions=True)
        await judge.aclose()
    assert [len(ids) for ids in server.inputs] == [2]


async def test_closing_while_smaller_files_wait_their_turn_starts_nothing(tmp_path: Path) -> None:
    full = Course("failed", errors=[{"code": "token_limit_exceeded", "message": "limit"}])
    async with BatchServer(courses=[full, Course(held=True)]) as server:
        judge = judge_at(server, tmp_path)
        work = [asyncio.create_task(judge.answer(Extract(text))) for text in TEXTS]
        while "GET /batches/batch_1" not in server.log:
            await asyncio.sleep(0.002)
        await judge.aclose()
        await asyncio.gather(*work, return_exceptions=True)
        await asyncio.sleep(0.05)
        assert len(server.batches) == 2
        server.course(1).held = False
        assert await claims(server, tmp_path, *TEXTS) == [[text] for text in TEXTS]
        assert [len(ids) for ids in server.inputs] == [1, 2]


async def test_a_line_that_is_too_long_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 2000)
    path = tmp_path / "answers"
    short = json.dumps({"custom_id": "a", "error": {"code": "x"}})
    path.write_text("y" * 9001 + "\n" + short + "\n" + "z" * 4000)
    found = list(lines.answers(path))
    assert [one.id for one in found if isinstance(one, lines.Answer)] == ["a"]
    assert len(found) == 3
    assert lines.count_lines(path) == 1


async def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with BatchServer() as server:
        judge = judge_at(server, tmp_path / "file")
        with pytest.raises(ConfigError, match="cannot hold a run"):
            await judge.answer(Extract("A b."))
        await judge.aclose()
