"""How often a judge behind an endpoint is called, and what its troubles do to a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.cli.app import run
from assay.cli.demo import METRICS
from oracles import contains
from servers import FakeOpenAI, status

ALL = METRICS
CONTEXTS = [
    "The lamp was lit in 1857. It burned whale oil.",
    "The keeper kept bees.",
    "The tower is 40 metres tall.",
    "The island has no trees.",
    "Boats call on Mondays.",
]


def sample(contexts: int, id: str = "1") -> assay.Sample:
    return assay.Sample(
        "When was the lamp lit, and how tall is the tower?",
        "The lamp was lit in 1857. The tower is 50 metres tall. The keeper kept bees.",
        CONTEXTS[:contexts],
        ["The lamp was lit in 1857. The tower is 40 metres tall."],
        id=id,
    )


@pytest.mark.parametrize("contexts", [1, 2, 5])
async def test_all_claim_metrics_take_c_plus_4_calls(contexts: int) -> None:
    async with FakeOpenAI(contains) as server:
        judge = assay.openai("fake", base_url=server.url)
        result = await assay.evaluate_async([sample(contexts)], ALL, judge)
        await judge.aclose()
        assert result.failed == 0
        assert server.calls == contexts + 4
        assert len(server.asked("claims")) == 2


@pytest.mark.parametrize("contexts", [1, 5])
async def test_packed_takes_5_whatever_the_number_of_contexts(contexts: int) -> None:
    async with FakeOpenAI(contains) as server:
        judge = assay.openai("fake", base_url=server.url, packed=True)
        result = await assay.evaluate_async([sample(contexts)], ALL, judge)
        await judge.aclose()
        assert result.failed == 0
        assert server.calls == 5


async def test_scores_are_the_same_together_one_by_one_and_packed() -> None:
    async with FakeOpenAI(contains) as server:
        judge = assay.openai("fake", base_url=server.url)
        packed = assay.openai("fake", base_url=server.url, packed=True)
        together = await assay.evaluate_async([sample(5)], ALL, judge)
        in_one = await assay.evaluate_async([sample(5)], ALL, packed)
        for name in ALL:
            alone = await assay.evaluate_async([sample(5)], [name], judge)
            one, other = alone.rows[0].scores[name], together.rows[0].scores[name]
            assert one == other
            assert in_one.rows[0].scores[name].value == other.value
        await judge.aclose()
        await packed.aclose()
    values = {name: together.rows[0].scores[name].value for name in ALL}
    assert values["faithfulness"] == pytest.approx(2 / 3)
    assert values["precision"] == pytest.approx(1 / 3)
    assert values["noise_sensitivity(mode=irrelevant)"] == pytest.approx(1 / 3)
    assert values["hallucination"] == pytest.approx(1 / 3)


def test_command_line_over_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [{k: v for k, v in sample(2, str(n)).as_dict().items() if v} for n in range(3)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with FakeOpenAI(contains).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        code = run(["score", str(data), "-m", "faithfulness", "-j", "openai:fake", "-o", str(out)])
        assert code == 0
        assert server.calls == 3  # the samples are alike: what is asked twice is asked once
    provenance = json.loads((tmp_path / "out.jsonl.run.json").read_text("utf-8"))
    assert (provenance["usage"]["calls"], provenance["usage"]["cached"]) == (3, 4)
    assert provenance["usage"]["prompt_tokens"] > 0


def test_wrong_key_ends_the_run_with_one_line_and_without_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "in.jsonl"
    rows = [{k: v for k, v in sample(2, str(n)).as_dict().items() if v} for n in range(50)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with FakeOpenAI(contains, faults=[status(401)] * 1000).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        out = tmp_path / "out.jsonl"
        code = run(["score", str(data), "-m", "faithfulness", "-j", "openai:fake", "-o", str(out)])
    assert code == 1
    shown = capsys.readouterr()
    assert "OPENAI_API_KEY" in shown.err
    assert "sk-very-secret" not in shown.err + shown.out
    assert "Traceback" not in shown.err
    assert not out.exists()


def test_endpoint_that_is_down_fails_the_samples_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    row = {k: v for k, v in sample(1).as_dict().items() if v}
    data.write_text(json.dumps(row) + "\n", "utf-8")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code = run(["score", str(data), "-m", "faithfulness", "-j", "openai:fake", "-o", str(out)])
    assert code == 2
    said = capsys.readouterr().err
    assert said.count("cannot reach http://127.0.0.1:9") == 2  # at once, and in the summary
    score = json.loads(out.read_text("utf-8"))["scores"]["faithfulness"]
    assert (score["value"], score["status"]) == (None, "failed")


VALOR = [
    "answer_correctness",
    "answer_relevance",
    "bias",
    "context_precision",
    "context_recall",
    "context_relevance",
    "contradicted_contexts",
    "summary_coherence",
    "toxicity",
]


async def test_valors_metrics_with_noise_and_faithfulness_take_12_calls() -> None:
    names = [*VALOR, "faithfulness", *METRICS[1:3]]
    async with FakeOpenAI(contains, rating=lambda *_: 4) as server:
        judge = assay.openai("fake", base_url=server.url)
        result = await assay.evaluate_async([sample(5)], names, judge)
        await judge.aclose()
        kinds = {
            kind: len(server.asked(kind)) for kind in ("claims", "verdicts", "labels", "rating")
        }
        assert result.failed == 0
        assert kinds == {"claims": 2, "verdicts": 7, "labels": 2, "rating": 1}
        assert server.calls == 12
