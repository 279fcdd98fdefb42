"""A budget: what it lets through, where it stops, and what is kept."""

from __future__ import annotations

import asyncio
import math
import re
from typing import cast

import pytest

from assay import ConfigError, Sample, openai
from assay.api import open_metrics
from assay.asks import Ask, Entail, Extract, Skill, T, Usage
from assay.errors import BudgetSpent, JudgeUnavailable
from assay.judges.budget import Budgeted, Limit
from assay.judges.memory.store import MemoryStore
from assay.judges.remembering import RememberingJudge
from assay.judges.sizing import calls_for
from assay.run import Row
from assay.runner import score_samples
from assay.verdicts import Cell, Verdict
from servers import FakeOpenAI, status

COST = 100


class Paid:
    """Answers after a while; each ask uses a number of tokens, and its estimate may be wrong."""

    name = "paid"
    fingerprint = "paid:1"

    def __init__(self, uses: list[int] | None = None, *, fails: int = 0) -> None:
        self.usage = Usage()
        self.uses, self.fails = uses or [], fails
        self.open = self.peak = 0
        self.seen: list[int] = []

    def can(self, skill: Skill) -> bool:
        return True

    async def answer(self, ask: Ask[T]) -> T:
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            await asyncio.sleep(0.001)
            self.usage.calls += 1
            if self.fails:
                self.fails -= 1
                raise JudgeUnavailable("later")
            used = self.uses[len(self.seen) % len(self.uses)] if self.uses else COST
            self.seen.append(used)
            self.usage.prompt_tokens += used
        finally:
            self.open -= 1
        return cast("T", ((Cell(Verdict.ENTAILED),),))

    async def aclose(self) -> None:
        pass


class Told(Paid):
    """Says beforehand that an ask takes `COST` tokens."""

    def calls_for(self, ask: Ask[object]) -> list[object]:
        from assay.judges.sizing import CallSize

        return [CallSize("embeddings", 4 * COST)]

    def watched(self, witness: object) -> None:
        raise AssertionError("a budget watches nobody")


async def spend(judge: Budgeted, n: int, at_once: int = 64) -> int:
    """How many of n asks are answered."""
    room = asyncio.Semaphore(at_once)

    async def one(k: int) -> bool:
        async with room:
            try:
                await judge.answer(Entail((f"claim {k}",), ("premise",)))
            except BudgetSpent:
                return False
            return True

    return sum(await asyncio.gather(*(one(k) for k in range(n))))


# --- how much is used --------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, COST - 1, COST, 10 * COST, 10 * COST + 50, 997 * COST])
async def test_with_right_estimates_the_limit_is_never_passed_and_nearly_used(limit: int) -> None:
    inner = Told()
    answered = await spend(Budgeted(inner, Limit(tokens=limit)), 1000)
    assert answered == limit // COST
    assert inner.usage.prompt_tokens == limit // COST * COST


@pytest.mark.parametrize("factor", [0.3, 0.9, 1.5, 4.0])
async def test_wrong_estimates_are_corrected_by_the_first_ask(factor: float) -> None:
    used = int(COST * factor)
    inner = Told([used])
    answered = await spend(Budgeted(inner, Limit(tokens=50 * COST)), 1000)
    assert inner.usage.prompt_tokens <= 50 * COST
    # What is left would not have paid for another ask, as it was estimated.
    assert 50 * COST - answered * used < max(used, COST)


@pytest.mark.parametrize("uses", [[60, 140, 100], [20, 195, 30], [100] * 9 + [199], [199, 1]])
@pytest.mark.parametrize("limit", [1000, 1500, 9999])
async def test_asks_that_differ_pass_the_limit_by_one_estimates_error_at_most(
    uses: list[int], limit: int
) -> None:
    inner = Told(uses)
    await spend(Budgeted(inner, Limit(tokens=limit)), 1000)
    assert inner.usage.prompt_tokens - limit <= max(uses) - COST
    assert limit - inner.usage.prompt_tokens < 2 * COST


async def test_many_are_open_at_once_until_the_end_is_near() -> None:
    inner = Told()
    await spend(Budgeted(inner, Limit(tokens=1000 * COST)), 300)
    assert inner.peak == 64


async def test_calls_are_limited_and_so_are_dollars() -> None:
    inner = Told()
    assert await spend(Budgeted(inner, Limit(calls=7)), 20) == 7
    price = (1e6 / COST, 0.0)  # an ask is a dollar
    assert await spend(Budgeted(Told(), Limit(usd=5), price=price), 20) == 5
    assert await spend(Budgeted(Told(), Limit(usd=5, calls=3), price=price), 20) == 3


async def test_pairs_of_a_local_judge_count_as_calls() -> None:
    ask = Entail(("a", "b"), ("x", "y", "z"))
    assert [size.count for size in calls_for(Paid(), ask)] == [6]
    assert calls_for(Paid(), Extract("text")) == ()


async def test_what_was_used_before_does_not_count() -> None:
    inner = Told()
    inner.usage.prompt_tokens = 10**9
    budgeted = Budgeted(inner, Limit(tokens=3 * COST))
    assert await spend(budgeted, 10) == 3
    assert budgeted.used.prompt_tokens == 3 * COST
    assert budgeted.spent


async def test_what_earlier_processes_used_counts_and_the_whole_is_told() -> None:
    price = (1e6 / COST, 0.0)  # an ask is a dollar
    before = Usage(calls=3, prompt_tokens=3 * COST)
    budgeted = Budgeted(Told(), Limit(usd=5, tokens=900, calls=9), price=price, before=before)
    assert await spend(budgeted, 10) == 2
    with pytest.raises(BudgetSpent) as spent:
        await budgeted.answer(Entail(("later",), ("p",)))
    assert str(spent.value) == (
        "the budget is spent: $5.00 of $5.00 (this process: $2.00; the next ask: $1.00), "
        "500 of 900 tokens (this process: 200; the next ask: 100), "
        "5 of 9 calls (this process: 2; the next ask: 1)"
    )
    assert budgeted.used.calls == 2


@pytest.mark.parametrize(
    ("usd", "said"),
    [(0.0, "$0.00"), (0.001323, "$0.001323"), (0.4968, "$0.4968"), (0.5, "$0.50"), (20, "$20.00")],
)
async def test_dollars_have_cents_and_what_is_small_has_digits(usd: float, said: str) -> None:
    used = Usage(prompt_tokens=round(usd * 1e6))
    budgeted = Budgeted(Told(), Limit(usd=1e-6), price=(1.0, 0.0), before=used)
    with pytest.raises(BudgetSpent, match=re.escape(f"is spent: {said} of $0.000001 (")):
        await budgeted.answer(Entail(("later",), ("p",)))


def test_a_budget_tells_how_often_it_pays_for_some_requests() -> None:
    sizes = calls_for(Told(), Entail(("a",), ("b",)))
    before = Usage(calls=2, prompt_tokens=2 * COST)
    one = Budgeted(Told(), Limit(tokens=12 * COST, calls=6), before=before)
    assert one.pays_for(sizes) == 4
    assert one.pays_for([*sizes, *sizes]) == 2
    assert one.pays_for([]) == math.inf
    assert Budgeted(Told(), Limit(calls=2), before=before).pays_for(sizes) == 0


# --- how it stops ------------------------------------------------------------------------------


async def test_asks_wait_for_open_ones_before_any_is_refused() -> None:
    inner = Told()
    budgeted = Budgeted(inner, Limit(tokens=5 * COST))
    done: list[bool] = []
    said: list[tuple[int, str]] = []

    async def one(k: int) -> None:
        try:
            await budgeted.answer(Entail((str(k),), ("p",)))
        except BudgetSpent as error:
            said.append((inner.open, str(error)))
            done.append(False)
        else:
            done.append(True)

    await asyncio.gather(*map(one, range(9)))
    assert done == [True] * 5 + [False] * 4
    assert all(still == 0 and "500 of 500 tokens" in text for still, text in said)
    with pytest.raises(BudgetSpent):
        await budgeted.answer(Entail(("later",), ("p",)))


async def test_failures_release_what_they_reserved() -> None:
    inner = Told(fails=5)
    budgeted = Budgeted(inner, Limit(tokens=4 * COST))
    results = await asyncio.gather(
        *(budgeted.answer(Entail((str(k),), ("p",))) for k in range(12)), return_exceptions=True
    )
    kinds = [type(one).__name__ for one in results]
    assert kinds == ["JudgeUnavailable"] * 5 + ["tuple"] * 4 + ["BudgetSpent"] * 3


async def test_cancelled_asks_leave_no_reservation_behind() -> None:
    inner = Told()
    budgeted = Budgeted(inner, Limit(tokens=6 * COST))
    await budgeted.answer(Entail(("first",), ("p",)))
    tasks = [asyncio.ensure_future(budgeted.answer(Entail((str(k),), ("p",)))) for k in range(5)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    assert await spend(budgeted, 10) == 5


def test_it_works_in_several_event_loops_in_turn() -> None:
    inner = Told()
    budgeted = Budgeted(inner, Limit(tokens=5 * COST))
    assert asyncio.run(spend(budgeted, 2)) == 2
    assert asyncio.run(spend(budgeted, 9)) == 3


@pytest.mark.parametrize(
    "values",
    [{}, {"usd": 0.0}, {"usd": float("nan")}, {"usd": float("inf")}, {"tokens": -1}, {"calls": 0}],
)
def test_limits_that_cannot_work(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="budget"):
        Limit(**values)  # type: ignore[arg-type]


def test_dollars_need_a_price() -> None:
    with pytest.raises(ConfigError, match="--price-input"):
        Budgeted(Told(), Limit(usd=1))
    with pytest.raises(ConfigError, match="price must be"):
        Budgeted(Told(), Limit(usd=1), price=(-1, 2))


# --- runs --------------------------------------------------------------------------------------


def rows(n: int) -> list[Sample]:
    return [
        Sample(
            f"What is {k}?",
            f"Number {k} is here. It is {k}.",
            [f"Number {k} is here.", "Other things are there."],
            id=str(k),
        )
        for k in range(n)
    ]


async def test_a_run_ends_with_whole_rows_and_goes_on_from_the_cache() -> None:
    async with FakeOpenAI(latency=0.005) as server:
        store, metrics = MemoryStore(), open_metrics("faithfulness")
        inner = openai("fake", base_url=server.url)
        scored: list[Row] = []

        async def work(limit: int, samples: list[Sample]) -> None:
            judge = RememberingJudge(Budgeted(inner, Limit(calls=limit)), store)
            async for row in score_samples(samples, metrics, judge, concurrency=8):
                scored.append(row)  # noqa: PERF401 - rows before the error count

        samples = rows(20)
        with pytest.raises(BudgetSpent):
            await work(31, samples)
        assert server.calls in (30, 31)
        assert 5 <= len(scored) <= 10
        assert not any(row.failed for row in scored)
        done = {row.sample.id for row in scored}
        await work(1000, [sample for sample in samples if sample.id not in done])
        await inner.aclose()
    # Three calls a row, and none of them twice: what was paid for is in the cache.
    assert server.calls == 60
    assert {row.sample.id for row in scored} == {str(k) for k in range(20)}
    assert not any(row.failed for row in scored)


async def test_retries_count_and_tokens_are_the_endpoint_s() -> None:
    async with FakeOpenAI(faults=[status(500), None, status(500)]) as server:
        inner = openai("fake", base_url=server.url)
        budgeted = Budgeted(inner, Limit(tokens=4000))
        with pytest.raises(BudgetSpent):
            async for _ in score_samples(rows(20), open_metrics("faithfulness"), budgeted):
                pass
        await inner.aclose()
    used = inner.usage.prompt_tokens + inner.usage.completion_tokens
    assert 2500 < used <= 4000
