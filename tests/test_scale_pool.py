"""One rate for many workers: blocks on loan, and waits that all keep."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from itertools import pairwise

import pytest

from assay.asks import Usage
from assay.errors import ConfigError, JudgeUnavailable
from assay.judges.limiting import Limiter
from assay.judges.retrying import LIMITED, PassingError
from assay.scale.leases import Share
from assay.scale.pool import Pool
from simulated import now, simulated


async def calls(
    share: Share, times: list[float], count: int, *, tokens: float = 0.0, seconds: float = 0.0
) -> None:
    """So many calls through a limiter of the share, all wanted at once."""
    limiter = share.limiter(clock=now, deadline=None, adaptive_timeout=False)

    async def call() -> None:
        times.append(now())
        await asyncio.sleep(seconds)

    usage = Usage()
    work = [limiter.run(call, where="x", usage=usage, tokens=tokens) for _ in range(count)]
    try:
        await asyncio.gather(*work)
    finally:
        await share.aclose()


def most_in(times: list[float], seconds: float) -> int:
    times = sorted(times)
    return max(bisect_left(times, t + seconds) - n for n, t in enumerate(times))


@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("rpm", [6, 60, 600, 3000])
def test_all_workers_together_keep_the_requests_of_any_minute(rpm: int, workers: int) -> None:
    times: list[float] = []
    each = 3 * rpm // workers

    async def work() -> None:
        pool = Pool(rpm, clock=now)
        shares = [Share(pool, rpm=rpm) for _ in range(workers)]
        await asyncio.gather(*(calls(share, times, each) for share in shares))

    simulated(work())
    assert len(times) == each * workers
    assert most_in(times, 60) <= rpm
    # And not much less: three minutes' worth takes about three minutes.
    assert times[-1] - times[0] < 3.3 * 60


def test_tokens_are_shared_too() -> None:
    times: list[float] = []

    async def work() -> None:
        pool = Pool(tpm=6000, clock=now)
        shares = [Share(pool, tpm=6000) for _ in range(2)]
        await asyncio.gather(*(calls(share, times, 60, tokens=100) for share in shares))

    simulated(work())
    assert most_in(times, 60) <= 61
    assert times[-1] - times[0] < 2.3 * 60


def test_a_call_of_more_tokens_than_there_ever_are_goes_out_and_is_paid_for() -> None:
    times: list[float] = []

    async def work() -> None:
        await calls(Share(Pool(tpm=600, clock=now), tpm=600), times, 3, tokens=600)

    simulated(work())
    assert all(later - before > 55 for before, later in pairwise(times))


def test_what_is_not_used_is_given_back() -> None:
    times: list[float] = []

    async def work() -> None:
        pool = Pool(600, clock=now)
        one, other = Share(pool, rpm=600), Share(pool, rpm=600)
        limiter = one.limiter(clock=now)

        async def call() -> None:
            times.append(now())

        for _ in range(5):  # each gets a block of 2 or 3 and uses 1 of it
            await limiter.run(call, where="x", usage=Usage())
            await asyncio.sleep(5)
        await calls(other, times, 100)
        await one.aclose()

    simulated(work())
    assert times[-1] - times[4] < 5 + 10


def test_a_wait_that_one_hears_of_is_kept_by_all() -> None:
    times: list[tuple[str, float]] = []

    async def work() -> None:
        pool = Pool(clock=now)
        shares = [Share(pool) for _ in range(3)]
        limiters = [share.limiter(clock=now) for share in shares]
        for share in shares:
            share.listen()
        usage = Usage()

        async def call(name: str) -> None:
            times.append((name, now()))
            if name == "first" and len(times) == 1:
                raise PassingError(JudgeUnavailable("429"), 20.0, busy=LIMITED)

        first = asyncio.create_task(limiters[0].run(lambda: call("first"), where="x", usage=usage))
        await asyncio.sleep(0.01)
        others = [one.run(lambda: call("other"), where="x", usage=usage) for one in limiters[1:]]
        await asyncio.gather(first, *others)
        for share in shares:
            await share.aclose()

    simulated(work())
    began = times[0][1]
    assert len(times) == 4
    assert all(20 <= at - began < 22 for _, at in times[1:])


def test_a_pool_that_fails_is_asked_again() -> None:
    class Failing(Pool):
        left = 2

        async def lease(
            self, requests: float, tokens: float, unused: tuple[float, float] = (0.0, 0.0)
        ) -> tuple[float, float]:
            if self.left:
                self.left -= 1
                raise ConnectionError
            return await super().lease(requests, tokens, unused)

        async def news(self, seen: int) -> tuple[int, float]:
            if self.left:
                raise ConnectionError
            return await super().news(seen)

        async def hold(self, seconds: float) -> None:
            raise ConnectionError

    times: list[float] = []

    async def work() -> None:
        share = Share(Failing(60, clock=now), rpm=60)
        limiter = share.limiter(clock=now)
        share.listen()
        limiter.told({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "3s"})
        await calls(share, times, 1)

    simulated(work())
    assert 2 <= times[0] - 1000 < 2.1


@pytest.mark.parametrize(("rpm", "tpm"), [(0, None), (None, -1), (float("inf"), 1)])
def test_rates_that_cannot_work_are_refused(rpm: float | None, tpm: float | None) -> None:
    with pytest.raises(ConfigError, match="must be above 0"):
        Pool(rpm, tpm)


def test_a_limiter_holds_for_what_it_is_told_and_no_longer_than_its_patience() -> None:
    async def work() -> float:
        limiter = Limiter(clock=now)
        limiter.hold(7.0)
        limiter.hold(3.0)
        limiter.hold(10_000.0)
        before = now()

        async def call() -> float:
            return now() - before

        return await limiter.run(call, where="x", usage=Usage())

    assert 7 <= simulated(work()) < 8
