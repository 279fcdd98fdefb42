"""Factuality: the five classes from verdicts, several references, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

import assay
from assay.asks import Entail, Extract
from assay.errors import ConfigError
from assay.judges.embedded import EmbeddedJudge
from assay.metrics import Factuality
from assay.metrics.factuality import CATEGORIES, Category
from assay.sample import Claim, Sample
from assay.score import Score
from assay.verdicts import Cell, EntailmentMatrix, Verdict

M = EntailmentMatrix.letters


def classed(score: Score) -> str | None:
    """The class that a score is in."""
    if score.value is None:
        return None
    (name,) = [name for name, one in score.stats.items() if one]
    assert set(score.stats) == set(CATEGORIES)
    assert score.stats[name] == 1.0
    return name


def of_references(text: str, sources: Sequence[int]) -> EntailmentMatrix:
    """Reference claims held against the response, each with its reference."""
    matrix = M(text, 1)
    claims = tuple(Claim(c.text, source=s) for c, s in zip(matrix.claims, sources, strict=True))
    return EntailmentMatrix(claims, matrix.cells, 1)


@pytest.mark.parametrize(
    ("right", "told", "category", "value"),
    [
        ("E", "E", "same", 1.0),
        ("E E", "E E E", "same", 1.0),
        ("E E", "E N", "subset", 1.0),
        ("E", "N N", "subset", 1.0),
        ("E N", "E E", "superset", 1.0),
        ("N", "E", "superset", 1.0),
        ("N", "N", "different", 1.0),
        ("E N", "E N", "different", 1.0),
        ("C", "N", "disagree", 0.0),
        ("N", "C", "disagree", 0.0),
        ("E E C", "E E", "disagree", 0.0),
        ("E E", "E C", "disagree", 0.0),
        ("C ?", "? ?", "disagree", 0.0),
        ("E ?", "C", "disagree", 0.0),
    ],
)
def test_the_class_against_one_reference(
    right: str, told: str, category: Category, value: float
) -> None:
    score = Factuality().score(M(right), M(told))
    assert (classed(score), score.value) == (category, value)
    assert score.unknown == (right + told).count("?")
    assert len(score.items) == len(right.split()) + len(told.split())
    assert [item.against for item in score.items].count("reference") == len(right.split())


@pytest.mark.parametrize(
    ("right", "told"), [("?", "E"), ("E", "?"), ("N ?", "N"), ("E E E E E E E E E ?", "E")]
)
def test_one_unanswered_verdict_may_be_the_contradiction(right: str, told: str) -> None:
    score = Factuality().score(M(right), M(told))
    assert score.status == "failed"
    assert score.reason == "the judge left 1 unanswered, and the class depends on it"
    assert score.unknown == 1
    assert len(score.items) == len(right.split()) + len(told.split())


def test_a_class_is_given_only_where_every_answer_would_give_it() -> None:
    for letters in product("ENC?", repeat=3):
        right, told = " ".join(letters[:2]), letters[2]
        completed = {
            classed(Factuality().score(M(" ".join(full[:2])), M(full[2])))
            for full in product(*("ENC" if x == "?" else x for x in letters))
        }
        score = Factuality().score(M(right), M(told))
        assert classed(score) == (completed.pop() if len(completed) == 1 else None), letters


def of_two(letters: Sequence[str]) -> Score:
    """One response claim against two references, and one claim of each against the response."""
    told = of_references(" ".join(letters[2:]), (0, 1))
    return Factuality().score(M("".join(letters[:2])), told)


def test_of_several_references_too_the_class_is_the_one_that_every_answer_gives() -> None:
    for letters in product("ENC?", repeat=4):
        answers = product(*("ENC" if x == "?" else x for x in letters))
        completed = {classed(of_two(full)) for full in answers}
        expected = completed.pop() if len(completed) == 1 else None
        assert classed(of_two(letters)) == expected, letters


@pytest.mark.parametrize(
    ("right", "told", "sources", "category"),
    [
        ("CE", "C E", (0, 1), "same"),
        ("CN", "N N", (0, 1), "different"),
        ("EN", "N E", (0, 1), "superset"),
        ("CC", "N N", (0, 1), "disagree"),
        ("E?", "E N", (0, 1), "same"),
        ("E?", "N ?", (0, 1), None),
        ("E?", "N N", (0, 1), "subset"),
        ("N?", "N N", (0, 1), None),
        ("?E", "N N", (1, 1), "subset"),
    ],
)
def test_the_best_reference_counts(
    right: str, told: str, sources: Sequence[int], category: Category | None
) -> None:
    assert classed(Factuality().score(M(right), of_references(told, sources))) == category


def test_evidence_names_the_reference_that_counted() -> None:
    score = Factuality().score(M("CE"), of_references("N E", (0, 1)))
    first, second = score.items
    assert first.evidence is not None
    assert (first.against, first.evidence.index, first.verdict) == (
        "reference",
        1,
        Verdict.ENTAILED,
    )
    assert second.evidence is not None
    assert (second.against, second.evidence.index) == ("response", 0)


def test_the_reason_of_a_gap_is_passed_on() -> None:
    gap = EntailmentMatrix((Claim("a"),), ((Cell(Verdict.UNKNOWN, reason="refused"),),), 1)
    score = Factuality().score(gap, M("E"))
    assert score.reason.endswith("the class depends on it: refused")


def test_without_claims_on_either_side_there_is_nothing_to_measure() -> None:
    assert Factuality().score(M("", 1), M("E")) == Score.undefined("the response makes no claims")
    assert Factuality().score(M("E"), M("", 1)) == Score.undefined("the reference makes no claims")


# --- through evaluate -------------------------------------------------------------------------

LIT, DARK, TALL = "The lamp was lit.", "The lamp was dark.", "The tower is tall."


def verdict(claim: str, premise: str) -> str:
    if {claim, premise} & {LIT} and DARK in (claim + premise):
        return "C"
    return "E" if claim in premise else "N"


@pytest.mark.parametrize(
    ("response", "references", "category"),
    [
        (LIT, [LIT], "same"),
        (LIT, [f"{TALL} {LIT}"], "subset"),
        (f"{TALL} {LIT}", [LIT], "superset"),
        (TALL, [LIT], "different"),
        (DARK, [LIT], "disagree"),
        (DARK, [LIT, DARK], "same"),
    ],
)
def test_classes_of_texts(response: str, references: list[str], category: Category) -> None:
    judge = assay.ScriptedJudge(verdicts=verdict)
    sample = Sample("What of the lamp?", response, None, references)
    score = assay.evaluate([sample], "factuality", judge).rows[0].scores["factuality"]
    assert classed(score) == category


def test_beside_f1_it_costs_nothing() -> None:
    def asked(*names: str) -> list[Any]:
        judge = assay.ScriptedJudge(verdicts=verdict)
        assay.evaluate([Sample("q", LIT, None, [f"{LIT} {TALL}"])], list(names), judge)
        return judge.asked

    both = asked("f1", "factuality")
    assert set(both) == set(asked("f1"))
    assert [type(ask) for ask in both].count(Extract) == 2
    assert [type(ask) for ask in both].count(Entail) == 2


def test_a_judge_that_says_no_contradictions_is_refused() -> None:
    with pytest.raises(ConfigError, match="factuality needs a judge that does contradict"):
        assay.evaluate([Sample("q", LIT, None, [LIT])], "factuality", EmbeddedJudge())


def test_the_mean_is_the_share_that_does_not_disagree() -> None:
    samples = [Sample("q", text, None, [LIT]) for text in (LIT, DARK, TALL, DARK)]
    run = assay.evaluate(samples, "factuality", assay.ScriptedJudge(verdicts=verdict))
    assert run["factuality"].mean == 0.5
