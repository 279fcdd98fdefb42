"""The Python front door: names, judges, shapes of samples, event loops, provenance."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import assay
from assay import (
    F1,
    Faithfulness,
    NoiseSensitivity,
    Run,
    Sample,
    ScriptedJudge,
    evaluate,
    evaluate_async,
    load,
    open_judge,
)
from assay.api import open_metrics, provenance, run_sync
from assay.asks import Ask, Extract, Judge, T
from assay.errors import ConfigError, DataError, JudgeUnusable
from assay.judges.budget import Budgeted, Limit
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.named import JUDGES
from assay.judges.openai import openai_judge

ROW = {"response": "It is so. It is not.", "contexts": ["It is so."], "reference": "It is so."}


def scored(samples: Any = (ROW,), metrics: Any = "faithfulness", **options: Any) -> Run:
    return evaluate(samples, metrics, ScriptedJudge(), **options)


# --- metrics ---------------------------------------------------------------------------------


def test_scores_are_kept_under_the_names_as_given() -> None:
    names = ["noise_sensitivity( mode = irrelevant )", "f1", " faithfulness"]
    run = scored(metrics=names)
    assert run.metrics == ["noise_sensitivity( mode = irrelevant )", "f1", "faithfulness"]
    assert list(run.rows[0].scores) == run.metrics
    assert run["faithfulness"].mean == 0.5


def test_metric_objects_are_kept_under_their_names_with_parameters() -> None:
    run = scored(metrics=[NoiseSensitivity("irrelevant"), F1(), "recall"])
    assert run.metrics == ["noise_sensitivity(mode=irrelevant)", "f1", "recall"]
    assert scored(metrics=Faithfulness(joined=True)).metrics == ["faithfulness(joined=true)"]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["f1", "recall", " f1"], "metric 'f1' is given twice"),
        ([F1(), "f1"], "metric 'f1' is given twice"),
        ([], "no metrics given; 'assay metrics' lists them"),
        ("faithfullness", "unknown metric 'faithfullness'; did you mean 'faithfulness'?"),
        (["f1", "recal"], "unknown metric 'recal'; did you mean 'recall'?"),
    ],
)
def test_metrics_that_cannot_be_are_refused(metrics: Any, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        scored(metrics=metrics)
    assert str(error.value) == message


@pytest.mark.parametrize("metrics", [Faithfulness, [Faithfulness], [None], 3])
def test_what_is_no_metric_at_all_is_a_config_error(metrics: Any) -> None:
    with pytest.raises(ConfigError):
        open_metrics(metrics)


def test_a_metric_that_was_not_scored_is_named() -> None:
    with pytest.raises(KeyError, match="'recall' was not scored; scored: faithfulness"):
        _ = scored()["recall"]


# --- judges ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("embeded", "unknown judge 'embeded'; did you mean 'embedded'?"),
        (
            "gpt-4o",
            "unknown judge 'gpt-4o'; did you mean 'openai:gpt-4o'?",
        ),
        ("embedded:large", "unknown judge 'embedded:large'; did you mean 'embedded'?"),
        ("openai", "which model? write openai:MODEL, e.g. openai:gpt-4o-mini"),
        ("openai:", "which model? write openai:MODEL, e.g. openai:gpt-4o-mini"),
        ("scripted", f"judge 'scripted' needs an object: {JUDGES['scripted']}"),
        ("langchain", f"judge 'langchain' needs an object: {JUDGES['langchain']}"),
    ],
)
def test_judges_that_cannot_be_are_refused(judge: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        open_judge(judge)
    assert str(error.value) == message


def test_a_judge_object_is_handed_through() -> None:
    judge = ScriptedJudge()
    assert open_judge(judge) is judge


def test_the_environment_names_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_judge().name == "embedded"
    monkeypatch.setenv("ASSAY_JUDGE", "openai:small")
    assert open_judge().name == "openai:small"
    assert open_judge("embedded").name == "embedded"
    monkeypatch.setenv("ASSAY_JUDGE", "")
    assert open_judge().name == "embedded"
    monkeypatch.setenv("ASSAY_JUDGE", "nobody")
    with pytest.raises(ConfigError, match="unknown judge 'nobody'"):
        evaluate([ROW], "faithfulness")


class Closing(ScriptedJudge):
    """Counts how often it is closed."""

    closed = 0

    async def aclose(self) -> None:
        self.closed += 1


async def test_a_judge_of_a_name_is_closed_and_the_caller_s_own_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = Closing()
    await evaluate_async([ROW], "faithfulness", own)
    assert own.closed == 0
    opened = Closing()
    monkeypatch.setattr("assay.api.open_judge", lambda _: opened)
    await evaluate_async([ROW], "faithfulness", "by name")
    assert opened.closed == 1


def test_every_judge_is_closed_where_the_event_loop_ends_with_the_call() -> None:
    own = Closing()
    evaluate([ROW], "faithfulness", own)
    assert own.closed == 1


def test_a_judge_that_cannot_be_used_ends_the_run() -> None:
    class Useless(Closing):
        async def answer(self, ask: Ask[T]) -> T:
            raise JudgeUnusable("wrong key")

    with pytest.raises(JudgeUnusable, match="wrong key"):
        evaluate([ROW], "faithfulness", Useless())


# --- samples ---------------------------------------------------------------------------------


def test_samples_may_be_mappings_samples_or_a_mixture() -> None:
    run = scored([ROW, Sample(response="It is so.", contexts=["no"], id="own"), dict(ROW)])
    assert [row.sample.id for row in run] == ["1", "own", "3"]
    assert [row.scores["faithfulness"].value for row in run] == [0.5, 0.0, 0.5]
    assert len(run) == 3
    assert run.failed == 0


def test_a_generator_of_samples_will_do() -> None:
    run = scored(Sample(response="A.", contexts=["A."], id=str(n)) for n in range(50))
    assert [row.sample.id for row in run] == [str(n) for n in range(50)]
    assert run["faithfulness"].mean == 1.0


def test_samples_from_a_file_and_by_load(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"q": "?", **ROW}), "utf-8")
    assert scored(path)["faithfulness"].mean == 0.5
    assert scored(str(path))["faithfulness"].mean == 0.5
    assert load(path, columns={"question": "q"})[0].question == "?"
    with pytest.raises(DataError, match=r"none\.jsonl"):
        load(tmp_path / "none.jsonl")


def test_equal_ids_are_refused() -> None:
    with pytest.raises(DataError, match="the id 'a' is on rows 1 and 2"):
        scored([Sample(id="a"), Sample(id="a")])


def test_a_data_frame_goes_in_and_comes_out() -> None:
    frame = pd.DataFrame(
        {
            "query_id": ["x", "y"],
            "user_input": ["q", None],
            "answer": ["It is so. It is not.", "It is so."],
            "retrieved_contexts": [["It is so."], None],
        }
    )
    run = scored(frame)
    out = run.to_pandas()
    assert list(out.columns) == ["id", "question", "response", "faithfulness"]
    assert list(out["id"]) == ["x", "y"]
    assert out["faithfulness"][0] == 0.5
    assert out["faithfulness"].isna().tolist() == [False, True]
    assert out["question"].isna().tolist() == [False, True]
    assert run.failed == 1


def test_a_run_of_no_samples_is_a_run() -> None:
    run = scored([])
    assert (len(run), run.failed, run["faithfulness"].n) == (0, 0, 0)
    assert run["faithfulness"].mean is None
    out = run.to_pandas()
    assert (len(out), list(out.columns)) == (0, ["id", "question", "response", "faithfulness"])


# --- event loops -----------------------------------------------------------------------------


async def test_evaluate_works_inside_a_running_loop() -> None:
    run = scored()
    assert run["faithfulness"].mean == 0.5
    assert (await evaluate_async([ROW], "faithfulness", ScriptedJudge()))[
        "faithfulness"
    ].mean == 0.5


async def test_errors_come_out_of_the_other_loop_as_they_are() -> None:
    with pytest.raises(ConfigError, match="unknown metric"):
        scored(metrics="nonsense")
    with pytest.raises(DataError):
        scored([{"response": 3.5j}])


async def test_no_thread_is_left_of_a_run_inside_a_loop() -> None:
    before = threading.active_count()
    scored()
    assert threading.active_count() == before


def test_run_sync_gives_the_result_in_and_outside_a_loop() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    async def inside() -> int:
        return run_sync(work())

    assert run_sync(work()) == 7
    assert asyncio.run(inside()) == 7


async def test_run_sync_hands_on_what_is_no_exception_too() -> None:
    async def work() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sync(work())


def test_so_many_samples_are_in_work_at_once() -> None:
    class Counting(ScriptedJudge):
        now = most = 0

        async def answer(self, ask: Ask[T]) -> T:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.001)
            self.now -= 1
            return await super().answer(ask)

    judge = Counting()
    evaluate([ROW | {"id": n} for n in range(10)], "faithfulness", judge, concurrency=2)
    assert judge.most == 2


# --- provenance ------------------------------------------------------------------------------


def test_provenance_says_what_made_the_run() -> None:
    run = scored(metrics=["f1", Faithfulness(joined=True)])
    known = dict(run.provenance)
    started = datetime.fromisoformat(known.pop("started"))
    assert (datetime.now(UTC) - started).total_seconds() < 60
    assert known.pop("seconds") >= 0
    assert known.pop("python").startswith("3.")
    assert known == {
        "assay": assay.__version__,
        "judge": "scripted",
        "judge_fingerprint": ScriptedJudge().fingerprint,
        "metrics": {"f1": "f1 v1", "faithfulness(joined=true)": "faithfulness(joined=true) v1"},
        "usage": {
            "calls": 5,
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "retries": 0,
            "cached": 0,
            "notes": [],
        },
    }
    assert json.loads(json.dumps(run.provenance)) == run.provenance


def test_provenance_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-very-secret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    monkeypatch.setenv("OTHER_KEY", secret)
    judges: list[Judge] = [
        open_judge("openai:small"),
        openai_judge("small", api_key_env="OTHER_KEY", base_url="http://127.0.0.1:9/v1"),
    ]
    for judge in judges:
        made = provenance(open_metrics("f1"), judge, judge.usage, datetime.now(UTC), 0.0)
        assert "very-secret" not in json.dumps(made) + repr(judge)


def test_an_extract_is_asked_with_the_question() -> None:
    judge = ScriptedJudge()
    evaluate([{"question": "Why?", **ROW}], "faithfulness", judge)
    assert judge.asked[0] == Extract("It is so. It is not.", "Why?")


def test_a_cache_answers_the_second_time(tmp_path: Path) -> None:
    judge = ScriptedJudge()
    kept = tmp_path / "answers.sqlite"
    samples = [{"response": "A mill.", "contexts": ["A mill."]}]
    first = assay.evaluate(samples, "faithfulness", judge, cache=kept)
    again = assay.evaluate(samples, "faithfulness", judge, cache=SqliteStore(kept))
    assert kept.is_file()
    assert first.rows[0].scores == again.rows[0].scores
    assert (again.provenance["usage"]["calls"], again.provenance["usage"]["cached"]) == (0, 2)


def test_what_is_no_cache_is_refused() -> None:
    wrong: Any
    for wrong in (None, 5, {}):
        with pytest.raises(ConfigError, match="cache is True, False"):
            assay.evaluate([ROW], "faithfulness", ScriptedJudge(), cache=wrong)


def test_a_spent_budget_keeps_the_rows_so_far() -> None:
    samples = [{"response": f"Mill {n}.", "contexts": [f"Mill {n}."]} for n in range(4)]
    judge = Budgeted(ScriptedJudge(), Limit(calls=4))
    run = assay.evaluate(samples, "faithfulness", judge, concurrency=1)
    assert 1 <= len(run) <= 2
    assert f"{len(run)} of 4 samples are scored" in run.provenance["stopped"]
    assert judge.usage.calls <= 4
