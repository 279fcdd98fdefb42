"""ragas' names, shapes and errors, and the scores behind them."""

from __future__ import annotations

import asyncio
import copy
import importlib
import json
import math
import pickle
from typing import Any

import pytest

from assay import ScriptedJudge
from assay.asks import Entail
from assay.errors import JudgeError
from assay.ragas import (
    SingleTurnSample,
    evaluate,
)
from assay.ragas import metrics as legacy
from assay.ragas.metrics import Faithfulness, FaithfulnesswithHHEM, NoiseSensitivity
from assay.ragas.metrics import collections as modern
from assay.ragas.metrics.collections import MetricResult
from ragas_sample import ROW, SAMPLE, Broken, judge

UNSURE = "Nobody knows. Leonardo painted it."

# --- metrics of a sample -----------------------------------------------------------------------

SCORES = [
    (legacy.Faithfulness, {}, 1.0),
    (legacy.NoiseSensitivity, {}, 0.5),
    (legacy.NoiseSensitivity, {"mode": "irrelevant"}, 0.0),
    (legacy.AnswerCorrectness, {}, 0.5),
    (legacy.AnswerCorrectness, {"beta": 2.0}, 0.5),
    (legacy.FactualCorrectness, {"mode": "precision"}, 0.5),
    (legacy.LLMContextPrecisionWithReference, {}, 1.0),
    (legacy.ContextPrecision, {}, 1.0),
    (legacy.LLMContextRecall, {}, 0.5),
    (legacy.ContextRecall, {}, 0.5),
    (legacy.ContextRelevance, {}, 0.5),
    (legacy.ResponseRelevancy, {}, 0.5),
]
MODERN = [
    (modern.Faithfulness, {}, 1.0),
    (modern.NoiseSensitivity, {"mode": "relevant"}, 0.5),
    (modern.AnswerCorrectness, {}, 0.5),
    (modern.FactualCorrectness, {"mode": "recall", "beta": 0.5}, 0.5),
    (modern.ContextPrecisionWithReference, {}, 1.0),
    (modern.ContextPrecision, {}, 1.0),
    (modern.ContextRecall, {}, 0.5),
    (modern.ContextRelevance, {}, 0.5),
    (modern.AnswerRelevancy, {}, 0.5),
]


@pytest.mark.parametrize(("metric", "options", "expected"), SCORES)
async def test_a_metric_of_a_sample_gives_a_float(
    metric: Any, options: dict[str, Any], expected: float
) -> None:
    score = await metric(llm=judge(), **options).single_turn_ascore(SAMPLE, callbacks=None)
    assert type(score) is float
    assert score == expected


@pytest.mark.parametrize(("metric", "options", "expected"), MODERN)
async def test_a_metric_of_arguments_gives_a_result_with_a_reason(
    metric: Any, options: dict[str, Any], expected: float
) -> None:
    result = await metric(judge(), **options).ascore(**ROW)
    assert (result.value, type(result.value)) == (expected, float)
    assert result.reason
    assert result.traces["input"] == ROW
    assert result.traces["output"]["value"] == expected


def test_ragas_names_of_columns() -> None:
    assert Faithfulness().name == "faithfulness"
    assert FaithfulnesswithHHEM().name == "faithfulness_with_hhem"
    assert legacy.LLMContextRecall().name == "context_recall"
    assert NoiseSensitivity(mode="irrelevant", max_retries=3).column == (
        "noise_sensitivity(mode=irrelevant)"
    )
    assert NoiseSensitivity().required_columns == {
        "SINGLE_TURN": {"user_input", "response", "reference", "retrieved_contexts"}
    }
    assert legacy.faithfulness == Faithfulness()
    assert legacy.faithfulness is not legacy.faithfulness


async def test_the_sync_form_works_in_a_running_loop() -> None:
    assert NoiseSensitivity(llm=judge()).single_turn_score(SAMPLE) == 0.5
    assert modern.NoiseSensitivity(judge()).score(**ROW) == 0.5
    assert evaluate([SAMPLE], [Faithfulness()], judge())["faithfulness"] == [1.0]


async def test_a_time_limit_holds() -> None:
    class Slow(ScriptedJudge):
        async def answer(self, ask: Any) -> Any:
            await asyncio.sleep(30)

    with pytest.raises(TimeoutError):
        await Faithfulness(llm=Slow()).single_turn_ascore(SAMPLE, timeout=0.01)


async def test_no_claims_are_nan_with_a_word_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    empty = SingleTurnSample(**{**ROW, "response": ""})
    assert math.isnan(await Faithfulness(llm=judge()).single_turn_ascore(empty))
    assert "no claims" in caplog.text
    nothing = SingleTurnSample(**{**ROW, "retrieved_contexts": []})
    assert math.isnan(await Faithfulness(llm=judge()).single_turn_ascore(nothing))


@pytest.mark.parametrize(
    ("metric", "response", "reference", "expected"),
    [
        (legacy.AnswerCorrectness, "?", "?", 1.0),
        (legacy.AnswerCorrectness, "?", "Rain is wet.", 0.0),
        (legacy.AnswerCorrectness, "Rain is wet.", "?", 0.0),
        (legacy.FactualCorrectness, "?", "Rain is wet.", 0.0),
        (modern.FactualCorrectness, "?", "Rain is wet.", 0.0),
        (modern.AnswerCorrectness, "?", "Rain is wet.", 1.0),
    ],
)
def test_where_there_are_no_claims_correctness_is_ragas_number(
    metric: Any, response: str, reference: str, expected: float
) -> None:
    silent = ScriptedJudge(claims={"?": [], "Rain is wet.": ["Rain is wet."]})
    row = {"user_input": "How?", "response": response, "reference": reference}
    result = evaluate([row], [metric(llm=silent)])
    (name,) = result.scores[0]
    assert result[name] == [expected]
    assert "no claims" in result.reasons[0][name]
    assert result.summary(name).mean == expected


def test_correctness_says_that_it_weighs_claims_only() -> None:
    with pytest.warns(UserWarning, match="weighs claims only"):
        legacy.AnswerCorrectness(llm=judge(), weights=[0.75, 0.25])
    assert legacy.AnswerCorrectness(weights=[1, 0]).native() == "answer_correctness"
    assert "weights [1, 0]" in str(modern.AnswerCorrectness(judge()).score(**ROW).reason)


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["user_input", "response", "reference", "retrieved_contexts"])
@pytest.mark.parametrize("value", [None, "", []])
async def test_noise_sensitivity_names_the_field_that_is_missing(field: str, value: Any) -> None:
    if value == "" and field == "retrieved_contexts":
        value = None
    said = f"{field} is missing in the test sample. Please add {field} to the test sample."
    asked = judge()
    if value != []:
        sample = SingleTurnSample(**{**ROW, field: value})
        with pytest.raises(ValueError, match=said):
            await NoiseSensitivity(llm=asked).single_turn_ascore(sample)
    with pytest.raises(ValueError, match=said):
        await modern.NoiseSensitivity(asked).ascore(**{**ROW, field: value})
    assert asked.asked == []


async def test_faithfulness_can_do_without_the_question_but_not_without_contexts() -> None:
    row: dict[str, Any] = {"response": "Rain is wet.", "retrieved_contexts": ["Rain is wet."]}
    assert await modern.Faithfulness(judge()).ascore(**row) == 1.0
    assert await Faithfulness(llm=judge()).single_turn_ascore(SingleTurnSample(**row)) == 1
    empty: dict[str, Any] = {"user_input": "", "response": "", "retrieved_contexts": []}
    for field, value in empty.items():
        with pytest.raises(ValueError, match=f"Please add {field} to the test sample"):
            await modern.Faithfulness(judge()).ascore(**{**row, field: value})
    with pytest.raises(ValueError, match="retrieved_contexts is missing"):
        await Faithfulness(llm=judge()).single_turn_ascore(SingleTurnSample(response="Rain."))


async def test_a_lone_string_of_contexts_is_one_context() -> None:
    scripted = judge()
    row = {**ROW, "retrieved_contexts": "Leonardo painted it."}
    assert await modern.Faithfulness(scripted).ascore(**row) == 0.5
    assert [ask.premises for ask in scripted.asked if isinstance(ask, Entail)] == [
        ("Leonardo painted it.",)
    ]


@pytest.mark.parametrize("metric", [NoiseSensitivity, modern.NoiseSensitivity])
def test_a_wrong_mode_is_refused_in_ragas_words(metric: Any) -> None:
    with pytest.raises(
        ValueError,
        match=r"Invalid argument passed for 'mode': both\. Must be 'relevant' or 'irrelevant'\.",
    ):
        metric(mode="both")


def test_what_is_no_field_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="responce"):
        modern.Faithfulness(judge()).score(**{**ROW, "responce": "x"})
    with pytest.raises(ValueError, match="retrieved_contexts must be a list of texts"):
        SingleTurnSample(retrieved_contexts="one string")
    with pytest.raises(ValueError, match="user_input must be text"):
        SingleTurnSample(user_input=[{"content": "hi"}])  # type: ignore[arg-type]


async def test_a_judge_that_does_not_answer_is_an_error_of_its_own() -> None:
    with pytest.raises(JudgeError, match="no answer for now"):
        await Faithfulness(llm=Broken()).single_turn_ascore(SAMPLE)
    (result,) = await modern.Faithfulness(Broken()).abatch_score([ROW])
    assert math.isnan(result)
    assert "no answer for now" in str(result.reason)


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("assay.ragas.metrics", "AspectCritic", "a prompt of its own.*Faithfulness"),
        ("assay.ragas.metrics.collections", "DomainSpecificRubrics", "NoiseSensitivity"),
        ("assay.ragas", "MultiTurnSample", "single turns"),
        ("assay.ragas.llms", "LlamaIndexLLMWrapper", "llm_factory"),
        ("assay.ragas.dataset_schema", "MultiTurnSample", "SingleTurnSample"),
    ],
)
def test_what_is_not_here_says_what_is(module: str, name: str, said: str) -> None:
    found = importlib.import_module(module)
    with pytest.raises(ImportError, match=said):
        getattr(found, name)
    assert not hasattr(found, "no_such_thing")


# --- results -----------------------------------------------------------------------------------


def test_a_result_is_its_number_everywhere() -> None:
    result = modern.NoiseSensitivity(judge()).score(**ROW)
    assert (float(result), result + 1, 1 - result, result * 2) == (0.5, 1.5, 0.5, 1.0)
    assert 0.4 < result < 0.6
    assert f"{result:.2f}" == "0.50"
    assert json.loads(json.dumps([result])) == [0.5]
    assert hash(result) == hash(0.5)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert (again.value, again.reason, again.traces) == (0.5, result.reason, result.traces)
    assert json.loads(json.dumps(result.to_dict())) == {"result": 0.5, "reason": result.reason}
    assert MetricResult(math.nan, "why").to_dict() == {"result": None, "reason": "why"}
    with pytest.raises(ValueError, match="'input' and 'output'"):
        MetricResult(1.0, traces={"cost": 3})


def test_a_reason_names_the_claims_that_count_against() -> None:
    assert modern.NoiseSensitivity(judge()).score(**ROW).reason == (
        "1 of 2 claims are incorrect and supported by a relevant context. "
        "These: “It is from the 15th century.” (entailed)."
    )
    row = {**ROW, "response": "One. Two. Three. Four. Five."}
    reason = str(modern.Faithfulness(judge()).score(**row).reason)
    assert reason.startswith("0 of 5 claims are supported by the contexts. Not so: “One.”")
    assert reason.endswith("; and 2 more.")


def test_a_batch_keeps_its_order_and_is_checked_before_anything_is_asked() -> None:
    metric = modern.Faithfulness(judge())
    rows = [{**ROW, "response": text} for text in ("Leonardo painted it.", "Not so.", UNSURE)]
    assert metric.batch_score(rows) == [1.0, 0.0, 0.5]
    unasked = judge()
    with pytest.raises(ValueError, match="response is missing"):
        modern.Faithfulness(unasked).batch_score([*rows, {**ROW, "response": None}])
    assert unasked.asked == []
