"""One judge in several event loops, and judges that use the user's own openai client."""

from __future__ import annotations

import asyncio
import gc
import traceback
from typing import Any

import openai
import pytest

import assay
import servers
from assay.asks import Entail, Extract
from assay.errors import JudgeError, JudgeUnavailable, JudgeUnusable, MalformedAnswer
from assay.judges.complete import Completion, Schema
from assay.judges.llm import LLMJudge
from assay.judges.openai import OpenAIComplete, openai_judge
from assay.judges.openai_client import ClientComplete
from assay.judges.retrying import Backoff
from servers import FakeOpenAI

KEY = "sk-very-secret-0123456789"
SCHEMA = Schema("claims", {"type": "object"})
NOW = Backoff(first=0.0)
ASK = Entail(("Rain falls.",), ("Today rain falls.",))


async def cell(judge: LLMJudge) -> str:
    """The verdict on the one pair; the judge is closed."""
    try:
        return (await judge.answer(ASK))[0][0].verdict.value
    finally:
        await judge.aclose()


def words(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error)


def test_one_judge_works_in_two_event_loops_in_turn() -> None:
    with FakeOpenAI(latency=0.01).in_thread() as server:
        judge = openai_judge("fake", base_url=server.url, concurrency=2)

        async def many() -> list[str]:
            asks = [Extract(f"Text {n}.") for n in range(6)]
            try:
                return [c[0].text for c in await asyncio.gather(*map(judge.answer, asks))]
            finally:
                await judge.aclose()

        first, second = asyncio.run(many()), asyncio.run(many())
    assert first == second == [f"Text {n}." for n in range(6)]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_judge_that_was_not_closed_works_in_the_next_event_loop() -> None:
    with FakeOpenAI().in_thread() as server:
        judge = openai_judge("fake", base_url=server.url)

        async def once() -> str:
            return (await judge.answer(ASK))[0][0].verdict.value

        assert asyncio.run(once()) == "entailed"
        assert asyncio.run(cell(judge)) == "entailed"
        gc.collect()  # the connection of the first loop goes with a warning, here


@pytest.fixture(params=["sync", "async"])
def client_kind(request: pytest.FixtureRequest) -> Any:
    def make(url: str) -> openai.OpenAI | openai.AsyncOpenAI:
        kind = openai.OpenAI if request.param == "sync" else openai.AsyncOpenAI
        return kind(base_url=url, api_key=KEY, max_retries=7)

    return make


async def closed(client: openai.OpenAI | openai.AsyncOpenAI) -> None:
    made = client.close()
    if made is not None:
        await made


async def test_the_users_own_client_is_used_as_it_is(client_kind: Any) -> None:
    faults = [servers.status(429, retry_after="0"), servers.NO_CONTENT, servers.HTML]
    async with FakeOpenAI(key=KEY, faults=faults, formats=["json_object"]) as server:
        client = client_kind(server.url)
        judge = openai_judge("fake", client=client, extra={"top_k": 3}, backoff=NOW)
        claims = await judge.answer(Extract("A is B. C is D."))
        await judge.aclose()
        assert await cell(judge) == "entailed"
        await closed(client)
        last = server.bodies[-1]
    assert [claim.text for claim in claims] == ["A is B.", "C is D."]
    assert (last["top_k"], last["temperature"], last["max_completion_tokens"]) == (3, 0, 4096)
    assert last["response_format"] == {"type": "json_object"}
    assert client.max_retries == 7
    assert (judge.usage.calls, judge.usage.retries) == (server.calls, 3)
    assert judge.usage.prompt_tokens > 0
    assert len(judge.usage.notes) == 1


async def test_a_clients_errors_are_ours(client_kind: Any) -> None:
    async with FakeOpenAI(key="another") as server:
        client = client_kind(server.url)
        with pytest.raises(JudgeUnusable, match="check the key") as wrong:
            await cell(openai_judge("fake", client=client))
        assert KEY not in words(wrong.value)
        await closed(client)
    gone = client_kind(server.url)
    with pytest.raises(JudgeError, match="cannot reach"):
        await cell(openai_judge("fake", client=gone, backoff=NOW))
    await closed(gone)
    async with FakeOpenAI(faults=[servers.hang(5)] * 2 + [servers.HALF] * 2) as server:
        client = client_kind(server.url)
        impatient = Backoff(attempts=2, first=0.0)
        judge = openai_judge("fake", client=client, timeout=0.05, backoff=impatient)
        with pytest.raises(JudgeError, match="no answer in time"):
            await cell(judge)
        with pytest.raises(JudgeError):
            await cell(judge)
        await closed(client)


async def test_a_synchronous_client_works_in_parallel() -> None:
    async with FakeOpenAI(latency=0.05) as server:
        client = openai.OpenAI(base_url=server.url, api_key=KEY)
        judge = openai_judge("fake", client=client, concurrency=16)
        await asyncio.gather(*(judge.answer(Extract(f"Text {n}.")) for n in range(17)))
        await judge.aclose()
        client.close()
        assert 8 <= server.peak <= 16


def test_a_client_s_endpoint_is_in_the_fingerprint() -> None:
    with (
        openai.OpenAI(base_url="http://a/v1", api_key=KEY) as a,
        openai.OpenAI(base_url="http://b/v1", api_key="other") as b,
    ):
        parts = [ClientComplete(client, "m").parts for client in (a, b)]
        prints = {openai_judge("m", client=client).fingerprint for client in (a, b)}
    assert [part["base_url"] for part in parts] == ["http://a/v1", "http://b/v1"]
    assert len(prints) == 2
    assert KEY not in str(parts)


async def test_a_completion_is_counted() -> None:
    async with FakeOpenAI() as server:
        complete = OpenAIComplete("fake", base_url=server.url)
        judge = LLMJudge(complete, name="n", fingerprint_parts=complete.parts)
        await cell(judge)
        done = await complete(server.bodies[0]["messages"], None)
        await complete.aclose()
    assert isinstance(done, Completion)
    assert (done.finish_reason, complete.usage.calls) == ("stop", 2)
    assert complete.usage.prompt_tokens == 2 * done.prompt_tokens > 0
    assert complete.usage.completion_tokens >= done.completion_tokens > 0
    with pytest.raises(MalformedAnswer):
        async with FakeOpenAI(faults=[servers.EMPTY] * 5) as broken:
            await cell(openai_judge("fake", base_url=broken.url, backoff=NOW))


# --- one asynchronous client, several event loops ---------------------------------------------

SAMPLES = [
    {"id": str(n), "question": "q", "answer": f"Rain {n} falls.", "contexts": [f"Rain {n} falls."]}
    for n in range(5)
]


def scored(judge: LLMJudge) -> list[float | None]:
    run = assay.evaluate(SAMPLES, ["faithfulness"], judge)
    return [row.scores["faithfulness"].value for row in run.rows]


def test_an_asynchronous_client_serves_every_evaluation() -> None:
    with FakeOpenAI(key=KEY, latency=0.01).in_thread() as server:
        client = openai.AsyncOpenAI(
            base_url=server.url, api_key=KEY, default_headers={"X-Team": "blue"}
        )
        judge = openai_judge("fake", client=client, backoff=NOW)
        assert scored(judge) == scored(judge) == scored(judge) == [1.0] * 5
        assert judge.usage.retries == 0
        assert all(headers["x-team"] == "blue" for _, headers in server.requests)
        assert not client.is_closed()


def test_the_settings_of_the_users_http_client_are_kept() -> None:
    seen: list[str] = []

    async def note(request: Any) -> None:
        seen.append(request.headers["x-http"])

    with FakeOpenAI().in_thread() as server:
        http = openai.DefaultAsyncHttpxClient(
            proxy=server.url.removesuffix("/v1"),
            headers={"X-Http": "mine"},
            event_hooks={"request": [note]},
        )
        # only the proxy can reach this host
        client = openai.AsyncOpenAI(
            base_url="http://nowhere.invalid/v1", api_key=KEY, http_client=http
        )
        judge = openai_judge("fake", client=client, backoff=Backoff(attempts=1))
        assert scored(judge) == scored(judge) == [1.0] * 5
        assert len(seen) == server.calls == 20
        assert not http.is_closed
        asyncio.run(http.aclose())


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_asynchronous_client_s_judge_that_was_not_closed_works_in_the_next_loop() -> None:
    with FakeOpenAI().in_thread() as server:
        assert _in_five_loops(server.url) == (["entailed"] * 4, 0)
        gc.collect()  # the connections of the earlier loops go with a warning, here


def _in_five_loops(url: str) -> tuple[list[str], int]:
    """Verdicts and retries of a client that its owner uses first; only the last loop is closed."""
    client = openai.AsyncOpenAI(base_url=url, api_key=KEY)
    judge = openai_judge("fake", client=client, backoff=NOW)
    messages: Any = [{"role": "user", "content": 'nonce ab\n{"text": "A."}'}]

    async def of_the_owner() -> None:
        await client.chat.completions.create(model="fake", messages=messages)

    async def once() -> str:
        return (await judge.answer(ASK))[0][0].verdict.value

    asyncio.run(of_the_owner())
    said = [asyncio.run(once()) for _ in range(3)]
    return [*said, asyncio.run(cell(judge))], judge.usage.retries


class Stale:
    """A client of no known kind whose first calls meet connections of an earlier loop."""

    base_url = "http://host/v1"

    def __init__(self, stale: int, error: str = "Event loop is closed") -> None:
        self.stale, self.error, self.calls = stale, error, 0
        self.chat = self.completions = self

    async def create(self, **body: Any) -> Any:
        self.calls += 1
        if self.calls <= self.stale:
            raise RuntimeError(self.error)
        reply = FakeOpenAI()._completion(body, servers.Fault())
        return {**reply, "model": "fake"}


async def test_connections_of_an_earlier_loop_are_used_up() -> None:
    client = Stale(30)
    judge = openai_judge("fake", client=client, backoff=NOW)
    assert await cell(judge) == "entailed"
    assert (client.calls, judge.usage.calls, judge.usage.retries) == (31, 1, 0)


async def test_a_client_that_only_knows_an_earlier_loop_is_unavailable() -> None:
    judge = openai_judge("fake", client=Stale(10**6), backoff=NOW)
    with pytest.raises(JudgeUnavailable, match="an event loop that has ended: use a new client"):
        await cell(judge)
    judge = openai_judge("fake", client=Stale(9, f"closed {KEY[:3]}"), backoff=NOW)
    with pytest.raises(JudgeUnavailable, match="the client failed"):
        await cell(judge)


# --- what errors and results say of a client --------------------------------------------------


async def test_a_password_in_the_client_s_url_is_told_to_nobody(client_kind: Any) -> None:
    faults = [servers.status(404, "no /v1 for us:hunter22"), servers.hang(5)]
    async with FakeOpenAI(faults=faults) as server:
        client = client_kind(server.url.replace("//", "//us:hunter22@") + "/?token=hunter22")
        once = Backoff(attempts=1)
        judge = openai_judge("fake", client=client, timeout=0.2, backoff=once)
        errors = []
        for _ in range(2):
            with pytest.raises(JudgeError) as failed:
                await cell(judge)
            errors.append(words(failed.value))
        await closed(client)
    gone = client_kind(server.url.replace("//", "//us:hunter22@"))
    parts = ClientComplete(gone, "m").parts
    with pytest.raises(JudgeError, match="cannot reach") as failed:
        await cell(openai_judge("fake", client=gone, backoff=once))
    await closed(gone)
    assert parts["base_url"] == server.url
    assert "hunter22" not in "".join(errors) + words(failed.value) + str(parts)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (401, "check the key"),
        (402, "the account cannot pay"),
        (403, "check the key"),
        (404, "are the model's name and the client's base_url right"),
        (405, "OpenAI-compatible"),
    ],
)
async def test_the_advice_fits_the_status(code: int, advice: str, client_kind: Any) -> None:
    async with FakeOpenAI(faults=[servers.status(code)]) as server:
        client = client_kind(server.url)
        with pytest.raises(JudgeUnusable, match=advice):
            await cell(openai_judge("fake", client=client))
        await closed(client)
