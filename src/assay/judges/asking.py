"""Calls to a chat model, counted, and what replies leave out asked for again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from assay.asks import Usage
from assay.errors import ConfigError, JudgeError, JudgeUnusable
from assay.judges.complete import Complete, Completion, Endpoint, Messages, Schema
from assay.judges.replies import UnreadableError
from assay.judges.sizing import Exchange, Witness, call_size

REASKS = 3
"""How often what is missing is asked for again. Where one reply in twenty cannot be read, one more
call would leave a part in four hundred without an answer; three leave one in 160,000."""
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass
class Tally:
    """How a judge's replies were read so far."""

    replies: int = 0
    complete: int = 0
    """Replies that had all that was asked for."""
    reasked: int = 0
    """Replies after which something was asked for again."""
    invalid: int = 0
    """Parts of replies that were passed over: unknown ids, no verdicts, contradictions."""
    unanswered: int = 0
    """Verdicts, labels and ratings that stayed unknown."""


@dataclass(frozen=True, slots=True)
class Read(Generic[K, V]):
    """What one reply holds of the parts that were asked for; ``why`` others are missing."""

    found: Mapping[K, V]
    why: str
    invalid: int = 0


@dataclass(frozen=True, slots=True)
class Call(Generic[K, V]):
    """One request for a number of parts; ``read`` may raise UnreadableError."""

    messages: Messages
    schema: Schema
    asked: int
    read: Callable[[str], Read[K, V]]


@dataclass
class Job(Generic[K, V]):
    """The parts that one call is to bring, and what came of it."""

    wanted: Sequence[K]
    found: dict[K, V] = field(default_factory=dict)
    error: JudgeError | None = None
    why: str = ""

    def missing(self) -> list[K]:
        """The parts that no reply has brought so far, in order."""
        return [key for key in self.wanted if key not in self.found]


Compose = Callable[[Sequence[K]], Call[K, V]]
"""From the parts that are missing to the call that asks for them."""


class Asking:
    """The way to the model behind ``complete``, with its counters."""

    def __init__(self, complete: Complete, reasks: int = REASKS) -> None:
        if reasks < 0:
            raise ConfigError(f"reasks must be at least 0, not {reasks}")
        self._complete = complete
        self._reasks = reasks
        self._endpoint = complete if isinstance(complete, Endpoint) else None
        self.usage = self._endpoint.usage if self._endpoint else Usage()
        self.tally = Tally()
        self.witness: Witness | None = None
        """Told of every reply."""

    async def settle(self, job: Job[K, V], compose: Compose[K, V]) -> None:
        """Fill the job, by further calls where the first leaves parts out.

        An endpoint that does not answer is the job's ``error``. Raises JudgeUnusable.
        """
        for left in reversed(range(self._reasks + 1)):
            call = compose(job.missing())
            try:
                done = await self._send(call)
            except JudgeUnusable:
                raise
            except JudgeError as error:
                job.error, job.why = error, str(error)
                return
            self._take(job, call, done.text)
            if not job.missing():
                return
            self.tally.reasked += left > 0

    async def settle_all(
        self, jobs: Sequence[Job[K, V]], compose: Compose[K, V]
    ) -> tuple[dict[K, V], dict[K, str]]:
        """What all jobs found, and why the rest is missing; raises a JudgeError if none found any.

        Parts that stay missing because replies could not be read are no error.
        """
        await _all([self.settle(job, compose) for job in jobs])
        found = {key: value for job in jobs for key, value in job.found.items()}
        error = next((job.error for job in jobs if job.error), None)
        if error is not None and not found:
            raise error
        missing = {key: job.why for job in jobs for key in job.missing()}
        self.tally.unanswered += len(missing)
        return found, missing

    async def aclose(self) -> None:
        """Let go of the endpoint's connections."""
        if self._endpoint is not None:
            await self._endpoint.aclose()

    def _take(self, job: Job[K, V], call: Call[K, V], text: str) -> None:
        try:
            read = call.read(text)
        except UnreadableError as error:
            read = Read({}, str(error))
        job.why = read.why
        self.tally.invalid += read.invalid
        self.tally.complete += len(read.found) == call.asked
        for key, value in read.found.items():
            job.found.setdefault(key, value)

    async def _send(self, call: Call[K, V]) -> Completion:
        started = time.perf_counter()
        done = await self._complete(call.messages, call.schema)
        self.tally.replies += 1
        if self.witness is not None:
            size = call_size(call.messages, call.schema, call.asked)
            seconds = time.perf_counter() - started
            used = done.prompt_tokens, done.completion_tokens
            self.witness(Exchange(size, *used, seconds))
        if self._endpoint is None:
            self.usage.calls += 1
            self.usage.prompt_tokens += done.prompt_tokens
            self.usage.completion_tokens += done.completion_tokens
        return done


async def _all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Do all of it at once; the first failure ends the rest and is raised as it is."""
    if len(work) == 1:
        return await work[0]
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
