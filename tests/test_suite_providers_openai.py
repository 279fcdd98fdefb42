"""Chat models under test: only what the config says is sent, and whatever they say is an answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assay.errors import ConfigError
from assay.judges.retrying import Backoff
from assay.suite.providers.base import Answer, Request
from assay.suite.providers.openai import VENDORS, OpenAIProvider, endpoint_of
from assay.suite.secrets import Secrets
from assay.suite.templates import Templates
from servers import EMPTY, HALF, HTML, FakeOpenAI, Fault, hang, status

KEY = "sk-very-secret-0123456789"
PARTS = [{"type": "text", "text": "a"}, {"text": "b"}]
CALLS = [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]


class Model(FakeOpenAI):
    """A server that answers every prompt, or with what its faults say."""

    def reply(self, data: dict[str, Any], lists: Any = ()) -> dict[str, Any]:
        return {}

    def _text(self, body: dict[str, Any], fault: Fault) -> str:
        content = fault.garble({}) if fault.garble else "Grüezi 👋"
        message = {"role": "assistant", "content": content, **(fault.message or {})}
        choice = {"index": 0, "message": message, "finish_reason": fault.finish}
        used = {"prompt_tokens": 7, "completion_tokens": 3}
        return json.dumps({"choices": [choice], "usage": used, "model": body["model"]})


async def asked(server: FakeOpenAI, config: dict[str, Any], prompt: Any = "Hi") -> Answer:
    provider = opened({"apiBaseUrl": server.url, "timeout": 5, **config})
    try:
        return await provider.call(Request(prompt))
    finally:
        await provider.aclose()


def opened(config: dict[str, Any], id: str = "openai:chat:m") -> OpenAIProvider:
    return OpenAIProvider(
        id,
        config,
        templates=Templates({"ORG": "org-1"}),
        secrets=Secrets(),
        backoff=Backoff(attempts=3, first=0.0),
    )


async def test_only_what_the_config_says_is_sent() -> None:
    async with Model() as server:
        answer = await asked(server, {})
        assert server.bodies == [{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}]
        config = {"temperature": 0, "seed": 1, "stop": ["x"], "passthrough": {"top_k": 5}}
        messages = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
        await asked(server, config, messages)
        assert server.bodies[1] == {
            "model": "m",
            "temperature": 0,
            "seed": 1,
            "stop": ["x"],
            "top_k": 5,
            "messages": messages,
        }
    assert (answer.output, answer.error, answer.calls) == ("Grüezi 👋", None, 1)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (7, 3, None)
    assert answer.raw["choices"][0]["message"]["content"] == "Grüezi 👋"
    assert answer.latency_ms is not None
    assert answer.latency_ms > 0


async def test_key_and_headers_are_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_MODEL", KEY)
    leak = status(400, "x" * 290 + KEY)
    async with Model(key=KEY, faults=[None, leak]) as server:
        config = {"apiKey": "{{ env.MY_MODEL }}", "headers": {"X-Org": "{{env.ORG}}"}}
        answer = await asked(server, config)
        assert answer.output == "Grüezi 👋"
        headers = server.requests[0][1]
        assert (headers["authorization"], headers["x-org"]) == (f"Bearer {KEY}", "org-1")
        answer = await asked(server, {"apiKeyEnvar": "MY_MODEL"})
        assert answer.error is not None
        assert "sk-" not in answer.error
        monkeypatch.setenv("MY_MODEL", "sk-wrong-0123456789")
        answer = await asked(server, {"apiKeyEnvar": "MY_MODEL"})
        assert answer.error is not None
        assert "MY_MODEL is set, but refused" in answer.error
        assert "sk-" not in answer.error


@pytest.mark.parametrize(
    ("fault", "output", "metadata"),
    [
        (Fault(finish="length"), "Grüezi 👋", ("length", False)),
        (Fault(message={"content": None, "refusal": "I cannot"}), "I cannot", ("stop", True)),
        (Fault(message={"content": ""}), "", ("stop", False)),
        (Fault(message={"content": PARTS}), "ab", ("stop", False)),
        (Fault(message={"tool_calls": CALLS, "content": None}), CALLS, ("stop", False)),
    ],
)
async def test_what_a_model_says_is_its_answer(
    fault: Fault, output: Any, metadata: tuple[str, bool]
) -> None:
    async with Model(faults=[fault]) as server:
        answer = await asked(server, {"max_tokens": 5})
    assert (answer.output, answer.error, answer.calls) == (output, None, 1)
    assert (answer.metadata["finish_reason"], answer.metadata["refused"]) == metadata


async def test_what_a_filter_took_away_is_an_error() -> None:
    fault = Fault(message={"content": None}, finish="content_filter")
    async with Model(faults=[fault]) as server:
        answer = await asked(server, {})
    assert answer.error == "the endpoint's content filter took the reply away"


async def test_faults_that_pass_are_tried_again() -> None:
    faults = [status(500), status(429, Retry_After="0.1"), None]
    async with Model(faults=faults) as server:
        answer = await asked(server, {})
        assert (answer.output, answer.calls, server.calls) == ("Grüezi 👋", 3, 3)
        assert answer.latency_ms is not None
        assert answer.latency_ms < 90


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (status(500, "down"), "HTTP 500: down"),
        (HALF, "broke off"),
        (HTML, "no completion"),
        (EMPTY, "no completion"),
        (Fault(body="[1]"), "no completion"),
        (Fault(message={"content": None}), "without content"),
    ],
)
async def test_faults_that_stay_are_errors_of_the_answer(fault: Fault, said: str) -> None:
    async with Model(faults=[fault] * 3) as server:
        answer = await asked(server, {})
    assert answer.output is None
    assert answer.error is not None
    assert said in answer.error
    assert answer.calls == 3


async def test_a_model_that_hangs_or_is_not_there() -> None:
    async with Model(faults=[hang(5)] * 3) as server:
        provider = opened({"apiBaseUrl": server.url, "timeoutMs": 100})
        answer = await provider.call(Request("x"))
        await provider.aclose()
        assert answer.error is not None
        assert "no answer within 0.1 s" in answer.error
    provider = opened({"apiBaseUrl": "http://127.0.0.1:1/v1"}, "ollama:qwen3:8b")
    answer = await provider.call(Request("x"))
    await provider.aclose()
    assert answer.error is not None
    assert "config.apiBaseUrl" in answer.error


async def test_openai_without_a_key_asks_nobody() -> None:
    provider = opened({})
    answer = await provider.call(Request("x"))
    await provider.aclose()
    assert answer.error is not None
    assert "OPENAI_API_KEY is not set" in answer.error


async def test_calls_at_once_have_counts_of_their_own() -> None:
    async with Model(latency=0.02) as server:
        provider = opened({"apiBaseUrl": server.url})
        answers = await asyncio.gather(*(provider.call(Request(str(k))) for k in range(12)))
        await provider.aclose()
        assert server.peak == 4
    assert [answer.calls for answer in answers] == [1] * 12


@pytest.mark.parametrize(
    ("id", "model", "url", "key"),
    [
        ("openai:gpt-4o-mini", "gpt-4o-mini", *VENDORS["openai"]),
        ("openai:chat:ft:gpt:x", "ft:gpt:x", *VENDORS["openai"]),
        ("ollama:chat:qwen3:8b", "qwen3:8b", *VENDORS["ollama"]),
        ("ollama:qwen3:8b", "qwen3:8b", *VENDORS["ollama"]),
        ("openrouter:a/b:free", "a/b:free", *VENDORS["openrouter"]),
    ],
)
def test_where_an_id_is_asked(id: str, model: str, url: str, key: str) -> None:
    place = endpoint_of(id, {}, Templates(), Secrets())
    assert place is not None
    assert (place.model, place.base_url, place.api_key_env) == (model, url, key)


def test_the_environment_moves_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    for name, url in [("openai:m", "http://localhost:1/v1"), ("groq:m", VENDORS["groq"][0])]:
        place = endpoint_of(name, {}, Templates(), Secrets())
        assert place is not None
        assert place.base_url == url
    assert endpoint_of("embedded", {}, Templates(), Secrets()) is None


@pytest.mark.parametrize(
    ("id", "config", "said"),
    [
        ("openai:responses:gpt-5", {}, "write openai:chat:gpt-5"),
        ("openai:", {}, "which model"),
        ("openai:chat:", {}, "which model"),
        ("openai:m", {"apiKey": KEY}, "name that as apiKeyEnvar"),
        ("openai:m", {"apiKey": "{{env.A}}", "apiKeyEnvar": "B"}, "different variables"),
        ("openai:m", {"apiKeyEnvar": KEY}, "NAME of an environment variable"),
        ("openai:m", {"temprature": 1}, "did you mean 'temperature'"),
        ("openai:m", {"stream": True}, "replies are read whole"),
        ("openai:m", {"passthrough": {"messages": []}}, "cannot hold 'messages'"),
        ("openai:m", {"response_format": "json"}, "must be a mapping"),
        ("openai:m", {"apiBaseUrl": "localhost:1"}, "must begin with http"),
        ("openai:m", {"apiBaseUrl": "{{env.NONE}}/v1"}, "NONE: set it"),
        ("openai:m", {"headers": {"X": "a\nb"}}, "no header can have"),
        ("other:m", {}, "must begin with one of"),
    ],
)
def test_configs_that_cannot_work(id: str, config: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        opened(config, id)
    assert KEY not in str(caught.value)
