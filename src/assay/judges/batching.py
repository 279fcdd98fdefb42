"""Batches of premise-hypothesis pairs, gathered across all samples in work."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

Pair = tuple[str, str]
"""A premise and a hypothesis."""


class PairBatcher:
    """Scores pairs in a worker thread; equal pairs are scored once.

    ``score`` maps a list of pairs to as many numbers, in the worker thread. Pairs that arrive
    while a batch is being scored go into the next, ``batch`` at most; the last ``remember``
    results are kept. One event loop at a time.
    """

    def __init__(
        self,
        score: Callable[[Sequence[Pair]], Sequence[float]],
        *,
        batch: int = 256,
        remember: int = 50_000,
    ) -> None:
        self.scored = 0
        self._score = score
        self._batch = batch
        self._remember = remember
        self._known: OrderedDict[bytes, float] = OrderedDict()
        self._pending: dict[Pair, asyncio.Future[float]] = {}
        self._worker: ThreadPoolExecutor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining: asyncio.Task[None] | None = None

    async def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """One number a pair; raises what ``score`` raised."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._pending, self._draining = loop, {}, None
        out: list[float | asyncio.Future[float]] = []
        for pair in pairs:
            known = self._known.get(_key(pair))
            if known is None and pair not in self._pending:
                self._pending[pair] = loop.create_future()
            out.append(self._pending[pair] if known is None else known)
        if self._pending and (self._draining is None or self._draining.done()):
            self._draining = loop.create_task(self._drain(loop))
        return [value if isinstance(value, float) else await _shared(value) for value in out]

    async def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._pending:
            await asyncio.sleep(0)  # whoever is ready to ask joins this batch
            pairs = list(self._pending)[: self._batch]
            self._worker = self._worker or ThreadPoolExecutor(1, "assay-pairs")
            try:
                scores = await loop.run_in_executor(self._worker, self._score, pairs)
                if len(scores) != len(pairs):
                    raise ValueError(f"{len(scores)} scores for {len(pairs)} pairs")  # noqa: TRY301
            except Exception as error:  # noqa: BLE001 - handed on to everybody who waits
                for pair in pairs:
                    _fail(self._pending.pop(pair), error)
                continue
            self.scored += len(pairs)
            for pair, score in zip(pairs, scores, strict=True):
                self._keep(pair, float(score))
                future = self._pending.pop(pair)
                if not future.done():
                    future.set_result(float(score))

    def _keep(self, pair: Pair, score: float) -> None:
        self._known[_key(pair)] = score
        if len(self._known) > self._remember:
            self._known.popitem(last=False)

    def close(self) -> None:
        """End the worker thread; it comes back when it is needed."""
        if self._worker is not None:
            self._worker.shutdown(wait=True)
            self._worker = None


def _key(pair: Pair) -> bytes:
    # A digest, since the texts of many thousand passages would fill the memory.
    premise, hypothesis = pair
    text = f"{len(premise)} {premise}{hypothesis}".encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


async def _shared(future: asyncio.Future[float]) -> float:
    # Several asks may wait for one pair: one that is cancelled must not cancel it for the others.
    return await asyncio.shield(future)


def _fail(future: asyncio.Future[float], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # seen, also where nobody waits any more
