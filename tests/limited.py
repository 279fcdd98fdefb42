"""An endpoint behind a limiter, in simulated time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from assay.asks import Usage
from assay.errors import JudgeUnavailable, MalformedAnswer
from assay.judges.limiting import Limiter
from assay.judges.retrying import BUSY, PassingError
from simulated import now

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
