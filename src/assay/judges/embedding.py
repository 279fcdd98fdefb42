"""Embeddings of texts by an OpenAI-compatible endpoint, read strictly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from assay.errors import JudgeUnusable
from assay.judges.chat import Chat
from assay.judges.prompting import paired
from assay.verdicts import Vector


class Embedding:
    """Vectors by ``model``, from the endpoint of ``chat`` and on its account."""

    def __init__(self, model: str, chat: Chat) -> None:
        self.model = model
        self._chat = chat

    async def vectors(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """One vector a text, in order, all of one length, by one request; raises a JudgeError."""
        if not texts:
            return ()
        body = {
            "model": self.model,
            "input": [paired(text) for text in texts],
            "encoding_format": "float",
        }
        try:
            return await self._chat.fetch(
                "/embeddings", body, lambda d: read_vectors(d, len(texts))
            )
        except JudgeUnusable as error:
            raise JudgeUnusable(f"{error} (embedding_model={self.model!r})") from None


def read_vectors(data: Any, n: int) -> tuple[Vector, ...]:
    """The ``n`` vectors of a reply, by index and never by position.

    Raises ValueError unless each index from 0 comes once, with finite numbers, as many in each.
    """
    items = data.get("data") if isinstance(data, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValueError("the reply has no list of embeddings")
    if len(items) != n:
        raise ValueError(f"the reply has {len(items)} embeddings for {n} texts")
    found = {_index(item.get("index")): _vector(item.get("embedding")) for item in items}
    if set(found) != set(range(n)):
        raise ValueError("the indices of the embeddings are not those of the texts")
    if len({len(vector) for vector in found.values()}) > 1:
        raise ValueError("the embeddings differ in length")
    return tuple(found[k] for k in range(n))


def _index(value: object) -> int:
    # True is an int in Python, but no index.
    return value if type(value) is int else -1


def _vector(values: object) -> Vector:
    if (
        not isinstance(values, list)
        or not values
        or any(type(v) not in (int, float) for v in values)
    ):
        raise ValueError("an embedding is no list of numbers")
    try:
        vector = tuple(map(float, values))
    except OverflowError:
        vector = (math.inf,)
    if not all(map(math.isfinite, vector)):
        raise ValueError("an embedding has a number that is not finite")
    return vector
