"""The provider that answers with its prompt, for trying out prompts and assertions."""

from __future__ import annotations

from assay.suite.providers.base import Answer, Request
from assay.suite.providers.messages import as_text


class EchoProvider:
    """Answers with the rendered prompt, at no cost; chat messages as JSON."""

    def __init__(self, label: str | None = None) -> None:
        self.id = "echo"
        self.label = label or self.id

    async def call(self, request: Request) -> Answer:
        """The prompt."""
        text = as_text(request.prompt)
        return Answer(output=text, raw=text, latency_ms=0.0, cost=0.0)

    async def aclose(self) -> None:
        """Nothing is open."""
