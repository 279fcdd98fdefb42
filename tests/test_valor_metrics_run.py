"""Valor's metrics through evaluate: what is asked, and what cannot be."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

import assay
from assay.asks import Extract
from assay.errors import ConfigError
from assay.judges.embedded import EmbeddedJudge
from assay.sample import Sample
from assay.score import Score
from assay.verdicts import Asked

# --- through evaluate ----------------------------------------------------------------------------

QUESTION = "When was the lamp lit?"
RESPONSE = "The lamp was lit in 1857. The keeper kept bees. Only fools ask. Bees are best."
CONTEXTS = ["The lamp was lit in 1857.", "The keeper kept goats.", "The tower is tall."]
REFERENCE = "The lamp was lit in 1857. The tower is tall. It burned oil."
LIT, BEES = "The lamp was lit in 1857.", "The keeper kept bees."
LIT_WHEN = "In which year was the lamp lit?"
FOOLS, BEST = "Only fools ask.", "Bees are best."
TOGETHER = [name for name in assay.metrics.CATALOGUE if name != "rubric"]  # needs a criterion
TOGETHER.append("noise_sensitivity(mode=irrelevant)")


def sample(**changes: Any) -> Sample:
    return Sample(QUESTION, RESPONSE, CONTEXTS, [REFERENCE], id="1").replace(**changes)


def verdict(claim: str, premise: str) -> str:
    if claim == BEES and "goats" in premise:
        return "C"
    return "E" if claim in premise else "N"


def scripted(**changes: Any) -> assay.ScriptedJudge:
    script: dict[str, Any] = {
        "claims": {RESPONSE: [LIT, BEES]},
        "verdicts": verdict,
        "opinions": {RESPONSE: [FOOLS, BEST]},
        "labels": {
            ("relevant_statement", LIT): True,
            ("relevant_passage", CONTEXTS[0]): True,
            ("toxic", FOOLS): True,
            ("biased", FOOLS): True,
            ("biased", BEST): True,
        },
        "coherence": {RESPONSE: 4},
        "questions": {RESPONSE: Asked((LIT_WHEN,), noncommittal=False)},
        "embeddings": dict.fromkeys((RESPONSE, REFERENCE, QUESTION, LIT_WHEN), (1.0, 2.0)),
    }
    return assay.ScriptedJudge(**{**script, **changes})


VALUES = {
    "answer_correctness": 1 / (1 + 0.5 * (1 + 2)),
    "factual_correctness": 1 / (1 + 0.5 * (1 + 2)),
    "context_recall": 2 / 3,
    "context_relevance": 1 / 3,
    "contradicted_contexts": 1 / 3,
    "answer_relevance": 1 / 2,
    "bias": 1.0,
    "toxicity": 1 / 2,
    "summary_coherence": 4.0,
}


def test_the_new_metrics_on_one_sample() -> None:
    run = assay.evaluate([sample()], list(VALUES), scripted())
    assert {name: run.rows[0].scores[name].value for name in VALUES} == pytest.approx(VALUES)
    json.dumps(run.rows[0].as_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("more", "entails"),
    [([], 3), (["context_recall(joined=true)", "faithfulness(joined=true)"], 4)],
)
def test_all_metrics_together_ask_each_thing_once(more: list[str], entails: int) -> None:
    judge = scripted()
    run = assay.evaluate([sample()], TOGETHER + more, judge)
    assert not run.failed
    asked = Counter(type(ask).__name__ for ask in judge.asked)
    once = {"Extract": 2, "Label": 2, "Rate": 1, "Questions": 1, "Embed": 2}
    assert asked == {**once, "Entail": entails}
    opinions = {ask.text: ask.opinions for ask in judge.asked if isinstance(ask, Extract)}
    assert opinions == {RESPONSE: True, REFERENCE: False}


def test_scores_are_the_same_together_and_one_by_one() -> None:
    names = [*TOGETHER, "context_recall(joined=true)", "factual_correctness(beta=2)"]
    together = assay.evaluate([sample()], names, scripted()).rows[0].scores
    for name in names:
        alone = assay.evaluate([sample()], name, scripted()).rows[0].scores
        assert alone[name] == together[name]


def test_several_references_give_the_best() -> None:
    references = ["The tower is tall.", LIT, "The keeper kept bees. " + LIT]
    names = ["answer_correctness", "factual_correctness(mode=recall)", "context_recall"]
    judge = scripted(claims=None, opinions=None)
    one = sample(response=f"{LIT} {BEES}", references=references)
    scores = assay.evaluate([one], names, judge).rows[0].scores
    assert [score.value for score in scores.values()] == [1.0, 1.0, 1.0]
    assert dict(scores["answer_correctness"].stats)["tp"] == 2
    first = sample(response=f"{LIT} {BEES}", references=references[:2])
    scores = assay.evaluate([first], names, scripted(claims=None)).rows[0].scores
    assert scores["answer_correctness"].value == 1 / (1 + 0.5)
    assert scores["factual_correctness(mode=recall)"].value == 1.0


def test_a_joined_context_recall_lets_a_claim_lean_on_several_contexts() -> None:
    def leaning(claim: str, premise: str) -> str:
        return "E" if all(c in premise for c in CONTEXTS) else "N"

    names = ["context_recall", "context_recall(joined=true)"]
    scores = assay.evaluate([sample()], names, scripted(verdicts=leaning)).rows[0].scores
    assert [score.value for score in scores.values()] == [0.0, 1.0]


@pytest.mark.parametrize("question", [None, " "])
def test_without_a_question_only_the_relevance_metrics_fail(question: str | None) -> None:
    row = assay.evaluate([sample(question=question)], TOGETHER, scripted()).rows[0]
    failed = {name: score.reason for name, score in row.scores.items() if score.status == "failed"}
    assert failed == dict.fromkeys(
        ["context_relevance", "answer_relevance", "response_relevancy"],
        "the sample has no question",
    )


def test_a_response_without_opinions_is_neither_biased_nor_fair() -> None:
    run = assay.evaluate([sample()], ["bias", "toxicity"], scripted(opinions=None))
    reasons = [score.reason for score in run.rows[0].scores.values()]
    assert reasons == ["the response utters no opinions"] * 2
    assert not run.failed


def test_a_summary_is_of_the_question_where_there_are_no_contexts() -> None:
    judge = scripted()
    run = assay.evaluate([sample(contexts=None)], "summary_coherence", judge)
    assert run["summary_coherence"].mean == 4.0
    assert [getattr(ask, "source", None) for ask in judge.asked] == [QUESTION]
    empty = assay.evaluate([sample(response=" ")], "summary_coherence", judge).rows[0]
    assert empty.scores["summary_coherence"] == Score.undefined("the response is empty")


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("contradicted_contexts", "contradict"),
        ("answer_relevance", "relevant_statement"),
        ("bias", "biased, opinions"),
        ("toxicity", "opinions, toxic"),
        ("summary_coherence", "coherence"),
    ],
)
def test_a_judge_that_cannot_is_refused_before_it_is_asked(name: str, lacks: str) -> None:
    judge = EmbeddedJudge()
    with pytest.raises(ConfigError, match=f"metric {name} needs a judge that does {lacks}, and"):
        assay.evaluate([sample()], ["faithfulness", name], judge)
    assert judge.usage.calls == 0


def test_the_embedded_judge_does_for_the_rest() -> None:
    names = ["answer_correctness", "context_relevance", "context_recall(joined=true)"]
    run = assay.evaluate([sample()], names, EmbeddedJudge())
    assert all(score.status == "ok" for score in run.rows[0].scores.values())
