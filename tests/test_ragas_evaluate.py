"""Models, datasets and `evaluate` in ragas' shape."""

from __future__ import annotations

import asyncio
import gc
import json
import math
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

from assay import ScriptedJudge
from assay.asks import Entail, Extract
from assay.errors import JudgeError, JudgeUnusable
from assay.ragas import (
    EvaluationDataset,
    RunConfig,
    SingleTurnSample,
    aevaluate,
    evaluate,
)
from assay.ragas import metrics as legacy
from assay.ragas.llms import BaseRagasLLM, LangchainLLMWrapper, llm_factory
from assay.ragas.metrics import Faithfulness, FaithfulnesswithHHEM, NoiseSensitivity
from assay.ragas.metrics import collections as modern
from ragas_sample import ROW, SAMPLE, Broken, judge
from servers import FakeOpenAI

# --- models ------------------------------------------------------------------------------------


class Chat:
    """The part of a LangChain chat model that is used; it says that there are no claims."""

    model_name = "fake"

    async def ainvoke(self, pairs: list[tuple[str, str]]) -> str:
        nonce = pairs[-1][1].partition("\n")[0].removeprefix("nonce ")
        return json.dumps({"nonce": nonce, "claims": []})


async def test_models_of_every_kind_become_judges() -> None:
    for llm in (Chat(), LangchainLLMWrapper(Chat())):
        assert math.isnan(await Faithfulness(llm=llm).single_turn_ascore(SAMPLE))
    wrapped = BaseRagasLLM(lambda _: judge())
    assert await Faithfulness(llm=wrapped).single_turn_ascore(SAMPLE) == 1
    with pytest.raises(ValueError, match=r"no judge can be made of it. Use: llm_factory"):
        await Faithfulness(llm=object()).single_turn_ascore(SAMPLE)
    with pytest.raises(ValueError, match="no LangChain chat model"):
        LangchainLLMWrapper("gpt-4o-mini")


async def test_a_metric_without_a_model_takes_the_environment_s_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_JUDGE", "embedded")
    assert await Faithfulness().single_turn_ascore(SAMPLE) == 1


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI", "none"])
def test_a_client_of_either_kind_scores_in_one_loop_after_the_other(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openai

    with FakeOpenAI().in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        client = None if kind == "none" else getattr(openai, kind)()
        metric = modern.Faithfulness(llm_factory("fake", client=client, temperature=0.5, top_p=0.1))
        assert [metric.score(**ROW).value for _ in range(3)] == [1, 1, 1]
        assert asyncio.run(metric.ascore(**ROW)) == 1.0
        assert {(body["temperature"], body["top_p"]) for body in server.bodies} == {(0.5, 0.1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the client is its owner's to close
        del client, metric
        gc.collect()


def test_a_factory_refuses_what_cannot_work() -> None:
    with pytest.raises(ValueError, match=r"Unknown adapter: foo. Available: \['instructor'"):
        llm_factory("m", adapter="foo")
    with pytest.raises(ValueError, match="model parameter is required"):
        llm_factory("")
    with pytest.raises(ValueError, match="does not speak the OpenAI protocol"):
        llm_factory("claude", provider="anthropic", client=object())
    with pytest.warns(UserWarning, match="system_prompt has no effect"):
        llm_factory("m", system_prompt="Be strict.")


def test_a_run_s_time_limit_reaches_the_model() -> None:
    limits: list[float | None] = []

    def make(timeout: float | None) -> ScriptedJudge:
        limits.append(timeout)
        return judge()

    llm = BaseRagasLLM(make)
    for config in (None, RunConfig(timeout=7), RunConfig(timeout=7, max_workers=1)):
        evaluate([SAMPLE], [Faithfulness(llm=llm)], run_config=config)
    assert limits == [None, 7]


async def test_hhem_asks_its_own_model_and_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.judges import hhem

    made: list[dict[str, Any]] = []

    def fake(**options: Any) -> ScriptedJudge:
        made.append(options)
        return judge()

    monkeypatch.setattr(hhem, "hhem_judge", fake)
    extract = judge()
    metric = FaithfulnesswithHHEM(llm=extract, device="cpu", batch_size=4)
    assert [await metric.single_turn_ascore(SAMPLE) for _ in range(2)] == [1, 1]
    assert made == [{"device": "cpu", "batch_size": 4, "extract": extract}]
    result = await aevaluate([SAMPLE], [FaithfulnesswithHHEM(), Faithfulness()], llm=extract)
    assert made[1]["extract"] is extract
    assert result.scores == [{"faithfulness_with_hhem": 1.0, "faithfulness": 1.0}]
    assert len(result.runs) == 2


# --- datasets and evaluate ---------------------------------------------------------------------


def test_a_dataset_goes_through_every_shape(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    rows = [ROW, {"user_input": "Why?", "response": "So.", "reference_contexts": ["Because."]}]
    dataset = EvaluationDataset.from_list(rows)
    assert (len(dataset), dataset[1].response, len(dataset[:1])) == (2, "So.", 1)
    assert [sample.user_input for sample in dataset] == [ROW["user_input"], "Why?"]
    assert dataset.to_list() == rows
    dataset.to_jsonl(tmp_path / "d.jsonl")
    dataset.to_csv(tmp_path / "d.csv")
    frame = dataset.to_pandas()
    assert list(frame.columns) == dataset.features()
    columns = {"user_input": ["Why?"], "response": ["So."]}
    assert EvaluationDataset.from_dict(columns).to_list() == [
        {"user_input": "Why?", "response": "So."}
    ]
    for again in (
        EvaluationDataset.from_dict(rows),
        EvaluationDataset.from_jsonl(tmp_path / "d.jsonl"),
        EvaluationDataset.from_pandas(frame),
        EvaluationDataset.read(tmp_path / "d.csv"),
    ):
        assert again.to_list()[0] == ROW
        assert again[1].response == "So."
    assert EvaluationDataset.from_pandas(pd.DataFrame(rows))[1].retrieved_contexts is None
    with pytest.raises(TypeError, match="sample 0 is a dict"):
        EvaluationDataset([{}])  # type: ignore[list-item]


def test_all_metrics_of_a_row_share_its_claims_and_verdicts() -> None:
    scripted = judge()
    result = evaluate(
        EvaluationDataset([SAMPLE, SAMPLE]),
        [
            NoiseSensitivity(),
            NoiseSensitivity(mode="irrelevant"),
            legacy.FactualCorrectness(),
            legacy.LLMContextPrecisionWithReference(),
            legacy.ContextPrecision(),
        ],
        llm=scripted,
        show_progress=False,
        **{"allow_nest" + "_asyncio": True},
    )
    assert result.scores[0] == {
        "noise_sensitivity(mode=relevant)": 0.5,
        "noise_sensitivity(mode=irrelevant)": 0.0,
        "factual_correctness(mode=f1)": 0.5,
        "llm_context_precision_with_reference": 1.0,
        "context_precision": 1.0,
    }
    assert result["noise_sensitivity(mode=relevant)"] == [0.5, 0.5]
    # a sample: response and reference split once; contexts, reference and response each once
    kinds = [type(ask) for ask in scripted.asked]
    assert (kinds.count(Extract), kinds.count(Entail)) == (4, 6)
    assert len(result.runs) == 1


def test_metrics_with_models_of_their_own_are_asked_apart() -> None:
    first, second = judge(), judge()
    metrics = [Faithfulness(llm=first), NoiseSensitivity(), legacy.LLMContextRecall(llm=first)]
    result = evaluate([SAMPLE], metrics, llm=second)
    assert len(result.runs) == 2
    assert sum(isinstance(ask, Extract) for ask in first.asked) == 2
    assert sum(isinstance(ask, Extract) for ask in second.asked) == 2
    assert result["context_recall"] == [0.5]


def test_failures_are_nan_with_a_reason_and_the_mean_says_how_many_count() -> None:
    rows = [ROW, {**ROW, "retrieved_contexts": None}, {**ROW, "response": ""}]
    result = evaluate(rows, [Faithfulness(), legacy.ContextRecall()], llm=judge())
    assert [math.isnan(value) for value in result["faithfulness"]] == [False, True, True]
    assert result.reasons[0] == {}
    assert "contexts" in result.reasons[1]["faithfulness"]
    assert "no claims" in result.reasons[2]["faithfulness"]
    assert (
        repr(result) == "{'faithfulness': 1.0000 (n=1 of 3), 'context_recall': 0.5000 (n=2 of 3)}"
    )
    with pytest.raises(KeyError, match="recall"):
        result["recall"]


async def test_one_judge_that_is_unusable_ends_the_others() -> None:
    ended: list[str] = []

    class Unusable(ScriptedJudge):
        async def answer(self, ask: Any) -> Any:
            raise JudgeUnusable("wrong key")

    class Slow(ScriptedJudge):
        async def answer(self, ask: Any) -> Any:
            try:
                await asyncio.sleep(30)
            finally:
                ended.append("cancelled")

    with pytest.raises(JudgeUnusable, match="wrong key"):
        await aevaluate([ROW], [Faithfulness(llm=Unusable()), NoiseSensitivity(llm=Slow())])
    assert ended


def test_a_data_frame_of_results_holds_fields_and_scores() -> None:
    pytest.importorskip("pandas")
    frame = evaluate([ROW, {**ROW, "response": ""}], [Faithfulness()], judge()).to_pandas()
    assert list(frame.columns) == [
        "user_input",
        "retrieved_contexts",
        "response",
        "reference",
        "faithfulness",
    ]
    assert frame["faithfulness"].isna().tolist() == [False, True]


def test_columns_by_other_names() -> None:
    pd = pytest.importorskip("pandas")
    first_version = {
        "question": ROW["user_input"],
        "answer": ROW["response"],
        "contexts": ROW["retrieved_contexts"],
        "ground_truth": ROW["reference"],
    }
    own = {"my question": ROW["user_input"], "my answer": ROW["response"], **ROW}
    del own["user_input"], own["response"]
    column_map = {"user_input": "my question", "answer": "my answer", "rubrics": "none"}

    class HubDataset(list[Any]):
        """What is used of a dataset of the hub."""

        column_names = tuple(first_version)

    for result in (
        evaluate([first_version], [NoiseSensitivity()], judge()),
        evaluate(pd.DataFrame([first_version]), [NoiseSensitivity()], judge()),
        evaluate(HubDataset([first_version]), [NoiseSensitivity()], judge()),
        evaluate(pd.DataFrame([own]), [NoiseSensitivity()], judge(), column_map=column_map),
    ):
        assert result["noise_sensitivity(mode=relevant)"] == [0.5]
        assert result.dataset[0].user_input == ROW["user_input"]


def test_what_evaluate_refuses() -> None:
    for wrong in ([Faithfulness], ["faithfulness"]):
        with pytest.raises(TypeError, match="All metrics must be initialised metric objects"):
            evaluate([ROW], wrong, judge())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\[context_precision\].*\['reference'\]"):
        evaluate([{"response": "x", "retrieved_contexts": ["y"]}], None, judge())
    with pytest.raises(ValueError, match="two metrics are called 'faithfulness'"):
        evaluate([ROW], [Faithfulness(), modern.Faithfulness()], judge())
    with pytest.raises(TypeError, match="unexpected keyword argument 'metric'"):
        evaluate([ROW], None, judge(), metric=[])
    with pytest.raises(TypeError, match="return_executor"):
        evaluate([ROW], None, judge(), return_executor=True)
    with pytest.raises(JudgeError, match="faithfulness, sample 1"):
        evaluate([ROW], [Faithfulness()], Broken(), raise_exceptions=True)
    rows = [ROW, {**ROW, "response": None}]
    with pytest.raises(ValueError, match="response is missing"):
        evaluate(rows, [Faithfulness()], judge(), raise_exceptions=True)


def test_the_metrics_of_an_evaluation_without_any_named() -> None:
    result = evaluate([ROW], llm=judge())
    assert result.scores == [{"context_precision": 1.0, "faithfulness": 1.0, "context_recall": 0.5}]


def test_collections_metrics_go_through_evaluate_too() -> None:
    metrics = [modern.Faithfulness(judge()), modern.NoiseSensitivity(judge())]
    assert evaluate([ROW], metrics)["faithfulness"] == [1.0]


def test_alternative_references_are_all_held_against_the_response() -> None:
    row = {**ROW, "reference": ["Somebody did.", ROW["response"]]}
    sample = SingleTurnSample(**row)
    assert NoiseSensitivity(llm=judge()).single_turn_score(sample) == 0
    assert evaluate([row], [NoiseSensitivity()], judge()).scores == [
        {"noise_sensitivity(mode=relevant)": 0.0}
    ]


def test_importing_the_door_is_light_and_leaves_no_thread() -> None:
    heavy = ["openai", "langchain_core", "pandas", "torch", "onnxruntime", "aiohttp"]
    code = (
        "import sys, assay.ragas, assay.ragas.metrics.collections, assay.ragas.llms\n"
        f"print(*[m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.split() == []
    evaluate([ROW], [Faithfulness()], judge())
    assert not [thread for thread in threading.enumerate() if thread.name == "assay"]


def test_both_modes_take_few_calls() -> None:
    with FakeOpenAI().in_thread() as server:
        llm = llm_factory("fake", base_url=server.url)
        evaluate([SAMPLE], [NoiseSensitivity(), NoiseSensitivity(mode="irrelevant")], llm)
    assert server.calls == 2 + len(ROW["retrieved_contexts"]) + 1


def test_the_page_s_table_is_the_code_s() -> None:
    page = Path(__file__).parent.parent / "docs" / "coming-from-ragas.md"
    table = page.read_text("utf-8").partition("## Classes")[2].partition("Also here")[0]
    shown: dict[str, set[str]] = {"sample": set(), "collections": set()}
    for line in table.splitlines()[3:]:
        if not line.startswith("| `"):
            continue
        cells = [re.findall(r"`([\w().,=… ]+)`", cell) for cell in line.split("|")[1:]]
        shown["sample"] |= set(cells[0])
        shown["collections"] |= set(cells[1])
        for module, names in ((legacy, cells[0]), (modern, cells[1])):
            for name in names:
                native = getattr(module, name)().native()
                if cells[2]:
                    assert native.partition("(")[0] == cells[2][0].partition("(")[0], name
    bases = {"MetricResult", "SingleTurnMetric", "BaseMetric"}
    assert shown["sample"] == set(legacy.__all__) - bases
    assert shown["collections"] == set(modern.__all__) - bases
