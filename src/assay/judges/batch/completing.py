"""Completions through batch files, for whoever asks an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

from assay.asks import Usage
from assay.judges.batch.collecting import BatchCarrier
from assay.judges.batch.following import Following, Polling, Say
from assay.judges.batch.gathering import Gathering
from assay.judges.batch.leaving import BatchReach, going_on
from assay.judges.batch.nonces import RunNonces
from assay.judges.batch.protocol import BatchEndpoint
from assay.judges.batch.state import State
from assay.judges.carrier import OPENAI
from assay.judges.chat import Carrier, Chat
from assay.judges.endpoint import ChatEndpoint
from assay.judges.limiting import Limiter
from assay.judges.retrying import Backoff, PassingError
from assay.judges.terms import Sampling

T = TypeVar("T")
ATTEMPTS = 3
"""How many batches a request may be in until it has an answer."""
WINDOW = "24h"


class BatchComplete(ChatEndpoint):
    """Completions of ``model``, asked for in batch files that ``state``, a folder, keeps track of.

    Requests that arrive together go out together, as ``gathering`` says. The same requests after
    a restart, with the same folder, get the answers of the batches that were submitted before.
    ``on_state`` is told in words what goes on. ``backoff`` is for uploads and downloads. The
    other parameters are those of `OpenAIComplete`. Embeddings are asked for at once.

    Raises ConfigError for options that cannot work.
    """

    def __init__(
        self,
        model: str,
        *,
        state: str | Path,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        key_header: str = "Authorization",
        query: Mapping[str, str] | None = None,
        sampling: Sampling | None = None,
        timeout: float = 60.0,
        gathering: Gathering | None = None,
        polling: Polling | None = None,
        backoff: Backoff | None = None,
        on_state: Say | None = None,
    ) -> None:
        where = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        sampling = sampling or Sampling()
        self._say = on_state or _silent
        self._http = BatchEndpoint(
            where, api_key_env, key_header, query or {}, timeout=timeout, backoff=backoff
        )
        self._state = State(state, self._http.where)
        following = Following(
            self._http, self._state, polling or Polling(), window=WINDOW, say=self._say
        )
        self._carrier = BatchCarrier(
            self._http, self._state, following, gathering or Gathering(), self._note
        )
        newest = self._http.where == OPENAI
        chat = _BatchChat(model, self._carrier, sampling, newest=newest, limiter=_Resubmitting())
        direct = Chat(model, self._http, sampling, limiter=Limiter(16, backoff=backoff))
        direct.usage = chat.usage
        parts = {"model": model, "base_url": self._http.where, "query": dict(query or {})}
        super().__init__(chat, parts | sampling.parts(), self._http.aclose, beside=direct)
        self.nonce = RunNonces(self._state.secret)

    @property
    def reach(self) -> BatchReach:
        """Whether batches can be followed, and how many are open; also once it is closed."""
        now = self._carrier.reach
        return BatchReach(now.silent, now.outage, sum(sent.open for sent in self._state.sent))

    async def cancel(self) -> list[str]:
        """Cancel the batches that are open, and return their ids; what has no answer fails."""
        self._carrier.stop()
        return await _cancel(self._http, self._state, self._say)

    async def aclose(self) -> None:
        """Stop waiting and let go of the folder; open batches go on at the endpoint."""
        await self._carrier.aclose()
        if self._state.is_open and (going := self.reach.batches):
            self._say(going_on(going, self._http.where))
        self._state.close()
        self.nonce.restart()
        await super().aclose()

    def _note(self, text: str) -> None:
        if text not in self.usage.notes:
            self.usage.notes.append(text)
        self._say(text)


async def cancel_batches(
    state: str | Path,
    *,
    api_key_env: str = "OPENAI_API_KEY",
    key_header: str = "Authorization",
    query: Mapping[str, str] | None = None,
    on_state: Say | None = None,
) -> list[str]:
    """The ids of the open batches of a run's folder, which are cancelled at its endpoint.

    Answers that they have brought until then are used when the run goes on. Raises ConfigError
    if the folder holds no run or is in use, and JudgeError.
    """
    if not (Path(state) / "state.jsonl").is_file():
        return []
    run = State(state, None)
    run.open()
    try:
        where = run.endpoint or OPENAI
        http = BatchEndpoint(where, api_key_env, key_header, query or {}, timeout=60.0)
        try:
            return await _cancel(http, run, on_state or _silent)
        finally:
            await http.aclose()
    finally:
        run.close()


async def _cancel(http: BatchEndpoint, state: State, say: Say) -> list[str]:
    ids = [sent.batch_id for sent in state.sent if sent.open]
    for batch_id in ids:
        await http.cancel(batch_id)
        say(f"batch {batch_id}: cancelled")
    return ids


class _BatchChat(Chat):
    """A chat that sends no request ahead to find out what the endpoint accepts.

    In a batch, one request that goes ahead would hold up all others for as long as a batch takes.
    What is refused is sent anew without it, as always; refused lines cost nothing.
    """

    def __init__(
        self, model: str, carrier: Carrier, sampling: Sampling, *, newest: bool, limiter: Limiter
    ) -> None:
        super().__init__(model, carrier, sampling, newest=newest, limiter=limiter)
        self._terms.settled = True


class _Resubmitting(Limiter):
    """No limit on requests at once, since none is sent alone; a failed one goes out again."""

    async def run(
        self, call: Callable[[], Awaitable[T]], *, where: str, usage: Usage, tokens: float = 0.0
    ) -> T:
        """The result of ``call``, tried up to three times; raises the last JudgeError."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await call()
            except PassingError as fault:
                error = fault.error
            usage.retries += attempt < ATTEMPTS
        raise type(error)(f"{error} ({ATTEMPTS} batches)") from None

    def told(self, headers: Mapping[str, str]) -> None:
        """Lines of a file say nothing of limits."""


def _silent(_: str) -> None:
    """Nobody is told."""
