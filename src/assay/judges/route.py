"""A judge made of two: one splits texts into claims, the other gives verdicts."""

from __future__ import annotations

from assay.asks import Ask, Extract, Judge, Skill, T, Usage
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

    def can(self, skill: Skill) -> bool:
        judge = self._extract if skill in ("claims", "opinions") else self._entail
        return judge.can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        """The answer of whichever judge is asked; raises ConfigError if it cannot."""
        judge = self._extract if isinstance(ask, Extract) else self._entail
        if lacks := sorted(skill for skill in ask.skills if not judge.can(skill)):
            raise ConfigError(f"judge {judge.name} does not answer {', '.join(lacks)}")
        return await judge.answer(ask)

    async def aclose(self) -> None:
        await self._extract.aclose()
        await self._entail.aclose()
