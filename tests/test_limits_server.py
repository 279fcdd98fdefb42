"""Limits and repeats against a server: what arrives there, and when."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import pytest
from aiohttp import web

import servers
from assay.asks import Entail, Extract
from assay.errors import JudgeError, JudgeUnavailable
from assay.judges.langchain import langchain_judge
from assay.judges.limiting import Limiter
from assay.judges.llm import LLMJudge
from assay.judges.openai import openai_judge
from assay.judges.retrying import Backoff
from servers import FakeOpenAI, Fault

SOON = Backoff(first=0.01, longest=0.05)
USED_UP = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "300ms"}


class Timed(FakeOpenAI):
    """A server that notes when requests arrive and when it has answered the first fault."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.times: list[float] = []
        self.refused: float | None = None

    def _refuse(self, body: dict[str, Any], headers: dict[str, str]) -> web.Response | None:
        self.times.append(time.monotonic())
        return super()._refuse(body, headers)

    async def __aenter__(self) -> Timed:
        await super().__aenter__()
        return self

    async def _reply(
        self, request: web.Request, body: dict[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        if fault is not None and self.refused is None:
            self.refused = time.monotonic()
        return await super()._reply(request, body, fault)


async def ask_many(judge: LLMJudge, n: int) -> list[Any]:
    """The claims of n texts, or errors; the judge is closed."""
    asks = [Extract(f"Text {k}.") for k in range(n)]
    try:
        return await asyncio.gather(*map(judge.answer, asks), return_exceptions=True)
    finally:
        await judge.aclose()


def failures(answers: list[Any]) -> list[BaseException]:
    return [answer for answer in answers if isinstance(answer, BaseException)]


@pytest.mark.parametrize(
    "fault",
    [
        servers.status(429, Retry_After="0.3"),
        servers.status(429, retry_after_ms="300"),
        servers.status(503, Retry_After="0.3"),
        Fault(429, USED_UP, error={"message": "slow down"}),
        Fault(200, USED_UP),
        Fault(200, {"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": "0m0.3s"}),
    ],
)
async def test_no_worker_calls_before_the_time_that_the_server_names(fault: Fault) -> None:
    async with Timed(faults=[None] * 20 + [fault], latency=0.01) as server:
        judge = openai_judge("fake", base_url=server.url, concurrency=8, backoff=SOON)
        assert not failures(await ask_many(judge, 100))
    assert server.refused is not None
    since = [at - server.refused for at in server.times]
    # what was on its way when the answer came cannot be called back
    assert not [at for at in since if 0.05 < at < 0.3]
    assert len([at for at in since if at >= 0.3]) >= 70
    assert len(since) == 100 + (fault.status != 200)


async def test_a_burst_of_refusals_is_waited_out_by_all_together() -> None:
    burst = [servers.status(429, retry_after_ms="200")] * 16
    async with Timed(faults=[None, *burst]) as server:
        judge = openai_judge("fake", base_url=server.url, concurrency=16)
        assert not failures(await ask_many(judge, 80))
        assert server.calls == 80 + 16
    assert judge.usage.notes == ["slowed down to 8 calls at once after 429"]


async def test_three_tenths_of_faults_cost_few_calls_and_no_answer() -> None:
    kinds = [servers.status(429), servers.status(500), servers.MALFORMED, servers.HALF]
    wanted: list[Fault | None] = [None] * 400
    for k in range(120):
        wanted[k * 400 // 120] = kinds[k % 4]
    often = Backoff(attempts=12, first=0.01, longest=0.05)  # one in 400 would fail five times
    async with FakeOpenAI(faults=wanted, latency=0.002) as server:
        judge = openai_judge("fake", base_url=server.url, backoff=often)
        assert not failures(await ask_many(judge, 400))
        assert server.calls == 520
    assert judge.usage.notes == []  # 30 refusals in 520 slow nothing down


async def test_hung_calls_are_given_up_and_repeated() -> None:
    faults: list[Fault | None] = [None, *[servers.hang(30)] * 3]
    async with FakeOpenAI(faults=faults) as server:
        judge = openai_judge("fake", base_url=server.url, timeout=0.5, backoff=SOON)
        start = time.monotonic()
        assert not failures(await ask_many(judge, 100))
    assert time.monotonic() - start < 3
    assert 3 <= judge.usage.retries < 20  # a busy machine may be late as well


async def test_a_call_ends_at_its_deadline() -> None:
    async with FakeOpenAI(faults=[servers.hang(30)] * 9) as server:
        judge = openai_judge("fake", base_url=server.url, deadline=0.3, backoff=SOON)
        start = time.monotonic()
        with pytest.raises(JudgeUnavailable, match=r"deadline of 0\.3 s"):
            await judge.answer(Extract("A."))
        await judge.aclose()
    assert 0.25 < time.monotonic() - start < 2


async def test_a_thousand_calls_to_nobody_end_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        judge = openai_judge("fake", base_url=url)
        start = time.monotonic()
        answers = await ask_many(judge, 1000)
    assert time.monotonic() - start < 5
    assert all(isinstance(answer, JudgeUnavailable) for answer in answers)
    assert f"{url}: " in str(answers[-1])
    assert "in a row failed" in str(answers[-1])
    assert "is the server running" in str(answers[-1])
    assert judge.usage.calls < 300


async def test_a_rate_is_kept() -> None:
    async with Timed() as server:
        judge = openai_judge("fake", base_url=server.url, rpm=1200, tpm=1e9)
        start = time.monotonic()
        assert not failures(await ask_many(judge, 30))
    assert time.monotonic() - start >= 10 / 20 * 0.95
    assert server.times[-1] - server.times[0] >= 10 / 20 * 0.95


async def test_what_is_negotiated_counts_for_the_rate() -> None:
    async with Timed(unsupported=["seed"]) as server:
        judge = openai_judge("fake", base_url=server.url, rpm=120)
        assert not failures(await ask_many(judge, 3))
    assert len(server.times) == 4
    assert server.times[-1] - server.times[0] >= 0.95


async def test_tokens_of_long_texts_are_held_back() -> None:
    async with Timed() as server:
        judge = openai_judge("fake", base_url=server.url, tpm=60_000, concurrency=1)
        await ask_many(judge, 2)
        tokens = judge.usage.prompt_tokens + judge.usage.completion_tokens
        assert not failures(await ask_many(judge, 4))
    assert tokens > 600
    assert server.times[-1] - server.times[0] > (2 * tokens - 2000) / 1000


async def test_judges_share_a_limiter() -> None:
    limiter = Limiter(4)
    async with FakeOpenAI(latency=0.01) as server:
        judges = [openai_judge(f"m{k}", base_url=server.url, limiter=limiter) for k in range(3)]
        await asyncio.gather(*(ask_many(judge, 20) for judge in judges))
        assert (server.calls, server.peak) == (60, 4)
    assert [judge.usage.calls for judge in judges] == [20, 20, 20]


async def test_cancelled_asks_leave_all_places_free() -> None:
    async with FakeOpenAI(latency=0.2) as server:
        judge = openai_judge("fake", base_url=server.url, concurrency=4)
        await judge.answer(Extract("First."))
        asks = [asyncio.create_task(judge.answer(Extract(f"T {k}."))) for k in range(20)]
        await asyncio.sleep(0.1)
        for ask in asks:
            ask.cancel()
        await asyncio.gather(*asks, return_exceptions=True)
        start = time.monotonic()
        assert not failures(await ask_many(judge, 8))
        assert 0.4 <= time.monotonic() - start < 0.75


def test_an_outage_in_one_event_loop_is_over_in_the_next() -> None:
    with FakeOpenAI(faults=[servers.status(500)] * 12).in_thread() as server:
        judge = openai_judge(
            "fake", base_url=server.url, concurrency=2, backoff=Backoff(1, sleep=_no_time)
        )
        first = asyncio.run(ask_many(judge, 12))
        assert len(failures(first)) == 12
        assert "in a row failed" in str(first[-1])


async def _no_time(seconds: float) -> None:
    await asyncio.sleep(0)


class Unwell:
    """A chat model that is refused twice."""

    def __init__(self) -> None:
        self.calls = 0

    async def ainvoke(self, input: Any, /) -> Any:
        self.calls += 1
        if self.calls <= 2:
            raise LimitError
        return '{"nonce": "x"}'


class LimitError(Exception):
    status_code = 429


async def test_a_langchain_model_is_limited_as_well() -> None:
    model = Unwell()
    judge = langchain_judge(model, backoff=SOON, rpm=600, tpm=1e6, deadline=60)
    start = time.monotonic()
    with pytest.raises(JudgeError):
        await judge.answer(Extract("A."))
    for _ in range(10):
        await judge.answer(Entail(("A.",), ("B.",)))
    assert judge.usage.retries == 2
    # a call for claims and ten for verdicts are asked for four times each, and two are repeated
    assert model.calls == 46
    assert time.monotonic() - start > (46 - 10) / 10 * 0.9
