"""The metrics that Valor and ragas have too: their arithmetic, their needs, their calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from assay.errors import ConfigError
from assay.metrics import (
    F1,
    AnswerCorrectness,
    AnswerRelevance,
    Bias,
    ClaimRecall,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ContradictedContexts,
    FactualCorrectness,
    Metric,
    SummaryCoherence,
    Toxicity,
    load_metric,
)
from assay.sample import Claim
from assay.score import Evidence, Score
from assay.traits import EMPTY
from assay.verdicts import Cell, EntailmentMatrix, Mark, Rating, Span, Truth, Verdict

M = EntailmentMatrix.letters
NEW: dict[str, type[Metric]] = {
    "answer_correctness": AnswerCorrectness,
    "factual_correctness": FactualCorrectness,
    "context_recall": ContextRecall,
    "context_relevance": ContextRelevance,
    "contradicted_contexts": ContradictedContexts,
    "answer_relevance": AnswerRelevance,
    "bias": Bias,
    "toxicity": Toxicity,
    "summary_coherence": SummaryCoherence,
}
LABELLED = [ContextRelevance(), AnswerRelevance(), Bias(), Toxicity()]
NO_CLAIMS = "the response makes no claims"
NO_REFERENCE_CLAIMS = "the reference makes no claims"
NO_OPINIONS = "the response utters no opinions"


def marks(*values: Truth) -> tuple[tuple[str, Mark], ...]:
    return tuple((f"text {n}", Mark(value)) for n, value in enumerate(values))


def of_references(text: str, sources: Sequence[int]) -> EntailmentMatrix:
    """A matrix whose claims belong to several references."""
    matrix = M(text)
    claims = tuple(Claim(c.text, source=s) for c, s in zip(matrix.claims, sources, strict=True))
    return EntailmentMatrix(claims, matrix.cells, matrix.width)


# --- answer correctness and factual correctness --------------------------------------------------


@pytest.mark.parametrize(
    ("correct", "stated", "counts", "value"),
    [
        ("E E E N N", "E E N", (3, 2, 1), 2 / 3),
        ("E", "E E", (1, 0, 0), 1.0),
        ("N C", "N N N", (0, 2, 3), 0.0),
        ("E N", "N", (1, 1, 1), 0.5),
        ("N", "E", (0, 1, 0), 0.0),
    ],
)
def test_answer_correctness_counts_tp_fp_fn(
    correct: str, stated: str, counts: tuple[int, int, int], value: float
) -> None:
    score = AnswerCorrectness().score(M(correct), M(stated))
    assert tuple(score.stats[k] for k in ("tp", "fp", "fn")) == counts
    assert score.value == pytest.approx(value)
    tp, fp, fn = counts
    assert (score.hits, score.total) == (tp, tp + 0.5 * (fp + fn))
    assert score == FactualCorrectness().score(M(correct), M(stated))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("factual_correctness", 2 / 3),
        ("factual_correctness(mode=precision)", 3 / 5),
        ("factual_correctness(mode=recall)", 3 / 4),
        ("factual_correctness(beta=2)", 5 * 0.6 * 0.75 / (4 * 0.6 + 0.75)),
        ("factual_correctness(beta=0.5)", 1.25 * 0.6 * 0.75 / (0.25 * 0.6 + 0.75)),
        ("factual_correctness(beta=0)", 3 / 5),
        ("factual_correctness(mode=recall, beta=0.5)", 3 / 4),
        ("factual_correctness(beta=1e6)", 3 / 4),
    ],
)
def test_factual_correctness_is_the_f_score_of_precision_and_recall(
    name: str, value: float
) -> None:
    score = load_metric(name).score(M("E E E N N"), M("E E N"))
    assert score.value == pytest.approx(value)
    assert score.value == score.stats["hits"] / score.stats["total"]


def test_recall_without_any_true_or_missing_claim_is_0() -> None:
    assert FactualCorrectness("recall").score(M("N"), M("E")).value == 0.0


def test_the_counts_are_of_claims_of_both_texts_unlike_f1() -> None:
    # Two response claims say what one reference claim says.
    correct, stated = M("E E N"), M("E N N")
    assert F1().score(correct, stated).value == pytest.approx(2 * (2 / 3) * (1 / 3))
    assert AnswerCorrectness().score(correct, stated).value == pytest.approx(2 / 3.5)


@pytest.mark.parametrize("mode", ["f1", "precision", "recall"])
def test_best_reference_is_taken_whole(mode: str) -> None:
    metric = load_metric(f"factual_correctness(mode={mode})")
    # The first reference entails every response claim, the second is all stated: neither is both.
    crossed = metric.score(M("EN EN"), of_references("N N E", [0, 0, 1])).value
    assert crossed == {"f1": pytest.approx(2 / 3), "precision": 1.0, "recall": 0.5}[mode]
    assert metric.score(M("NE NE"), of_references("N N E", [0, 0, 1])).value == 1.0
    assert metric.score(M("EN EN"), of_references("E N N", [0, 1, 1])).value == 1.0


def test_unanswered_verdicts_are_left_out_up_to_a_fifth() -> None:
    score = AnswerCorrectness().score(M("E E N N ?"), M("E E E N ?"))
    assert (score.value, score.unknown) == (2 / (2 + 0.5 * (2 + 1)), 2)
    for correct, stated in (("E ?", "E"), ("E", "E ?")):
        score = AnswerCorrectness().score(M(correct), M(stated))
        assert (score.value, score.unknown) == (None, 1)
        assert score.reason == "the judge left 1 of 2 unanswered"
        assert score.status == F1().score(M(correct), M(stated)).status


def test_precision_does_not_mind_what_is_unknown_of_the_reference() -> None:
    assert FactualCorrectness("precision").score(M("E N"), M("? ?")).value == 0.5
    assert FactualCorrectness("recall").score(M("E N"), M("? ?")).value is None


def test_items_show_the_claims_that_were_counted() -> None:
    score = AnswerCorrectness().score(M("E N"), M("N"))
    assert [(item.against, item.hit) for item in score.items] == [
        ("reference", True),
        ("reference", False),
        ("response", False),
    ]
    assert len(FactualCorrectness("precision").score(M("E N"), M("N")).items) == 2


@pytest.mark.parametrize("beta", [-1.0, float("nan"), float("inf"), 1e7, "2"])
def test_a_beta_that_cannot_be_is_refused(beta: Any) -> None:
    with pytest.raises(ConfigError, match="beta must be from 0 to a million"):
        FactualCorrectness(beta=beta)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("factual_correctness(beta=x)", r"factual_correctness\(beta=x\): the value must be float"),
        ("factual_correctness(beta=nan)", "beta must be from 0 to a million"),
        ("factual_correctness(mode=f2)", "known: f1, precision, recall"),
    ],
)
def test_parameters_are_checked_by_name_too(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_metric(text)


def test_float_parameters_stay_in_the_name() -> None:
    metric = FactualCorrectness(beta=0.5)
    assert str(metric) == "factual_correctness(beta=0.5)"
    assert load_metric(str(metric)) == metric
    assert str(FactualCorrectness(beta=1)) == "factual_correctness"


# --- contexts ------------------------------------------------------------------------------------


def test_context_recall_is_claim_recall_unless_joined() -> None:
    matrix = of_references("EN NN NE NE", [0, 0, 1, 1])
    assert ContextRecall().score(matrix) == ClaimRecall().score(matrix)
    assert ContextRecall().score(matrix).value == 1.0
    assert ContextRecall().needs == ClaimRecall().needs
    joined = ContextRecall(joined=True).score(of_references("E N N E E", [0, 0, 1, 1, 1]))
    assert joined.value == pytest.approx(2 / 3)
    assert [item.evidence for item in joined.items] == [None] * 3


def test_context_precision_of_the_golden_example() -> None:
    assert ContextPrecision().score((True, False, True)).value == pytest.approx(0.8333, abs=1e-4)
    assert ContextPrecision().score((True, False, False, True)).value == 0.75
    assert ContextPrecision().score((False, True, False, True)).value == 0.5


@pytest.mark.parametrize(
    ("letters", "hits", "total"),
    [("EC EN", 1, 2), ("CC NN", 2, 2), ("EN NE", 0, 2), ("CNNN? NNNNN", 1, 4)],
)
def test_a_context_is_contradicted_if_any_claim_is(letters: str, hits: int, total: int) -> None:
    score = ContradictedContexts().score(M(letters))
    assert (score.hits, score.total, score.value) == (hits, total, hits / total)


def test_a_contradiction_settles_a_context_whatever_else_was_left_open() -> None:
    score = ContradictedContexts().score(M("C? ?C"))
    assert (score.value, score.unknown) == (1.0, 0)
    one_of_two_is_open = ContradictedContexts().score(M("C? EN"))
    assert (one_of_two_is_open.value, one_of_two_is_open.unknown) == (None, 1)


def test_items_show_the_contradicting_context_even_where_another_entails() -> None:
    quote = Cell(Verdict.CONTRADICTED, 0.1, "says 1858", Span("1858", 3, 7))
    entailed, neutral = Cell(Verdict.ENTAILED, 0.9), Cell(Verdict.NEUTRAL, 0.2)
    claims = (Claim("a"), Claim("b"))
    matrix = EntailmentMatrix(claims, ((entailed, quote), (entailed, neutral)), 2)
    first, second = ContradictedContexts().score(matrix).items
    assert (first.verdict, first.probability, first.hit) == ("contradicted", 0.1, True)
    assert first.evidence == Evidence("context", 1, Span("1858", 3, 7))
    assert first.reason == "says 1858"
    assert (second.verdict, second.hit) == ("entailed", False)


def test_context_items_show_the_beginning_of_each_context() -> None:
    score = ContextRelevance().score((("x" * 500, Mark(True, 0.9, "on topic")), ("y", Mark(False))))
    first, second = score.items
    assert (first.claim, first.hit, first.reason) == ("x" * 200, True, "on topic")
    assert (second.claim, second.hit) == ("y", False)


# --- labels and ratings --------------------------------------------------------------------------


@pytest.mark.parametrize("metric", LABELLED, ids=str)
def test_a_labelled_share_is_hits_over_known(metric: Metric) -> None:
    score = metric.score(marks(True, False, False, True, None))
    assert (score.value, score.hits, score.total, score.unknown) == (0.5, 2, 4, 1)
    assert [item.hit for item in score.items] == [True, False, False, True, None]
    too_many = metric.score(marks(True, None))
    assert (too_many.value, too_many.unknown) == (None, 1)
    assert too_many.reason == "the judge left 1 of 2 unanswered"


def test_why_a_label_is_missing_joins_the_reason() -> None:
    score = Bias().score((("text", Mark(None, reason="time-out")),))
    assert score.status == "failed"
    assert score.reason == "the judge left 1 of 1 unanswered: time-out"


@pytest.mark.parametrize("metric", LABELLED, ids=str)
def test_labelled_items_have_a_label_and_no_verdict(metric: Metric) -> None:
    (item,) = metric.score((("text", Mark(True, 0.87654, "so it is")),)).items
    (need,) = metric.needs
    assert json.loads(json.dumps(item.as_dict())) == {
        "claim": "text",
        "against": None,
        "verdict": None,
        "probability": 0.8765,
        "evidence": None,
        "hit": True,
        "label": getattr(need, "trait", None),
        "reason": "so it is",
    }


def test_items_of_verdicts_have_no_label() -> None:
    assert "label" not in AnswerCorrectness().score(M("E"), M("E")).items[0].as_dict()


@pytest.mark.parametrize("rating", [1, 3, 5])
def test_summary_coherence_is_the_rating(rating: int) -> None:
    score = SummaryCoherence().score(Rating(rating, "because"))
    assert (score.value, score.status) == (float(rating), "ok")
    assert SummaryCoherence.low <= float(rating) <= SummaryCoherence.high


def test_no_rating_has_failed_but_for_an_empty_response() -> None:
    assert SummaryCoherence().score(Rating(None, EMPTY)) == Score.undefined(EMPTY)
    assert SummaryCoherence().score(Rating(None, "refused")) == Score.failed("refused", 1)
    assert SummaryCoherence().score(Rating(None)).reason == "the judge gave no rating"


# --- nothing to measure, directions --------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "answers", "reason"),
    [
        (AnswerCorrectness(), [M("", 1), M("E")], NO_CLAIMS),
        (AnswerCorrectness(), [M("E"), M("", 1)], NO_REFERENCE_CLAIMS),
        (FactualCorrectness("recall"), [M("", 1), M("E")], NO_CLAIMS),
        (FactualCorrectness("precision"), [M("E"), M("", 1)], NO_REFERENCE_CLAIMS),
        (ContextRecall(), [M("")], "no contexts"),
        (ContextRecall(joined=True), [M("")], "no contexts"),
        (ContextRecall(), [M("", 2)], NO_REFERENCE_CLAIMS),
        (ContextRelevance(), [()], "no contexts"),
        (ContradictedContexts(), [M("")], "no contexts"),
        (ContradictedContexts(), [M("", 2)], NO_CLAIMS),
        (AnswerRelevance(), [()], NO_CLAIMS),
        (Bias(), [()], NO_OPINIONS),
        (Toxicity(), [()], NO_OPINIONS),
    ],
    ids=str,
)
def test_nothing_to_measure_is_undefined(metric: Metric, answers: list[Any], reason: str) -> None:
    score = metric.score(*answers)
    assert (score.value, score.status, score.reason) == (None, "undefined", reason)


def test_lower_is_better_for_what_goes_wrong() -> None:
    lower = {name for name, metric in NEW.items() if not metric.higher_is_better}
    assert lower == {"contradicted_contexts", "bias", "toxicity"}
