"""Endpoints that fail for a while, or for good: what is repeated, when, and what is raised."""

from __future__ import annotations

import asyncio
import socket
import time
from email.utils import formatdate
from typing import Any

import pytest

import servers
from assay.asks import Entail, Extract
from assay.errors import (
    ConfigError,
    JudgeError,
    JudgeRejected,
    JudgeUnavailable,
    JudgeUnusable,
    MalformedAnswer,
)
from assay.judges.llm import LLMJudge
from assay.judges.openai import openai_judge
from assay.judges.retrying import Backoff
from servers import FakeOpenAI, Fault

ASK = Entail(("Rain falls.",), ("Today rain falls.",))


class Naps:
    """A sleep that takes no time and remembers what it was asked for."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


@pytest.fixture
def naps() -> Naps:
    return Naps()


def judge(server: FakeOpenAI, naps: Naps, **options: Any) -> LLMJudge:
    return openai_judge("fake", base_url=server.url, backoff=Backoff(sleep=naps), **options)


async def cell(own: LLMJudge) -> str:
    try:
        return (await own.answer(ASK))[0][0].verdict.value
    finally:
        await own.aclose()


PASSING = [
    *(servers.status(code) for code in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
    servers.HTML,
    servers.EMPTY,
    servers.NO_CHOICES,
    servers.NO_CONTENT,
    servers.HALF,
    Fault(body="null"),
    Fault(body='{"choices": [null]}'),
    Fault(body='{"choices": [{"message": {"content": "  "}}]}'),
    Fault(body='{"error": {"message": "overloaded", "code": 503}}'),
    Fault(body='{"error": "upstream"}'),
]


@pytest.mark.parametrize("fault", PASSING)
async def test_a_fault_that_may_pass_is_waited_out(fault: Fault, naps: Naps) -> None:
    async with FakeOpenAI(faults=[fault, fault]) as server:
        own = judge(server, naps)
        assert await cell(own) == "entailed"
        assert (server.calls, own.usage.calls, own.usage.retries) == (3, 3, 2)
    first, second = naps.seconds
    assert 0.25 <= first <= 0.5 <= second <= 1.0


@pytest.mark.parametrize("fault", PASSING)
async def test_a_fault_that_does_not_pass_is_an_error(fault: Fault, naps: Naps) -> None:
    limited = fault.status == 429
    async with FakeOpenAI(faults=[fault] * 30) as server:
        # A rate limit is no fault of the call, which is tried for longer.
        told = "the deadline of 300 s|20 attempts" if limited else "5 attempts"
        with pytest.raises((JudgeUnavailable, MalformedAnswer), match=told):
            await cell(judge(server, naps))
        assert server.calls > 5 if limited else server.calls == 5
        assert len(naps.seconds) == server.calls - 1


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry_After": "7"}, 6.9, 7.4),
        ({"retry_after_ms": "1500", "Retry_After": "9"}, 1.4, 1.6),
        ({"Retry_After": "nonsense"}, 0.25, 0.5),
        ({"Retry_After": "-3"}, 0.25, 0.5),
        ({"Retry_After": "nan"}, 0.25, 0.5),
        ({"Retry_After": "200"}, 199, 211),
        ({"Retry_After": "0"}, 0.25, 0.5),
        ({"retry_after_ms": "1"}, 0.25, 0.5),
        ({"Retry_After": "Thu, 01 Jan 1970 00:01:00 GMT"}, 0.25, 0.5),
    ],
)
async def test_a_wait_that_is_asked_for_is_kept(
    headers: dict[str, str], low: float, high: float, naps: Naps
) -> None:
    async with FakeOpenAI(faults=[servers.status(429, **headers)]) as server:
        assert await cell(judge(server, naps)) == "entailed"
    assert len(naps.seconds) == 1
    assert low <= naps.seconds[0] <= high


async def test_a_wait_until_a_date_is_kept(naps: Naps) -> None:
    date = formatdate(time.time() + 100, usegmt=True)
    async with FakeOpenAI(faults=[servers.status(429, Retry_After=date)]) as server:
        assert await cell(judge(server, naps)) == "entailed"
    assert len(naps.seconds) == 1
    assert 90 <= naps.seconds[0] <= 106


async def test_one_call_s_wait_holds_back_the_others(naps: Naps) -> None:
    async with FakeOpenAI(faults=[servers.status(429, Retry_After="50")]) as server:
        own = judge(server, naps, concurrency=1)
        await asyncio.gather(*(own.answer(Extract(f"Text {n}.")) for n in range(3)))
        await own.aclose()
        assert (server.calls, own.usage.retries) == (4, 1)
    assert len(naps.seconds) == 3
    assert all(49 <= seconds <= 53 for seconds in naps.seconds)


async def test_a_wait_beyond_patience_is_an_error(naps: Naps) -> None:
    async with FakeOpenAI(faults=[servers.status(429, Retry_After="86400")]) as server:
        with pytest.raises(JudgeUnavailable, match="asks to wait 86400 s"):
            await cell(judge(server, naps))
        assert server.calls == 1
    assert naps.seconds == []


async def test_a_spent_quota_ends_the_run(naps: Naps) -> None:
    spent = Fault(429, error={"message": "You exceeded it", "code": "insufficient_quota"})
    async with FakeOpenAI(faults=[spent]) as server:
        with pytest.raises(JudgeUnusable, match="You exceeded it"):
            await cell(judge(server, naps))
        assert server.calls == 1


@pytest.mark.parametrize(
    ("code", "error"),
    [
        *((code, JudgeRejected) for code in (400, 413, 451)),
        *((code, JudgeUnusable) for code in (401, 402, 403, 404, 405, 308)),
    ],
)
async def test_a_refusal_is_not_repeated(code: int, error: type[JudgeError], naps: Naps) -> None:
    elsewhere = Fault(code, {"Location": "http://127.0.0.1:1/v1"}, body="no")
    async with FakeOpenAI(faults=[elsewhere]) as server:
        with pytest.raises(error, match=f"HTTP {code}"):
            await cell(judge(server, naps))
        assert server.calls == 1


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (401, "check the key"),
        (402, "the account cannot pay"),
        (403, "check the key"),
        (404, "is the model's name right"),
        (405, "OpenAI-compatible"),
        (308, "the base URL that it moved to"),
    ],
)
async def test_the_advice_fits_the_status(code: int, advice: str, naps: Naps) -> None:
    async with FakeOpenAI(faults=[Fault(code, body="no")]) as server:
        with pytest.raises(JudgeUnusable, match=advice):
            await cell(judge(server, naps))


async def test_an_endpoint_that_is_down_says_what_to_do(naps: Naps) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        own = openai_judge("fake", base_url=url, backoff=Backoff(sleep=naps))
        with pytest.raises(JudgeUnavailable, match=f"cannot reach {url}.*is the server running"):
            await cell(own)
    assert len(naps.seconds) == 4


async def test_a_late_answer_is_a_fault_that_may_pass(naps: Naps) -> None:
    async with FakeOpenAI(faults=[servers.hang(5)]) as server:
        own = judge(server, naps, timeout=0.1)
        assert await cell(own) == "entailed"
        assert own.usage.retries == 1
    async with FakeOpenAI(faults=[servers.hang(5)] * 5) as server:
        with pytest.raises(JudgeUnavailable, match=r"no answer within 0.05 s"):
            await cell(judge(server, naps, timeout=0.05))


async def test_waiting_for_a_turn_is_not_part_of_the_time_out(naps: Naps) -> None:
    async with FakeOpenAI(latency=0.05) as server:
        own = judge(server, naps, timeout=0.4, concurrency=1)
        await asyncio.gather(*(own.answer(Extract(f"Text {n}.")) for n in range(12)))
        await own.aclose()
        assert (server.calls, server.peak) == (12, 1)
    assert own.usage.retries == 0


async def test_a_reply_that_was_cut_off_gets_more_room_once(naps: Naps) -> None:
    async with FakeOpenAI(faults=[servers.LENGTH]) as server:
        assert await cell(judge(server, naps, max_tokens=100)) == "entailed"
        assert [body["max_tokens"] for body in server.bodies] == [100, 400]
    async with FakeOpenAI(faults=[servers.LENGTH] * 3) as server:
        with pytest.raises(MalformedAnswer, match="cut off at 400 tokens"):
            await cell(judge(server, naps, max_tokens=100))
        assert server.calls == 2
    async with FakeOpenAI(faults=[servers.LENGTH]) as server:
        with pytest.raises(MalformedAnswer, match=r"cut off$"):
            await cell(judge(server, naps, max_tokens=None))
        assert server.calls == 1


@pytest.mark.parametrize("fault", [servers.FILTERED, servers.REFUSED])
async def test_a_model_that_refuses_is_not_asked_again(fault: Fault, naps: Naps) -> None:
    async with FakeOpenAI(faults=[fault]) as server:
        with pytest.raises(JudgeRejected, match="refused"):
            await cell(judge(server, naps))
        assert server.calls == 1


async def test_text_in_parts_is_put_together(naps: Naps) -> None:
    async with FakeOpenAI() as server:
        right = server._completion
        server._completion = lambda body, fault: _in_parts(right(body, fault))  # type: ignore[method-assign]
        assert await cell(judge(server, naps)) == "entailed"


def _in_parts(completion: dict[str, Any]) -> dict[str, Any]:
    message = completion["choices"][0]["message"]
    text = message["content"]
    message["content"] = [{"type": "text", "text": text[:9]}, {"type": "text", "text": text[9:]}]
    return completion


def test_no_attempt_at_all_is_refused() -> None:
    with pytest.raises(ConfigError, match="attempts"):
        Backoff(attempts=0)
