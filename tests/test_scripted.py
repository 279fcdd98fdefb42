"""The scripted judge, and a judge made of two."""

from __future__ import annotations

from typing import Any

import pytest

from assay import ScriptedJudge
from assay.asks import Ask, Entail, Extract, Skill, Usage
from assay.errors import ConfigError
from assay.judges.route import RoutedJudge
from assay.sample import Claim
from assay.verdicts import Cell, Span, Verdict


class Other(Ask[float]):
    """An ask that no judge here knows."""


async def one_cell(judge: ScriptedJudge, claim: str = "c", premise: str = "p") -> Cell:
    return (await judge.answer(Entail((claim,), (premise,))))[0][0]


# --- claims --------------------------------------------------------------------------------------


async def test_by_default_a_sentence_is_a_claim_with_its_place() -> None:
    text = "One is.  Two is!\nThree?"
    claims = await ScriptedJudge().answer(Extract(text))
    assert [claim.text for claim in claims] == ["One is.", "Two is!", "Three?"]
    assert all(text[c.start : c.end] == c.text for c in claims)
    assert await ScriptedJudge().answer(Extract("")) == ()


async def test_claims_from_a_table_and_the_default_for_other_texts() -> None:
    judge = ScriptedJudge(claims={"It rained and froze.": ["It rained", "It froze."], "x": []})
    assert await judge.answer(Extract("It rained and froze.")) == (
        Claim("It rained", 0, 9),
        Claim("It froze."),
    )
    assert await judge.answer(Extract("x")) == ()
    assert await judge.answer(Extract("Other. Text.")) == (
        Claim("Other.", 0, 6),
        Claim("Text.", 7, 12),
    )


async def test_claims_from_a_function() -> None:
    judge = ScriptedJudge(claims=lambda text: text.split("|"))
    assert [c.text for c in await judge.answer(Extract("a|b"))] == ["a", "b"]


# --- verdicts ------------------------------------------------------------------------------------


async def test_by_default_a_premise_entails_what_stands_in_it() -> None:
    ask = Entail(("It is so.", "No."), ("Well: It is so.", "other"))
    rows = await ScriptedJudge().answer(ask)
    assert [[cell.verdict for cell in row] for row in rows] == [
        [Verdict.ENTAILED, Verdict.NEUTRAL],
        [Verdict.NEUTRAL, Verdict.NEUTRAL],
    ]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("E", Verdict.ENTAILED),
        ("N", Verdict.NEUTRAL),
        ("C", Verdict.CONTRADICTED),
        ("?", Verdict.UNKNOWN),
        ("contradicted", Verdict.CONTRADICTED),
        (Verdict.ENTAILED, Verdict.ENTAILED),
        (None, Verdict.UNKNOWN),
    ],
)
async def test_a_verdict_may_be_said_in_many_ways(
    said: Verdict | str | None, verdict: Verdict
) -> None:
    assert (await one_cell(ScriptedJudge(verdicts={("c", "p"): said}))).verdict is verdict
    assert (await one_cell(ScriptedJudge(verdicts=lambda *_: said))).verdict is verdict


async def test_a_cell_is_handed_on_whole() -> None:
    cell = Cell(Verdict.CONTRADICTED, 0.1, "because", Span("p", 0, 1))
    assert await one_cell(ScriptedJudge(verdicts={("c", "p"): cell})) is cell


async def test_what_a_table_does_not_hold_is_neutral() -> None:
    judge = ScriptedJudge(verdicts={("c", "other"): "E"})
    assert (await one_cell(judge, "c", "c c c")).verdict is Verdict.NEUTRAL


async def test_a_word_that_is_no_verdict_is_an_error() -> None:
    with pytest.raises(ValueError, match="maybe"):
        await one_cell(ScriptedJudge(verdicts={("c", "p"): "maybe"}))


async def test_an_ask_of_another_kind_is_refused() -> None:
    judge = ScriptedJudge()
    assert judge.can("claims")
    assert judge.can("entail")
    with pytest.raises(ConfigError, match="the scripted judge does not answer Other"):
        await judge.answer(Other())


async def test_every_ask_is_kept_and_counted() -> None:
    judge = ScriptedJudge()
    asks: list[Ask[Any]] = [Extract("a"), Entail(("a",), ("b",)), Extract("a")]
    for ask in asks:
        await judge.answer(ask)
    assert judge.asked == asks
    assert judge.usage == Usage(calls=3)
    await judge.aclose()
    assert await judge.answer(Extract("again.")) == (Claim("again.", 0, 6),)


# --- fingerprints --------------------------------------------------------------------------------


def some(text: str) -> list[str]:
    return [text]


def other(text: str) -> list[str]:
    return [text, text]


def test_fingerprints_differ_wherever_answers_might() -> None:
    judges = [
        ScriptedJudge(),
        ScriptedJudge(name="other"),
        ScriptedJudge(claims={}),
        ScriptedJudge(claims={"a": ["b"]}),
        ScriptedJudge(claims={"a": ["c"]}),
        ScriptedJudge(claims=some),
        ScriptedJudge(claims=other),
        ScriptedJudge(verdicts={}),
        ScriptedJudge(verdicts={("a", "b"): "E"}),
        ScriptedJudge(verdicts={("a", "b"): "N"}),
        ScriptedJudge(verdicts={("b", "a"): "E"}),
    ]
    assert len({judge.fingerprint for judge in judges}) == len(judges)


def test_equal_tables_have_equal_fingerprints_in_any_order() -> None:
    one = ScriptedJudge(verdicts={("a", "b"): "E", ("c", "d"): "N"})
    two = ScriptedJudge(verdicts={("c", "d"): "N", ("a", "b"): "E"})
    assert one.fingerprint == two.fingerprint
    assert ScriptedJudge().fingerprint == ScriptedJudge().fingerprint


# --- a judge made of two -------------------------------------------------------------------------


class Closing(ScriptedJudge):
    """Counts how often it is closed, and does not extract."""

    closed = 0

    async def aclose(self) -> None:
        self.closed += 1

    def can(self, skill: Skill) -> bool:
        return skill != "claims"


async def test_each_ask_goes_to_the_judge_for_it() -> None:
    splitter, verifier = ScriptedJudge(name="splitter"), Closing(name="verifier")
    judge = RoutedJudge(extract=splitter, entail=verifier)
    assert await judge.answer(Extract("A.")) == (Claim("A.", 0, 2),)
    await judge.answer(Entail(("a",), ("b",)))
    await judge.answer(Entail(("a",), ("c",)))
    assert (len(splitter.asked), len(verifier.asked)) == (1, 2)
    splitter.usage.notes.append("one")
    verifier.usage.prompt_tokens = 7
    assert judge.usage == Usage(calls=3, prompt_tokens=7, notes=["one"])
    assert judge.name == "splitter+verifier"
    assert judge.fingerprint == f"{splitter.fingerprint}+{verifier.fingerprint}"
    await judge.aclose()
    assert verifier.closed == 1


async def test_a_judge_is_not_asked_what_it_cannot_answer() -> None:
    judge = RoutedJudge(extract=Closing(name="mute"), entail=ScriptedJudge())
    assert not judge.can("claims")
    assert judge.can("entail")
    with pytest.raises(ConfigError, match="judge mute does not answer claims"):
        await judge.answer(Extract("a"))
