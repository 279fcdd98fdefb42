"""Opinions and ratings by the LLM judge, its prompts, and when it is another judge."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

import servers
from assay.asks import Extract, Label, Rate, Skill, Trait
from assay.errors import MalformedAnswer
from assay.judges.complete import Completion, Messages, Schema
from assay.judges.llm import LLMJudge
from assay.judges.openai import openai_judge
from assay.judges.prompting import KINDS, RATINGS, prompt_texts
from assay.judges.retrying import Backoff
from servers import FakeOpenAI, Fault, changed

NO_RATING = "the reply has no integer from 1 to 5 as its rating"


def judge(server: FakeOpenAI, **options: Any) -> LLMJudge:
    backoff = Backoff(attempts=2, first=0.0)
    options.setdefault("reasks", 1)
    return openai_judge("fake", base_url=server.url, backoff=backoff, **options)


async def answer(server: FakeOpenAI, ask: Any, **options: Any) -> Any:
    own = judge(server, **options)
    try:
        return await own.answer(ask)
    finally:
        await own.aclose()


# --- opinions ---------------------------------------------------------------------------------

TEXT = "Rain is wet. Rain is awful! How I hate it!"


def shown(claims: Any) -> list[tuple[str, bool]]:
    return [(claim.text, claim.opinion) for claim in claims]


OPINIONS = [("Rain is awful!", True), ("How I hate it!", True)]
CLAIMS = [("Rain is wet.", False), ("Rain is awful!", False), ("How I hate it!", False)]


async def test_opinions_come_after_the_claims_by_the_same_call() -> None:
    async with FakeOpenAI() as server:
        found = await answer(server, Extract(TEXT, "q", opinions=True))
        assert server.calls == 1
        assert {k: v for k, v in server.asked("claims")[0].items() if k != "nonce"} == {
            "question": "q",
            "text": TEXT,
        }
    assert shown(found) == CLAIMS + OPINIONS
    assert all(TEXT[claim.start : claim.end] == claim.text for claim in found)


async def test_without_opinions_the_request_does_not_speak_of_them() -> None:
    async with FakeOpenAI() as server:
        assert shown(await answer(server, Extract(TEXT, "q"))) == CLAIMS
        await answer(server, Extract(TEXT, "q"), prompts={"opinions": "Other."})
        plain, other = server.bodies
    assert "opinion" not in json.dumps(plain)
    assert plain["messages"][0] == other["messages"][0]
    assert plain["response_format"] == other["response_format"]
    assert plain["response_format"]["json_schema"]["name"] == "claims"


@pytest.mark.parametrize(
    ("lost", "kept"), [("claims", "opinions"), ("opinions", "claims")], ids=["claims", "opinions"]
)
@pytest.mark.parametrize("junk", [None, "none", [{}], [None], [{"quote": "q", "opinion": " "}]])
async def test_only_the_list_that_could_not_be_read_is_asked_for_again(
    lost: str, kept: str, junk: Any
) -> None:
    fault = changed(lost, lambda items: junk)
    async with FakeOpenAI(faults=[fault]) as server:
        own = judge(server)
        assert shown(await own.answer(Extract(TEXT, opinions=True))) == CLAIMS + OPINIONS
        await own.aclose()
        assert [servers.lists_of(body) for body in server.bodies] == [
            ["claims", "opinions"],
            [lost],
        ]
        wanted = server.bodies[1]["response_format"]["json_schema"]["schema"]["required"]
    assert wanted == ["nonce", lost]
    assert kept not in wanted
    assert (own.tally.reasked, own.tally.complete) == (1, 1)
    async with FakeOpenAI(faults=[fault, fault]) as server:
        with pytest.raises(MalformedAnswer, match=lost):
            await answer(server, Extract(TEXT, opinions=True))
        assert server.calls == 2


async def test_a_text_may_hold_no_opinions_and_the_same_one_twice() -> None:
    async with FakeOpenAI() as server:
        assert shown(await answer(server, Extract("Rain is wet.", opinions=True))) == CLAIMS[:1]
    double = changed(
        "opinions", lambda items: [*items, {"quote": "", "opinion": "rain is  AWFUL!"}]
    )
    async with FakeOpenAI(faults=[double]) as server:
        assert shown(await answer(server, Extract(TEXT, opinions=True))) == CLAIMS + OPINIONS


# --- ratings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rating", RATINGS)
async def test_a_rating_is_one_call(rating: int) -> None:
    async with FakeOpenAI() as server:
        found = await answer(server, Rate("*" * rating, "the source"))
        (asked,) = server.asked("rating")
    assert (found.value, found.reason) == (rating, "by oracle")
    assert (asked["summary"], asked["source"]) == ("*" * rating, "the source")


NO_RATINGS = [0, 6, -3, 10**30, "4", "four", "4/5", 4.0, 3.5, True, None, [4], {"value": 4}]


@pytest.mark.parametrize("said", NO_RATINGS, ids=str)
async def test_what_is_no_integer_from_1_to_5_is_asked_for_once_more(said: Any) -> None:
    fault = changed("rating", lambda _: said)
    async with FakeOpenAI(faults=[fault]) as server:
        assert (await answer(server, Rate("****", "s"))).value == 4
        assert server.calls == 2
    async with FakeOpenAI(faults=[fault, fault]) as server:
        own = judge(server)
        found = await own.answer(Rate("****", "s"))
        await own.aclose()
        assert server.calls == 2
    assert (found.value, found.reason) == (None, NO_RATING)
    assert (own.tally.reasked, own.tally.unanswered) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "4",
        "I rate it 4 of 5.",
        '{"rating": 4}',
        '{"score": 4, "nonce": "NONCE"}',
        'Rating: {"nonce": "NONCE", "rating": 4}',
        '{"nonce": "NONCE", "rating": 4, "rating": 5}',
        '{"nonce": "NONCE", "reason": "rating: 4"}',
    ],
)
async def test_no_number_is_fished_out_of_anything_else(text: str) -> None:
    fault = Fault(garble=lambda reply: text.replace("NONCE", reply["nonce"]))
    async with FakeOpenAI(faults=[fault, fault]) as server:
        found = await answer(server, Rate("****", "s"))
        assert server.calls == 2
    assert found.value is None
    assert found.reason


# --- identity and prompts ---------------------------------------------------------------------


class Silent:
    """A Complete that is never called."""

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        raise AssertionError("no call was expected")


def made(**options: Any) -> LLMJudge:
    return LLMJudge(Silent(), name="silent", fingerprint_parts={}, **options)


def test_every_skill_of_a_chat_model_is_there() -> None:
    assert all(made().can(skill) for skill in get_args(Skill) if skill != "embed")
    assert not made().can("embed")
    nothing: Any = "juggling"
    assert not made().can(nothing)


def test_the_fingerprint_covers_every_prompt() -> None:
    prints = {made(prompts={kind: "Do it."}).fingerprint for kind in KINDS}
    prints |= {made().fingerprint, made(reasons=False).fingerprint}
    assert len(prints) == len(KINDS) + 2


def test_every_prompt_has_a_version_that_is_not_sent() -> None:
    texts = prompt_texts(None)
    assert set(texts) == set(KINDS)
    assert all(text.startswith("version: ") for text in texts.values())
    assert all(f'"{trait}"' in texts["label"] for trait in get_args(Trait))


async def test_own_prompts_are_sent_without_their_version() -> None:
    own = {kind: f"version: 7\nDo {kind} so." for kind in KINDS}
    async with FakeOpenAI(rating=lambda text, source: 1) as server:
        for ask in (Label((("toxic", "t"),)), Rate("t", "s"), Extract(TEXT, opinions=True)):
            await answer(server, ask, prompts=own)
        sent = [body["messages"][0]["content"] for body in server.bodies]
    starts = ["Do label so.\n", "Do rate so.\n", "Do extract so.\n\nDo opinions so.\n"]
    assert [text.startswith(start) for text, start in zip(sent, starts, strict=True)] == [True] * 3
    assert "version" not in "".join(sent)
    assert sent[1].endswith('"rating": 1|2|3|4|5}')
