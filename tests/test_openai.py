"""OpenAI-compatible endpoints: keys, URLs, and what they refuse."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from typing import Any

import pytest

import servers
from assay.asks import Entail, Extract
from assay.errors import ConfigError, JudgeError, JudgeRejected, JudgeUnusable
from assay.judges.complete import Schema
from assay.judges.limiting import Limiter
from assay.judges.llm import LLMJudge
from assay.judges.openai import OpenAIComplete, openai_judge
from assay.judges.retrying import Backoff
from assay.judges.terms import Sampling
from servers import FakeOpenAI, Fault

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


# --- keys and URLs ----------------------------------------------------------------------------


async def test_the_key_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeOpenAI(key=KEY) as server:
        judge = openai_judge("fake", base_url=server.url + "/", api_key_env="MY_KEY")
        monkeypatch.setenv("MY_KEY", f" {KEY}\n")
        assert await cell(judge) == "entailed"
        assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"


async def test_without_a_key_no_header_is_sent() -> None:
    async with FakeOpenAI() as server:
        assert await cell(openai_judge("fake", base_url=server.url)) == "entailed"
        assert not {"authorization", "api-key", "cookie"} & set(server.requests[0][1])


async def test_azure_s_header_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", KEY)
    async with FakeOpenAI(key=KEY) as server:
        judge = openai_judge(
            "fake",
            base_url=f"{server.url}/chat/completions",
            api_key_env="AZURE_KEY",
            key_header="api-key",
            query={"api-version": "2024-10-21"},
        )
        assert await cell(judge) == "entailed"
        path, headers = server.requests[0]
    assert path == "/v1/chat/completions?api-version=2024-10-21"
    assert (headers["api-key"], "authorization" in headers) == (KEY, False)


async def test_the_base_url_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeOpenAI() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        judge = openai_judge("fake")
        monkeypatch.delenv("OPENAI_BASE_URL")
        assert await cell(judge) == "entailed"


async def test_a_wrong_key_says_what_to_do_and_never_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    async with FakeOpenAI(key="another") as server:
        with pytest.raises(JudgeUnusable, match="variable MY_KEY is set, but refused") as wrong:
            await cell(openai_judge("fake", base_url=server.url, api_key_env="MY_KEY"))
        monkeypatch.delenv("MY_KEY")
        with pytest.raises(JudgeUnusable, match="variable MY_KEY is not set"):
            await cell(openai_judge("fake", base_url=server.url, api_key_env="MY_KEY"))
        assert server.calls == 2
    assert KEY not in words(wrong.value)


@pytest.mark.parametrize(
    "fault",
    [
        servers.status(400, f"you sent {KEY}"),
        servers.status(404, f"you sent {KEY}"),
        servers.status(503, f"you sent {KEY}"),
        Fault(body=f"<html>{KEY}</html>"),
    ],
)
async def test_no_error_repeats_the_key(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with FakeOpenAI(faults=[fault] * 5) as server:
        judge = openai_judge("fake", base_url=server.url, backoff=NOW)
        with pytest.raises(JudgeError) as failed:
            await cell(judge)
    assert KEY not in words(failed.value)
    assert "***" in str(failed.value)
    assert KEY not in judge.fingerprint + repr(judge) + str(judge.usage)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(body="<html>" + "x" * 60 + KEY),
        Fault(503, body="<html>" + "<p>" * 550 + "x" * 280 + KEY),
        Fault(503, body="<html>" + "<p>" * 661 + "x" + KEY),
        Fault(message={"content": None, "refusal": f"I will not: {KEY}"}),
        Fault(message={"content": None, "refusal": "x" * 190 + KEY}),
    ],
)
async def test_no_error_repeats_a_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with FakeOpenAI(faults=[fault] * 5) as server:
        with pytest.raises(JudgeError) as failed:
            await cell(openai_judge("fake", base_url=server.url, backoff=NOW))
    assert KEY[:6] not in words(failed.value)


async def test_openai_itself_is_not_asked_without_a_key() -> None:
    with pytest.raises(JudgeUnusable, match="OPENAI_API_KEY is not set"):
        await cell(openai_judge("gpt-4o-mini"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"api_key_env": "sk-abcdef"}, "NAME of an environment variable"),
        ({"base_url": "ftp://host/v1"}, "http"),
        ({"base_url": "host:8000"}, "http"),
        ({"base_url": "https://me:pw@host/v1"}, "password"),
        ({"base_url": "https://host/v1?api-version=1"}, "query="),
        ({"reply_format": "json"}, "known: json_object"),
        ({"client": object(), "base_url": "https://host/v1"}, "its own URL"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as refused:
        openai_judge("fake", **options)
    assert "sk-abcdef" not in str(refused.value)
    assert "pw@" not in str(refused.value)


async def test_an_unknown_model_names_it() -> None:
    async with FakeOpenAI(models=["real"]) as server:
        with pytest.raises(JudgeUnusable, match="'fake' not found; is the model's name right"):
            await cell(openai_judge("fake", base_url=server.url))
        assert server.calls == 1


# --- what an endpoint refuses -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("formats", "tried"),
    [
        (("json_schema",), ["json_schema"]),
        (("json_object",), ["json_schema", "json_object"]),
        (("text",), ["json_schema", "json_object", None]),
    ],
)
async def test_the_strictest_reply_format_is_found_once(
    formats: tuple[str, ...], tried: list[str | None]
) -> None:
    async with FakeOpenAI(formats=formats, latency=0.01) as server:
        judge = openai_judge("fake", base_url=server.url)
        asks = [Extract(f"Text {n}.") for n in range(30)]
        await asyncio.gather(*map(judge.answer, asks))
        await judge.aclose()
        sent = [body.get("response_format", {}).get("type") for body in server.bodies]
    assert sent == tried + tried[-1:] * 29
    assert len(judge.usage.notes) == len(tried) - 1
    assert judge.usage.retries == 0


@pytest.mark.parametrize("name", ["temperature", "seed", "max_tokens"])
async def test_a_refused_parameter_is_left_out_from_then_on(name: str) -> None:
    async with FakeOpenAI(unsupported=[name]) as server:
        judge = openai_judge("fake", base_url=server.url)
        assert await cell(judge) == await cell(judge) == "entailed"
        assert [name in body for body in server.bodies] == [True, False, False]
        assert ("max_completion_tokens" in server.bodies[1]) == (name == "max_tokens")
    assert name in judge.usage.notes[0]
    assert len(judge.usage.notes) == 1


async def test_an_endpoint_may_refuse_all_parameters() -> None:
    refused = ["temperature", "seed", "max_tokens", "max_completion_tokens", "response_format"]
    async with FakeOpenAI(unsupported=refused) as server:
        judge = openai_judge("fake", base_url=server.url)
        assert await cell(judge) == "entailed"
        assert set(server.bodies[-1]) == {"model", "messages"}
        assert server.calls == 7  # the ladder has two steps


@pytest.mark.parametrize(
    ("code", "said", "gone"),
    [
        (
            422,
            '{"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs not permitted"}]}',
            "seed",
        ),
        (500, "{\"error\": \"response_format: Input should be 'text' or 'json_object'\"}", ""),
        (400, '{"error": {"message": "max_tokens is too large: 4096 > context"}}', "max_tokens"),
        (400, '{"message": "Unrecognized request argument supplied: seed"}', "seed"),
    ],
)
async def test_refusals_come_in_many_shapes(code: int, said: str, gone: str) -> None:
    async with FakeOpenAI(faults=[Fault(code, body=said)]) as server:
        judge = openai_judge("fake", base_url=server.url, backoff=NOW)
        assert await cell(judge) == "entailed"
        first, second = server.bodies
    assert set(first) - set(second) == ({gone} if gone else set())
    assert (second["response_format"]["type"] == "json_schema") == bool(gone)
    assert judge.usage.retries == 0


async def test_any_other_bad_request_is_rejected() -> None:
    async with FakeOpenAI(faults=[servers.status(400, "the prompt is too long")]) as server:
        with pytest.raises(JudgeRejected, match="too long"):
            await cell(openai_judge("fake", base_url=server.url))
        assert server.calls == 1


@pytest.mark.parametrize(
    "said",
    [
        "invalid value; input={'text': 'the seed, the temperature, the grammar of Latin'}",
        "Content invalid: 'claim: the seed of the plant'",
        'Content invalid: "claim: the king\'s seed of a json_object" was flagged',
        "Content invalid: 'claim: a guided tour of response_format",
        "Content invalid: “the seed of a plant”",
        "The text is not allowed. " + "It was refused. " * 30 + "seed, json_schema",
        "the text on the grammar of Latin was flagged",
    ],
)
async def test_a_refusal_that_repeats_the_text_gives_nothing_up(said: str) -> None:
    async with FakeOpenAI(faults=[servers.status(400, said)]) as server:
        judge = openai_judge("fake", base_url=server.url)
        with pytest.raises(JudgeRejected):
            await cell(judge)
        assert await cell(judge) == "entailed"
        first, second = server.bodies
    assert set(first) == set(second)
    assert first["response_format"] == second["response_format"]
    assert judge.usage.notes == []


async def test_a_message_that_is_refused_is_no_parameter_of_ours() -> None:
    error = {"message": "unsupported text: seed", "param": "messages[1].content"}
    async with FakeOpenAI(faults=[Fault(400, error=error)]) as server:
        with pytest.raises(JudgeRejected):
            await cell(openai_judge("fake", base_url=server.url))
        assert server.calls == 1


@pytest.mark.parametrize("name", ["seed", "temperature", "response_format"])
async def test_what_has_served_once_is_not_given_up(name: str) -> None:
    faults = [None, servers.status(400, f"{name} is not supported here")]
    async with FakeOpenAI(faults=faults) as server:
        judge = openai_judge("fake", base_url=server.url)
        assert await cell(judge) == "entailed"
        with pytest.raises(JudgeRejected):
            await cell(judge)
        assert await cell(judge) == "entailed"
        assert all(name in body for body in server.bodies)
    assert judge.usage.notes == []


async def test_a_limit_may_be_too_large_for_a_later_request() -> None:
    late = servers.status(400, "max_tokens is too large: 4096 > context")
    async with FakeOpenAI(faults=[None, late]) as server:
        judge = openai_judge("fake", base_url=server.url)
        assert await cell(judge) == await cell(judge) == "entailed"
        assert ["max_tokens" in body for body in server.bodies] == [True, True, False]


@pytest.mark.parametrize(
    "said",
    [
        'litellm: OpenAIException - {"error": {"message": "Unsupported: \'seed\' is not known"}}',
        "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Not allowed', 'input': 0}]",
        "This model doesn't support 'seed' and can't use it.",
    ],
)
async def test_a_quoted_refusal_is_one(said: str) -> None:
    async with FakeOpenAI(faults=[servers.status(400, said)]) as server:
        assert await cell(openai_judge("fake", base_url=server.url)) == "entailed"
        first, second = server.bodies
    assert set(first) - set(second) == {"seed"}


async def test_what_the_user_adds_is_sent_and_not_negotiated() -> None:
    async with FakeOpenAI(unsupported=["temperature"]) as server:
        judge = openai_judge("fake", base_url=server.url, extra={"temperature": 1, "top_k": 5})
        with pytest.raises(JudgeRejected, match="temperature"):
            await cell(judge)
        assert (server.bodies[0]["temperature"], server.bodies[0]["top_k"]) == (1, 5)


async def test_parameters_that_are_none_are_left_to_the_endpoint() -> None:
    async with FakeOpenAI() as server:
        judge = openai_judge(
            "fake", base_url=server.url, temperature=None, seed=None, max_tokens=None
        )
        await cell(judge)
        assert set(server.bodies[0]) == {"model", "messages", "response_format"}


# --- identity ---------------------------------------------------------------------------------

CHANGES: dict[str, Any] = {
    "model": "other",
    "base_url": "http://other/v1",
    "query": {"api-version": "1"},
    "sampling": Sampling(temperature=0.5),
}
HARMLESS: dict[str, Any] = {
    "api_key_env": "OTHER_KEY",
    "key_header": "api-key",
    "timeout": 1.0,
    "concurrency": 1,
    "backoff": Backoff(attempts=1),
    "limiter": Limiter(2),
}
SAMPLINGS = {
    "temperature": Sampling(temperature=None),
    "seed": Sampling(seed=1),
    "max_tokens": Sampling(max_tokens=1),
    "reply_format": Sampling(reply_format="text"),
    "extra": Sampling(extra={"top_p": 0.1}),
}


def test_every_option_changes_the_fingerprint_or_is_harmless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fingerprint(**options: Any) -> str:
        complete = OpenAIComplete(**{"model": "m", "base_url": "http://host/v1", **options})
        return LLMJudge(complete, name="n", fingerprint_parts=complete.parts).fingerprint

    assert set(inspect.signature(OpenAIComplete.__init__).parameters) == {
        "self",
        *CHANGES,
        *HARMLESS,
    }
    assert set(inspect.signature(Sampling).parameters) == set(SAMPLINGS)
    changed = [fingerprint(**{name: value}) for name, value in CHANGES.items()]
    changed += [fingerprint(sampling=sampling) for sampling in SAMPLINGS.values()]
    same = [fingerprint(**{name: value}) for name, value in HARMLESS.items()]
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    same.append(fingerprint())
    assert len({fingerprint(), *changed}) == 1 + len(changed)
    assert set(same) == {fingerprint()}
    assert openai_judge("m").name == "openai:m"
