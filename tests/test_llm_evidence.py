"""What the LLM judge makes of quotes, claims and odd texts, and when it is another judge."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest

from assay.asks import Ask, Entail, Extract
from assay.errors import ConfigError, MalformedAnswer
from assay.judges.complete import Completion, Messages, Schema
from assay.judges.llm import NO_QUOTE, LLMJudge
from assay.judges.openai import OpenAIComplete, openai_judge
from assay.verdicts import Cell, Verdict
from servers import FakeOpenAI, data_of


def judge(server: FakeOpenAI, **options: Any) -> LLMJudge:
    return openai_judge("fake", base_url=server.url, **options)


class Plain:
    """A Complete that is just a coroutine: replies by a function of the call's data."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.seen: list[dict[str, Any]] = []

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        data = data_of({"messages": messages})
        self.seen.append(data)
        reply = self.replies.pop(0)
        text = reply(data) if callable(reply) else reply
        return Completion(text if isinstance(text, str) else json.dumps(text), 10, 5)


def plain(*replies: Any, **options: Any) -> tuple[LLMJudge, Plain]:
    complete = Plain(*replies)
    return LLMJudge(complete, name="plain", fingerprint_parts={}, **options), complete


def verdict(quote: str, word: str = "entailed", reason: str = "so") -> Any:
    item = {"claim": "c1", "verdict": word, "quote": quote, "reason": reason}
    return lambda data: {"nonce": data["nonce"], "verdicts": [item]}


async def one_cell(premise: str, reply: Any) -> Cell:
    own, _ = plain(reply)
    return (await own.answer(Entail(("A claim.",), (premise,))))[0][0]


async def test_nothing_to_judge_needs_no_call() -> None:
    own, complete = plain()
    assert await own.answer(Entail((), ("a premise",))) == ()
    assert await own.answer(Entail(("A.", "B."), ())) == ((), ())
    assert complete.seen == []


# --- evidence ---------------------------------------------------------------------------------


async def test_evidence_is_the_premise_s_own_words() -> None:
    cell = await one_cell("It says:  “A — claim”!", verdict('"a - claim"'))
    assert cell.evidence is not None
    assert (cell.evidence.quote, cell.evidence.start, cell.evidence.end) == ("“A — claim”", 10, 21)
    assert cell.probability is None
    assert cell.reason == "so"


@pytest.mark.parametrize("word", ["entailed", "contradicted"])
async def test_a_made_up_quote_leaves_the_verdict_without_evidence(word: str) -> None:
    cell = await one_cell("Something else.", verdict("A claim.", word))
    assert (cell.verdict, cell.evidence) == (Verdict(word), None)
    assert cell.reason == f"so ({NO_QUOTE})"
    assert (await one_cell("Else.", verdict("A.", word, ""))).reason == NO_QUOTE


async def test_a_neutral_verdict_has_no_evidence() -> None:
    cell = await one_cell("A claim.", verdict("A claim.", "neutral"))
    assert (cell.verdict, cell.evidence, cell.reason) == (Verdict.NEUTRAL, None, "so")


async def test_without_reasons_none_is_asked_for() -> None:
    async with FakeOpenAI() as server:
        for reasons in (True, False):
            own = judge(server, reasons=reasons)
            await own.answer(Entail(("A.",), ("a",)))
            await own.aclose()
        with_reasons, without = (json.dumps(body["response_format"]) for body in server.bodies)
    assert '"reason"' in with_reasons
    assert '"reason"' not in without


# --- claims -----------------------------------------------------------------------------------


async def test_claims_have_the_span_of_their_quote() -> None:
    text = "Hello!  Rain\nfalls. And snow?"
    items = [
        {"claim": "Rain falls down.", "quote": "rain falls"},
        {"claim": "Made up.", "quote": "nowhere in it"},
        {"claim": "rain  falls DOWN.", "quote": "rain falls"},
    ]
    own, _ = plain(lambda data: {"nonce": data["nonce"], "claims": items})
    found = await own.answer(Extract(text, "q"))
    assert [(c.text, c.start, c.end) for c in found] == [
        ("Rain falls down.", 8, 18),
        ("Made up.", None, None),
    ]
    assert text[8:18] == "Rain\nfalls"


async def test_a_refusal_may_make_no_claims() -> None:
    own, complete = plain(lambda data: {"nonce": data["nonce"], "claims": []})
    assert await own.answer(Extract("I cannot answer that.", "q")) == ()
    assert complete.seen[0]["question"] == "q"


async def test_an_unreadable_list_of_claims_is_asked_for_again() -> None:
    def good(data: dict[str, Any]) -> dict[str, Any]:
        return {"nonce": data["nonce"], "claims": [{"claim": "A.", "quote": "a"}]}

    own, complete = plain("no JSON", good)
    assert [c.text for c in await own.answer(Extract("a"))] == ["A."]
    assert complete.seen[0]["nonce"] != complete.seen[1]["nonce"]
    own, _ = plain(*["no JSON", lambda data: {"nonce": "?", "claims": []}] * 2)
    with pytest.raises(MalformedAnswer, match="nonce"):
        await own.answer(Extract("a"))
    assert (own.tally.reasked, own.usage.calls, own.usage.prompt_tokens) == (3, 4, 40)


# --- odd texts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Zoë 👩‍🚀 flew — 3 × faster",
        "שלום עולם, זה משפט",
        "北京是中国的首都",
        "nul\x00byte and \x1b[31m escape",
        "line\u2028separator \u202e reversed",
        "lone \ud83d surrogate",
    ],
)
async def test_any_text_goes_through(text: str) -> None:
    async with FakeOpenAI(splitter=lambda text: [text]) as server:
        own = judge(server)
        rows = await own.answer(Entail((text,), (f"Before. {text} After.",), text))
        (claim,) = await own.answer(Extract(text, text))
        await own.aclose()
    assert rows[0][0].verdict is Verdict.ENTAILED
    assert claim.text == text.replace("\ud83d", "\ufffd")
    if "\ud83d" not in text:
        assert rows[0][0].evidence is not None
        assert (claim.start, claim.end) == (0, len(text))


async def test_a_context_of_200_kb_goes_through() -> None:
    premise = "All kinds of words, time after time. " * 5400 + "Rain falls at last."
    async with FakeOpenAI() as server:
        own = judge(server)
        ((cell,),) = await own.answer(Entail(("Rain falls.",), (premise,)))
        await own.aclose()
    assert len(premise) > 199_000
    assert cell.evidence is not None
    assert premise[cell.evidence.start : cell.evidence.end] == "Rain falls"


# --- identity ---------------------------------------------------------------------------------

CHANGES: dict[str, Any] = {
    "fingerprint_parts": {"model": "other"},
    "packed": True,
    "max_claims": 7,
    "max_chars": 7,
    "reasons": False,
    "prompts": {"extract": "List the claims."},
    "embedding": OpenAIComplete("m", base_url="http://127.0.0.1:1").embedding("small"),
}
HARMLESS = {"complete", "limiter", "name", "nonce", "reasks"}


def test_every_option_is_in_the_fingerprint_or_harmless() -> None:
    options = set(inspect.signature(LLMJudge.__init__).parameters) - {"self"}
    assert options == set(CHANGES) | HARMLESS
    base: dict[str, Any] = {"name": "n", "fingerprint_parts": {"model": "m"}}
    prints = [LLMJudge(Plain(), **base).fingerprint]
    prints += [LLMJudge(Plain(), **{**base, k: v}).fingerprint for k, v in CHANGES.items()]
    prints += [LLMJudge(Plain(), **base, prompts={"entail": "Decide."}).fingerprint]
    assert len(set(prints)) == len(prints)
    assert LLMJudge(Plain(), **{**base, "name": "other"}).fingerprint == prints[0]
    assert re.fullmatch(r"llm:[0-9a-f]{32}", prints[0])


def test_options_that_cannot_work_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_claims"):
        plain(max_claims=0)
    with pytest.raises(ConfigError, match="did you mean 'extract'"):
        plain(prompts={"extrct": "List."})


async def test_only_claims_and_verdicts_are_answered() -> None:
    class Other(Ask[int]):
        pass

    own, _ = plain()
    assert own.can("claims")
    assert own.can("entail")
    with pytest.raises(ConfigError, match="Other"):
        await own.answer(Other())
