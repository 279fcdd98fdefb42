"""How large the requests of an ask are, before they are sent and as they turned out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from assay.asks import Ask, Embed, Entail, Extract, Label
from assay.judges.complete import Messages, Schema

Work = Literal[
    "claims", "verdicts", "labels", "rating", "grades", "questions", "embeddings", "pairs"
]
"""What a request asks for; "pairs" are texts that a local model compares."""
WORKS: tuple[Work, ...] = get_args(Work)
BYTES_A_TOKEN = 4
"""UTF-8 bytes of English, and roughly of other languages, that make a token."""

REPLY: Mapping[Work, tuple[float, float, float]] = MappingProxyType(
    {
        "claims": (30, 0, 2.0),
        "verdicts": (30, 50, 0),
        "labels": (30, 45, 0),
        "rating": (70, 0, 0),
        "grades": (30, 50, 0),
        "questions": (80, 0, 0),
        "embeddings": (0, 0, 0),
        "pairs": (0, 0, 0),
    }
)
"""Tokens of a reply until some were seen: in all, a part, and a token of the data.

Claims come with their quotes, so that they repeat their text twice; verdicts, labels and grades
come with a reason.
"""


@dataclass(frozen=True, slots=True)
class CallSize:
    """One request: UTF-8 bytes of its messages and of the data in them, and parts of its reply."""

    work: Work
    prompt: int
    data: int = 0
    parts: int = 0
    count: int = 1
    """Requests of this size, or pairs."""

    @property
    def prompt_tokens(self) -> float:
        """Tokens of the messages, by their bytes."""
        return self.prompt / BYTES_A_TOKEN

    @property
    def reply_tokens(self) -> float:
        """Tokens that a reply of this kind usually has."""
        base, part, repeated = REPLY[self.work]
        return base + part * self.parts + repeated * self.data / BYTES_A_TOKEN


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that was answered: tokens as the endpoint counted them, and seconds."""

    size: CallSize
    prompt_tokens: int
    completion_tokens: int
    seconds: float


Witness = Callable[[Exchange], None]


@runtime_checkable
class Foreseeing(Protocol):
    """A judge that can tell which requests an ask will take."""

    def calls_for(self, ask: Ask[Any]) -> Sequence[CallSize]:
        """The requests for an ask if every reply is whole; nothing is sent."""

    def watched(self, witness: Witness) -> AbstractContextManager[None]:
        """Tell the witness of every exchange, as long as the context lasts."""


def call_size(messages: Messages, schema: Schema | None, parts: int) -> CallSize:
    """The size of one request to a chat model, of the kind that its schema names."""
    sizes = [len(message["content"].encode("utf-8", "replace")) for message in messages]
    return CallSize(_work(schema), sum(sizes), sizes[-1] if sizes else 0, parts)


def embed_size(texts: Sequence[str]) -> CallSize:
    """The size of one request for embeddings."""
    return CallSize("embeddings", sum(len(text.encode("utf-8", "replace")) for text in texts))


def calls_for(judge: object, ask: Ask[Any]) -> Sequence[CallSize]:
    """The requests of an ask, or the pairs that a judge compares that sends none."""
    if isinstance(judge, Foreseeing):
        return judge.calls_for(ask)
    if isinstance(ask, Extract):
        return ()
    if isinstance(ask, Entail):
        n = len(ask.claims) * len(ask.premises)
    elif isinstance(ask, Label):
        n = len(ask.pairs)
    else:
        n = len(ask.texts) if isinstance(ask, Embed) else 1
    return (CallSize("pairs", 0, count=n),) if n else ()


def _work(schema: Schema | None) -> Work:
    """The kind of a schema by the list it names first; opinions come with claims."""
    name = schema.name if schema else ""
    if name.startswith("opinions"):
        return "claims"
    return next((work for work in WORKS if name.startswith(work)), "claims")
