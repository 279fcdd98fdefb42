"""Valor's front door: how often it asks, and whom."""

from __future__ import annotations

import threading
from collections import Counter
from typing import cast

import pytest

from assay import ScriptedJudge
from assay.asks import Entail, Extract, Label
from assay.errors import JudgeUnusable
from assay.valor import (
    Evaluator,
    MetricType,
    MistralWrapper,
    OpenAIWrapper,
)
from servers import FakeOpenAI, data_of, kind_of
from test_valor_door import LLM_TYPES, Client, response

# --- calls -------------------------------------------------------------------------------------

FIVE = response(
    "Rain is wet. Snow is black. Fools like snow!",
    chunks=[f"Chunk {n}. Rain is wet." for n in range(5)],
)


@pytest.mark.parametrize(("packed", "most"), [(True, 9), (False, 13)])
def test_all_metrics_of_five_chunks_in_one_evaluation(packed: bool, most: int) -> None:
    with FakeOpenAI(rating=lambda text, source: 5).in_thread() as server:
        client = OpenAIWrapper("fake", base_url=server.url)
        metrics = Evaluator(client, packed=packed).compute_all(FIVE)
        kinds = Counter(kind_of(data_of(body)) for body in server.bodies)
    print("calls:", server.calls, dict(kinds))
    assert [t.value for t, found in metrics.items() if found[0].failed] == []
    assert list(metrics) == [*LLM_TYPES, MetricType.ROUGE, MetricType.BLEU]
    assert server.calls == most
    assert kinds == {"claims": 2, "verdicts": most - 5, "labels": 2, "rating": 1}
    assert client.total_prompt_tokens > client.total_completion_tokens > 0


def test_the_asks_of_all_metrics() -> None:
    judge = ScriptedJudge(opinions={FIVE.response: ["Fools like snow!"]})
    Evaluator(judge).compute_all(FIVE)
    asks = Counter(type(ask).__name__ for ask in judge.asked)
    assert asks == {"Extract": 2, "Entail": 4, "Label": 2, "Rate": 1}
    entails = [ask for ask in judge.asked if isinstance(ask, Entail)]
    assert sorted((ask.against, len(ask.premises)) for ask in entails) == [
        ("passage", 1),
        ("passage", 5),
        ("reference", 1),
        ("response", 1),
    ]


def test_one_metric_asks_only_for_its_own() -> None:
    judge = ScriptedJudge()
    Evaluator(judge).compute_faithfulness(FIVE)
    assert [type(ask) for ask in judge.asked] == [Extract, Entail]
    Evaluator(judge).compute_context_relevance(FIVE)
    assert [type(ask) for ask in judge.asked[2:]] == [Label]


# --- clients -----------------------------------------------------------------------------------


def test_a_client_of_one_s_own_is_called_in_a_thread_one_call_at_a_time() -> None:
    client = Client(rating=lambda text, source: 2)
    metrics = Evaluator(client).compute_all(FIVE)
    assert metrics[MetricType.SummaryCoherence][0].value == 2
    assert metrics[MetricType.Faithfulness][0].parameters == {"evaluator": "my-model", "retries": 0}
    assert (len(client.sent), client.peak) == (9, 1)
    assert threading.get_ident() not in client.threads
    assert {tuple(message) for call in client.sent for message in call} == {("role", "content")}
    fast = Client(rating=lambda text, source: 2)
    Evaluator(fast, concurrency=4).compute_all(FIVE)
    assert fast.peak > 1


def test_a_system_prompt_comes_before_the_instructions() -> None:
    client = Client()
    Evaluator(client, default_system_prompt="Speak {plainly}.").compute_faithfulness(response())
    assert all(call[0]["content"].startswith("Speak {plainly}.\n\n") for call in client.sent)
    with FakeOpenAI().in_thread() as server:
        Evaluator.openai(
            "fake", default_system_prompt="Be brief.", base_url=server.url
        ).compute_faithfulness(response())
        first = [body["messages"][0]["content"] for body in server.bodies]
    assert len(first) == 2
    assert all(text.startswith("Be brief.\n\n") for text in first)


def test_prompts_are_part_of_the_identity() -> None:
    made = [Evaluator(Client(), default_system_prompt=text) for text in (None, "a", "b")]
    assert len({evaluator.judge.fingerprint for evaluator in made}) == 3


def test_a_client_that_raises_is_the_metric_s_error() -> None:
    class Broken(Client):
        def __call__(self, messages: list[dict[str, str]]) -> str:
            raise OSError("gone")

    metric = Evaluator(Broken()).compute_faithfulness(response())
    assert metric.value == {"type": "JudgeUnavailable", "message": "the client: OSError: gone"}


def test_a_client_without_text_is_the_metric_s_error() -> None:
    class Mute(Client):
        def __call__(self, messages: list[dict[str, str]]) -> str:
            return cast("str", None)

    metric = Evaluator(Mute()).compute_faithfulness(response())
    assert metric.value == {
        "type": "InvalidLLMResponseError",
        "message": "the client returned NoneType, not text",
    }


def test_a_client_without_a_model_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="model_name"):
        Evaluator(cast("Client", lambda messages: ""))


def test_a_key_goes_to_the_endpoint_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI(key="sk-secret").in_thread() as server:
        given = Evaluator.openai("fake", "sk-secret", base_url=server.url)
        assert given.compute_faithfulness(response()).value == 0.5
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        named = Evaluator.openai("fake", seed=3, base_url=server.url)
        assert named.compute_faithfulness(response()).value == 0.5
        assert server.bodies[-1]["seed"] == 3
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
        with pytest.raises(JudgeUnusable) as wrong:
            named.compute_all(response())
    for evaluator in (given, named):
        shown = repr(evaluator) + repr(evaluator.client) + evaluator.judge.fingerprint
        assert "sk-secret" not in shown + repr(vars(evaluator)) + repr(vars(evaluator.client))
    assert "sk-wrong" not in str(wrong.value)


def test_mistral_is_asked_through_its_compatible_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeOpenAI(key="ms-secret").in_thread() as server:
        monkeypatch.setenv("MISTRAL_API_KEY", "ms-secret")
        evaluator = Evaluator.mistral(base_url=server.url)
        assert evaluator.compute_faithfulness(response()).value == 0.5
        assert server.bodies[0]["model"] == "mistral-small-latest"
        assert "seed" not in server.bodies[0]
    assert MistralWrapper.where == "https://api.mistral.ai/v1"


async def test_it_works_inside_a_running_loop() -> None:
    assert Evaluator(ScriptedJudge()).compute_faithfulness(response()).value == 0.5
