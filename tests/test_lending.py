"""What a short premise says only after its question, and pair classifiers that obey it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.asks import Against, Entail
from assay.judges.batching import Pair
from assay.judges.classifier import ClassifierJudge
from assay.judges.lending import alone, answers
from assay.verdicts import Cell, Verdict


@pytest.mark.parametrize(
    ("question", "premise", "claim", "told"),
    [
        ("Is the tank red?", "Yes.", "The tank is red.", True),
        ("Is the tank red?", "Yes, it is.", "The tank is red.", True),
        ("Is the tank red?", "It is.", "The tank is red.", True),
        ("Is the tank red?", "That’s right.", "The tank is red.", True),
        ("The tank is red, right?", "Correct.", "The tank is red.", True),
        ("Isn't the tank red?", "Yes.", "The tank is red.", True),
        ("Is the tank red or not?", "Yes.", "The tank is red.", True),
        ("Is it wrong to run?", "Yes.", "It is wrong to run.", True),
        ("Is the tank red?", "Yes.", "The tank is not red.", False),
        ("Is it false that the tank is red?", "Yes.", "The tank is red.", False),
        ("Is the tank red?", "Right now it is dry.", "The tank is red.", False),
        ("Is the tank red?", "Yes and no.", "The tank is red.", False),
        ("Is the tank red?", "No.", "The tank is red.", False),
        ("Is the tank red?", "The tank", "The tank is red.", False),
        ("Why is the tank red?", "Yes.", "The tank is red.", False),
        ("Which tank?", "The red one / the tall one", "The red one leaks.", True),
        ("Which tank is it?", "Not the red one", "The red one leaks.", False),
        ("Is the tank red or blue?", "Blue.", "The tank is blue.", True),
        ("Is the tank red or blue?", "Blue.", "The tank is red.", False),
        ("", "", "", False),
    ],
)
def test_answers(question: str, premise: str, claim: str, told: bool) -> None:
    assert answers(question, premise, claim) is told


@pytest.mark.parametrize(
    ("question", "premise", "claim", "read"),
    [
        ("Does the pump leak?", "It leaks.", "The pump leaks.", "The pump leaks."),
        ("Is Ann Lee tall?", "She sings.", "Ann Lee is tall.", "Ann Lee sings."),
        ("Does it leak?", "It leaks.", "The pump leaks.", "It leaks."),
        ("Does the pump leak?", "It's dry.", "The pump is dry.", "It's dry."),
        ("Does the pump leak?", "Item 3 leaks.", "The pump leaks.", "Item 3 leaks."),
        ("Does the pump leak?", "It leaks.", "", "It leaks."),
    ],
)
def test_a_pronoun_is_read_as_the_subject_that_the_question_names(
    question: str, premise: str, claim: str, read: str
) -> None:
    assert alone(question, premise, claim) == read


@settings(max_examples=100)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_any_text_will_do(question: str, premise: str, claim: str) -> None:
    answers(question, premise, claim)
    assert alone(question, premise, claim).endswith(premise[-1:])


def test_huge_texts_take_no_time() -> None:
    start = time.perf_counter()
    for text in (" " * 300_000, "it is " * 50_000, "or not " * 50_000, "/" * 300_000):
        answers(text, text, "The pump leaks.")
        alone(text, text, "The pump leaks.")
        alone("The pump", "It leaks", text)
    assert time.perf_counter() - start < 5


class ByWords:
    """P(entailment) is the share of the claim's words in the premise; none at all contradicts."""

    def __init__(self) -> None:
        self.seen: list[Pair] = []

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        self.seen += pairs
        return [self.score(set(p.strip(".?").split()), c.strip(".").split()) for p, c in pairs]

    def score(self, premise: set[str], claim: Sequence[str]) -> float:
        share = sum(word in premise for word in claim) / len(claim)
        return share or 0.1 - 1


async def verdict(
    scorer: ByWords, question: str, premise: str, claim: str, against: Against = "reference"
) -> Cell:
    judge = ClassifierJudge(scorer, name="words", fingerprint="words", contradicts=True)
    ((cell,),) = await judge.answer(Entail((claim,), (premise,), question, against))
    await judge.aclose()
    return cell


async def test_a_classifier_must_find_the_claim_in_the_premise_itself() -> None:
    scorer = ByWords()
    cell = await verdict(scorer, "Why has pump five legs?", "red tank leaks", "pump has five legs")
    assert cell.verdict is Verdict.CONTRADICTED
    assert cell.probability == pytest.approx(0.1)
    assert [premise for premise, _ in scorer.seen] == [
        "Why has pump five legs? red tank leaks",
        "Why has pump five legs?",
        "red tank leaks",
    ]


async def test_a_classifier_keeps_what_the_premise_adds() -> None:
    scorer = ByWords()
    cell = await verdict(scorer, "Has pump how many legs?", "seven", "pump has seven legs")
    assert cell.verdict is Verdict.ENTAILED
    assert len(scorer.seen) == 1  # "seven" is what was asked for
    cell = await verdict(scorer, "Has pump five legs?", "Yes.", "pump has five legs")
    assert cell.verdict is Verdict.ENTAILED
    cell = await verdict(scorer, "Has pump five legs?", "pump has five legs", "pump has five legs")
    assert (cell.verdict, cell.probability) == (Verdict.ENTAILED, 1.0)
