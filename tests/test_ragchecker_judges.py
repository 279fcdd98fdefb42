"""RAGChecker's front door: judges by name, and records that are none of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import ScriptedJudge
from assay.asks import Entail, Extract
from assay.errors import ConfigError, DataError
from assay.ragchecker import (
    RAGChecker,
    RAGResult,
    RAGResults,
    all_metrics,
    generator_metrics,
    overall_metrics,
    retriever_metrics,
)
from assay.ragchecker.metrics import NATIVE, chosen_metrics
from servers import FakeOpenAI, Fault
from test_ragchecker_door import Silent, one

# --- judges by name ----------------------------------------------------------------------------


def test_an_endpoint_is_asked_c_plus_4_times() -> None:
    with FakeOpenAI(key="sk-secret").in_thread() as server:
        checker = RAGChecker(
            "openai/fake",
            "openai/fake",
            extractor_api_base=server.url,
            checker_api_base=server.url,
            openai_api_key="sk-secret",
            batch_size_extractor=8,
            joint_check_num=3,
        )
        metrics = checker.evaluate(one())
        assert server.calls == 2 + 4
        assert metrics[overall_metrics] == {"precision": 50.0, "recall": 50.0, "f1": 50.0}
        assert "sk-secret" not in repr(vars(checker)) + checker.judge.fingerprint


def test_claims_and_verdicts_may_come_from_two_judges() -> None:
    extractor, checker = ScriptedJudge(name="a"), ScriptedJudge(name="b")
    RAGChecker(extractor, checker).evaluate(one())
    assert {type(ask) for ask in extractor.asked} == {Extract}
    assert {type(ask) for ask in checker.asked} == {Entail}


def test_the_embedded_judge_by_name() -> None:
    assert RAGChecker("embedded").judge.name == "embedded"
    assert RAGChecker().judge.name == "embedded"
    mixed = RAGChecker("embedded", "openai/m", checker_api_base="http://127.0.0.1:1/v1")
    assert mixed.judge.name == "embedded+openai:m"


def test_a_function_of_prompts_is_a_judge() -> None:
    server = FakeOpenAI()
    prompts = []

    def answer(batch: list[str]) -> list[str]:
        prompts.extend(batch)
        nonce, data = batch[0][batch[0].index("nonce ", batch[0].rindex("\n\nnonce ")) :].split(
            "\n", 1
        )
        decoded, _ = json.JSONDecoder().raw_decode(data)
        return [json.dumps(server.reply({**decoded, "nonce": nonce.removeprefix("nonce ")}))]

    metrics = RAGChecker(custom_llm_api_func=answer).evaluate(one())
    assert len(prompts) == 6
    assert metrics[overall_metrics]["precision"] == 50.0


def test_a_function_that_raises_is_an_error_of_the_record() -> None:
    def answer(batch: list[str]) -> list[str]:
        raise OSError("gone")

    results = one()
    RAGChecker(custom_llm_api_func=answer).evaluate(results, "precision")
    assert "OSError: gone" in results.results[0].errors["precision"]


def test_an_endpoint_s_forgotten_verdict_is_null_and_not_neutral() -> None:
    forgetful = Fault(garble=lambda reply: json.dumps({**reply, "verdicts": []}))
    with FakeOpenAI(faults=[None, *[forgetful] * 4]).in_thread() as server:
        results = one(gt_answer_claims=["Tea is hot."])
        RAGChecker("openai:m", extractor_api_base=server.url).evaluate(results, "precision")
    row = results.results[0]
    assert row.answer2response == [None, None]
    assert row.metrics["precision"] is None


@pytest.mark.parametrize("name", ["bedrock/meta.llama3-70b-instruct-v1:0", "nli", "gpt-4o"])
def test_a_model_that_cannot_be_reached_by_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="openai/MODEL"):
        RAGChecker(name, name)


def test_parameters_that_cannot_be_honoured_are_refused() -> None:
    with pytest.raises(ConfigError, match="SageMaker"):
        RAGChecker("embedded", sagemaker_client=object())
    with pytest.raises(ConfigError, match="batch_size_checker"):
        RAGChecker("embedded", batch_size_checker=0)
    assert RAGChecker("embedded", joint_check=False, extractor_max_new_tokens=9).judge


# --- records -----------------------------------------------------------------------------------


def test_groups_and_metrics_by_name() -> None:
    assert chosen_metrics(all_metrics) == tuple(NATIVE)
    assert chosen_metrics([retriever_metrics, "precision"]) == (
        "precision",
        "claim_recall",
        "context_precision",
    )
    with pytest.raises(ConfigError, match="did you mean 'faithfulness'"):
        chosen_metrics("faithfullness")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"response_claims": "Rain is wet."}, r"response_claims"),
        ({"response_claims": [["a", 1]]}, r"response_claims\[0\] must be"),
        ({"answer2response": ["Neutral"]}, "claims that they label are not there"),
        ({"response_claims": ["a", "b"], "answer2response": ["Neutral"]}, "2 labels"),
        ({"response_claims": ["a"], "answer2response": ["Yes"]}, "'Yes' is no label"),
        ({"response_claims": ["a"], "retrieved2response": [["Neutral"]]}, "2 labels, not 1"),
    ],
)
def test_claims_and_labels_that_do_not_fit_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=rf"results\[0\] \(query_id 'q'\): .*{message}"):
        RAGChecker(Silent()).evaluate(one(**changes))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "'results'"),
        ('{"results": [{"query": "x"}]}', r"results\[0\]: there is no 'query_id'"),
        ('{"results": [7]}', r"results\[0\]: expected an object"),
        ('{"results": [{"query_id": 1, "retrieved_context": "x"}]}', "must be a list"),
        ('{"results": [{"query_id": 1, "retrieved_context": [3]}]}', r"retrieved_context\[0\]"),
    ],
)
def test_files_that_are_none_of_ragchecker_s(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        RAGResults.from_json(text)


def test_records_made_by_hand() -> None:
    results = RAGResults()
    results.update(RAGResult("1", "q", "a", "r", []))
    assert "1 RAG results" in repr(results)
    out = json.loads(results.to_json())
    assert out["metrics"] == {overall_metrics: {}, retriever_metrics: {}, generator_metrics: {}}
    assert "errors" not in out["results"][0]
