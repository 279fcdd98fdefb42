"""RAGChecker's front door: its files in and out, its figures, and judges for what is missing."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay import ScriptedJudge
from assay.asks import Ask, Entail, Extract, T
from assay.errors import ConfigError, DataError, JudgeUnavailable, JudgeUnusable
from assay.ragchecker import (
    METRIC_GROUP_MAP,
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
from test_golden import FIRST, RAGCHECKER, SECOND, Matrices

LABEL = {"E": "Entailment", "N": "Neutral", "C": "Contradiction"}


class Silent(ScriptedJudge):
    """A judge that must not be asked."""

    async def answer(self, ask: Ask[T]) -> T:
        raise AssertionError(f"asked {ask}")


def labels(words: Sequence[str]) -> list[list[str]]:
    return [[LABEL[letter] for letter in word] for word in words]


def record(name: str, matrices: Matrices) -> dict[str, Any]:
    """A record with claims as triplets and all labels."""
    return {
        "query_id": name,
        "query": "What is it?",
        "gt_answer": f"{name} answer",
        "response": f"{name} response",
        "retrieved_context": [
            {"doc_id": f"d{c}", "text": f"{name} chunk {c}"}
            for c in range(len(matrices.grounded[0]))
        ],
        "response_claims": [["it", "is", f"r{i}"] for i in range(len(matrices.grounded))],
        "gt_answer_claims": [["it", "is", f"g{j}"] for j in range(len(matrices.retrieved))],
        "answer2response": [LABEL[word] for word in matrices.correct],
        "response2answer": labels(matrices.stated),
        "retrieved2response": labels(matrices.grounded),
        "retrieved2answer": labels(matrices.retrieved),
    }


def example_file() -> str:
    return json.dumps({"results": [record("0", FIRST), record("1", SECOND)]})


def one(**changes: Any) -> RAGResults:
    """A file of one record, two claims a side, without labels."""
    row = {
        "query_id": "q",
        "query": "What?",
        "gt_answer": "Tea is hot. Rain is wet.",
        "response": "Rain is wet. Snow is black.",
        "retrieved_context": [
            {"doc_id": "a", "text": "Rain is wet."},
            {"doc_id": "b", "text": "Snow is black. Ice is blue."},
        ],
    }
    return RAGResults.from_dict({"results": [row | changes]})


# --- figures -----------------------------------------------------------------------------------


def test_the_example_file_gives_ragchecker_s_figures() -> None:
    results = RAGResults.from_json(example_file())
    metrics = RAGChecker(Silent()).evaluate(results, all_metrics)
    assert [list(metrics[g].values()) for g in METRIC_GROUP_MAP if g != all_metrics] == [
        [76.4, 62.5, 68.3],
        [61.4, 87.5],
        [87.5, 19.1, 0.0, 4.5, 27.3, 68.2],
    ]
    assert results.metrics == metrics
    names = {native: name for name, native in NATIVE.items()}
    for native, (first, second, _) in RAGCHECKER.items():
        got = [result.metrics[names[native]] for result in results.results]
        assert got == pytest.approx([first, second], abs=5e-5), native


def formulas(correct: Any, stated: Any, grounded: Any, retrieved: Any) -> dict[str, float]:
    """RAGChecker's metrics of boolean matrices, 0 where there is nothing to measure."""
    P, Q, A, G = correct, stated, grounded, retrieved
    n, m, chunks = len(P), len(Q), A.shape[1]
    out = dict.fromkeys(NATIVE, 0.0)
    p, r = P.mean() if n else 0.0, Q.mean() if m else 0.0
    out |= {"precision": p, "recall": r, "f1": 2 * p * r / (p + r) if p and r else 0.0}
    if m and chunks:
        found = G.any(axis=1)
        out |= {"claim_recall": found.mean(), "context_precision": G.any(axis=0).mean()}
        if found.any():
            out["context_utilization"] = (found & Q).sum() / found.sum()
    if n and chunks:
        held = A.any(axis=1)
        out["faithfulness"] = held.mean()
        out |= {"hallucination": (~held & ~P).mean(), "self_knowledge": (~held & P).mean()}
    if n and m and chunks:
        relevant = G.any(axis=0)
        misled = (A & relevant).any(axis=1)
        strayed = (A & ~relevant).any(axis=1) & ~misled
        out["noise_sensitivity_in_relevant"] = (misled & ~P).mean()
        out["noise_sensitivity_in_irrelevant"] = (strayed & ~P).mean()
    return out


def test_random_matrices_agree_with_the_formulas_exactly() -> None:
    rng = random.Random(7)
    rows, expected = [], []

    def matrix(height: int, width: int) -> Any:
        share = rng.random()
        cells = [rng.random() < share for _ in range(height * width)]
        return np.array(cells, dtype=bool).reshape(height, width)

    def words(of: Any) -> list[str]:
        return ["".join("E" if x else rng.choice("NC") for x in row) for row in of]

    for n in range(2000):
        claims, others, chunks = rng.randint(0, 6), rng.randint(0, 6), rng.randint(0, 5)
        A, G = matrix(claims, chunks), matrix(others, chunks)
        P, Q = matrix(claims, 1), matrix(others, 1)
        row = record(str(n), Matrices([""], words(G), words(P), words(Q)))
        row["retrieved_context"] = [{"doc_id": None, "text": f"c{c}"} for c in range(chunks)]
        # Few different claims, so that some occur twice, also in both lists.
        row["response_claims"] = [f"claim {rng.randint(0, 8)}" for _ in range(claims)]
        row["gt_answer_claims"] = [f"claim {rng.randint(0, 8)}" for _ in range(others)]
        row["retrieved2response"] = labels(words(A))
        rows.append(row)
        expected.append(formulas(P[:, 0], Q[:, 0], A, G))
    results = RAGResults.from_dict({"results": rows})
    metrics = RAGChecker(Silent()).evaluate(results)
    for n, (result, values) in enumerate(zip(results.results, expected, strict=True)):
        assert result.metrics == values, n
    for names in list(METRIC_GROUP_MAP.items())[:3]:
        for name in names[1]:
            mean = float(np.mean([values[name] for values in expected]))
            assert metrics[names[0]][name] == pytest.approx(100 * mean, abs=0.0501)


def test_nothing_to_measure_is_zero_and_not_left_out_of_the_mean() -> None:
    results = one(response_claims=[], gt_answer_claims=[])
    results.update(one(query_id="q2").results)
    metrics = RAGChecker(ScriptedJudge()).evaluate(results)
    assert set(results.results[0].metrics.values()) == {0.0}
    assert metrics[overall_metrics]["precision"] == 25.0
    assert results.results[1].metrics["precision"] == 0.5


# --- what is given is not asked ----------------------------------------------------------------


def test_everything_is_asked_for_once_and_written_down() -> None:
    judge = ScriptedJudge()
    results = one()
    RAGChecker(judge).evaluate(results)
    assert [type(ask) for ask in judge.asked].count(Extract) == 2
    assert sorted(ask.against for ask in judge.asked if isinstance(ask, Entail)) == [
        "passage",
        "reference",
        "response",
    ]
    row = results.results[0]
    assert row.response_claims == ["Rain is wet.", "Snow is black."]
    assert row.gt_answer_claims == ["Tea is hot.", "Rain is wet."]
    assert row.answer2response == ["Entailment", "Neutral"]
    assert row.response2answer == ["Neutral", "Entailment"]
    assert row.retrieved2response == [["Entailment", "Neutral"], ["Neutral", "Entailment"]]
    assert row.retrieved2answer == [["Neutral", "Neutral"], ["Entailment", "Neutral"]]
    assert row.metrics["noise_sensitivity_in_irrelevant"] == 0.5


def test_what_was_written_is_evaluated_again_without_a_judge() -> None:
    results = one()
    first = RAGChecker(ScriptedJudge()).evaluate(results)
    again = RAGResults.from_json(results.to_json(indent=2))
    assert RAGChecker(Silent()).evaluate(again) == first
    assert again.to_dict() == results.to_dict()


def test_only_the_verdicts_that_are_missing_are_asked_for() -> None:
    judge = ScriptedJudge()
    results = one(
        response_claims=[["Rain", "is", "wet."], ["Snow", "is", "black."]],
        gt_answer_claims=["Rain is wet."],
        answer2response=[["Contradiction"], None],
        response2answer=["Neutral"],
        retrieved2response=[["Neutral", "Neutral"], ["Neutral", None]],
    )
    RAGChecker(judge).evaluate(results)
    entails = {ask.against: ask for ask in judge.asked if isinstance(ask, Entail)}
    assert len(judge.asked) == len(entails) == 2
    assert entails["reference"].claims == ("Snow is black.",)
    # "Rain is wet." is there on behalf of the reference, in its own words.
    assert set(entails["passage"].claims) == {"Rain is wet.", "Snow is black."}
    row = results.results[0]
    assert row.answer2response == ["Contradiction", "Neutral"]
    assert row.response2answer == ["Neutral"]
    assert row.retrieved2response == [["Neutral", "Neutral"], ["Neutral", "Entailment"]]
    assert row.retrieved2answer == [["Entailment", "Neutral"]]
    assert row.response_claims == [["Rain", "is", "wet."], ["Snow", "is", "black."]]


def test_labels_hold_although_the_texts_are_blank() -> None:
    row = record("0", FIRST)
    for key in ("gt_answer", "response"):
        row[key] = " "
    row["retrieved_context"] = [{"doc_id": str(c)} for c in range(4)]
    results = RAGResults.from_dict({"results": [row]})
    RAGChecker(Silent()).evaluate(results)
    assert results.results[0].metrics["faithfulness"] == pytest.approx(4 / 11)
    del row["retrieved2answer"]
    lacking = RAGResults.from_dict({"results": [row]})
    RAGChecker(Silent()).evaluate(lacking)
    assert lacking.results[0].metrics["claim_recall"] == 0.0
    assert lacking.results[0].retrieved2answer == [["Neutral"] * 4] * 22


def test_a_metric_asks_only_for_what_it_needs() -> None:
    judge = ScriptedJudge()
    metrics = RAGChecker(judge).evaluate(one(), "faithfulness")
    assert [type(ask) for ask in judge.asked] == [Extract, Entail]
    assert metrics == {
        overall_metrics: {},
        retriever_metrics: {},
        generator_metrics: {"faithfulness": 100.0},
    }


def test_a_missing_field_is_an_error_of_the_metrics_that_need_it() -> None:
    results = one(gt_answer=None)
    metrics = RAGChecker(ScriptedJudge()).evaluate(results)
    row = results.results[0]
    assert row.metrics["faithfulness"] == 1.0
    assert row.metrics["recall"] is None
    assert "references" in row.errors["recall"]
    assert metrics[overall_metrics]["recall"] is None
    assert row.answer2response is None
    assert json.loads(results.to_json())["results"][0]["errors"] == row.errors


def test_a_judge_that_fails_leaves_the_other_records_their_mean() -> None:
    class Tired(ScriptedJudge):
        async def answer(self, ask: Ask[T]) -> T:
            if isinstance(ask, Extract) and ask.text == "Bad.":
                raise JudgeUnavailable("too tired")
            return await super().answer(ask)

    results = one()
    results.update(one(query_id="bad", response="Bad.").results[0])
    metrics = RAGChecker(Tired()).evaluate(results, overall_metrics)
    good, bad = results.results
    assert (bad.metrics["precision"], bad.errors["precision"]) == (
        None,
        "JudgeUnavailable: too tired",
    )
    assert metrics[overall_metrics]["precision"] == 100 * (good.metrics["precision"] or 0)
    assert bad.gt_answer_claims == ["Tea is hot.", "Rain is wet."]
    RAGChecker(ScriptedJudge()).evaluate(results, overall_metrics)
    assert bad.errors == {}


def test_evaluation_again_replaces_old_figures() -> None:
    results = one(metrics={"precision": 0.123})
    RAGChecker(ScriptedJudge()).evaluate(results)
    assert results.results[0].metrics["precision"] == 0.5


def test_the_file_is_saved_also_when_the_run_breaks_off(tmp_path: Any) -> None:
    class Broken(ScriptedJudge):
        async def answer(self, ask: Ask[T]) -> T:
            if isinstance(ask, Extract) and ask.text == "Bad.":
                await asyncio.sleep(0.05)
                raise JudgeUnusable("no such model")
            return await super().answer(ask)

    results = one()
    results.update(one(query_id="bad", response="Bad.").results)
    path = tmp_path / "out.json"
    with pytest.raises(JudgeUnusable, match="no such model"):
        RAGChecker(Broken()).evaluate(results, save_path=path)
    saved = RAGResults.from_json(path.read_text("utf-8"))
    assert saved.results[0].response_claims == ["Rain is wet.", "Snow is black."]


async def test_it_works_inside_a_running_loop() -> None:
    inside = RAGChecker(ScriptedJudge()).evaluate(one())
    assert inside == await RAGChecker(ScriptedJudge()).evaluate_async(one())


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
    with FakeOpenAI(faults=[None, forgetful, forgetful]).in_thread() as server:
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
