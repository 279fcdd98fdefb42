"""What a plan foresees, against what the endpoint then counts."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

import assay
from assay.asks import Judge
from assay.cli.demo import METRICS
from assay.errors import ConfigError, JudgeUnusable
from assay.judges.llm import LLMJudge
from assay.judges.memory.store import MemoryStore
from assay.judges.remembering import RememberingJudge
from assay.planning.plan import Plan
from assay.planning.planner import plan, plan_async
from assay.planning.prices import Price, Prices
from assay.sample import Sample
from assay.verdicts import Cell
from servers import FakeOpenAI, status

LABELS = ["bias", "toxicity", "answer_relevance", "context_relevance", "summary_coherence"]
SETS = {
    "one": ["faithfulness"],
    "claims": list(METRICS),
    "labels": LABELS,
    "all": [*METRICS, *LABELS, "rubric(criterion=It is about bees)", "faithfulness(joined=true)"],
    "embeddings": ["answer_similarity", "response_relevancy"],
    "none": ["rouge", "bleu"],
}
PRICES = Prices(Price(1.0, 4.0))
WORDS = ("lamp", "tower", "keeper", "bees", "boats", "whale", "oil", "stone", "wind", "storm")


def some(n: int, *, claims: bool = False, seed: int = 1) -> list[Sample]:
    """Samples of various sizes; with ``claims``, given ones."""
    draw = random.Random(seed)

    def sentences(most: int) -> str:
        return " ".join(
            "The " + " ".join(draw.choices(WORDS, k=draw.randint(4, 9))) + draw.choice("..!")
            for _ in range(draw.randint(1, most))
        )

    out = []
    for k in range(n):
        response, reference = sentences(6), sentences(3)
        given: dict[str, Any] = {
            "response_claims": [s + "." for s in response.split(".")[:-1]] or ["A claim."],
            "reference_claims": [f"{reference} {i}" for i in range(draw.randint(0, 50))],
        }
        sample = Sample(
            f"What about {k}?",
            response,
            [sentences(4) for _ in range(draw.randint(0, 6))],
            [reference],
            id=str(k),
            **(given if claims else {}),
        )
        out.append(sample)
    return out


def serving() -> FakeOpenAI:
    """An endpoint whose first reply always has all that was asked for."""
    return FakeOpenAI(rating=lambda *_: 3)


def judge_of(server: FakeOpenAI, *, packed: bool = False, max_claims: int = 40) -> LLMJudge:
    judge = assay.openai("fake", base_url=server.url, packed=packed, max_claims=max_claims)
    assert isinstance(judge, LLMJudge)
    return judge


async def evaluated(samples: Sequence[Sample], names: Sequence[str], judge: Judge) -> None:
    run = await assay.evaluate_async(list(samples), list(names), judge)
    assert run.failed == 0


def the_same(found: Plan, calls: int) -> None:
    assert found.total.calls.exact
    assert found.total.calls.value == calls
    shares = [one.together.calls.value for one in found.metrics]
    assert sum(shares) == pytest.approx(calls)


# --- calls -------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("names", SETS.values(), ids=SETS)
async def test_calls_are_exact_after_a_pilot_of_all(names: list[str], packed: bool) -> None:
    samples = some(12)
    async with serving() as server:
        judge = judge_of(server, packed=packed)
        found = await plan_async(samples, names, judge, pilot=12, cache_store=MemoryStore())
        the_same(found, server.calls)
        assert found.left.calls.value == 0
        assert found.paid.calls == server.calls
        used = judge.usage
        if "embeddings" not in found.works:
            assert found.total.prompt_tokens.value == pytest.approx(used.prompt_tokens)
            assert found.total.completion_tokens.value == pytest.approx(used.completion_tokens)
        await judge.aclose()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["one", "claims"])
async def test_calls_are_exact_without_a_pilot_where_claims_are_given(
    name: str, packed: bool
) -> None:
    samples = some(12, claims=True)
    async with serving() as server:
        judge = judge_of(server, packed=packed, max_claims=20)
        found = await plan_async(samples, SETS[name], judge, pilot=0)
        assert server.calls == 0
        await evaluated(samples, SETS[name], judge)
        the_same(found, server.calls)
        await judge.aclose()


async def test_a_metric_by_itself_takes_what_is_said() -> None:
    samples = some(8)
    async with serving() as server:
        judge = judge_of(server)
        found = await plan_async(samples, SETS["all"], judge, pilot=8)
        for one in found.metrics:
            before = server.calls
            await evaluated(samples, [one.name], judge)
            assert one.alone.calls.value == server.calls - before, one.name
            assert one.together.calls.value <= one.alone.calls.value + 1e-9
        await judge.aclose()


async def test_what_the_cache_holds_is_subtracted_exactly() -> None:
    samples, names = some(20), SETS["all"]
    async with serving() as server:
        judge, store = judge_of(server), MemoryStore()
        await evaluated(samples[:10], names, RememberingJudge(judge, store))
        first = server.calls
        found = await plan_async(samples[:10], names, judge, pilot=0, cache_store=store)
        assert found.total.calls.value == 0
        assert found.held.calls == first
        found = await plan_async(samples, names, judge, pilot=0, cache_store=store)
        assert found.held.calls == first
        found = await plan_async(samples, names, judge, pilot=20, cache_store=store)
        the_same(found, server.calls - first)
        await judge.aclose()


async def test_the_pilot_is_not_paid_for_twice() -> None:
    samples = some(30)
    async with serving() as server:
        judge, store = judge_of(server), MemoryStore()
        found = await plan_async(samples, SETS["claims"], judge, pilot=10, cache_store=store)
        paid = server.calls
        assert found.paid.calls == paid
        await evaluated(samples, SETS["claims"], RememberingJudge(judge, store))
        assert found.left.calls.value == pytest.approx(server.calls - paid, rel=0.02)
        assert found.total.calls.value == pytest.approx(server.calls, rel=0.02)
        await judge.aclose()


async def test_equal_asks_are_counted_once_where_answers_are_remembered() -> None:
    samples = [some(1)[0].replace(id=str(k)) for k in range(5)]
    async with serving() as server:
        judge, store = judge_of(server), MemoryStore()
        single = await plan_async(samples[:1], "faithfulness", judge, pilot=0)
        found = await plan_async(samples, "faithfulness", judge, pilot=0, cache_store=store)
        assert found.total.calls.value == single.total.calls.value
        assert found.held.shared_asks == 4 * single.held.shared_asks + 8
        forgetful = await plan_async(samples, "faithfulness", judge, pilot=0)
        assert forgetful.total.calls.value == 5 * single.total.calls.value
        await judge.aclose()


async def test_samples_that_lack_a_field_ask_nothing_for_that_metric() -> None:
    samples = [*some(3), Sample("Q?", "The lamp burns.", id="x"), Sample("Q?", "", [], id="y")]
    names = ["faithfulness", "claim_recall"]
    async with serving() as server:
        judge = judge_of(server)
        found = await plan_async(samples, names, judge, pilot=5)
        the_same(found, server.calls)
        await judge.aclose()


# --- tokens, money, time -----------------------------------------------------------------------


async def test_a_small_pilot_comes_near_the_truth() -> None:
    samples = some(100)
    async with serving() as server:
        judge, store = judge_of(server, packed=True), MemoryStore()
        names = ["faithfulness", "precision", "bias"]
        found = await plan_async(samples, names, judge, pilot=30, cache_store=store, prices=PRICES)
        await evaluated(samples, names, RememberingJudge(judge, store))
        used = judge.usage
        await judge.aclose()
    cost = PRICES.of("fake")
    assert cost is not None
    assert found.total.cost is not None
    truth = cost.of(used.prompt_tokens, used.completion_tokens)
    assert found.total.prompt_tokens.value == pytest.approx(used.prompt_tokens, rel=0.02)
    assert found.total.completion_tokens.value == pytest.approx(used.completion_tokens, rel=0.1)
    assert found.total.cost.value == pytest.approx(truth, rel=0.05)
    assert found.total.cost.low < found.total.cost.value < found.total.cost.high
    assert found.paid_cost is not None
    assert 0 < found.paid_cost.usd < truth


async def test_without_a_pilot_the_interval_is_wide_and_says_so() -> None:
    samples = some(40)
    async with serving() as server:
        judge = judge_of(server)
        found = await plan_async(samples, "faithfulness", judge, pilot=0, prices=PRICES)
        assert server.calls == 0
        await evaluated(samples, ["faithfulness"], judge)
        await judge.aclose()
    total, used = found.total, judge.usage
    assert total.calls.low <= server.calls <= total.calls.high
    assert total.prompt_tokens.low < used.prompt_tokens < total.prompt_tokens.high
    assert total.completion_tokens.low < used.completion_tokens < total.completion_tokens.high
    assert "no pilot: 1.5 claims a sentence are assumed" in found.notes
    assert found.paid_cost is None


async def test_the_same_seed_gives_the_same_plan() -> None:
    samples = some(40)
    async with serving() as server:
        said = []
        for seed in (0, 0, 1):
            judge = judge_of(server)
            found = await plan_async(
                samples, "faithfulness", judge, pilot=10, seed=seed, prices=PRICES
            )
            total = found.as_dict()["total"]
            said.append({name: total[name] for name in total if name != "seconds"})
            await judge.aclose()
    assert said[0] == said[1] != said[2]


async def test_time_follows_latency_concurrency_and_rate() -> None:
    samples = some(12)
    async with FakeOpenAI(latency=0.05) as server:
        judge, store = judge_of(server), MemoryStore()
        seconds: list[float] = []
        options: list[tuple[int, float | None]] = [(4, None), (1, None), (64, 60)]
        for at_once, rpm in options:
            found = await plan_async(
                samples,
                "faithfulness",
                judge,
                pilot=12,
                cache_store=store if not seconds else MemoryStore(),
                concurrency=at_once,
                rpm=rpm,
            )
            assert found.total.seconds is not None
            seconds.append(found.total.seconds.value)
        await judge.aclose()
    calls = found.total.calls.value
    assert 0.05 * calls / 4 < seconds[0] < 0.5 + 0.05 + 0.2 * calls / 4
    assert seconds[1] > 1.3 * seconds[0]
    # The first call goes alone, and a process needs half a second to begin.
    assert calls + 0.5 < seconds[2] < calls + 1


async def test_an_unknown_price_is_not_zero() -> None:
    async with serving() as server:
        judge = judge_of(server)
        found = await plan_async(some(3), "faithfulness", judge, pilot=3)
        await judge.aclose()
    assert found.total.cost is None
    assert found.paid_cost is None
    assert found.batch is None
    assert any("price unknown: fake" in note for note in found.notes)
    json.dumps(found.as_dict(), allow_nan=False)


# --- precision, notes, trouble -----------------------------------------------------------------


async def test_smaller_samples_are_less_precise_and_cheaper() -> None:
    samples = some(160)
    async with serving() as server:
        judge = judge_of(server)
        blind = await plan_async(samples, ["precision"], judge, pilot=0, prices=PRICES)
        found = await plan_async(samples, ["precision"], judge, pilot=20, prices=PRICES)
        await judge.aclose()
    assert [one.n for one in found.smaller] == [100, 160]
    widths = [one.half_widths["precision"] for one in found.smaller]
    most = [one.half_widths["precision"] for one in blind.smaller]
    assert all(a is not None and b is not None and a < b for a, b in zip(widths, most, strict=True))
    assert most[0] == pytest.approx(1.984 * 0.5 / 10, abs=1e-3)
    costs = [one.cost or 0.0 for one in found.smaller]
    assert costs[0] == pytest.approx(costs[1] * 100 / 160)


async def test_failures_and_repeated_requests_are_told() -> None:
    faults = [None, status(400), status(500)]
    async with FakeOpenAI(faults=faults) as server:
        judge = judge_of(server)
        found = await plan_async(some(6), "faithfulness", judge, pilot=6)
        await judge.aclose()
    assert any("1 of 6 pilot samples had no answer" in note for note in found.notes)


async def test_a_wrong_key_ends_the_pilot() -> None:
    async with FakeOpenAI(key="right") as server:
        judge = judge_of(server)
        with pytest.raises(JudgeUnusable, match=r"the pilot failed: .*401"):
            await plan_async(some(20), "faithfulness", judge)
        await judge.aclose()


async def test_options_that_cannot_work() -> None:
    judge = assay.ScriptedJudge()
    for options in ({"pilot": -1}, {"concurrency": 0}, {"rpm": 0}, {"rpm": float("nan")}):
        with pytest.raises(ConfigError):
            await plan_async(some(1), "faithfulness", judge, **options)
    with pytest.raises(ConfigError, match="cache_store"):
        await plan_async(some(1), "faithfulness", RememberingJudge(judge, MemoryStore()))


def test_a_judge_that_cannot_answer_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match="relevant_statement"):
        plan(some(1), "answer_relevance", "embedded")


def test_no_samples_and_blank_ones_take_nothing() -> None:
    found = plan([], "faithfulness", assay.ScriptedJudge())
    assert found.total.calls.value == 0
    assert found.smaller == []
    blank = [Sample("", " ", ["", " \n"], [""], id="1")]
    found = plan(blank, ["faithfulness", "precision"], assay.ScriptedJudge(), pilot=0)
    assert found.total.calls.value == 0


def test_a_local_judge_is_planned_in_pairs_and_seconds() -> None:
    samples = some(5)
    found = plan(samples, ["faithfulness"], "embedded", pilot=5, cache_store=MemoryStore())
    assert found.local
    # The question of a short premise is scored, too, where the claim may come from it alone.
    assert 0 < found.total.calls.value == pytest.approx(found.paid.calls, rel=0.05)
    assert found.total.cost is None
    assert found.total.seconds is not None
    assert found.total.seconds.value > 0
    assert not any("price" in note for note in found.notes)


def test_a_judge_that_tells_nothing_is_planned_without_tokens() -> None:
    class Silent(assay.ScriptedJudge):
        async def answer(self, ask):  # type: ignore[no-untyped-def]
            await asyncio.sleep(0)
            return await super().answer(ask)

    found = plan(some(6), ["faithfulness"], Silent(), pilot=6)
    assert any("does not say which requests" in note for note in found.notes)
    assert found.total.prompt_tokens.value == 0


def test_verdicts_do_not_change_what_is_asked() -> None:
    always = assay.ScriptedJudge(verdicts=lambda *_: Cell(assay.Verdict.ENTAILED))
    never = assay.ScriptedJudge(verdicts=lambda *_: Cell(assay.Verdict.CONTRADICTED))
    names = list(METRICS)
    calls = [plan(some(5), names, one, pilot=5).total.calls.value for one in (always, never)]
    assert calls[0] == calls[1] > 0
