"""Each metric on small matrices: its edges, its evidence, several references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError

import pytest

from assay.metrics import (
    F1,
    ClaimRecall,
    ContextPrecision,
    ContextUtilization,
    Faithfulness,
    Hallucination,
    Metric,
    NoiseSensitivity,
    Precision,
    Recall,
    SelfKnowledge,
)
from assay.needs import Entails
from assay.sample import Claim, Sample
from assay.score import Evidence
from assay.verdicts import Cell, EntailmentMatrix, Span, Truth, Verdict

M = EntailmentMatrix.letters
NO_RESPONSE_CLAIMS = "the response makes no claims"
NO_REFERENCE_CLAIMS = "the reference makes no claims"


def of_references(text: str, sources: Sequence[int], width: int | None = None) -> EntailmentMatrix:
    """A matrix whose claims belong to several references."""
    matrix = M(text, width)
    claims = tuple(Claim(c.text, source=s) for c, s in zip(matrix.claims, sources, strict=True))
    return EntailmentMatrix(claims, matrix.cells, matrix.width)


# --- nothing to measure is neither 0 nor 1 -------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "answers", "reason"),
    [
        (Faithfulness(), [M("", 2)], NO_RESPONSE_CLAIMS),
        (Faithfulness(), [M("")], "no contexts"),
        (Hallucination(), [M("", 2), M("", 1)], NO_RESPONSE_CLAIMS),
        (Hallucination(), [M(""), M("", 1)], "no contexts"),
        (SelfKnowledge(), [M("", 2), M("", 1)], NO_RESPONSE_CLAIMS),
        (SelfKnowledge(), [M(""), M("", 1)], "no contexts"),
        (Precision(), [M("", 1)], NO_RESPONSE_CLAIMS),
        (Recall(), [M("", 1)], NO_REFERENCE_CLAIMS),
        (F1(), [M("", 1), M("E")], NO_RESPONSE_CLAIMS),
        (F1(), [M("E"), M("", 1)], NO_REFERENCE_CLAIMS),
        (ClaimRecall(), [M("", 2)], NO_REFERENCE_CLAIMS),
        (ClaimRecall(), [M("")], "no contexts"),
        (ContextPrecision(), [None], NO_REFERENCE_CLAIMS),
        (ContextPrecision(), [()], "no contexts"),
        (ContextUtilization(), [M("", 2), M("", 1)], NO_REFERENCE_CLAIMS),
        (ContextUtilization(), [M(""), M("", 1)], "no contexts"),
        (ContextUtilization(), [M("NN"), M("E")], "the contexts hold no reference claim"),
        (NoiseSensitivity(), [M("", 2), M("", 1), (True, False)], NO_RESPONSE_CLAIMS),
        (NoiseSensitivity(), [M(""), M("", 1), ()], "no contexts"),
        (NoiseSensitivity(), [M("E"), M("N"), None], NO_REFERENCE_CLAIMS),
        (
            NoiseSensitivity(dialect="promptfoo"),
            [M("", 1), M("", 1), Sample(contexts=["c"])],
            NO_RESPONSE_CLAIMS,
        ),
    ],
    ids=str,
)
def test_nothing_to_measure_is_undefined(
    metric: Metric, answers: list[object], reason: str
) -> None:
    score = metric.score(*answers)
    assert (score.value, score.status, score.reason) == (None, "undefined", reason)


def no_context_but_claims() -> list[tuple[Metric, list[object]]]:
    empty = EntailmentMatrix((Claim("a"),), ((),), 0)
    return [
        (Faithfulness(), [empty]),
        (Hallucination(), [empty, M("N")]),
        (SelfKnowledge(), [empty, M("E")]),
        (ClaimRecall(), [empty]),
        (ContextUtilization(), [empty, M("E")]),
        (NoiseSensitivity(), [empty, M("N"), ()]),
    ]


@pytest.mark.parametrize(("metric", "answers"), no_context_but_claims(), ids=str)
def test_without_contexts_claims_are_neither_faithful_nor_made_up(
    metric: Metric, answers: list[object]
) -> None:
    assert metric.score(*answers).reason == "no contexts"


def test_all_zero_is_a_score_of_zero() -> None:
    assert F1().score(M("N N"), M("N")).value == 0.0
    assert ContextPrecision().score((False, False)).value == 0.0
    assert ContextUtilization().score(M("E E"), M("N N")).value == 0.0
    assert Faithfulness().score(M("NN")).value == 0.0


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("useful", "ranked", "share"),
    [
        ((True, False, True), (1 + 2 / 3) / 2, 2 / 3),
        ((False, True), 1 / 2, 1 / 2),
        ((True, True, False, False), 1.0, 0.5),
        ((False, False, True), 1 / 3, 1 / 3),
    ],
)
def test_context_precision_with_and_without_rank(
    useful: tuple[Truth, ...], ranked: float, share: float
) -> None:
    assert ContextPrecision().score(useful).value == pytest.approx(ranked)
    assert ContextPrecision(ranked=False).score(useful).value == pytest.approx(share)


def test_f1_is_the_harmonic_mean_and_shows_both_parts() -> None:
    score = F1().score(M("E E E N"), M("E N"))
    assert score.value == pytest.approx(2 * 0.75 * 0.5 / 1.25)
    assert dict(score.stats) == {"precision": 0.75, "recall": 0.5}
    assert [item.against for item in score.items] == ["reference"] * 4 + ["response"] * 2


def test_unknowns_count_and_too_many_fail() -> None:
    assert Faithfulness().score(M("E E E E ?")).value == 1.0
    assert Faithfulness().score(M("E E E E ?")).unknown == 1
    score = Faithfulness().score(M("E E ? ?"))
    assert (score.status, score.unknown) == ("failed", 2)
    assert score.reason == "the judge left 2 of 4 unanswered"


def test_one_premise_that_entails_settles_a_claim_whatever_the_others_left_open() -> None:
    assert Faithfulness().score(M("?E E?")).value == 1.0
    assert Hallucination().score(M("?? ??"), M("E E")).value == 0.0
    assert NoiseSensitivity().score(M("?? ??"), M("E E"), (True, None)).value == 0.0


def test_f1_has_failed_if_either_part_has() -> None:
    assert F1().score(M("? ?"), M("E")).reason == "the judge left 2 of 2 unanswered"
    assert F1().score(M("E"), M("?")).reason == "the judge left 1 of 1 unanswered"


def test_a_claim_that_was_perhaps_retrieved_leaves_utilization_open() -> None:
    assert ContextUtilization().score(M("? N"), M("E E")).status == "failed"
    assert ContextUtilization().score(M("E E E E ?"), M("E E E N E")).value == 0.75


def test_promptfoo_takes_the_first_chunk_that_supports_the_claim() -> None:
    sample = Sample(contexts=[{"text": "a"}, {"text": "b", "relevant": False}])
    metric = NoiseSensitivity("irrelevant", "promptfoo")
    assert metric.score(M("EE"), M("N"), sample).value == 0.0
    assert metric.score(M("NE"), M("N"), sample).value == 1.0
    assert metric.score(M("?E"), M("N"), sample).status == "failed"
    assert metric.score(M("N?"), M("N"), sample).status == "failed"
    assert metric.score(M("E?"), M("N"), sample).value == 0.0
    assert metric.score(M("?N"), M("N"), sample).value == 0.0


# --- several references ----------------------------------------------------------------------


def test_a_claim_that_any_reference_entails_is_correct() -> None:
    assert Precision().score(M("EN NE NN")).value == pytest.approx(2 / 3)
    assert SelfKnowledge().score(M("N N"), M("EN NE")).value == 1.0
    assert Hallucination().score(M("N N"), M("EN NN")).value == 0.5


@pytest.mark.parametrize("first", [0, 1])
def test_the_best_reference_counts_wherever_it_stands(first: int) -> None:
    sources = [first, first, 1 - first, 1 - first]
    stated = of_references("E N E E", sources)
    assert Recall().score(stated).value == 1.0
    assert ClaimRecall().score(of_references("EN NN EN NE", sources)).value == 1.0
    assert ContextUtilization().score(of_references("E E E N", sources), stated).value == 1.0


def test_f1_takes_precision_and_recall_of_one_and_the_same_reference() -> None:
    # The first reference has precision 1 and recall 0, the second precision 0 and recall 1.
    correct = M("EN EN")
    stated = of_references("N E", [0, 1])
    assert F1().score(correct, stated).value == 0.0
    assert F1().score(M("NE NE"), stated).value == 1.0


def test_a_reference_that_was_not_judged_may_be_the_best() -> None:
    score = Recall().score(of_references("? E N", [0, 1, 1]))
    assert (score.status, score.reason) == ("failed", "the judge left 1 of 1 unanswered")
    whole = Recall().score(of_references("? E E", [0, 1, 1]))
    assert (whole.value, whole.unknown) == (1.0, 1)


def test_a_rank_without_an_answer_leaves_ranked_precision_open() -> None:
    useful = (None, True, False, False, False)
    assert ContextPrecision(ranked=False).score(useful).value == 0.25
    assert ContextPrecision().score(useful).status == "failed"


def test_a_context_that_helps_any_reference_is_useful() -> None:
    assert of_references("EN NE", [0, 1]).useful() == (True, True)


# --- evidence ------------------------------------------------------------------------------------


def cell(verdict: Verdict, probability: float, quote: str = "") -> Cell:
    span = Span(quote, 0, len(quote)) if quote else None
    return Cell(verdict, probability, f"because {probability}", span)


def test_items_show_the_best_premise_and_its_quote() -> None:
    cells = (
        cell(Verdict.ENTAILED, 0.7, "weak"),
        cell(Verdict.NEUTRAL, 0.2),
        cell(Verdict.ENTAILED, 0.9, "strong"),
    )
    matrix = EntailmentMatrix((Claim("a"),), (cells,), 3)
    (item,) = Faithfulness().score(matrix).items
    assert (item.claim, item.verdict, item.hit, item.probability) == ("a", "entailed", True, 0.9)
    assert item.evidence == Evidence("context", 2, Span("strong", 0, 6))
    assert item.reason == "because 0.9"


def test_neutral_claims_have_no_evidence_and_open_ones_stay_open() -> None:
    items = Faithfulness().score(M("NN C? EN EN EN EN EN")).items
    assert [str(item.verdict) for item in items[:2]] == ["neutral", "contradicted"]
    assert [item.hit for item in items[:2]] == [False, None]
    assert items[0].evidence is None
    assert items[1].evidence == Evidence("context", 0)
    items = Faithfulness().score(M("N? EN EN EN EN")).items
    assert (str(items[0].verdict), items[0].hit) == ("unknown", None)


def test_a_joined_premise_is_no_single_context() -> None:
    matrix = EntailmentMatrix((Claim("a"),), ((cell(Verdict.ENTAILED, 0.9, "q"),),), 1)
    (item,) = Faithfulness(joined=True).score(matrix).items
    assert (item.evidence, item.hit) == (None, True)


@pytest.mark.parametrize(
    ("metric", "answers", "expected"),
    [
        (Hallucination(), [M("N N E"), M("N E N")], [(True, False), (False, True)]),
        (SelfKnowledge(), [M("N N E"), M("N E N")], [(False, False), (True, True)]),
        (NoiseSensitivity(), [M("E E N"), M("N E N"), (True,)], [(True, False), (False, True)]),
    ],
    ids=str,
)
def test_items_say_what_hit_and_what_was_correct(
    metric: Metric, answers: list[object], expected: list[tuple[bool, bool]]
) -> None:
    items = metric.score(*answers).items
    assert [(item.hit, item.correct) for item in items[:2]] == expected
    assert items[2].hit is False


# --- what a metric is ------------------------------------------------------------------------


def test_metrics_are_frozen_and_compare_by_parameters() -> None:
    with pytest.raises(FrozenInstanceError):
        Faithfulness().joined = True  # type: ignore[misc]
    assert Faithfulness() == Faithfulness()
    assert len({Faithfulness(), Faithfulness(joined=True), Faithfulness(joined=False)}) == 2


def test_lower_is_better_for_what_goes_wrong() -> None:
    lower: set[type[Metric]] = {NoiseSensitivity, Hallucination}
    every: set[type[Metric]] = {
        *lower,
        Faithfulness,
        SelfKnowledge,
        Precision,
        Recall,
        F1,
        ClaimRecall,
        ContextPrecision,
        ContextUtilization,
    }
    assert {m for m in every if not m.higher_is_better} == lower


def test_a_metric_that_says_nothing_of_itself_cannot_be_used() -> None:
    with pytest.raises(TypeError, match="does not say what it needs"):
        _ = Metric().needs
    with pytest.raises(TypeError, match="does not say how it is computed"):
        Metric().score()


def test_labels_that_are_there_make_reference_claims_needless() -> None:
    sample = Sample(contexts=[{"text": "a", "relevant": True}, {"text": "b", "relevant": False}])
    asked = {
        dialect: [
            type(part)
            for need in NoiseSensitivity(dialect=dialect).needs[2:]
            for part in need.parts(sample)
        ]
        for dialect in ("assay", "ragas", "promptfoo")
    }
    assert asked == {"assay": [], "ragas": [Entails], "promptfoo": []}
