"""A judge made of two: one splits texts into claims, the other gives verdicts."""

from __future__ import annotations

from typing import Any

from assay.asks import Ask, Extract, Judge, T, Usage
from assay.errors import ConfigError


class RoutedJudge:
    """Claims from ``extract``, everything else from ``entail``."""

    def __init__(self, *, extract: Judge, entail: Judge) -> None:
        self._extract = extract
        self._entail = entail

    @property
    def name(self) -> str:
        return f"{self._extract.name}+{self._entail.name}"

    @property
    def fingerprint(self) -> str:
        return f"{self._extract.fingerprint}+{self._entail.fingerprint}"

    @property
    def usage(self) -> Usage:
        """Both, added up."""
        a, b = self._extract.usage, self._entail.usage
        if self._extract is self._entail:
            return a
        return Usage(
            a.calls + b.calls,
            a.prompt_tokens + b.prompt_tokens,
            a.completion_tokens + b.completion_tokens,
            a.retries + b.retries,
            [*a.notes, *b.notes],
        )

    def can(self, kind: type[Ask[Any]]) -> bool:
        return self._for(kind).can(kind)

    async def answer(self, ask: Ask[T]) -> T:
        """The answer of whichever judge is asked; raises ConfigError if it cannot."""
        judge = self._for(type(ask))
        if not judge.can(type(ask)):
            raise ConfigError(f"judge {judge.name} does not answer {type(ask).__name__}")
        return await judge.answer(ask)

    async def aclose(self) -> None:
        await self._extract.aclose()
        await self._entail.aclose()

    def _for(self, kind: type[Ask[Any]]) -> Judge:
        return self._extract if issubclass(kind, Extract) else self._entail
