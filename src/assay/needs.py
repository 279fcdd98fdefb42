"""Needs: the inputs of a metric about one sample, and how each is met by asking a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol, TypeVar

from assay.asks import Against, Ask, Entail, Extract, Skill
from assay.errors import JudgeError, MissingField
from assay.sample import Claim, Sample
from assay.verdicts import Cell, EntailmentMatrix, Truth, Verdict

T = TypeVar("T")
Of = Literal["response", "reference"]
By = Literal["contexts", "reference", "response"]
AGAINST: Mapping[By, Against] = {
    "contexts": "passage",
    "reference": "reference",
    "response": "response",
}


class Case(Protocol):
    """One sample in work: its plan, and the way to meet a need or ask the judge."""

    @property
    def sample(self) -> Sample: ...

    @property
    def plan(self) -> frozenset[Need[Any]]:
        """All needs that will be met for this sample."""

    def meet(self, need: Need[T]) -> Awaitable[T]:
        """The answer to a need; the same need is met once."""

    async def ask(self, ask: Ask[T]) -> T:
        """The judge's answer to an ask."""


class Need(Generic[T]):
    """An input of a metric; needs are frozen dataclasses, so equal means the same question."""

    __slots__ = ()

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        """The needs that this one leans on; raises MissingField if the sample lacks a field."""
        return ()

    @property
    def skills(self) -> frozenset[Skill]:
        """What a judge must be able to do for this need itself, beside its parts."""
        return frozenset()

    async def resolve(self, case: Case) -> T:
        """The answer, from the judge or from other needs."""
        raise TypeError(f"{type(self).__name__} does not say how it is met")


@dataclass(frozen=True, slots=True)
class Claims(Need[tuple[Claim, ...]]):
    """The claims of the response, or of all references one after the other."""

    of: Of

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        if self._given(sample) is None:
            texts_of(sample, self.of)
        return ()

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"claims"})

    def _given(self, sample: Sample) -> tuple[Claim, ...] | None:
        return sample.response_claims if self.of == "response" else sample.reference_claims

    async def resolve(self, case: Case) -> tuple[Claim, ...]:
        if (given := self._given(case.sample)) is not None:
            return given
        found = await case.meet(_Extraction(self.of))
        return tuple(claim for claim in found if not claim.opinion)


@dataclass(frozen=True, slots=True)
class Opinions(Need[tuple[Claim, ...]]):
    """The opinions that the response utters."""

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        texts_of(sample, "response")
        return ()

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"claims", "opinions"})

    async def resolve(self, case: Case) -> tuple[Claim, ...]:
        found = await case.meet(_Extraction("response"))
        return tuple(claim for claim in found if claim.opinion)


@dataclass(frozen=True, slots=True)
class _Extraction(Need[tuple[Claim, ...]]):
    """What one ask a text finds: claims and, where they are planned, opinions."""

    of: Of

    async def resolve(self, case: Case) -> tuple[Claim, ...]:
        opinions = self.of == "response" and Opinions() in case.plan
        texts = texts_of(case.sample, self.of)
        if len(texts) == 1:  # as nearly always: no task is needed for it
            return await self._extract(case, texts[0], 0, opinions)
        lists = await asyncio.gather(
            *(self._extract(case, text, n, opinions) for n, text in enumerate(texts)),
            return_exceptions=True,  # so that none is still at work when one has failed
        )
        for got in lists:
            if isinstance(got, BaseException):
                raise got
        return tuple(c for got in lists if not isinstance(got, BaseException) for c in got)

    async def _extract(self, case: Case, text: str, n: int, opinions: bool) -> tuple[Claim, ...]:
        if not text.strip():
            return ()
        claims = await case.ask(Extract(text, case.sample.question, opinions))
        if not n and not any(claim.source for claim in claims):
            return claims
        return tuple(replace(claim, source=n) for claim in claims)


@dataclass(frozen=True, slots=True)
class Entails(Need[EntailmentMatrix]):
    """Which claims of one text are entailed by the contexts, the references or the response.

    ``joined``: one premise out of all contexts, so that a claim may lean on several.
    """

    of: Of
    by: By
    joined: bool = False

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        texts_of(sample, self.by)
        return (Claims(self.of),)

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"entail"})

    async def resolve(self, case: Case) -> EntailmentMatrix:
        # All claim lists that will be held against the same premises are asked about together.
        together = {
            need.of
            for need in case.plan
            if isinstance(need, Entails) and (need.by, need.joined) == (self.by, self.joined)
        }
        joint = _Joint(tuple(sorted(together | {self.of})), self.by, self.joined)
        answer = (await case.meet(joint))[self.of]
        if isinstance(answer, JudgeError):
            raise answer
        return answer


@dataclass(frozen=True, slots=True)
class Relevance(Need[tuple[Truth, ...] | None]):
    """Per context: does it entail a claim of a reference? None if the references make no claim.

    With ``labels``, a context that the sample labels keeps its label; where all are labelled no
    judge is asked.
    """

    labels: bool = True

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        texts_of(sample, "contexts")
        return () if self._labelled(sample) else (Entails("reference", by="contexts"),)

    def _labelled(self, sample: Sample) -> bool:
        contexts = sample.contexts or ()
        return self.labels and all(c.relevant is not None for c in contexts)

    async def resolve(self, case: Case) -> tuple[Truth, ...] | None:
        contexts = case.sample.contexts or ()
        labels: list[Truth] = [c.relevant if self.labels else None for c in contexts]
        if self._labelled(case.sample):
            return tuple(labels)
        matrix = await case.meet(Entails("reference", by="contexts"))
        if not matrix.claims:
            return None
        useful = matrix.useful()
        return tuple(u if k is None else k for k, u in zip(labels, useful, strict=True))


@dataclass(frozen=True, slots=True)
class Field(Need[Sample]):
    """The sample itself, once the named field is known to be there."""

    name: Of | By

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        texts_of(sample, self.name)
        return ()

    async def resolve(self, case: Case) -> Sample:
        return case.sample


@dataclass(frozen=True, slots=True)
class _Joint(Need[Mapping[Of, EntailmentMatrix | JudgeError]]):
    """The matrices of several claim lists against the same premises, by one ask."""

    ofs: tuple[Of, ...]
    by: By
    joined: bool

    async def resolve(self, case: Case) -> Mapping[Of, EntailmentMatrix | JudgeError]:
        lists = await asyncio.gather(
            *(case.meet(Claims(of)) for of in self.ofs), return_exceptions=True
        )
        out: dict[Of, EntailmentMatrix | JudgeError] = {}
        known: dict[Of, tuple[Claim, ...]] = {}
        for of, got in zip(self.ofs, lists, strict=True):
            if isinstance(got, JudgeError):
                out[of] = got  # one list that could not be had does not take the others along
            elif isinstance(got, BaseException):
                raise got
            else:
                known[of] = got
        premises = list(texts_of(case.sample, self.by))
        if self.joined and premises:
            premises = ["\n\n".join(premises)]
        rows = await self._rows(case, [c for claims in known.values() for c in claims], premises)
        for of, claims in known.items():
            own, rows = rows[: len(claims)], rows[len(claims) :]
            out[of] = EntailmentMatrix(claims, own, len(premises))
        return out

    async def _rows(
        self, case: Case, claims: list[Claim], premises: list[str]
    ) -> tuple[tuple[Cell, ...], ...]:
        """One row a claim; equal claims are asked about once, blank premises never."""
        texts = list(dict.fromkeys(claim.text for claim in claims))
        asked = [n for n, text in enumerate(premises) if text.strip()]
        cells: tuple[tuple[Cell, ...], ...] = ()
        if texts and asked:
            ask = Entail(
                tuple(texts),
                tuple(premises[n] for n in asked),
                case.sample.question,
                AGAINST[self.by],
            )
            cells = await case.ask(ask)
        blank = Cell(Verdict.NEUTRAL, 0.0, "the premise is empty")
        row_of = {}
        for k, text in enumerate(texts):
            row = [blank] * len(premises)
            for column, n in enumerate(asked):
                row[n] = cells[k][column]
            row_of[text] = tuple(row)
        return tuple(row_of[claim.text] for claim in claims)


def texts_of(sample: Sample, name: Of | By) -> tuple[str, ...]:
    """The texts of a field; raises MissingField."""
    if name == "contexts":
        if sample.contexts is None:
            raise MissingField("contexts")
        return tuple(context.text for context in sample.contexts)
    if name == "reference":
        if not sample.references:
            raise MissingField("references")
        return sample.references
    if sample.response is None:
        raise MissingField("response")
    return (sample.response,)
