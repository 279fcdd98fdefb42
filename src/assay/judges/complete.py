"""The seam to a chat model: messages and a reply schema in, one text out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from assay.asks import Usage

Messages = Sequence[Mapping[str, str]]
"""Mappings with ``role`` ("system" or "user") and ``content``."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A named JSON schema of the reply; the same object for every call of a kind."""

    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of one reply, with its cost in tokens where the endpoint says so."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str = "stop"


class Complete(Protocol):
    """Any coroutine function that answers messages; raises a JudgeError when it cannot.

    The schema is a wish: a model that cannot be bound to it gets the messages alone.
    """

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion: ...


@runtime_checkable
class Endpoint(Protocol):
    """A Complete that counts what it uses and holds connections."""

    @property
    def usage(self) -> Usage: ...

    async def aclose(self) -> None: ...


class Slots:
    """At most ``n`` at once, in whichever event loop is running."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._loop: asyncio.AbstractEventLoop | None = None
        self._semaphore = asyncio.Semaphore(n)

    def __call__(self) -> asyncio.Semaphore:
        """The semaphore of the running loop; that of an earlier loop is forgotten."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._semaphore = loop, asyncio.Semaphore(self._n)
        return self._semaphore
