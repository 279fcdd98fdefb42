"""The limiter in simulated time: rates, headers, the window, order, cancelling."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from assay.asks import Usage
from assay.errors import ConfigError, JudgeUnavailable
from assay.judges.limiting import Limiter
from assay.judges.limits.headers import duration, until_reset
from assay.judges.limits.window import Window
from assay.judges.retrying import Backoff, PassingError
from limited import BUSY_429, DOWN, Fake, limiter, most_in_a_minute
from simulated import now, simulated

# --- rates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rpm", "n"), [(0.5, 4), (1, 4), (7, 30), (60, 150), (600, 1500)])
def test_no_minute_has_more_requests_than_its_rate(rpm: float, n: int) -> None:
    async def work() -> Fake:
        fake = Fake(limiter(16, rpm=rpm))
        assert not [r for r in await fake.many(n) if isinstance(r, BaseException)]
        return fake

    times = simulated(work()).times
    assert len(times) == n
    assert most_in_a_minute(times) <= max(1, rpm)
    assert times[-1] - times[0] <= 60 * n / rpm * 1.03  # and the rate is used


def test_repeats_count_for_the_rate() -> None:
    async def work() -> Fake:
        fake = Fake(limiter(rpm=60), lambda n: DOWN if n % 4 == 0 else None)
        await fake.many(90)
        return fake

    times = simulated(work()).times
    assert len(times) > 110
    assert most_in_a_minute(times) <= 60


def test_tokens_are_estimated_and_then_corrected() -> None:
    async def work(actual: float) -> float:
        own = limiter(tpm=6000)
        fake = Fake(own)

        async def call() -> float:
            own.correct(10, actual)
            return await fake.call()

        await asyncio.gather(*(fake.run(call, tokens=10) for _ in range(100)))
        return fake.times[-1] - fake.times[0]

    assert simulated(work(10)) == pytest.approx(10, rel=0.15)
    assert simulated(work(100)) == pytest.approx(100, rel=0.15)


def test_a_call_larger_than_the_rate_is_sent_alone() -> None:
    async def work() -> list[float]:
        fake = Fake(limiter(tpm=600))
        await asyncio.gather(fake.run(tokens=1200), fake.run(tokens=1))
        return fake.times

    first, second = simulated(work())
    assert 119 < second - first < 123


@pytest.mark.parametrize(
    "options",
    [{"rpm": 0}, {"rpm": -1}, {"tpm": float("nan")}, {"tpm": float("inf")}, {"deadline": 0}],
)
def test_limits_that_cannot_work_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="above 0"):
        Limiter(**options)
    with pytest.raises(ConfigError, match="concurrency"):
        Limiter(0)


# --- headers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1), ("6m0s", 360), ("250ms", 0.25), ("12", 12), ("0.5", 0.5), ("1h2m3.5s", 3723.5),
        (" 2s ", 2), ("", None), ("-1", None), ("nan", None), ("1e9", None), ("inf", None),
        ("s", None), ("1x", None), ("1s!", None), ("9" * 400, None), ("9m" * 1000, None),
    ],
)  # fmt: skip
def test_durations_come_in_many_shapes(text: str, seconds: float | None) -> None:
    assert duration(text) == seconds


def test_only_what_is_used_up_is_waited_for() -> None:
    reset = {"x-ratelimit-reset-requests": "9s", "x-ratelimit-reset-tokens": "2m"}
    left = "x-ratelimit-remaining-"
    assert until_reset({**reset, f"{left}requests": "0", f"{left}tokens": "5"}) == 9
    assert until_reset({**reset, f"{left}requests": "0", f"{left}tokens": "0"}) == 120
    assert until_reset({**reset, f"{left}requests": "1"}) is None
    assert until_reset({**reset, f"{left}requests": "none"}) is None
    assert until_reset({f"{left}requests": "0"}) is None


def test_when_nothing_remains_all_wait_for_the_reset() -> None:
    async def work() -> list[float]:
        own = limiter()
        fake = Fake(own)
        await fake.run()
        own.told({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "30s"})
        own.told({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "5h"})
        start = now()
        await fake.many(50)
        return [time - start for time in fake.times[1:]]

    waits = simulated(work())
    assert min(waits) >= 30
    assert max(waits) < 60
    assert len({round(wait, 4) for wait in waits[:8]}) > 1  # not all at once


# --- the window -------------------------------------------------------------------------------


def test_a_healthy_endpoint_is_asked_at_full_concurrency_at_once() -> None:
    async def work() -> tuple[int, float]:
        fake = Fake(limiter(64), latency=1.0)
        start = now()
        await fake.many(640)
        return fake.peak, now() - start

    assert simulated(work()) == (64, 10.0)


def test_a_tenth_of_refusals_slows_nothing_down_and_half_of_them_does() -> None:
    async def work(share: float) -> tuple[int, Fake]:
        chance = random.Random(5)
        own = limiter(64, backoff=Backoff(attempts=30))
        fake = Fake(own, lambda n: BUSY_429 if chance.random() < share else None)
        await fake.many(2000)
        return own.concurrency, fake

    left, fake = simulated(work(0.1))
    assert (left, fake.usage.notes) == (64, [])
    left, fake = simulated(work(0.5))
    assert left < 16
    (note,) = fake.usage.notes
    assert note.startswith("slowed down to ")
    assert note.endswith(" calls at once after 429")


def test_an_endpoint_that_takes_few_calls_at_once_is_found_out() -> None:
    async def work() -> tuple[int, int, float, list[Any]]:
        own = limiter(64)
        fake = Fake(own)
        fake.fault = lambda n: BUSY_429 if fake.open > 10 else None
        done = await fake.many(3000)
        return own.concurrency, len(fake.times), now() - 1000, done

    left, calls, seconds, done = simulated(work())
    assert not [r for r in done if isinstance(r, BaseException)]
    assert 5 <= left <= 16
    assert calls < 3000 * 1.3
    assert seconds < 3000 * 0.1 / 10 * 1.5


def test_the_window_opens_again() -> None:
    window = Window(64)
    while window.size > 1:
        window.busy(window.era)
    assert not window.busy(window.era)
    for _ in range(64 * 64):
        window.good(window.era)
    assert window.size == 64


def test_calls_of_before_the_cut_do_not_cut_again() -> None:
    window = Window(64)
    era = window.era
    assert [window.busy(era) for _ in range(64)].count(True) == 1
    assert window.size == 32


# --- order and cancelling ---------------------------------------------------------------------


def test_first_come_first_served_and_repeats_before_the_rest() -> None:
    async def work() -> list[int]:
        own = limiter(1)
        order: list[int] = []

        async def one(k: int) -> None:
            async def call() -> float:
                order.append(k)
                await asyncio.sleep(1)
                if order == [0]:
                    raise PassingError(JudgeUnavailable("no"), 0.01)
                return 0.0

            await own.run(call, where="w", usage=Usage())

        await asyncio.gather(*map(one, range(6)))
        return order

    assert simulated(work()) == [0, 1, 0, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", ["line", "rate", "cooldown", "call", "pause"])
def test_a_cancelled_call_keeps_no_place(kind: str) -> None:
    async def work() -> tuple[int, float]:
        own = limiter(4, rpm=600 if kind == "rate" else None)
        fake = Fake(own, latency=1.0)
        if kind == "cooldown":
            own.told({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s"})
        if kind == "pause":
            fake.fault = lambda n: DOWN
        tasks = [asyncio.create_task(fake.run()) for _ in range(40)]
        await asyncio.sleep(1.2 if kind in ("line", "pause") else 0.5)
        for task in tasks:
            task.cancel()
        assert all(
            isinstance(r, BaseException)
            for r in await asyncio.gather(*tasks[4:], return_exceptions=True)
        )
        fake.fault, fake.peak = lambda n: None, 0
        await asyncio.sleep(20)
        start = now()
        await fake.many(8)
        return fake.peak, now() - start

    peak, seconds = simulated(work())
    assert peak == 4
    assert seconds == pytest.approx(2.0, abs=0.2)


def test_it_works_in_event_loops_in_turn_and_forgets_what_an_earlier_one_left() -> None:
    own = Limiter(2)
    usage = Usage()

    async def hang() -> float:
        await asyncio.sleep(60)
        return 0.0

    async def left() -> None:
        for _ in range(9):
            task = asyncio.create_task(own.run(hang, where="w", usage=usage))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.sleep(0.01)

    async def answer() -> float:
        return 1.0

    async def rest() -> list[float]:
        return await asyncio.gather(*(own.run(answer, where="w", usage=usage) for _ in range(9)))

    asyncio.run(left())
    assert asyncio.run(rest()) == asyncio.run(rest()) == [1.0] * 9
