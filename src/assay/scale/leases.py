"""The share of one worker in the rates of all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

from assay.judges.limiting import Limiter
from assay.scale.pool import LOAN

Loan = tuple[float, float]
"""Requests and tokens."""

_USE = LOAN / 2
"""Seconds within which a block is used, or else given back."""
_LOOK = 0.01
"""Seconds until the first in line looks again whether a block has come."""
_AGAIN = 1.0
"""Seconds after which a pool that did not answer is asked again."""
_BLOCKS = 4
"""Blocks a second of the whole rate: few messages, and none has much more than its share."""
_MOST = 50.0


class Lender(Protocol):
    """A `Pool`, or one that is reached in another process."""

    async def lease(self, requests: float, tokens: float, unused: Loan) -> Loan: ...

    async def hold(self, seconds: float) -> None: ...

    async def news(self, seen: int) -> tuple[int, float]: ...


class LeasedRates:
    """Requests and tokens that a pool lends, for the `Limiter` of one worker.

    What is taken beyond a block is a debt that the next one pays.
    """

    def __init__(
        self,
        pool: Lender,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.any = rpm is not None or tpm is not None
        self.counts_tokens = tpm is not None
        self._pool, self._clock = pool, clock
        each = _MOST if rpm is None else rpm / 60 // _BLOCKS
        self._block = min(_MOST, max(1.0, each)), (tpm or 0.0) / 60 / _BLOCKS
        self._requests = self._tokens = 0.0
        self._unused: Loan = (0.0, 0.0)
        self._until = 0.0
        self._asking: asyncio.Task[None] | None = None
        self._telling: set[asyncio.Task[None]] = set()

    def wait(self, tokens: float) -> float:
        """0 if the block covers a request of so many tokens; else a block is on its way."""
        if self._clock() >= self._until:
            self._put_back()
        enough = self._tokens >= tokens or not self.counts_tokens
        if self._requests >= 1 and enough:
            return 0.0
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._ask(tokens))
        return _LOOK

    def take(self, tokens: float, requests: float = 1.0) -> None:
        """Count a request and its tokens; negative numbers give back."""
        self._requests -= requests
        self._tokens -= tokens

    def held(self, seconds: float) -> None:
        """Pass on a wait that the endpoint asks for."""
        telling = asyncio.get_running_loop().create_task(self._tell(seconds))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)

    async def aclose(self) -> None:
        """Ask for no more."""
        tasks = [*self._telling, *([self._asking] if self._asking else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _put_back(self) -> None:
        """Keep debts, and note what is left to be given back."""
        requests, tokens = max(0.0, self._requests), max(0.0, self._tokens)
        self._requests -= requests
        self._tokens -= tokens
        self._unused = self._unused[0] + requests, self._unused[1] + tokens

    async def _ask(self, tokens: float) -> None:
        self._put_back()
        unused, self._unused = self._unused, (0.0, 0.0)
        requests = self._block[0] - self._requests
        tokens = max(tokens, self._block[1]) - self._tokens if self.counts_tokens else 0.0
        try:
            lent = await self._pool.lease(requests, tokens, unused)
        except Exception:  # noqa: BLE001 - the pool is being restarted, or the run is at its end
            await asyncio.sleep(_AGAIN)
            return
        self._requests += lent[0]
        self._tokens += lent[1]
        self._until = self._clock() + _USE

    async def _tell(self, seconds: float) -> None:
        try:
            await self._pool.hold(seconds)
        except Exception:  # noqa: BLE001 - this worker waits anyhow; others will be told the same
            return


class Share:
    """What one worker has of a pool: makes limiters that keep its rates and hear of its waits."""

    def __init__(self, pool: Lender, *, rpm: float | None = None, tpm: float | None = None) -> None:
        self._pool, self._rpm, self._tpm = pool, rpm, tpm
        self._made: list[tuple[Limiter, LeasedRates]] = []
        self._listening: asyncio.Task[None] | None = None

    def limiter(self, **options: Any) -> Limiter:
        """A `Limiter` with these options, and the rates of the pool."""
        rates = LeasedRates(self._pool, rpm=self._rpm, tpm=self._tpm)
        limiter = Limiter(rates=rates, **options)
        self._made.append((limiter, rates))
        return limiter

    def listen(self) -> None:
        """Have the limiters keep every wait that the pool tells of."""
        if self._listening is None and self._made:
            self._listening = asyncio.create_task(self._listen())

    async def aclose(self) -> None:
        """Hear and ask no more."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        for _, rates in self._made:
            await rates.aclose()

    async def _listen(self) -> None:
        seen = 0
        while True:
            try:
                seen, left = await self._pool.news(seen)
            except Exception:  # noqa: BLE001 - a pool that was restarted begins to count anew
                seen = 0
                await asyncio.sleep(_AGAIN)
                continue
            for limiter, _ in self._made:
                limiter.hold(left)
