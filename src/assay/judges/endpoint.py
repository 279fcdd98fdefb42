"""Completions by one chat model at one endpoint, whatever carries the requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from assay.asks import Usage
from assay.judges.chat import Chat
from assay.judges.complete import Completion, Messages, Schema
from assay.judges.embedding import Embedding


class ChatEndpoint:
    """A `Complete` over ``chat``, whose replies depend on ``parts``.

    ``close`` lets its connections go. Embeddings are asked for through ``beside``, if given.
    """

    def __init__(
        self,
        chat: Chat,
        parts: Mapping[str, Any],
        close: Callable[[], Awaitable[None]],
        *,
        beside: Chat | None = None,
    ) -> None:
        self._chat, self._parts, self._close = chat, parts, close
        self._beside = beside or chat

    @property
    def usage(self) -> Usage:
        """Requests, tokens and retries so far, and what the endpoint refused."""
        return self._chat.usage

    @property
    def parts(self) -> Mapping[str, Any]:
        """What the replies depend on, for a fingerprint; the way they take is no part of it."""
        return self._parts

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        return await self._chat.complete(messages, schema)

    def embedding(self, model: str) -> Embedding:
        """Embeddings by another model at the same endpoint."""
        return Embedding(model, self._beside)

    async def aclose(self) -> None:
        """Let connections and threads go; the next call opens new ones."""
        await self._close()
