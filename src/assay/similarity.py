"""Needs about embeddings: of the response and references, of the question and those answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.asks import Embed, Questions, Skill
from assay.errors import MalformedAnswer, MissingField
from assay.needs import Case, Need, texts_of
from assay.sample import Sample
from assay.verdicts import Asked, Vector


@dataclass(frozen=True, slots=True)
class ReferenceVectors(Need[tuple[Vector, ...]]):
    """The vector of the response, then one a reference; that of a blank text is empty."""

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        texts_of(sample, "response")
        texts_of(sample, "reference")
        return ()

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"embed"})

    async def resolve(self, case: Case) -> tuple[Vector, ...]:
        return await _embedded(case, texts_of(case.sample, "response")[0], case.sample.references)


@dataclass(frozen=True, slots=True)
class AnsweredQuestions(Need[Asked | None]):
    """Up to ``n`` questions that the response answers; None if it is blank."""

    n: int = 3

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        texts_of(sample, "response")
        return ()

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"questions"})

    async def resolve(self, case: Case) -> Asked | None:
        (text,) = texts_of(case.sample, "response")
        if not text.strip():
            return None
        asked: Asked = await case.ask(Questions(text, self.n))
        return asked


@dataclass(frozen=True, slots=True)
class QuestionVectors(Need[tuple[Vector, ...]]):
    """The vector of the question, then one a question that the response answers.

    Empty where the response is blank or not known to commit itself: nothing is compared then.
    """

    n: int = 3

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        if not (sample.question or "").strip():
            raise MissingField("question")
        return (AnsweredQuestions(self.n),)

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"embed"})

    async def resolve(self, case: Case) -> tuple[Vector, ...]:
        asked = await case.meet(AnsweredQuestions(self.n))
        if asked is None or asked.noncommittal is not False:
            return ()
        return await _embedded(case, case.sample.question or "", asked.questions)


async def _embedded(case: Case, text: str, others: Sequence[str] | None) -> tuple[Vector, ...]:
    """One vector a text, by one ask in which each text comes once and blank ones never.

    Nothing is asked unless there is something to compare: all are empty then.
    """
    every = (text, *(others or ()))
    if not text.strip() or not any(other.strip() for other in every[1:]):
        return ((),) * len(every)
    texts = tuple(dict.fromkeys(one for one in every if one.strip()))
    vectors = await case.ask(Embed(texts))
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1:
        raise MalformedAnswer("the judge's embeddings do not fit the texts or each other")
    known = dict(zip(texts, vectors, strict=True))
    return tuple(known.get(one, ()) for one in every)
