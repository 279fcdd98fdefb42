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
from assay.errors import JudgeUnavailable, JudgeUnusable
from assay.ragchecker import (
    METRIC_GROUP_MAP,
    RAGChecker,
    RAGResults,
    all_metrics,
    generator_metrics,
    overall_metrics,
    retriever_metrics,
)
from assay.ragchecker.metrics import NATIVE
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

    for n in range(10_000):
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
