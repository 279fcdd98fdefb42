"""The rates of one endpoint for all workers together: blocks on loan, and waits for everybody."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from assay.errors import ConfigError
from assay.judges.limits.rates import Bucket

LOAN = 2.0
"""Seconds that a block may be out: a worker uses it within half of them, the rest is delay."""

_BURST = 60


class Pool:
    """Lends requests and tokens, so that all workers keep ``rpm`` and about ``tpm`` a minute.

    Requests in any minute are at most ``rpm``, including those that were lent before it began. A
    wait that one worker hears of is passed on to all. Raises ConfigError for rates not above 0.
    """

    def __init__(
        self,
        rpm: float | None = None,
        tpm: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._requests, self._tokens = _bucket("rpm", rpm, clock()), _bucket("tpm", tpm, clock())
        self._turn = asyncio.Lock()
        self._quiet_until = 0.0
        self._told = 0
        self._news = asyncio.Event()

    async def lease(
        self, requests: float, tokens: float, unused: tuple[float, float] = (0.0, 0.0)
    ) -> tuple[float, float]:
        """Requests and tokens for one worker, once there are any; first come, first served.

        It is as many tokens as are asked for, and from 1 up to as many requests. ``unused`` are
        given back of earlier ones.
        """
        _give_back(self._requests, unused[0])
        _give_back(self._tokens, unused[1])
        async with self._turn:
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            lent = self._most(requests)
            if self._requests is not None:
                self._requests.take(lent)
            if self._tokens is not None:
                self._tokens.take(tokens)
            return lent, tokens

    async def hold(self, seconds: float) -> None:
        """Have all workers wait for so long."""
        until = self._clock() + seconds
        if until > self._quiet_until:
            self._quiet_until = until
            self._told += 1
            self._news.set()
            self._news = asyncio.Event()

    async def news(self, seen: int) -> tuple[int, float]:
        """The number of the last wait, once it is beyond ``seen``, and the seconds left of it."""
        while self._told <= seen:
            await self._news.wait()
        return self._told, max(0.0, self._quiet_until - self._clock())

    def _wait(self, tokens: float) -> float:
        now = self._clock()
        return max(
            self._quiet_until - now,
            self._requests.wait(1.0, now) if self._requests else 0.0,
            self._tokens.wait(tokens, now) if self._tokens else 0.0,
        )

    def _most(self, requests: float) -> float:
        """The most requests up to those asked for that are there, at least 1."""
        lent, now = max(1.0, requests), self._clock()
        while lent > 1 and self._requests is not None and self._requests.wait(lent, now) > 0:
            lent = max(1.0, lent // 2)
        return lent


def _bucket(name: str, rate: float | None, now: float) -> Bucket | None:
    """A full bucket, and what flows in within a minute and a loan, are together the rate."""
    if rate is None:
        return None
    if not 0 < rate < float("inf"):
        raise ConfigError(f"{name} must be above 0, not {rate}")
    capacity = rate / _BURST if name == "tpm" else max(1.0, rate // _BURST)
    last = 1.0 if name == "rpm" else 0.0  # the last one of a minute may be on its way already
    return Bucket(capacity, (rate - capacity + last) / (60 + LOAN), now)


def _give_back(bucket: Bucket | None, count: float) -> None:
    if bucket is not None and count > 0:
        bucket.take(-count)
