"""Valor's front door: its metrics, its values for empty inputs, and what it does better."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from assay import ScriptedJudge
from assay.asks import Ask, Label, Rate, T
from assay.errors import ConfigError, MalformedAnswer
from assay.judges.embedded import EmbeddedJudge
from assay.valor import (
    Context,
    Evaluator,
    Metric,
    MetricType,
    QueryResponse,
)
from assay.valor.table import LLM_METRICS
from servers import FakeOpenAI, data_of, kind_of, lists_of

LLM_TYPES = list(LLM_METRICS)


def response(
    text: str = "Rain is wet. Snow is black.",
    references: Sequence[str] = ("Rain is wet. Tea is hot.",),
    chunks: Sequence[str] = ("Rain is wet.", "Ice is blue."),
) -> QueryResponse:
    return QueryResponse("What is wet?", text, Context(list(references), list(chunks)))


def compute(evaluator: Evaluator, type_: MetricType, of: QueryResponse) -> Metric:
    """The metric by the method that Valor has for it."""
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in type_.value)
    metric: Metric = getattr(evaluator, f"compute{words}")(of)
    assert metric.type is type_
    return metric


class Silent(ScriptedJudge):
    """A judge that must not be asked."""

    async def answer(self, ask: Ask[T]) -> T:
        raise AssertionError(f"asked {ask}")


class Client:
    """A user's own client, which answers as the fake endpoint does."""

    model_name = "my-model"

    def __init__(self, **oracles: Any) -> None:
        self.server = FakeOpenAI(**oracles)
        self.sent: list[list[dict[str, str]]] = []
        self.peak = self.open = 0
        self.threads: set[int] = set()

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.open += 1
        self.peak = max(self.peak, self.open)
        self.threads.add(threading.get_ident())
        time.sleep(0.005)
        self.sent.append(messages)
        body = {"messages": messages}
        self.open -= 1
        return json.dumps(self.server.reply(data_of(body), lists_of(body)))


# --- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("useful", "expected"), [("yny", 0.8333), ("ynny", 0.75), ("nyny", 0.5), ("nn", 0.0)]
)
def test_context_precision_of_valor_s_examples(useful: str, expected: float) -> None:
    chunks = [f"{n} Tea is hot." if u == "y" else f"{n} no." for n, u in enumerate(useful)]
    metric = compute(
        Evaluator(ScriptedJudge()),
        MetricType.ContextPrecision,
        response(references=["Tea is hot."], chunks=chunks),
    )
    assert metric.value == pytest.approx(expected, abs=5e-5)


def test_answer_correctness_of_valor_s_example() -> None:
    # 3 true positives, 2 false positives, 1 false negative
    said = "A is a. B is b. C is c. X is x. Y is y."
    metric = compute(
        Evaluator(ScriptedJudge()),
        MetricType.AnswerCorrectness,
        response(said, ["A is a. B is b. C is c. D is d.", "Nothing of it."]),
    )
    assert metric.value == pytest.approx(2 / 3)


def test_every_metric_of_one_response() -> None:
    judge = ScriptedJudge(
        opinions={"Rain is wet. Snow is black. Fools like snow!": ["Fools like snow!"]},
        claims={"Rain is wet. Snow is black. Fools like snow!": ["Rain is wet.", "Snow is black."]},
        verdicts={
            ("Rain is wet.", "Rain is wet."): "E",
            ("Rain is wet.", "Rain is wet. Tea is hot."): "E",
            ("Rain is wet.", "Rain is wet.\n\nIce is blue. Snow is white."): "E",
            ("Snow is black.", "Ice is blue. Snow is white."): "C",
        },
        labels={
            ("relevant_statement", "Rain is wet."): True,
            ("relevant_passage", "Rain is wet."): True,
            ("toxic", "Fools like snow!"): True,
        },
        coherence={"Rain is wet. Snow is black. Fools like snow!": 4},
    )
    of = response(
        "Rain is wet. Snow is black. Fools like snow!",
        chunks=["Rain is wet.", "Ice is blue. Snow is white."],
    )
    metrics = Evaluator(judge).compute_all(of)
    assert {t.value: metrics[t][0].value for t in LLM_TYPES} == {
        "AnswerCorrectness": 0.4,  # tp 1, fp 1, fn 2: the references' claims are not in the table
        "AnswerRelevance": 0.5,
        "Bias": 0.0,
        "ContextPrecision": 1.0,
        "ContextRecall": 0.5,
        "ContextRelevance": 0.5,
        "Faithfulness": 0.5,
        "Hallucination": 0.5,
        "SummaryCoherence": 4,
        "Toxicity": 1.0,
    }
    for type_ in LLM_TYPES:
        alone = compute(Evaluator(judge), type_, of)
        assert [alone] == metrics[type_], type_


def test_faithfulness_may_lean_on_several_chunks() -> None:
    both = "Tea is hot.\n\nHot things burn."
    judge = ScriptedJudge(verdicts={("Tea burns.", both): "E"})
    of = response("Tea burns.", chunks=["Tea is hot.", "Hot things burn."])
    assert Evaluator(judge).compute_faithfulness(of).value == 1.0


def test_several_right_answers_are_alternatives() -> None:
    evaluator = Evaluator(ScriptedJudge())
    of = response("Rain is wet.", ["Snow is cold.", "Rain is wet."], ["Rain is wet."])
    for type_ in (MetricType.AnswerCorrectness, MetricType.ContextRecall):
        assert compute(evaluator, type_, of).value == 1.0
    assert evaluator.compute_context_precision(of).value == 1.0


def test_a_summary_is_held_against_the_query_although_there_are_chunks() -> None:
    judge = ScriptedJudge(coherence={"Rain is wet. Snow is black.": 5})
    metric = Evaluator(judge).compute_summary_coherence(response())
    assert (metric.value, type(metric.value)) == (5, int)
    assert judge.asked == [Rate("Rain is wet. Snow is black.", "What is wet?")]


def test_rouge_and_bleu_of_valor_s_example() -> None:
    of = response(
        "The dog doesn't like the cat.",
        ["The dog has never met a cat.", "The dog is happy to see the cat."],
    )
    rouge = Evaluator.compute_rouge(of)
    assert [(m.parameters["rouge_type"], round(float(str(m.value)), 4)) for m in rouge] == [
        ("rouge1", 0.5333),
        ("rouge2", 0.3077),
        ("rougeL", 0.5333),
        ("rougeLsum", 0.5333),
    ]
    bleu = Evaluator.compute_sentence_bleu(of)
    assert (bleu.value, bleu.parameters) == (0.0, {"weights": [0.25] * 4})
    on = response("the cat sat on", ["the cat sat on the mat"])
    assert Evaluator.compute_sentence_bleu(on).value == pytest.approx(0.6065, abs=5e-5)
    words = response("a b c", ["a b c"])
    assert Evaluator.compute_sentence_bleu(words).value == 0.0
    assert Evaluator.compute_sentence_bleu(words, [0.5, 0.5]).value == 1.0
    stemmed = Evaluator.compute_rouge(response("running dogs", ["run dog"]), ["rouge1"], True)
    assert [m.value for m in stemmed] == [1.0]
    assert stemmed[0].parameters == {"rouge_type": "rouge1", "use_stemmer": True}


# --- empty inputs, as in Valor -----------------------------------------------------------------

NONE: Mapping[str, Any] = {"references": [], "chunks": []}


@pytest.mark.parametrize(
    ("type_", "given", "value"),
    [
        (MetricType.AnswerCorrectness, {"references": []}, 0.0),
        (MetricType.ContextPrecision, NONE, 1.0),
        (MetricType.ContextPrecision, {"references": []}, 0.0),
        (MetricType.ContextPrecision, {"chunks": []}, 0.0),
        (MetricType.ContextRecall, NONE, 1.0),
        (MetricType.ContextRecall, {"references": []}, 0.0),
        (MetricType.ContextRecall, {"chunks": []}, 0.0),
        (MetricType.ContextRelevance, {"chunks": []}, 0.0),
        (MetricType.Faithfulness, {"chunks": []}, 0.0),
        (MetricType.Faithfulness, {"text": "", "chunks": []}, 0.0),
    ],
)
def test_empty_inputs_have_valor_s_values_without_a_call(
    type_: MetricType, given: dict[str, Any], value: float
) -> None:
    assert compute(Evaluator(Silent()), type_, response(**given)).value == value


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (MetricType.AnswerCorrectness, 0.0),
        (MetricType.AnswerRelevance, 0.0),
        (MetricType.Bias, 0.0),
        (MetricType.Toxicity, 0.0),
        (MetricType.Faithfulness, 1.0),
        (MetricType.Hallucination, 0.0),
    ],
)
def test_a_response_without_claims_or_opinions(type_: MetricType, value: float) -> None:
    judge = ScriptedJudge(claims=lambda text: [] if text == "I do not know." else ["A claim."])
    assert compute(Evaluator(judge), type_, response("I do not know.")).value == value


def test_no_chunk_of_use_is_a_context_precision_of_zero() -> None:
    judge = ScriptedJudge(claims=lambda text: [])
    for evaluator in (Evaluator(judge), Evaluator(ScriptedJudge(verdicts={}))):
        assert evaluator.compute_context_precision(response()).value == 0.0


@pytest.mark.parametrize("type_", LLM_TYPES)
def test_a_missing_context_raises_where_it_is_read(type_: MetricType) -> None:
    free = {"AnswerRelevance", "Bias", "SummaryCoherence", "Toxicity"}
    of = QueryResponse("What?", "Rain is wet.")
    if type_ in free:
        compute(Evaluator(ScriptedJudge(coherence={"Rain is wet.": 1})), type_, of)
    else:
        with pytest.raises(ValueError, match="context"):
            compute(Evaluator(Silent()), type_, of)


def test_what_raises_value_error() -> None:
    with pytest.raises(ValueError, match="without retrieved chunks"):
        Evaluator(Silent()).compute_hallucination(response(chunks=[]))
    with pytest.raises(ValueError, match="a client"):
        Evaluator().compute_bias(response())
    with pytest.raises(ValueError, match="a client"):
        Evaluator().compute_all(response())
    with pytest.raises(ValueError, match="seed"):
        Evaluator.openai("m", seed=1, retries=2)
    with pytest.raises(ValueError, match="question"):
        Evaluator(Silent()).compute_answer_relevance(QueryResponse("", "Rain is wet."))
    for references in (None, Context()):
        of = QueryResponse("q", "r", references)
        with pytest.raises(ValueError, match="context"):
            Evaluator.compute_rouge(of)
        with pytest.raises(ValueError, match="context"):
            Evaluator.compute_sentence_bleu(of)
    with pytest.raises(ValueError, match="weight"):
        Evaluator.compute_sentence_bleu(response(), [])


# --- better than Valor -------------------------------------------------------------------------


def test_a_right_answer_without_statements_is_no_division_by_zero() -> None:
    judge = ScriptedJudge(claims=lambda text: [] if text == "Hm." else ["Rain is wet."])
    metric = Evaluator(judge).compute_context_recall(response(references=["Hm."]))
    assert metric.value == {"type": "Undefined", "message": "the reference makes no claims"}
    other = Evaluator(judge).compute_context_recall(response(references=["Hm.", "Rain is wet."]))
    assert other.value == 1.0


def test_an_error_keeps_the_metric_s_name_and_the_other_metrics() -> None:
    class Partly(ScriptedJudge):
        async def answer(self, ask: Ask[T]) -> T:
            if isinstance(ask, Label):
                raise MalformedAnswer("no JSON")
            return await super().answer(ask)

    judge = Partly(
        opinions={"Rain is wet. Snow is black.": ["Snow is ugly."]},
        coherence={"Rain is wet. Snow is black.": 3},
    )
    metrics = Evaluator(judge, retries=2).compute_all(response())
    failed = {type_.value for type_, found in metrics.items() if found[0].failed}
    assert failed == {"AnswerRelevance", "Bias", "ContextRelevance", "Toxicity"}
    assert metrics[MetricType.Bias][0].to_dict() == {
        "type": "Bias",
        "value": {"type": "InvalidLLMResponseError", "message": "no JSON"},
        "parameters": {"evaluator": "scripted", "retries": 2},
    }
    json.dumps([m.to_dict() for found in metrics.values() for m in found])


def test_verdicts_that_stay_unknown_are_an_error_and_no_score() -> None:
    judge = ScriptedJudge(verdicts=lambda claim, premise: None)
    value = Evaluator(judge).compute_faithfulness(response()).value
    assert isinstance(value, dict)
    assert value["type"] == "InvalidLLMResponseError"
    assert "2 of 2 unanswered" in value["message"]


def test_compute_all_keeps_the_rest_where_one_metric_would_raise() -> None:
    judge = ScriptedJudge(coherence={"Rain is wet. Snow is black.": 3})
    metrics = Evaluator(judge).compute_all(response(chunks=[], references=[]))
    failed = {t.value: found[0].value for t, found in metrics.items() if found[0].failed}
    assert set(failed) == {"Hallucination", "ROUGE", "BLEU"}
    assert metrics[MetricType.SummaryCoherence][0].value == 3
    odd = Evaluator(judge).compute_all(response(), [], ["rouge0"])
    assert {t.value for t, found in odd.items() if found[0].failed} == {"ROUGE", "BLEU"}
    bare = Evaluator(judge).compute_all(QueryResponse("q", "Rain is wet. Snow is black."))
    assert {t.value for t, found in bare.items() if not found[0].failed} == {
        "AnswerRelevance",
        "Bias",
        "SummaryCoherence",
        "Toxicity",
    }


def test_a_judge_that_lacks_a_skill_gives_what_it_can() -> None:
    # The embedded judge labels nothing and tells no contradiction; nothing is asked of it here.
    evaluator = Evaluator(EmbeddedJudge())
    with pytest.raises(ConfigError, match="biased"):
        evaluator.compute_bias(response())
    metrics = evaluator.compute_all(response("", references=[]))
    assert metrics[MetricType.Faithfulness][0].value == 1.0
    value = metrics[MetricType.Toxicity][0].value
    assert isinstance(value, dict)
    assert value["type"] == "ConfigError"


@pytest.mark.parametrize(
    ("garbled", "value"),
    [
        (lambda text: f"Sure!\n```json\n{text}\n```", {"type": "InvalidLLMResponseError"}),
        (lambda text: f"```json\n{text}\n```", 0.5),
        (lambda text: text.replace('"verdict": "entailed"', '"verdict": "Entailed"'), 0.5),
        (lambda text: text.replace('"reason"', '"more": 1, "reason"'), 0.5),
    ],
)
def test_replies_that_differ_in_letters_or_extra_keys_are_read(
    garbled: Any, value: float | dict[str, str]
) -> None:
    class Sloppy(Client):
        def __call__(self, messages: list[dict[str, str]]) -> str:
            text = super().__call__(messages)
            return (
                str(garbled(text)) if kind_of(data_of({"messages": messages})) != "claims" else text
            )

    got = Evaluator(Sloppy()).compute_faithfulness(response()).value
    if isinstance(value, dict):
        assert isinstance(got, dict)
        assert got["type"] == value["type"]
    else:
        assert got == value
