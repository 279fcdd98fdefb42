"""Batches of premise-hypothesis pairs, gathered across all samples in work."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from assay.errors import JudgeUnusable, MalformedAnswer

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
        """One number a pair; raises what ``score`` raised.

        Raises JudgeUnusable from a second event loop while the first is still running.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._pending and self._loop is not None and self._loop.is_running():
                raise JudgeUnusable(
                    "one judge object cannot serve two event loops at once; give each its own"
                )
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
                scores = await loop.run_in_executor(self._worker, self._checked, pairs)
            except Exception as error:  # noqa: BLE001 - handed on to everybody who waits
                for pair in pairs:
                    _fail(self._pending.pop(pair), error)
                continue
            self.scored += len(pairs)
            for pair, score in zip(pairs, scores, strict=True):
                self._keep(pair, score)
                future = self._pending.pop(pair)
                if not future.done():
                    future.set_result(score)

    def _checked(self, pairs: Sequence[Pair]) -> list[float]:
        """The scores, each a finite number; raises MalformedAnswer."""
        scores = [float(score) for score in self._score(pairs)]
        if len(scores) != len(pairs):
            raise MalformedAnswer(f"the model gave {len(scores)} scores for {len(pairs)} pairs")
        if not all(map(math.isfinite, scores)):
            raise MalformedAnswer("the model gave a score that is no finite number")
        return scores

    def _keep(self, pair: Pair, score: float) -> None:
        self._known[_key(pair)] = score
        if len(self._known) > self._remember:
            self._known.popitem(last=False)

    async def aclose(self) -> None:
        """Give up what nobody has scored yet and end the worker; it comes back when needed."""
        if self._draining is not None and self._loop is asyncio.get_running_loop():
            self._draining.cancel()
            await asyncio.gather(self._draining, return_exceptions=True)
            for future in self._pending.values():
                future.cancel()
            self._pending = {}
        worker, self._worker = self._worker, None
        if worker is not None:
            # The batch in work cannot be stopped; its end is awaited beside the event loop.
            await asyncio.to_thread(worker.shutdown, cancel_futures=True)


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
