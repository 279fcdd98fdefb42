"""A judge made of two: one splits texts into claims, the other gives verdicts."""

from __future__ import annotations

from assay.asks import Ask, Extract, Grade, Judge, Skill, T, Usage
from assay.errors import ConfigError
from assay.judges.reaching import Reach, reach_of


class RoutedJudge:
    """Claims from ``extract``, everything else from ``entail``.

    Grades by criteria come from ``extract`` where ``entail`` gives none: of a chat model and a
    classifier only the chat model can.
    """

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
        if self._extract is self._entail:
            return self._extract.usage
        return self._extract.usage.plus(self._entail.usage)

    @property
    def reach(self) -> Reach:
        """Both; an outage of either is one of the whole."""
        return reach_of(self._extract) | reach_of(self._entail)

    def can(self, skill: Skill) -> bool:
        return self._side(skill).can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        """The answer of whichever judge is asked; raises ConfigError if it cannot."""
        judge = self._extract if isinstance(ask, Extract) else self._entail
        if isinstance(ask, Grade):
            judge = self._side("criteria")
        if lacks := sorted(skill for skill in ask.skills if not judge.can(skill)):
            raise ConfigError(f"judge {judge.name} does not answer {', '.join(lacks)}")
        return await judge.answer(ask)

    def _side(self, skill: Skill) -> Judge:
        extracts = skill in ("claims", "opinions")
        if skill == "criteria":
            extracts = not self._entail.can(skill)
        return self._extract if extracts else self._entail

    async def aclose(self) -> None:
        await self._extract.aclose()
        await self._entail.aclose()
