"""Criteria of the user's own: one call for all of a sample, and what comes of gaps."""

from __future__ import annotations

import json
from typing import Any

import pytest

import assay
from assay.asks import Ask, Grade, Skill
from assay.criteria import Graded
from assay.errors import ConfigError, JudgeUnavailable
from assay.judges.embedded import EmbeddedJudge
from assay.judges.route import RoutedJudge
from assay.metrics import Metric, Rubric, load_metric
from assay.sample import Sample
from assay.score import Score
from assay.verdicts import Grading, Level
from oracles import contains
from servers import PROSE, FakeOpenAI, status

RAIN, SNOW = "It speaks of rain", "It speaks of snow"
SAMPLE = Sample("What is it like?", "Rain is wet.", ["Rain is wet."], ["Rain is cold."], id="1")


def scored(sample: Sample, *metrics: Any, **script: Any) -> tuple[dict[str, Score], list[Ask[Any]]]:
    judge = assay.ScriptedJudge(**script)
    run = assay.evaluate([sample], list(metrics), judge)
    return dict(run.rows[0].scores), judge.asked


# --- the metric -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "value", "met"),
    [
        ("fully", 1.0, True),
        ("mostly", 0.75, True),
        ("partly", 0.5, False),
        ("slightly", 0.25, False),
        ("not", 0.0, False),
    ],
)
def test_a_level_is_worth_quarters_and_counts_as_met_from_three(
    level: Level, value: float, met: bool
) -> None:
    score = Rubric(RAIN).score((Grading(level, "because"),))
    assert (score.value, score.status, score.unknown) == (value, "ok", 0)
    assert score.stats == {"grade": value}
    (item,) = score.items
    assert (item.claim, item.label, item.hit, item.reason) == (RAIN, level, met, "because")
    assert (item.verdict, item.against) == (None, None)
    json.dumps(score.as_dict(), allow_nan=False)


def test_a_grade_that_was_not_given_is_a_failure_with_its_reason() -> None:
    score = Rubric(RAIN).score((Grading(None, "left out"),))
    assert score.reason == "the judge gave no grade: left out"
    assert (score.status, score.unknown, score.items[0].unanswered) == ("failed", 1, True)


@pytest.mark.parametrize(
    ("levels", "value"),
    [
        (["partly", "mostly", "not"], 0.75),
        (["fully", None], 1.0),
        (["mostly", None], None),
        ([None, None], None),
        (["not", None], None),
    ],
)
def test_the_best_reference_counts_unless_a_gap_may_hide_a_better(
    levels: list[Level | None], value: float | None
) -> None:
    score = Rubric(RAIN, reference=True).score(tuple(Grading(level) for level in levels))
    assert score.value == value
    assert score.status == ("failed" if value is None else "ok")
    assert score.unknown == levels.count(None)


def test_nothing_to_grade_is_undefined() -> None:
    assert Rubric(RAIN).score(()) == Score.undefined("the response is empty")
    both = Score.undefined("the response or the references are empty")
    assert Rubric(RAIN, reference=True).score(()) == both


def test_a_word_that_is_no_level_is_refused() -> None:
    word: Any = "great"
    with pytest.raises(ValueError, match="'great' is no level; known: fully, mostly"):
        Grading(word)


# --- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("rubric(criterion=It is polite)", Rubric("It is polite")),
        ("rubric( criterion = It is = fine , reference=true)", Rubric("It is = fine", True)),
        ("rubric(criterion=true)", Rubric("true")),
    ],
)
def test_simple_criteria_can_be_named(text: str, metric: Rubric) -> None:
    assert load_metric(text) == metric
    assert load_metric(str(metric)) == metric


def test_a_criterion_with_commas_is_an_object() -> None:
    criterion = "Short, polite (no slang),\nand \u201ctrue\u201d"
    scores, asked = scored(SAMPLE, Rubric(criterion), gradings=lambda *_: "mostly")
    assert scores == {f"rubric(criterion={criterion})": scores[str(Rubric(criterion))]}
    assert asked == [Grade((criterion,), "Rain is wet.", "What is it like?")]
    with pytest.raises(ConfigError, match="rubric has no parameter"):
        load_metric("rubric(criterion=Short, polite)")


@pytest.mark.parametrize("value", [None, 3, ("a",), b"a"])
def test_a_criterion_is_text(value: Any) -> None:
    with pytest.raises(ConfigError, match="rubric"):
        Rubric(value)


@pytest.mark.parametrize("metric", ["rubric", Rubric(), Rubric(" \n"), "rubric(reference=true)"])
def test_without_a_criterion_nothing_is_asked(metric: Any) -> None:
    judge = assay.ScriptedJudge()
    with pytest.raises(ConfigError, match=r"no criterion .* rubric\(criterion=TEXT\)"):
        assay.evaluate([SAMPLE], ["faithfulness", metric], judge)
    assert judge.asked == []


# --- what is asked ----------------------------------------------------------------------------


def test_all_criteria_of_a_sample_are_one_ask() -> None:
    metrics = [Rubric(SNOW), "faithfulness", Rubric(RAIN), Rubric("Other")]
    gradings: dict[tuple[str, str], Grading | Level | None] = {
        (RAIN, "Rain is wet."): "fully",
        (SNOW, "Rain is wet."): Grading("slightly", "wet"),
    }
    scores, asked = scored(SAMPLE, *metrics, gradings=gradings)
    assert [ask for ask in asked if isinstance(ask, Grade)] == [
        Grade((RAIN, SNOW, "Other"), "Rain is wet.", "What is it like?")
    ]
    values = {name: score.value for name, score in scores.items() if name != "faithfulness"}
    assert list(values.values()) == [0.25, 1.0, 0.0]


def test_criteria_with_a_reference_are_asked_apart_once_a_reference() -> None:
    metrics = [Rubric(RAIN), Rubric(RAIN, True), Rubric(SNOW, True)]
    sample = SAMPLE.replace(references=["one", " ", "two", "one"])

    def of_reference(criterion: str, text: str, reference: str | None) -> Level:
        return "mostly" if reference == "two" and criterion == SNOW else "partly"

    scores, asked = scored(sample, *metrics, gradings=of_reference)
    question, text = "What is it like?", "Rain is wet."
    assert set(asked) == {
        Grade((RAIN,), text, question),
        Grade((RAIN, SNOW), text, question, "one"),
        Grade((RAIN, SNOW), text, question, "two"),
    }
    assert len(asked) == 3
    assert [score.value for score in scores.values()] == [0.5, 0.5, 0.75]


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"response": " \n"}, "undefined", "the response or the references are empty"),
        ({"references": ["", " "]}, "undefined", "the response or the references are empty"),
        ({"references": None}, "failed", "the sample has no references"),
        ({"response": None}, "failed", "the sample has no response"),
    ],
)
def test_a_sample_that_lacks_something_is_not_asked_about(
    changes: dict[str, Any], status: str, reason: str
) -> None:
    scores, asked = scored(SAMPLE.replace(**changes), Rubric(RAIN, True))
    (score,) = scores.values()
    assert (score.status, score.reason, asked) == (status, reason, [])


class Failing(assay.ScriptedJudge):
    """Has no grades to one reference."""

    async def answer(self, ask: Any) -> Any:
        if isinstance(ask, Grade) and ask.reference == "two":
            raise JudgeUnavailable("away")
        return await super().answer(ask)


def test_a_reference_that_could_not_be_asked_about_fails_the_score() -> None:
    sample = SAMPLE.replace(references=["one", "two"])
    run = assay.evaluate([sample], [Rubric(RAIN, True), "faithfulness"], Failing())
    first, second = run.rows[0].scores.values()
    assert (first.status, first.reason) == ("failed", "JudgeUnavailable: away")
    assert second.value == 1.0


# --- judges -----------------------------------------------------------------------------------


async def test_three_rubrics_and_faithfulness_take_one_grade_call() -> None:
    named = "rubric(criterion=It is wet)"
    metrics: list[str | Metric] = ["faithfulness", Rubric(RAIN), Rubric(SNOW), named]
    async with FakeOpenAI(contains) as server:
        judge = assay.openai("fake", base_url=server.url)
        run = await assay.evaluate_async([SAMPLE], metrics, judge)
        await judge.aclose()
        asked = {kind: len(server.asked(kind)) for kind in ("claims", "verdicts", "grades")}
        assert asked == {"claims": 1, "verdicts": 1, "grades": 1}
        assert server.calls == 3
    assert [score.value for score in run.rows[0].scores.values()] == [1.0, 1.0, 0.0, 1.0]


async def test_replies_that_cannot_be_read_fail_the_rubrics_alone() -> None:
    async with FakeOpenAI(contains, faults=[PROSE] * 4) as server:
        judge = assay.openai("fake", base_url=server.url)
        run = await assay.evaluate_async([SAMPLE], [Rubric(RAIN), Rubric(SNOW)], judge)
        await judge.aclose()
        assert server.calls == 4
    for score in run.rows[0].scores.values():
        assert score.reason == "the judge gave no grade: the reply is not one JSON object"
    async with FakeOpenAI(contains, faults=[status(400)]) as server:
        judge = assay.openai("fake", base_url=server.url)
        run = await assay.evaluate_async([SAMPLE], [Rubric(RAIN)], judge)
        await judge.aclose()
    assert run.rows[0].failure.startswith("JudgeRejected")


def test_a_judge_without_the_skill_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match="needs a judge that does criteria, and embedded does"):
        assay.evaluate([SAMPLE], Rubric(RAIN), EmbeddedJudge())
    assert Graded(RAIN).skills == {"criteria"}


class Lacking(assay.ScriptedJudge):
    """Gives verdicts only."""

    def can(self, skill: Skill) -> bool:
        return skill == "entail"


async def test_of_two_judges_the_one_that_grades_is_asked() -> None:
    chat, classifier = assay.ScriptedJudge(gradings=lambda *_: "fully"), Lacking()
    ask = Grade((RAIN,), "text")
    for routed in (
        RoutedJudge(extract=chat, entail=classifier),
        RoutedJudge(extract=classifier, entail=chat),
        RoutedJudge(extract=assay.ScriptedJudge(), entail=chat),
    ):
        assert routed.can("criteria")
        assert await routed.answer(ask) == (Grading("fully"),)
    assert classifier.asked == []
    neither = RoutedJudge(extract=Lacking(), entail=Lacking(name="verifier"))
    assert not neither.can("criteria")
    with pytest.raises(ConfigError, match="does not answer criteria"):
        await neither.answer(ask)


def test_scripted_gradings_are_part_of_the_fingerprint() -> None:
    tables: list[dict[tuple[str, str], Grading | Level | None]] = [
        {},
        {("a", "b"): "fully"},
        {("a", "b"): "not"},
        {("a", "c"): "not"},
    ]
    prints = {assay.ScriptedJudge(gradings=table).fingerprint for table in tables}
    assert len(prints) == len(tables)
