"""What a judge is asked, what it is spared, and what comes of samples that lack something."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Sample, ScriptedJudge
from assay.asks import Ask, Entail, Extract
from assay.errors import DataError, MissingField
from assay.metrics import Metric, load_metric
from assay.needs import Claims, Entails, Field, Need, Relevance
from assay.run import Row
from assay.runner import closure, meet, score_sample
from assay.sample import Claim, Context
from assay.verdicts import EntailmentMatrix

TEN = (
    "faithfulness",
    "noise_sensitivity",
    "hallucination",
    "self_knowledge",
    "precision",
    "recall",
    "f1",
    "claim_recall",
    "context_precision",
    "context_utilization",
)
RESPONSE = "Paris is big. Paris is old."
REFERENCE = "Paris is old. Paris is pretty."
SAMPLE = Sample(
    "What of Paris?",
    RESPONSE,
    ["Paris is big. It is far.", "Paris is old."],
    REFERENCE,
    id="1",
)


def named(*names: str) -> dict[str, Metric]:
    return {name: load_metric(name) for name in names or TEN}


async def scored(sample: Sample, *names: str, **script: Any) -> tuple[Row, list[Ask[Any]]]:
    judge = ScriptedJudge(**script)
    return await score_sample(sample, named(*names), judge), judge.asked


def extracts(asked: list[Ask[Any]]) -> list[str]:
    return [ask.text for ask in asked if isinstance(ask, Extract)]


def entails(asked: list[Ask[Any]]) -> list[Entail]:
    return [ask for ask in asked if isinstance(ask, Entail)]


# --- how much is asked -------------------------------------------------------------------------


async def test_all_ten_metrics_ask_two_extracts_and_three_entails() -> None:
    row, asked = await scored(SAMPLE)
    assert {score.status for score in row.scores.values()} == {"ok"}
    assert len(row.scores) == 10
    assert sorted(extracts(asked)) == sorted([RESPONSE, REFERENCE])
    by = {ask.against: ask for ask in entails(asked)}
    assert len(entails(asked)) == len(by) == 3
    assert set(by["passage"].claims) == {"Paris is big.", "Paris is old.", "Paris is pretty."}
    assert by["passage"].premises == ("Paris is big. It is far.", "Paris is old.")
    assert by["reference"].claims == ("Paris is big.", "Paris is old.")
    assert by["reference"].premises == (REFERENCE,)
    assert by["response"].claims == ("Paris is old.", "Paris is pretty.")
    assert by["response"].premises == (RESPONSE,)
    assert all(ask.question == "What of Paris?" for ask in entails(asked))
    assert all(ask.question == "What of Paris?" for ask in asked if isinstance(ask, Extract))


@pytest.mark.parametrize("name", TEN)
async def test_a_metric_alone_and_among_all_others_has_the_same_score(name: str) -> None:
    alone, _ = await scored(SAMPLE, name)
    together, _ = await scored(SAMPLE)
    assert alone.scores[name] == together.scores[name]


@pytest.mark.parametrize(
    ("name", "texts", "against"),
    [
        ("faithfulness", [RESPONSE], ["passage"]),
        ("precision", [RESPONSE], ["reference"]),
        ("recall", [REFERENCE], ["response"]),
        ("f1", [RESPONSE, REFERENCE], ["reference", "response"]),
        ("claim_recall", [REFERENCE], ["passage"]),
        ("context_precision", [REFERENCE], ["passage"]),
        ("context_utilization", [REFERENCE], ["passage", "response"]),
        ("hallucination", [RESPONSE], ["passage", "reference"]),
        ("self_knowledge", [RESPONSE], ["passage", "reference"]),
        ("noise_sensitivity", [RESPONSE, REFERENCE], ["passage", "reference"]),
        ("noise_sensitivity(dialect=promptfoo)", [RESPONSE], ["passage", "reference"]),
    ],
)
async def test_each_metric_asks_for_what_it_needs_and_no_more(
    name: str, texts: list[str], against: list[str]
) -> None:
    _, asked = await scored(SAMPLE, name)
    assert sorted(extracts(asked)) == sorted(texts)
    assert sorted(ask.against for ask in entails(asked)) == against


async def test_both_noise_modes_and_dialects_ask_once() -> None:
    names = [
        f"noise_sensitivity(mode={mode}, dialect={dialect}, incorrect={incorrect})"
        for mode in ("relevant", "irrelevant")
        for dialect in ("assay", "ragas", "promptfoo")
        for incorrect in ("not_entailed", "contradicted")
    ]
    row, asked = await scored(SAMPLE, *names)
    assert len(row.scores) == 12
    assert len(asked) == 4


async def test_joined_contexts_are_one_premise() -> None:
    row, asked = await scored(SAMPLE, "faithfulness(joined=true)", "faithfulness")
    premises = [ask.premises for ask in entails(asked)]
    assert len(premises) == 2
    assert ("Paris is big. It is far.\n\nParis is old.",) in premises
    assert [score.value for score in row.scores.values()] == [1.0, 1.0]


# --- what is not asked -------------------------------------------------------------------------


async def test_given_claims_are_used_as_they_are() -> None:
    sample = SAMPLE.replace(response_claims=["A."], reference_claims=[Claim("B.", 1, 3)])
    row, asked = await scored(sample)
    assert extracts(asked) == []
    assert row.claims == {"response": (Claim("A."),), "reference": (Claim("B.", 1, 3),)}


async def test_given_claims_stand_in_for_the_text_they_are_from() -> None:
    sample = Sample(contexts=["A. B."], response_claims=["A.", "C."])
    row, _ = await scored(sample, "faithfulness", "recall")
    assert row.scores["faithfulness"].value == 0.5
    assert row.scores["recall"].reason == "the sample has no response"


async def test_no_claims_given_differs_from_claims_not_given() -> None:
    row, asked = await scored(SAMPLE.replace(response_claims=[]), "faithfulness")
    assert asked == []
    assert row.scores["faithfulness"].reason == "the response makes no claims"


@pytest.mark.parametrize("blank", ["", "   ", "\n\t\u2003"])
async def test_blank_texts_are_never_asked_about(blank: str) -> None:
    row, asked = await scored(SAMPLE.replace(response=blank))
    assert extracts(asked) == [REFERENCE]
    assert all(text.strip() for ask in entails(asked) for text in (*ask.premises, *ask.claims))
    assert row.scores["faithfulness"].reason == "the response makes no claims"
    assert row.scores["recall"].value == 0.0
    assert row.scores["recall"].items[0].reason == "the premise is empty"

    row, asked = await scored(SAMPLE.replace(references=[blank]))
    assert extracts(asked) == [RESPONSE]
    assert [ask.against for ask in entails(asked)] == ["passage"]
    assert row.scores["precision"].value == 0.0
    assert row.scores["claim_recall"].reason == "the reference makes no claims"

    row, asked = await scored(SAMPLE.replace(contexts=[blank, "Paris is old."]), "faithfulness")
    assert [ask.premises for ask in entails(asked)] == [("Paris is old.",)]
    (item,) = [item for item in row.scores["faithfulness"].items if item.hit]
    assert item.evidence is not None
    assert item.evidence.index == 1

    _, asked = await scored(SAMPLE.replace(contexts=[blank]), "faithfulness(joined=true)")
    assert entails(asked) == []


async def test_a_claim_that_stands_twice_is_asked_about_once_and_counted_twice() -> None:
    sample = SAMPLE.replace(response_claims=["Paris is old.", "Rome.", "Paris is old."])
    row, asked = await scored(sample, "faithfulness")
    assert [ask.claims for ask in entails(asked)] == [("Paris is old.", "Rome.")]
    assert row.scores["faithfulness"].value == pytest.approx(2 / 3)


async def test_a_context_that_stands_twice_keeps_both_places() -> None:
    row, _ = await scored(SAMPLE.replace(contexts=["Paris is old."] * 3), "context_precision")
    assert row.scores["context_precision"].value == 1.0


# --- labels --------------------------------------------------------------------------------------

LABELLED = SAMPLE.replace(
    contexts=[
        Context("Paris is big. It is far.", relevant=False),
        Context("Paris is old.", relevant=True),
    ]
)


async def test_labelled_contexts_make_reference_claims_needless() -> None:
    names = ["noise_sensitivity", "noise_sensitivity(mode=irrelevant)", "context_precision"]
    row, asked = await scored(LABELLED, *names)
    assert extracts(asked) == [RESPONSE]
    assert [score.value for score in row.scores.values()] == [0.0, 0.5, 0.5]


async def test_ragas_ignores_labels() -> None:
    _, asked = await scored(LABELLED, "noise_sensitivity(dialect=ragas)")
    assert sorted(extracts(asked)) == sorted([RESPONSE, REFERENCE])


async def test_labels_of_some_contexts_win_and_the_others_are_judged() -> None:
    contexts = [Context("Paris is old."), Context("Paris is pretty.", relevant=False)]
    useful = (await meet([Relevance()], SAMPLE.replace(contexts=contexts), ScriptedJudge()))[0]
    assert useful == (True, False)
    useful = (
        await meet([Relevance(labels=False)], SAMPLE.replace(contexts=contexts), ScriptedJudge())
    )[0]
    assert useful == (True, True)


async def test_context_precision_of_labelled_contexts_needs_no_reference() -> None:
    row, asked = await scored(LABELLED.replace(references=None), "context_precision")
    assert asked == []
    assert row.scores["context_precision"].value == 0.5


# --- what a sample may lack ----------------------------------------------------------------------


async def test_no_contexts_is_undefined() -> None:
    row, asked = await scored(SAMPLE.replace(contexts=[]))
    undefined = {name for name, score in row.scores.items() if score.status == "undefined"}
    assert undefined == {*TEN} - {"precision", "recall", "f1"}
    assert {row.scores[name].reason for name in undefined} == {"no contexts"}
    assert {ask.against for ask in entails(asked)} == {"reference", "response"}


async def test_contexts_that_are_not_there_fail_the_metrics_that_need_them_alone() -> None:
    row, _ = await scored(SAMPLE.replace(contexts=None))
    failed = {name for name, score in row.scores.items() if score.status == "failed"}
    assert failed == {*TEN} - {"precision", "recall", "f1"}
    assert {row.scores[name].reason for name in failed} == {"the sample has no contexts"}
    assert row.scores["f1"].status == "ok"
    assert row.failed


@pytest.mark.parametrize("references", [None, []])
async def test_without_a_reference_faithfulness_is_scored(references: list[str] | None) -> None:
    row, asked = await scored(SAMPLE.replace(references=references))
    ok = {name for name, score in row.scores.items() if score.status == "ok"}
    assert ok == {"faithfulness"}
    assert {s.reason for s in row.scores.values()} == {"", "the sample has no references"}
    assert extracts(asked) == [RESPONSE]


async def test_without_a_response_retrieval_is_scored() -> None:
    row, asked = await scored(SAMPLE.replace(response=None))
    ok = {name for name, score in row.scores.items() if score.status == "ok"}
    assert ok == {"claim_recall", "context_precision"}
    assert extracts(asked) == [REFERENCE]


async def test_a_response_without_claims_is_undefined() -> None:
    row, _ = await scored(SAMPLE, claims={RESPONSE: [], REFERENCE: ["Paris is old."]})
    reasons = {name: score.reason for name, score in row.scores.items()}
    assert {name for name, reason in reasons.items() if not reason} == {
        "recall",
        "claim_recall",
        "context_precision",
        "context_utilization",
    }
    assert set(reasons.values()) == {"", "the response makes no claims"}


async def test_a_reference_without_claims_is_undefined() -> None:
    row, _ = await scored(SAMPLE, claims={RESPONSE: ["Paris is old."], REFERENCE: []})
    reasons = {name: score.reason for name, score in row.scores.items()}
    assert {name for name, reason in reasons.items() if not reason} == {
        "faithfulness",
        "hallucination",
        "self_knowledge",
        "precision",
    }
    assert set(reasons.values()) == {"", "the reference makes no claims"}


async def test_unanswered_verdicts_above_a_fifth_fail_a_score() -> None:
    def verdicts(claim: str, _: str) -> str:
        return "?" if claim in ("1", "2") else "E"

    five, ten = ([str(n) for n in range(1, count + 1)] for count in (5, 10))
    row, _ = await scored(SAMPLE.replace(response_claims=ten), "faithfulness", verdicts=verdicts)
    assert (row.scores["faithfulness"].value, row.scores["faithfulness"].unknown) == (1.0, 2)
    row, _ = await scored(SAMPLE.replace(response_claims=five), "faithfulness", verdicts=verdicts)
    assert row.scores["faithfulness"].reason == "the judge left 2 of 5 unanswered"
    assert row.failed


# --- several references --------------------------------------------------------------------------


async def test_several_references_any_for_precision_and_the_best_for_recall() -> None:
    sample = SAMPLE.replace(
        references=["Rome is old. Paris is big.", "Paris is old.", ""],
        contexts=["Paris is old."],
    )
    row, asked = await scored(sample)
    values = {name: score.value for name, score in row.scores.items()}
    assert values["precision"] == 1.0  # each response claim stands in one of them
    assert values["recall"] == 1.0  # of the second
    assert values["claim_recall"] == 1.0
    assert values["f1"] == pytest.approx(2 / 3)  # precision 1/2, recall 1 of the second
    assert values["context_utilization"] == 1.0
    assert len(extracts(asked)) == 3
    assert len(entails(asked)) == 3
    assert [claim.source for claim in row.claims["reference"]] == [0, 0, 1]


async def test_references_that_are_alike_are_kept_apart() -> None:
    row, _ = await scored(SAMPLE.replace(references=[REFERENCE, REFERENCE]), "recall", "f1")
    once, _ = await scored(SAMPLE, "recall", "f1")
    assert [s.value for s in row.scores.values()] == [s.value for s in once.scores.values()]


# --- needs themselves ----------------------------------------------------------------------------


def test_needs_compare_by_content() -> None:
    assert Entails("response", by="contexts") == Entails("response", by="contexts")
    assert Entails("response", by="contexts") != Entails("response", by="contexts", joined=True)
    needs = [Claims("response"), Claims("response"), Claims("reference"), Field("response")]
    assert len(set(needs)) == 3


def test_closure_holds_all_that_is_leant_on() -> None:
    relevance = closure([Relevance()], SAMPLE)
    assert relevance == {
        Relevance(),
        Entails("reference", by="contexts"),
        Claims("reference"),
    }
    assert closure([], SAMPLE) == set()


@pytest.mark.parametrize(
    ("need", "field"),
    [
        (Claims("response"), "response"),
        (Claims("reference"), "references"),
        (Entails("response", by="contexts"), "contexts"),
        (Relevance(), "contexts"),
        (Field("reference"), "references"),
    ],
)
async def test_a_missing_field_is_named(need: Need[Any], field: str) -> None:
    with pytest.raises(MissingField) as error:
        await meet([need], Sample(), ScriptedJudge())
    assert error.value.field == field
    assert str(error.value) == f"the sample has no {field}"


async def test_meet_answers_one_need() -> None:
    judge = ScriptedJudge()
    (matrix,) = await meet([Entails("response", by="contexts")], SAMPLE, judge)
    assert isinstance(matrix, EntailmentMatrix)
    assert matrix.supported() == (True, True)
    assert len(judge.asked) == 2
    assert (await meet([Field("response")], SAMPLE, judge))[0] is SAMPLE


async def test_a_need_must_say_how_it_is_met() -> None:
    with pytest.raises(TypeError, match="does not say how it is met"):
        await meet([Need[int]()], SAMPLE, ScriptedJudge())


def test_given_claims_of_a_reference_that_is_not_there_are_refused() -> None:
    with pytest.raises(DataError, match="names no reference: 2"):
        Sample(references=["a", "b"], reference_claims=[Claim("x", source=2)])
