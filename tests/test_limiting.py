"""The limiter in simulated time: rates, windows, deadlines, budgets, circuits."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from assay.asks import Usage
from assay.errors import ConfigError, JudgeRejected, JudgeUnavailable, MalformedAnswer
from assay.judges.limiting import Limiter
from assay.judges.limits.headers import duration, until_reset
from assay.judges.limits.window import Window
from assay.judges.retrying import BUSY, LATE, Backoff, PassingError
from simulated import now, simulated

Call = Callable[[], Awaitable[float]]
DOWN = PassingError(JudgeUnavailable("HTTP 500"))
BUSY_429 = PassingError(JudgeUnavailable("HTTP 429"), busy=BUSY[429])
GARBLED = PassingError(MalformedAnswer("no completion"))


class Fake:
    """An endpoint of ``latency`` seconds that raises what ``fault`` gives for the n-th call."""

    def __init__(
        self,
        limiter: Limiter,
        fault: Callable[[int], Exception | None] = lambda n: None,
        latency: float = 0.1,
    ) -> None:
        self.limiter, self.fault, self.latency = limiter, fault, latency
        self.times: list[float] = []
        self.usage = Usage()
        self.open = self.peak = 0

    async def call(self) -> float:
        self.times.append(now())
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            fault = self.fault(len(self.times))
            await asyncio.sleep(self.latency)
        finally:
            self.open -= 1
        if fault is not None:
            raise fault
        return now()

    async def run(self, call: Call | None = None, **options: Any) -> float:
        return await self.limiter.run(
            call or self.call, where="http://host", usage=self.usage, **options
        )

    async def many(self, n: int, **options: Any) -> list[float | BaseException]:
        work = [self.run(**options) for _ in range(n)]
        return await asyncio.gather(*work, return_exceptions=True)


def limiter(concurrency: int = 8, **options: Any) -> Limiter:
    return Limiter(concurrency, clock=now, **options)


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(start <= time < start + 60 - 1e-6 for time in times) for start in times)


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


# --- deadlines and time-outs ------------------------------------------------------------------


def test_a_call_with_its_repeats_ends_at_the_deadline() -> None:
    async def work(fault: Exception | None, latency: float) -> tuple[float, int]:
        own = limiter(deadline=20.0, backoff=Backoff(attempts=99))
        fake = Fake(own, lambda n: fault, latency)
        with pytest.raises((JudgeUnavailable, MalformedAnswer), match="the deadline of 20 s"):
            await fake.run()
        return now() - 1000, len(fake.times)

    seconds, calls = simulated(work(GARBLED, 1.0))
    assert 5 < seconds <= 20
    assert calls > 3
    assert simulated(work(None, 1e6)) == (20.0, 1)
    asked = PassingError(JudgeUnavailable("HTTP 429"), 50.0, busy=BUSY[429])
    assert simulated(work(asked, 1.0)) == (1.0, 1)


def test_waiting_for_a_turn_does_not_count_for_the_deadline() -> None:
    async def work() -> list[Any]:
        return await Fake(limiter(1, deadline=20.0), latency=5.0).many(20)

    assert simulated(work()) == [1000.0 + 5 * k for k in range(1, 21)]


def test_a_hung_call_is_given_up_by_how_long_others_take() -> None:
    async def work(**options: Any) -> tuple[list[float], int]:
        fake = Fake(limiter(**options), latency=0.5)
        await fake.many(20)
        took = []
        for hangs in (1, 2):
            left = iter([True] * hangs)

            async def call(left: Any = left) -> float:
                await asyncio.sleep(1000 if next(left, False) else 0.5)
                return 0.0

            start = now()
            await fake.run(call)
            took.append(now() - start)
        return took, fake.usage.retries

    (once, twice), retries = simulated(work())
    assert 10 < once < 12
    assert 50 < twice < 54  # 10 s, then four times that
    assert retries == 3
    with pytest.raises(JudgeUnavailable, match="deadline"):
        simulated(work(adaptive_timeout=False))


def test_slow_endpoints_get_the_time_that_they_need() -> None:
    async def work() -> list[Any]:
        fake = Fake(limiter(), latency=4.0)
        await fake.many(40)
        fake.latency = 30.0
        return await fake.many(4)

    assert not [r for r in simulated(work()) if isinstance(r, BaseException)]


# --- budgets and circuits ---------------------------------------------------------------------


def test_a_storm_of_repeats_ends() -> None:
    async def work() -> tuple[int, list[Any]]:
        fake = Fake(limiter(16), lambda n: GARBLED)
        done = await fake.many(2000)
        return len(fake.times), done

    calls, done = simulated(work())
    assert calls <= 2000 + 10 + 4 * 16
    assert isinstance(done[-1], JudgeUnavailable)
    assert "too many calls fail" in str(done[-1])


@pytest.mark.parametrize("share", [0.21, 0.3])
def test_many_faults_do_not_use_up_the_budget(share: float) -> None:
    async def work() -> tuple[int, list[Any]]:
        chance = random.Random(7)
        fake = Fake(limiter(64, backoff=Backoff(attempts=12)))
        fake.fault = lambda n: (
            chance.choice([DOWN, GARBLED, BUSY_429]) if chance.random() < share else None
        )
        return len(fake.times), await fake.many(5000)

    _, done = simulated(work())
    assert not [r for r in done if isinstance(r, BaseException)]


def test_a_dead_endpoint_ends_a_run_at_once() -> None:
    async def work() -> tuple[int, float, list[Any]]:
        fake = Fake(limiter(64), lambda n: DOWN, latency=0.01)
        done = await fake.many(10_000)
        return len(fake.times), now() - 1000, done

    calls, seconds, done = simulated(work())
    assert calls < 200
    assert seconds < 2
    assert all(isinstance(r, JudgeUnavailable) for r in done)
    assert "http://host: " in str(done[-1])
    assert "calls in a row failed" in str(done[-1])
    assert "the last: HTTP 500" in str(done[-1])


def test_an_open_circuit_is_probed_by_one_call_and_closes() -> None:
    async def work() -> list[float]:
        fake = Fake(limiter(16, backoff=Backoff(attempts=1)), lambda n: DOWN)
        await fake.many(16)
        fake.times.clear()
        for _ in range(400):
            await asyncio.sleep(0.25)
            await fake.many(3)
        probes = [round(time - 1000) for time in fake.times]
        fake.fault = lambda n: None
        await asyncio.sleep(60)
        assert len([r for r in await fake.many(3) if isinstance(r, float)]) == 1
        assert len([r for r in await fake.many(3) if isinstance(r, float)]) == 3
        return [float(b - a) for a, b in pairwise(probes)]

    gaps = simulated(work())
    assert gaps[:2] == pytest.approx([10, 20], abs=1.5)
    assert gaps[2] == pytest.approx(40, abs=2)


def test_calls_wait_while_an_endpoint_that_has_served_is_away() -> None:
    async def work(back: float) -> tuple[list[Any], int, float]:
        fake = Fake(limiter(16), latency=0.05)
        fake.fault = lambda n: DOWN if 1010 < now() < back else None
        done = await fake.many(10_000)
        return done, len(fake.times), now() - 1000

    done, calls, seconds = simulated(work(1022))
    assert not [r for r in done if isinstance(r, BaseException)]
    assert calls < 10_100
    done, calls, seconds = simulated(work(10_000))
    assert isinstance(done[-1], JudgeUnavailable)
    assert seconds < 10 + 60


def test_an_endpoint_that_is_asked_too_often_is_not_dead() -> None:
    async def work(fault: PassingError) -> list[Any]:
        fake = Fake(limiter(64, backoff=Backoff(attempts=9)))
        fake.fault = lambda n: fault if now() < 1006 else None
        return await fake.many(500)

    for fault in (BUSY_429, PassingError(BUSY_429.error, 2.0, busy=BUSY[429])):
        assert not [r for r in simulated(work(fault)) if isinstance(r, BaseException)]


def test_an_endpoint_that_only_ever_refuses_ends_the_run() -> None:
    async def work() -> float:
        await Fake(limiter(64), lambda n: BUSY_429, latency=0.2).many(10_000)
        return now() - 1000

    assert simulated(work()) < 120


def test_a_cancelled_probe_is_made_up_for() -> None:
    async def work() -> float:
        fake = Fake(limiter(16, backoff=Backoff(attempts=1)), lambda n: DOWN)
        await fake.many(16)
        await asyncio.sleep(6)
        fake.fault = lambda n: None
        probe = asyncio.create_task(fake.run())
        await asyncio.sleep(0.01)
        with pytest.raises(JudgeUnavailable, match="in a row"):
            await fake.run()
        probe.cancel()
        await asyncio.gather(probe, return_exceptions=True)
        return await fake.run()

    assert simulated(work()) > 1006


def test_a_refusal_shows_that_the_endpoint_lives() -> None:
    async def work() -> list[Any]:
        refused = JudgeRejected("HTTP 400")
        fake = Fake(limiter(1, backoff=Backoff(attempts=1)))
        fake.fault = lambda n: refused if n % 9 == 0 else DOWN
        return await fake.many(60)

    assert not [r for r in simulated(work()) if "in a row" in str(r)]


def test_time_outs_are_trouble() -> None:
    async def work() -> Fake:
        late = PassingError(JudgeUnavailable("no answer"), busy=LATE)
        fake = Fake(limiter(4), lambda n: late if n < 4 else None)
        await fake.many(8)
        return fake

    assert simulated(work()).usage.notes == ["slowed down to 2 calls at once after time-outs"]


def test_who_is_late_and_cancelled_is_cancelled() -> None:
    async def work() -> tuple[bool, int]:
        fake = Fake(limiter(deadline=5.0), latency=100.0)
        task = asyncio.create_task(fake.run())
        asyncio.get_running_loop().call_at(1005.0, task.cancel)
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled(), task.cancelling()

    cancelled, _ = simulated(work())
    assert cancelled


def test_a_task_that_was_late_can_go_on() -> None:
    async def work() -> int:
        fake = Fake(limiter(deadline=5.0), latency=100.0)
        with pytest.raises(JudgeUnavailable, match="no answer within 5 s"):
            await fake.run()
        task = asyncio.current_task()
        assert task is not None
        async with asyncio.timeout(1):
            await asyncio.sleep(0.5)
        return task.cancelling()

    assert simulated(work()) == 0
