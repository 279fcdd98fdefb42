"""LangChain chat models as judges, used as they were made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import SecretStr

from assay.asks import Entail, Extract
from assay.errors import JudgeError, JudgeRejected, JudgeUnavailable, JudgeUnusable, MalformedAnswer
from assay.judges.langchain import langchain_judge
from assay.judges.llm import LLMJudge
from assay.judges.retrying import Backoff
from servers import FakeOpenAI, data_of

ASK = Entail(("Rain falls.", "Snow melts."), ("Today rain falls.", "Here snow melts."), "q")
NOW = Backoff(attempts=2, first=0.0)


class OracleModel(BaseChatModel):
    """A chat model that answers as the fake server does."""

    model_name: str = "oracle"
    temperature: float = 0.0
    max_tokens: int = 100
    base_url: str = "http://host/v1"
    api_key: SecretStr = SecretStr("sk-very-secret")
    access_token: str = "hidden"
    timeout: float = 3.0
    change: Callable[[AIMessage], AIMessage] | None = None

    @property
    def _llm_type(self) -> str:
        return "oracle"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        import json

        assert [message.type for message in messages] == ["system", "human"]
        data = data_of({"messages": [{"content": m.content} for m in messages]})
        used = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
        reply = AIMessage(json.dumps(FakeOpenAI().reply(data)), usage_metadata=used)
        reply = self.change(reply) if self.change else reply
        return ChatResult(generations=[ChatGeneration(message=reply)])


def letters(rows: Any) -> str:
    return " ".join("".join(cell.verdict.value[0] for cell in row) for row in rows)


async def ask_with(change: Callable[[AIMessage], AIMessage], **options: Any) -> str:
    judge = langchain_judge(OracleModel(change=change), backoff=NOW, **options)
    return letters(await judge.answer(ASK))


async def test_a_chat_model_judges() -> None:
    model = OracleModel()
    before = model.model_dump()
    judge = langchain_judge(model)
    assert letters(await judge.answer(ASK)) == "en ne"
    claims = await judge.answer(Extract("A is B. C is D."))
    await judge.aclose()
    assert [claim.text for claim in claims] == ["A is B.", "C is D."]
    assert judge.name == "langchain:oracle"
    usage = judge.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (3, 33, 21)
    assert model.model_dump() == before


async def test_packed_is_one_call() -> None:
    judge = langchain_judge(OracleModel(), packed=True, name="mine")
    assert letters(await judge.answer(ASK)) == "en ne"
    assert (judge.usage.calls, judge.name) == (1, "mine")


async def test_content_in_blocks_is_text() -> None:
    def blocks(reply: AIMessage) -> AIMessage:
        text = str(reply.content)
        return AIMessage([{"type": "text", "text": text[:5]}, {"type": "image"}, text[5:]])

    assert await ask_with(blocks) == "en ne"


async def test_a_model_that_never_says_the_nonce_answers_nothing() -> None:
    judge = langchain_judge(FakeListChatModel(responses=['{"nonce": "x", "verdicts": []}']))
    assert letters(await judge.answer(ASK)) == "uu uu"
    assert (judge.tally.reasked, judge.tally.unanswered) == (6, 4)
    talk = GenericFakeChatModel(messages=iter([AIMessage("Sure!"), AIMessage("Well.")] * 2))
    with pytest.raises(MalformedAnswer):
        await langchain_judge(talk).answer(Extract("A."))


class ProviderError(Exception):
    def __init__(self, status_code: int | None = None) -> None:
        super().__init__("the key sk-very-secret is wrong")
        if status_code is not None:
            self.status_code = status_code


@pytest.mark.parametrize(
    ("status", "error", "calls"),
    [
        (401, JudgeUnusable, 1),
        (402, JudgeUnusable, 1),
        (404, JudgeUnusable, 1),
        (400, JudgeRejected, 1),
        (429, JudgeUnavailable, 8),  # a rate limit is waited out for longer
        (503, JudgeUnavailable, 2),
        (None, JudgeUnavailable, 2),
    ],
)
async def test_a_providers_exceptions_are_ours(
    status: int | None, error: type[JudgeError], calls: int
) -> None:
    def fail(reply: AIMessage) -> AIMessage:
        raise ProviderError(status)

    judge = langchain_judge(OracleModel(change=fail), backoff=NOW)
    with pytest.raises(error, match="ProviderError") as raised:
        await judge.answer(Entail(("A.",), ("A.",)))
    assert judge.usage.calls == calls
    assert "sk-very-secret" not in str(raised.value)


@pytest.mark.parametrize(("status", "says"), [(401, "key"), (402, "pay"), (404, "name and URL")])
async def test_the_advice_fits_the_status(status: int, says: str) -> None:
    def fail(reply: AIMessage) -> AIMessage:
        raise ProviderError(status)

    with pytest.raises(JudgeUnusable, match=says):
        await ask_with(fail)


async def test_connections_of_an_earlier_loop_are_used_up() -> None:
    calls = []

    def stale(reply: AIMessage) -> AIMessage:
        calls.append(1)
        if len(calls) <= 20:
            raise RuntimeError("Event loop is closed")
        return reply

    judge = langchain_judge(OracleModel(change=stale), backoff=NOW)
    cells = await judge.answer(Entail(("A.",), ("A.",)))
    assert (letters(cells), judge.usage.retries) == ("e", 0)


async def test_a_model_that_only_knows_an_earlier_loop_is_unavailable() -> None:
    def stale(reply: AIMessage) -> AIMessage:
        raise ProviderError from RuntimeError("<Queue> is bound to a different event loop")

    with pytest.raises(JudgeUnavailable, match="an event loop that has ended: make a new model"):
        await ask_with(stale)


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ({"finish_reason": "length"}, MalformedAnswer),
        ({"stop_reason": "max_tokens"}, MalformedAnswer),
        ({"finish_reason": "content_filter"}, JudgeRejected),
    ],
)
async def test_a_reply_that_did_not_end_well(
    reason: dict[str, str], error: type[JudgeError]
) -> None:
    with pytest.raises(error):
        await ask_with(lambda reply: AIMessage(reply.content, response_metadata=reason))


async def test_a_late_model_is_given_up() -> None:
    class Late(OracleModel):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
            await asyncio.sleep(5)
            raise AssertionError

    judge = langchain_judge(Late(), timeout=0.05, backoff=NOW)
    with pytest.raises(JudgeUnavailable, match=r"Late: no answer within 0.05 s"):
        await judge.answer(ASK)


def test_the_fingerprint_is_the_models_plain_parameters() -> None:
    def fingerprint(**fields: Any) -> str:
        return langchain_judge(OracleModel(**fields)).fingerprint

    different: list[dict[str, Any]] = [
        {"model_name": "other"},
        {"temperature": 0.5},
        {"max_tokens": 5},
        {"base_url": "http://other/v1"},
    ]
    same: list[dict[str, Any]] = [
        {"api_key": SecretStr("sk-other")},
        {"access_token": "x"},
        {"timeout": 9.0},
    ]
    prints = {fingerprint(), *(fingerprint(**fields) for fields in different)}
    assert len(prints) == 1 + len(different)
    assert {fingerprint(**fields) for fields in same} == {fingerprint()}
    assert isinstance(langchain_judge(OracleModel()), LLMJudge)


def test_a_bound_model_counts_what_is_bound() -> None:
    prints = {
        langchain_judge(model).fingerprint
        for model in (OracleModel(), OracleModel().bind(stop="x"), OracleModel().bind(stop="y"))
    }
    assert len(prints) == 3
