"""Similarity of embeddings: the arithmetic, what is asked, what a reply of vectors may be."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import openai
import pytest

import assay
import servers
from assay import AnswerSimilarity, ResponseRelevancy, Sample, ScriptedJudge
from assay.asks import Embed, Questions
from assay.errors import ConfigError, JudgeUnusable, MalformedAnswer
from assay.judges.embedded import EmbeddedJudge
from assay.judges.llm import LLMJudge
from assay.judges.openai import OpenAIComplete, openai_judge
from assay.judges.retrying import Backoff
from assay.metrics.similarity import cosine
from assay.ragas import SingleTurnSample
from assay.ragas import metrics as legacy
from assay.ragas.metrics import collections as modern
from assay.score import Score
from assay.verdicts import Asked
from servers import FakeOpenAI, Fault, changed

NOW = Backoff(attempts=2, first=0.0)
TEXTS = ("rain", "snow snow", "rain wet")
EMBED = Embed(TEXTS)
VECTORS = ((1, 0, 0, 0, 0, 0), (0, 2, 0, 0, 0, 0), (1, 0, 1, 0, 0, 0))


def judge(server: FakeOpenAI, **options: Any) -> LLMJudge:
    return openai_judge("fake", base_url=server.url, backoff=NOW, **options)


async def answer(server: FakeOpenAI, ask: Any, **options: Any) -> Any:
    own = judge(server, **options)
    try:
        return await own.answer(ask)
    finally:
        await own.aclose()


def scored(metric: str, judge: ScriptedJudge, **fields: Any) -> Score:
    (row,) = assay.evaluate([Sample(**fields)], metric, judge)
    return row.scores[metric]


# --- arithmetic ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ((3.0, 4.0), (4.0, 3.0), 0.96),
        ((1.0, 1.0), (-2.0, -2.0), -1.0),
        ((1e200, 0.0), (1e300, 1e300), math.sqrt(0.5)),
        ((5e-324, 0.0), (1e308, 0.0), 1.0),
        ((0.0, 0.0), (1.0, 0.0), None),
        ((), (1.0, 0.0), None),
    ],
)
def test_cosine(a: tuple[float, ...], b: tuple[float, ...], value: float | None) -> None:
    assert cosine(a, b) == (value if value is None else pytest.approx(value, abs=1e-12))


def test_cosine_of_a_vector_with_itself_is_at_most_one() -> None:
    for k in range(1, 200):
        vector = tuple(math.sin(k * n) for n in range(1, 20))
        assert 1 - 1e-12 <= (cosine(vector, vector) or 0.0) <= 1


def test_the_best_reference_counts_and_one_without_direction_does_not() -> None:
    metric = AnswerSimilarity()
    assert metric.score(((1.0, 0.0), (0.0, 1.0), (3.0, 4.0))).value == pytest.approx(0.6)
    assert metric.score(((1.0, 0.0), (-1.0, 0.0), (0.0, 0.0), ())).value == -1.0
    zeros = metric.score(((0.0, 0.0), (1.0, 0.0)))
    assert (zeros.status, zeros.reason) == (
        "undefined",
        "an embedding is all zeros, and has no direction",
    )


def test_relevancy_is_the_mean_and_nothing_is_left_out_of_it() -> None:
    asked = Asked(("a?", "b?", "c?"), noncommittal=False)
    q, a, b = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)
    assert ResponseRelevancy().score(asked, (q, q, a, b)).value == 0.0
    assert ResponseRelevancy().score(asked, (q, q, q, a)).value == pytest.approx(2 / 3)
    assert ResponseRelevancy().score(asked, (q, q, q, (0.0, 0.0))).status == "undefined"
    assert ResponseRelevancy().score(Asked((), False), ((),)).status == "undefined"


def test_noncommittal_is_zero_and_not_known_has_failed() -> None:
    assert ResponseRelevancy().score(Asked(("a?",), True), ()).value == 0.0
    unsaid = ResponseRelevancy().score(Asked(("a?",), None), ())
    assert (unsaid.status, unsaid.unknown) == ("failed", 1)


@pytest.mark.parametrize("name", ["response_relevancy(strictness=0)", "response_relevancy(n=2)"])
def test_strictness_is_at_least_one(name: str) -> None:
    with pytest.raises(ConfigError):
        assay.load_metric(name)


# --- what is asked -------------------------------------------------------------------------------


def test_response_and_references_are_embedded_together_each_text_once() -> None:
    own = ScriptedJudge(embeddings={"r": (1.0, 0.0), "a": (0.0, 1.0), "b": (4.0, 3.0)})
    score = scored("answer_similarity", own, response="r", references=("a", "b", " ", "a"))
    assert score.value == pytest.approx(0.8)
    assert own.asked == [Embed(("r", "a", "b"))]


def test_question_and_answered_questions_are_embedded_together() -> None:
    own = ScriptedJudge(
        questions={"r": Asked(("x?", "q?", "x?"), False)},
        embeddings={"q?": (1.0, 0.0), "x?": (0.0, 2.0)},
    )
    score = scored("response_relevancy", own, question="q?", response="r")
    assert score.value == pytest.approx(1 / 3)
    assert own.asked == [Questions("r", 3), Embed(("q?", "x?"))]


def test_nothing_is_embedded_for_a_noncommittal_response() -> None:
    own = ScriptedJudge(questions={"r": Asked(("x?",), True)})
    score = scored("response_relevancy(strictness=1)", own, question="q?", response="r")
    assert score.value == 0.0
    assert own.asked == [Questions("r", 1)]


@pytest.mark.parametrize("metric", ["answer_similarity", "response_relevancy"])
def test_a_blank_response_is_undefined_and_asks_nothing(metric: str) -> None:
    own = ScriptedJudge()
    score = scored(metric, own, question="q?", response=" \n", references=("a",))
    assert (score.status, own.asked) == ("undefined", [])


@pytest.mark.parametrize(
    ("metric", "fields", "missing"),
    [
        ("answer_similarity", {"response": "r"}, "references"),
        ("answer_similarity", {"references": ("a",)}, "response"),
        ("response_relevancy", {"response": "r"}, "question"),
        ("response_relevancy", {"response": "r", "question": " "}, "question"),
        ("response_relevancy", {"question": "q?"}, "response"),
    ],
)
def test_a_missing_field_is_named(metric: str, fields: dict[str, Any], missing: str) -> None:
    score = scored(metric, ScriptedJudge(), **fields)
    assert score.status == "failed"
    assert missing in score.reason


def test_vectors_of_different_lengths_fail_the_score() -> None:
    own = ScriptedJudge(embeddings={"r": (1.0, 0.0), "a": (1.0,)})
    score = scored("answer_similarity", own, response="r", references=("a",))
    assert score.status == "failed"
    assert "do not fit" in score.reason


@pytest.mark.parametrize("metric", ["answer_similarity", "response_relevancy"])
def test_a_judge_without_embeddings_is_refused_before_anything_is_asked(metric: str) -> None:
    sample = Sample(question="q?", response="r", references=("a",))
    chat_only = LLMJudge(OpenAIComplete("m"), name="m", fingerprint_parts={})
    for own in (EmbeddedJudge(), chat_only, openai_judge("m", embedding_model=None)):
        with pytest.raises(ConfigError, match=r"needs a judge that does embed.*openai:MODEL$"):
            assay.evaluate([sample], metric, own)


# --- the endpoint --------------------------------------------------------------------------------


async def test_vectors_come_by_one_call_with_the_embedding_model() -> None:
    async with FakeOpenAI() as server:
        own = judge(server, embedding_model="small")
        assert await own.answer(EMBED) == VECTORS
        assert await own.answer(Embed(())) == ()
        await own.aclose()
        assert server.bodies == [
            {"model": "small", "input": list(TEXTS), "encoding_format": "float"}
        ]
        assert server.requests[0][0] == "/v1/embeddings"
        assert (own.usage.calls, own.usage.prompt_tokens) == (1, 5)


@pytest.mark.parametrize("kind", [openai.OpenAI, openai.AsyncOpenAI])
async def test_vectors_by_the_user_s_own_client(kind: Any) -> None:
    async with FakeOpenAI() as server:
        own = openai_judge("fake", client=kind(base_url=server.url, api_key="k"), backoff=NOW)
        assert await own.answer(EMBED) == VECTORS
        assert own.can("embed")
        await own.aclose()
        assert server.bodies[0]["model"] == "text-embedding-3-small"


async def test_vectors_go_by_their_index() -> None:
    async with FakeOpenAI(faults=[changed("data", lambda items: items[::-1])]) as server:
        assert await answer(server, EMBED) == VECTORS
        assert server.calls == 1


def numbers(values: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """The first item with another embedding."""
    return lambda items: [{**items[0], "embedding": values}, *items[1:]]


BROKEN: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "one too few": lambda items: items[1:],
    "one too many": lambda items: [*items, {**items[0], "index": 3}],
    "an index twice": lambda items: [{**items[0], "index": 1}, *items[1:]],
    "no index": lambda items: [{"embedding": items[0]["embedding"]}, *items[1:]],
    "an index that is true": lambda items: [items[0], {**items[1], "index": True}, items[2]],
    "NaN": numbers([math.nan, 0, 0, 0, 0, 0]),
    "infinite": numbers([math.inf, 0, 0, 0, 0, 0]),
    "a huge integer": numbers([10**400, 0, 0, 0, 0, 0]),
    "words": numbers(["1", 0, 0, 0, 0, 0]),
    "another length": numbers([1.0, 0.0]),
    "none": numbers([]),
    "base64": numbers("AACAPw=="),
    "no list": lambda items: {"embedding": items},
    "no objects": lambda items: [1, 2, 3],
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
async def test_a_reply_that_is_not_as_asked_is_asked_for_again(
    change: Callable[[Any], Any],
) -> None:
    async with FakeOpenAI(faults=[changed("data", change)]) as server:
        own = judge(server)
        assert await own.answer(EMBED) == VECTORS
        await own.aclose()
        assert (own.usage.calls, own.usage.retries, server.calls) == (2, 1, 2)
    async with FakeOpenAI(faults=[changed("data", change)] * 2) as server:
        with pytest.raises(MalformedAnswer, match="embedding"):
            await answer(server, EMBED)


@pytest.mark.parametrize(
    "fault",
    [servers.status(503), servers.HALF, servers.EMPTY, Fault(body='{"error": "busy"}')],
)
async def test_passing_faults_are_retried(fault: Fault) -> None:
    async with FakeOpenAI(faults=[fault]) as server:
        assert await answer(server, EMBED) == VECTORS
        assert server.calls == 2


async def test_an_endpoint_without_the_model_is_named_with_it() -> None:
    async with FakeOpenAI(models=["fake"]) as server:
        with pytest.raises(JudgeUnusable, match=r"embedding_model='text-embedding-3-small'"):
            await answer(server, EMBED)


async def test_a_lone_surrogate_is_sent_as_text() -> None:
    async with FakeOpenAI() as server:
        await answer(server, Embed(("rain \ud800",)))
        assert server.embedded() == [["rain \ufffd"]]


def test_the_embedding_model_is_part_of_the_fingerprint() -> None:
    models = ("a", "b", None)
    made = {openai_judge("m", embedding_model=model).fingerprint for model in models}
    assert len(made) == 3


# --- questions -----------------------------------------------------------------------------------


async def test_questions_come_by_one_call() -> None:
    async with FakeOpenAI() as server:
        asked = await answer(server, Questions("Rain falls. Snow is cold.", 3))
        assert asked == Asked(("Rain falls?", "Snow is cold?", "Rain falls?"), False)
        (data,) = server.asked("questions")
        assert (data["answer"], data["count"]) == ("Rain falls. Snow is cold.", 3)


@pytest.mark.parametrize(
    "fault",
    [
        servers.WRONG_NONCE,
        servers.PROSE,
        changed("noncommittal", lambda _: "no"),
        changed("questions", lambda items: [*items, "One more?"]),
        changed("questions", lambda _: []),
        changed("questions", lambda _: ["A?", " "]),
        changed("questions", lambda _: [{"question": "A?"}]),
        changed("questions", lambda _: "A?"),
    ],
)
async def test_questions_that_cannot_be_read_are_asked_for_again(fault: Fault) -> None:
    async with FakeOpenAI(faults=[fault]) as server:
        asked = await answer(server, Questions("Rain falls.", 1))
        assert (asked, server.calls) == (Asked(("Rain falls?",), False), 2)
    async with FakeOpenAI(faults=[fault] * 4) as server:
        with pytest.raises(MalformedAnswer):
            await answer(server, Questions("Rain falls.", 1))


async def test_a_noncommittal_answer_may_have_no_questions() -> None:
    fault = Fault(garble=lambda reply: json.dumps({**reply, "questions": []}))
    async with FakeOpenAI(faults=[fault]) as server:
        assert await answer(server, Questions("I do not know.")) == Asked((), True)


async def test_less_than_one_question_is_refused() -> None:
    async with FakeOpenAI() as server:
        with pytest.raises(ConfigError):
            await answer(server, Questions("Rain falls.", 0))
        assert server.calls == 0


async def test_a_run_over_http_from_samples_to_scores() -> None:
    samples = [
        Sample(id="1", question="Rain falls", response="Rain falls.", references=("Wet rain.",)),
        Sample(id="2", question="Rain", response="I do not know.", references=("Rain.",)),
    ]
    async with FakeOpenAI() as server:
        own = judge(server)
        run = await assay.evaluate_async(samples, "answer_similarity,response_relevancy", own)
        await own.aclose()
        # a sample: one call for each pair of texts and one for the questions
        assert (len(server.embedded()), len(server.asked("questions"))) == (3, 2)
        assert own.usage.calls == server.calls == 5
    values = [[score.value for score in row.scores.values()] for row in run]
    assert values[0] == pytest.approx([0.5, 1.0])
    assert values[1] == [0.0, 0.0]


# --- under ragas' names --------------------------------------------------------------------------


async def test_ragas_names_give_the_cosine_or_whether_it_reaches_the_threshold() -> None:
    own = ScriptedJudge(embeddings={"r": (1.0, 0.0), "a": (3.0, 4.0)})
    sample = SingleTurnSample(response="r", reference="a")
    for made in (legacy.SemanticSimilarity, legacy.AnswerSimilarity):
        assert await made(llm=own).single_turn_ascore(sample) == pytest.approx(0.6)
    for threshold, value in [(0.5, 1.0), (0.7, 0.0)]:
        metric = modern.SemanticSimilarity(llm=own, threshold=threshold)
        assert (await metric.ascore(response="r", reference="a")).value == value


async def test_ragas_embeddings_are_not_used_and_say_so() -> None:
    with pytest.warns(UserWarning, match="embeddings have no effect"):
        legacy.SemanticSimilarity(llm=ScriptedJudge(), embeddings=object())
    zeros = legacy.SemanticSimilarity(llm=ScriptedJudge(), threshold=0.5)
    assert math.isnan(await zeros.single_turn_ascore(SingleTurnSample(response="r", reference="a")))
