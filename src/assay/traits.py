"""Needs about traits of claims, opinions and contexts, and about the coherence of a summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assay.asks import Label, Rate, Skill, Trait
from assay.errors import MissingField
from assay.needs import Case, Claims, Need, Opinions, texts_of
from assay.sample import Claim, Sample
from assay.verdicts import Mark, Rating

EMPTY = "the response is empty"
Labelled = Literal["claims", "opinions", "contexts"]
OF: Mapping[Trait, Labelled] = {
    "relevant_statement": "claims",
    "relevant_passage": "contexts",
    "biased": "opinions",
    "toxic": "opinions",
}
"""What each trait is asked of."""


@dataclass(frozen=True, slots=True)
class Labels(Need[tuple[tuple[str, Mark], ...]]):
    """Which of the response's claims or opinions, or of the contexts, have a trait.

    The answer pairs each text with its mark. Traits of claims and opinions that are planned
    together are asked about together.
    """

    trait: Trait

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        if self.trait in QUESTIONED and not (sample.question or "").strip():
            raise MissingField("question")
        if OF[self.trait] == "contexts":
            texts_of(sample, "contexts")
            return ()
        return (Claims("response"),) if OF[self.trait] == "claims" else (Opinions(),)

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({self.trait})

    async def resolve(self, case: Case) -> tuple[tuple[str, Mark], ...]:
        if OF[self.trait] == "contexts":
            return (await case.meet(_Marks((self.trait,))))[self.trait]
        together = {
            need.trait
            for need in case.plan
            if isinstance(need, Labels) and OF[need.trait] != "contexts"
        }
        joint = _Marks(tuple(sorted(together | {self.trait})))
        return (await case.meet(joint))[self.trait]


QUESTIONED: frozenset[Trait] = frozenset({"relevant_statement", "relevant_passage"})
"""Traits that are relative to the question."""


@dataclass(frozen=True, slots=True)
class _Marks(Need[Mapping[Trait, tuple[tuple[str, Mark], ...]]]):
    """The marks of several traits, by one ask."""

    traits: tuple[Trait, ...]

    async def resolve(self, case: Case) -> Mapping[Trait, tuple[tuple[str, Mark], ...]]:
        texts = {trait: await self._texts(case, trait) for trait in self.traits}
        pairs = tuple(
            dict.fromkeys((t, text) for t in self.traits for text in texts[t] if text.strip())
        )
        marks: dict[tuple[Trait, str], Mark] = {}
        if pairs:
            answer = await case.ask(Label(pairs, case.sample.question))
            marks = dict(zip(pairs, answer, strict=True))
        blank = Mark(False, 0.0, "the text is empty")
        return {t: tuple((x, marks.get((t, x), blank)) for x in texts[t]) for t in self.traits}

    async def _texts(self, case: Case, trait: Trait) -> tuple[str, ...]:
        if OF[trait] == "contexts":
            return texts_of(case.sample, "contexts")
        need: Need[tuple[Claim, ...]]
        need = Claims("response") if OF[trait] == "claims" else Opinions()
        return tuple(claim.text for claim in await case.meet(need))


@dataclass(frozen=True, slots=True)
class Coherence(Need[Rating]):
    """How coherent a summary of its source the response is.

    The source is the contexts or, without any, the question: Valor keeps the text that is summed
    up where answers keep their question.
    """

    def parts(self, sample: Sample) -> tuple[Need[Any], ...]:
        texts_of(sample, "response")
        if not (sample.question or "").strip() and not sample.contexts:
            raise MissingField("question", "the text that was summarised")
        return ()

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"coherence"})

    async def resolve(self, case: Case) -> Rating:
        sample = case.sample
        text = sample.response or ""
        if not text.strip():
            return Rating(None, EMPTY)
        contexts = "\n\n".join(context.text for context in sample.contexts or ())
        return await case.ask(Rate(text, contexts.strip() or sample.question or ""))
