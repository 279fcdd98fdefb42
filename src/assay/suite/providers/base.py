"""What a provider is: something that answers prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One rendered prompt with the variables it was made of.

    ``prompt`` is a text or a list of chat messages. ``test`` and ``repeat`` count from 0: a
    provider that replays answers finds them by ``test``.
    """

    prompt: str | Sequence[Message]
    vars: Mapping[str, Any] = field(default_factory=dict)
    test: int = 0
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider answered, or the ``error`` that came instead.

    ``output`` is a text, or JSON-able data. ``raw`` is the provider's whole reply as JSON-able
    data, for transforms. ``contexts`` are the passages that the provider says it retrieved, or
    ``contexts_error`` is why they could not be found in its reply.
    ``latency_ms`` is None for an answer that was not made now; ``cost`` is in US dollars.
    """

    output: Any = None
    error: str | None = None
    raw: Any = None
    contexts: Any = None
    contexts_error: str | None = None
    latency_ms: float | None = None
    cost: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 0
    cached: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The output as text: a text as it is, data as compact JSON, nothing as ""."""
        if self.output is None:
            return ""
        return self.output if isinstance(self.output, str) else _json(self.output)


def _json(data: Any) -> str:
    """Data as JavaScript writes it, which is what assertions on its text expect.

    >>> _json({"a": [1.0, 2.5], "b": "é"})
    '{"a":[1,2.5],"b":"é"}'
    """
    return json.dumps(_whole(data), ensure_ascii=False, default=str, separators=(",", ":"))


def _whole(data: Any) -> Any:
    """Data in which whole numbers have no decimals."""
    if isinstance(data, float) and data.is_integer() and abs(data) < 1e21:
        return int(data)
    if isinstance(data, Mapping):
        return {key: _whole(value) for key, value in data.items()}
    return [_whole(value) for value in data] if isinstance(data, list) else data


class Provider(Protocol):
    """Something that answers prompts.

    ``call`` gives troubles of the endpoint or program as an Answer with ``error``; it raises only
    ConfigError, for what can never work.
    """

    @property
    def id(self) -> str:
        """What it is, e.g. "openai:chat:gpt-4o-mini"."""

    @property
    def label(self) -> str:
        """What people call it; the id unless they named it."""

    async def call(self, request: Request) -> Answer:
        """The answer to one prompt."""

    async def aclose(self) -> None:
        """Let go of connections and processes; the provider may be used again later."""
