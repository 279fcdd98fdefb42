"""The runner: troubles stay with their sample, order holds, work is bounded, nothing is left."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from assay import Faithfulness, Metric, Sample, ScriptedJudge
from assay.asks import Ask, Entail, Extract, T
from assay.errors import (
    ConfigError,
    JudgeError,
    JudgeRejected,
    JudgeUnavailable,
    JudgeUnusable,
    MalformedAnswer,
)
from assay.metrics import load_metric
from assay.needs import Entails, Need
from assay.run import Row
from assay.runner import MetricBug, score_sample, score_samples
from assay.score import Score
from assay.verdicts import EntailmentMatrix

TEN = (
    "faithfulness",
    "noise_sensitivity",
    "hallucination",
    "self_knowledge",
    "precision",
    "recall",
    "f1",
    "claim_recall",
    "context_precision",
    "context_utilization",
)
ALL = {name: load_metric(name) for name in TEN}
FAITHFULNESS: dict[str, Metric] = {"faithfulness": Faithfulness()}
Trouble = Callable[[Ask[Any]], BaseException | None]


class TroubledJudge(ScriptedJudge):
    """Raises what ``trouble`` makes of an ask; answers the others after ``delay`` seconds."""

    def __init__(
        self,
        trouble: Trouble = lambda _: None,
        delay: Callable[[], float] = lambda: 0.0,
    ) -> None:
        super().__init__()
        self.trouble, self.delay = trouble, delay
        self.now = self.most = 0

    async def answer(self, ask: Ask[T]) -> T:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.delay())
            if (error := self.trouble(ask)) is not None:
                raise error
            return await super().answer(ask)
        finally:
            self.now -= 1


def sample(n: int) -> Sample:
    return Sample(
        "q",
        f"Response {n} says this. It says that.",
        [f"Response {n} says this.", f"Reference {n}."],
        f"Reference {n}. It says that.",
        id=str(n),
    )


async def rows(judge: ScriptedJudge, count: int = 6, **options: Any) -> list[Row]:
    samples = [sample(n) for n in range(count)]
    metrics = options.pop("metrics", FAITHFULNESS)
    return [row async for row in score_samples(samples, metrics, judge, **options)]


def nothing_is_left() -> bool:
    return asyncio.all_tasks() == {asyncio.current_task()}


# --- troubles of a judge -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [JudgeUnavailable, JudgeRejected, MalformedAnswer, JudgeError])
async def test_a_judge_that_fails_on_one_sample_fails_that_sample_alone(
    kind: type[JudgeError],
) -> None:
    judge = TroubledJudge(
        lambda ask: kind("no luck") if isinstance(ask, Extract) and " 2 " in ask.text else None
    )
    got = await rows(judge)
    assert [row.failed for row in got] == [n == 2 for n in range(6)]
    score = got[2].scores["faithfulness"]
    assert (score.status, score.reason) == ("failed", f"{kind.__name__}: no luck")
    assert got[1].scores["faithfulness"].value == 0.5


def fails_at(text: str) -> Trouble:
    """Trouble with every ask that extracts, or holds anything against, this text."""

    def trouble(ask: Ask[Any]) -> BaseException | None:
        about = ask.text if isinstance(ask, Extract) else getattr(ask, "against", "")
        return JudgeUnavailable("away") if about.startswith(text) else None

    return trouble


@pytest.mark.parametrize(
    ("text", "ok"),
    [
        ("Reference", {"faithfulness", "hallucination", "self_knowledge", "precision"}),
        (
            "Response",
            {"recall", "claim_recall", "context_precision", "context_utilization"},
        ),
        ("passage", {"precision", "recall", "f1"}),
        (
            "reference",
            {"faithfulness", "claim_recall", "context_precision", "recall"}
            | {"context_utilization"},
        ),
        ("response", {*TEN} - {"recall", "f1", "context_utilization"}),
    ],
)
async def test_only_metrics_whose_input_is_missing_fail(text: str, ok: set[str]) -> None:
    row = await score_sample(sample(1), ALL, TroubledJudge(fails_at(text)))
    assert {name for name, score in row.scores.items() if score.status == "ok"} == ok
    failed = {score.reason for score in row.scores.values() if score.status == "failed"}
    assert failed == {"JudgeUnavailable: away"}


async def test_the_scores_that_are_left_are_those_of_a_judge_without_trouble() -> None:
    troubled = await score_sample(sample(1), ALL, TroubledJudge(fails_at("Reference")))
    untroubled = await score_sample(sample(1), ALL, ScriptedJudge())
    assert troubled.scores["faithfulness"] == untroubled.scores["faithfulness"]
    assert troubled.claims == {"response": untroubled.claims["response"]}


@pytest.mark.parametrize("error", [JudgeUnusable("wrong key"), ConfigError("cannot rate")])
async def test_a_judge_that_no_ask_can_reach_ends_the_run(error: Exception) -> None:
    judge = TroubledJudge(lambda _: error)
    with pytest.raises(type(error), match=str(error)):
        await rows(judge, 50, concurrency=4)
    assert nothing_is_left()
    assert judge.asked == []


# --- bugs ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Buggy(Metric):
    """Divides by zero."""

    name = "buggy"

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (Entails("response", by="contexts"),)

    def score(self, grounded: EntailmentMatrix) -> Score:
        return Score(len(grounded.claims) / 0)


async def test_a_bug_in_a_metric_names_sample_and_metric() -> None:
    with pytest.raises(MetricBug) as bug:
        await rows(ScriptedJudge(), metrics={**FAITHFULNESS, "my buggy": Buggy()})
    assert str(bug.value).startswith("sample '0', metric my buggy: ZeroDivisionError(")
    assert isinstance(bug.value.__cause__, ZeroDivisionError)
    assert nothing_is_left()


async def test_a_bug_in_a_judge_names_sample_and_metric() -> None:
    judge = TroubledJudge(
        lambda ask: KeyError("oops") if isinstance(ask, Extract) and " 3 " in ask.text else None
    )
    with pytest.raises(MetricBug) as bug:
        await rows(judge)
    assert str(bug.value) == "sample '3', metric faithfulness: KeyError('oops')"
    assert nothing_is_left()


async def test_samples_before_the_bug_come_out_first() -> None:
    judge = TroubledJudge(
        lambda ask: KeyError("oops") if isinstance(ask, Extract) and " 3 " in ask.text else None
    )
    stream = score_samples(map(sample, range(9)), FAITHFULNESS, judge, concurrency=2)
    assert [(await anext(stream)).sample.id for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(MetricBug):
        await anext(stream)


# --- order, bounds, laziness -----------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 3, 32])
async def test_rows_come_in_the_order_of_samples(concurrency: int) -> None:
    chance = random.Random(concurrency)
    judge = TroubledJudge(delay=lambda: chance.choice([0.0, 0.001, 0.004]))
    got = await rows(judge, 40, concurrency=concurrency)
    assert [row.sample.id for row in got] == [str(n) for n in range(40)]
    assert all(row.scores["faithfulness"].value == 0.5 for row in got)


@pytest.mark.parametrize("concurrency", [1, 3, 8])
async def test_so_many_samples_are_in_work_and_no_more(concurrency: int) -> None:
    # Faithfulness asks one thing after the other, so asks at once are samples at once.
    judge = TroubledJudge(delay=lambda: 0.001)
    await rows(judge, 30, concurrency=concurrency)
    assert judge.most == concurrency


async def test_a_slow_sample_does_not_hold_up_those_behind_it() -> None:
    async def slow(ask: Ask[Any]) -> None:
        while isinstance(ask, Extract) and " 0 " in ask.text and len(judge.asked) < 14:
            await asyncio.sleep(0)

    class Waiting(ScriptedJudge):
        async def answer(self, ask: Ask[T]) -> T:
            await slow(ask)
            return await super().answer(ask)

    judge = Waiting()
    async with asyncio.timeout(5):
        got = await rows(judge, 8, concurrency=2)
    assert [row.sample.id for row in got] == [str(n) for n in range(8)]


async def test_samples_are_drawn_as_they_are_needed() -> None:
    drawn = 0

    def source() -> Iterator[Sample]:
        nonlocal drawn
        for n in range(10_000):
            drawn += 1
            yield sample(n)

    stream = score_samples(source(), FAITHFULNESS, ScriptedJudge(), concurrency=3)
    ahead = []
    for taken in range(1, 41):
        await anext(stream)
        ahead.append(drawn - taken)
    await stream.aclose()
    assert max(ahead) <= 4 * 3
    assert nothing_is_left()


async def test_no_samples_no_rows() -> None:
    assert await rows(ScriptedJudge(), 0) == []


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_concurrency_that_cannot_work_is_refused_and_does_not_hang(concurrency: int) -> None:
    code = (
        "import assay\n"
        "try:\n"
        f"    assay.evaluate([{{'response': 'a'}}], 'faithfulness', assay.ScriptedJudge(),"
        f" concurrency={concurrency})\n"
        "except assay.ConfigError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=5, check=False
    )
    assert "concurrency" in done.stdout, done.stderr


# --- nothing is left behind ----------------------------------------------------------------------


async def test_cancelling_leaves_no_task() -> None:
    judge = TroubledJudge(delay=lambda: 60.0)
    work = asyncio.create_task(rows(judge, 20, metrics=ALL, concurrency=4))
    while judge.now < 8:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert nothing_is_left()
    assert judge.now == 0


async def test_leaving_early_leaves_no_task() -> None:
    judge = TroubledJudge(delay=lambda: 0.001)
    stream = score_samples(map(sample, range(50)), FAITHFULNESS, judge, concurrency=4)
    assert (await anext(stream)).sample.id == "0"
    await stream.aclose()
    assert nothing_is_left()
    assert judge.now == 0


async def test_a_source_that_breaks_gives_its_rows_first_and_leaves_no_task() -> None:
    def source() -> Iterator[Sample]:
        yield from map(sample, range(3))
        raise OSError("disk gone")

    judge = TroubledJudge(delay=lambda: 0.001)
    stream = score_samples(source(), FAITHFULNESS, judge)
    assert [(await anext(stream)).sample.id for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(OSError, match="disk gone"):
        await anext(stream)
    assert nothing_is_left()


async def test_the_same_need_of_several_metrics_is_met_by_one_task() -> None:
    judge = TroubledJudge(delay=lambda: 0.001)
    row = await score_sample(sample(1), ALL, judge)
    assert len(judge.asked) == 5
    assert sum(isinstance(ask, Entail) for ask in judge.asked) == 3
    assert list(row.scores) == list(ALL)


async def test_scores_are_kept_under_the_names_as_given_and_in_their_order() -> None:
    metrics = {"b": Faithfulness(), "a": Faithfulness(joined=True), "c": load_metric("recall")}
    row = await score_sample(sample(1).replace(references=None), metrics, ScriptedJudge())
    assert list(row.scores) == ["b", "a", "c"]
    assert [score.status for score in row.scores.values()] == ["ok", "ok", "failed"]
