"""The limiter in simulated time: deadlines, time-outs, budgets of repeats, circuits."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise
from typing import Any

import pytest

from assay.errors import JudgeRejected, JudgeUnavailable, MalformedAnswer
from assay.judges.retrying import BUSY, LATE, Backoff, PassingError
from limited import BUSY_429, DOWN, GARBLED, Fake, limiter
from simulated import now, simulated

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


@pytest.mark.parametrize(
    ("faults", "calls"),
    [
        ([BUSY_429] * 4 + [DOWN], 6),
        ([BUSY_429, DOWN, BUSY_429, BUSY_429], 5),
        ([BUSY_429] * 7, 8),
        ([BUSY_429] * 8, None),
        ([BUSY_429, DOWN, BUSY_429, DOWN], None),
        ([DOWN] * 2, None),
    ],
)
def test_a_rate_limit_takes_no_attempt_from_other_faults(
    faults: list[PassingError], calls: int | None
) -> None:
    async def work() -> int | None:
        given = iter(faults)
        fake = Fake(limiter(backoff=Backoff(attempts=2)), lambda n: next(given, None))
        (done,) = await fake.many(1)
        if isinstance(done, BaseException):
            assert len(fake.times) == len(faults)
            assert f"({len(faults)} attempts)" in str(done)
            return None
        return len(fake.times)

    assert simulated(work()) == calls


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
