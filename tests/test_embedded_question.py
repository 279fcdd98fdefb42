"""The question gives a short premise its sense; what it presupposes is not evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from assay.asks import Against, Entail
from assay.judges.embedded import EmbeddedJudge
from assay.verdicts import Verdict

TANK = "The tank is red."
YARD = (
    "The tank is red and stands beside the mill, where it was put up by the owner's brother; "
    "visitors may look at it on Sundays, when the yard is open from ten until four."
)
LEGS = "The pump has five legs."
SHORT: tuple[Against, ...] = ("passage", "reference", "response")
RESTATED = (
    "Is it true that the pump has five legs?",
    "Does the pump have five legs?",
    "Why does the pump have five legs?",
    "When did the pump get five legs?",
    "Who gave the pump five legs?",
    "Which pump has five legs?",
    "The pump has five legs, right?",
    LEGS,
)


@pytest.fixture(scope="module")
def judge() -> Iterator[EmbeddedJudge]:
    judge = EmbeddedJudge()
    yield judge
    asyncio.run(judge.aclose())


async def entails(
    judge: EmbeddedJudge, question: str, premise: str, claim: str, against: Against = "reference"
) -> bool:
    ((cell,),) = await judge.answer(Entail((claim,), (premise,), question, against))
    assert cell.probability is not None
    assert (cell.verdict is Verdict.ENTAILED) is (cell.probability >= 0.5)
    assert (cell.evidence is not None) is (cell.probability >= 0.5)
    return cell.verdict is Verdict.ENTAILED


@pytest.mark.parametrize("question", RESTATED)
async def test_a_claim_that_only_the_question_makes_is_not_entailed(
    judge: EmbeddedJudge, question: str
) -> None:
    for against in SHORT:
        assert not await entails(judge, question, TANK, LEGS, against)
    assert not await entails(judge, question, YARD, LEGS)
    assert not await entails(judge, question, "The pump is red.", LEGS)


@pytest.mark.parametrize("question", RESTATED)
async def test_a_premise_that_makes_the_claim_itself_entails_it(
    judge: EmbeddedJudge, question: str
) -> None:
    assert await entails(judge, question, LEGS, "the pump has five legs")
    assert await entails(judge, question, "The pump stands on five legs.", LEGS)
    assert await entails(judge, question, "It has five legs.", LEGS)


@pytest.mark.parametrize(
    ("question", "premise", "claim"),
    [
        ("Why does the HP-200 have a warranty of ten years?", "five years", "ten years"),
        ("Why is the sky green?", "The sky is blue because of scattering.", "The sky is green."),
        ("Since when has Anna lived in Rome?", "Anna lives in Oslo.", "Anna lives in Rome."),
        ("How did the mayor die in 2019?", "The mayor is alive.", "The mayor died in 2019."),
        ("Why did Ann win three prizes?", "She was born in Warsaw.", "Ann won three prizes."),
        ("what if the refund takes thirty days", "Call us.", "The refund takes thirty days."),
        ("Who wrote Hamlet?", "William Shakespeare", "Hamlet was written by Marlowe."),
        ("When was the bridge opened?", "1932", "The bridge was opened in 1935."),
        ("Is the tank red or blue?", "It is red.", "The tank is blue."),
        ("水泵有五条腿吗?", "水箱是红色的。", "水泵有五条腿。"),
        ("Does the pump have five legs?", " ", LEGS),
    ],
)
async def test_what_the_premise_does_not_say(
    judge: EmbeddedJudge, question: str, premise: str, claim: str
) -> None:
    assert not await entails(judge, question, premise, claim)


@pytest.mark.parametrize("years", ["ten years", "The HP-200 has a warranty of ten years."])
async def test_a_false_detail_of_the_question_is_not_taken_over(
    judge: EmbeddedJudge, years: str
) -> None:
    question = "Why does the HP-200 have a warranty of ten years?"
    for against in SHORT:
        premise = "The HP-200 has a warranty of five years."
        assert not await entails(judge, question, premise, years, against)


@pytest.mark.parametrize(
    ("question", "premise", "claim"),
    [
        ("When was the bridge opened?", "1932", "The bridge was opened in 1932."),
        ("When was the bridge opened?", "It was opened in 1932.", "The bridge was opened in 1932."),
        ("What is the capital of France?", "Paris", "The capital of France is Paris."),
        ("Who painted the Mona Lisa?", "Leonardo", "Leonardo da Vinci painted the Mona Lisa."),
        ("How many legs does the pump have?", "Five", LEGS),
        ("Why was the mill closed?", "Because of a fire", "The mill was closed because of a fire."),
        ("Is the tank red or blue?", "Red.", "The tank is red."),
        ("Does the pump have five legs?", "No, it has four.", "The pump has four legs."),
        ("Was the treaty signed in Paris?", "No, in Rome.", "The treaty was signed in Rome."),
        ("Which element has the symbol Fe?", "Iron", "Fe is the symbol of iron."),
    ],
)
async def test_an_elliptical_answer_has_the_sense_of_its_question(
    judge: EmbeddedJudge, question: str, premise: str, claim: str
) -> None:
    assert await entails(judge, question, premise, claim)


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("Does the pump have five legs?", LEGS),
        ("Was the treaty signed in Paris?", "The treaty was signed in Paris."),
        ("Is it true that Oslo is Norway's capital?", "Oslo is the capital of Norway."),
    ],
)
async def test_yes_affirms_the_question_and_nothing_else_does(
    judge: EmbeddedJudge, question: str, claim: str
) -> None:
    for yes in ("Yes.", "yes", "Yes, it does.", "That is correct."):
        assert await entails(judge, question, yes, claim)
    for other in ("No.", "no", "No, that is wrong.", "Maybe.", "I don't know.", "Yes and no."):
        assert not await entails(judge, question, other, claim)


async def test_yes_to_why_affirms_nothing(judge: EmbeddedJudge) -> None:
    assert not await entails(judge, "Why does the pump have five legs?", "Yes.", LEGS)
    assert not await entails(judge, "Is it false that the pump has five legs?", "Yes.", LEGS)


async def test_pairs_are_few_and_verdicts_do_not_depend_on_neighbours() -> None:
    question = "Does the pump have five legs?"
    premises = (TANK, "Yes.", "It has five legs.", "No.", "1932")
    claims = (LEGS, "The tank is red.", "The pump is blue.")
    judge = EmbeddedJudge()
    together = await judge.answer(Entail(claims, premises, question, "reference"))
    product = len(claims) * len(premises)
    assert product < judge.usage.calls <= product + 1 + len(premises)  # one question, one claim
    await judge.aclose()
    other = EmbeddedJudge()
    alone = await asyncio.gather(
        *(
            other.answer(Entail((claim,), (premise,), question, "reference"))
            for claim in reversed(claims)
            for premise in premises
        )
    )
    await other.aclose()
    width = len(premises)
    for k, row in enumerate(reversed(together)):
        assert [cell.probability for cell in row] == [
            one[0][0].probability for one in alone[k * width : (k + 1) * width]
        ]


async def test_a_long_premise_and_a_blank_question_cost_nothing_more() -> None:
    judge = EmbeddedJudge()
    asks = (Entail((LEGS,), (YARD,), RESTATED[1], "passage"), Entail((LEGS,), (LEGS,), " "))
    for ask in asks:
        await judge.answer(ask)
    assert judge.usage.calls == len(asks)
    await judge.aclose()


async def test_a_question_that_fills_the_model_leaves_the_premise_its_say(
    judge: EmbeddedJudge,
) -> None:
    question = "The pump has five legs. " * 500 + "Why?"
    assert not await entails(judge, question, TANK, LEGS)
    assert await entails(judge, question, "The pump stands on five legs.", LEGS)
