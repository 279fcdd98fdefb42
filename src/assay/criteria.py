"""Needs about criteria of the user's own: how far the response meets them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.asks import Grade, Skill
from assay.errors import ConfigError
from assay.needs import Case, Need, texts_of
from assay.sample import Sample
from assay.verdicts import Grading


@dataclass(frozen=True, slots=True)
class Graded(Need[tuple[Grading, ...]]):
    """How far the response meets a criterion: one grading or, with ``reference``, one a reference.

    Empty where there is nothing to grade, or no reference but blank ones. Criteria that are
    planned together are asked about together.
    """

    criterion: str
    reference: bool = False

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        """None; raises ConfigError for a blank criterion, and MissingField."""
        if not self.criterion.strip():
            raise ConfigError("there is no criterion to grade by; write rubric(criterion=TEXT)")
        texts_of(sample, "response")
        if self.reference:
            texts_of(sample, "reference")
        return ()

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"criteria"})

    async def resolve(self, case: Case) -> tuple[Grading, ...]:
        together = {
            need.criterion
            for need in case.plan
            if isinstance(need, Graded) and need.reference == self.reference
        }
        joint = _Gradings(tuple(sorted(together | {self.criterion})), self.reference)
        return (await case.meet(joint))[self.criterion]


@dataclass(frozen=True, slots=True)
class _Gradings(Need[Mapping[str, tuple[Grading, ...]]]):
    """The gradings by several criteria, by one ask or, with ``reference``, one a reference."""

    criteria: tuple[str, ...]
    reference: bool

    async def resolve(self, case: Case) -> Mapping[str, tuple[Grading, ...]]:
        (text,) = texts_of(case.sample, "response")
        references: list[str | None] = [None]
        if self.reference:
            known = dict.fromkeys(texts_of(case.sample, "reference"))
            references = [reference for reference in known if reference.strip()]
        if not text.strip():
            references = []
        answers = await asyncio.gather(
            *(
                case.ask(Grade(self.criteria, text, case.sample.question, reference))
                for reference in references
            ),
            return_exceptions=True,  # so that none is still at work when one has failed
        )
        columns: list[tuple[Grading, ...]] = []
        for got in answers:
            if isinstance(got, BaseException):
                raise got
            columns.append(got)
        return {
            criterion: tuple(gradings[k] for gradings in columns)
            for k, criterion in enumerate(self.criteria)
        }
