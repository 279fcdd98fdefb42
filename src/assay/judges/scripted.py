"""A judge that says what it is told to: for tests, docs and dry runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from assay.asks import (
    Ask,
    Embed,
    Entail,
    Extract,
    Grade,
    Label,
    Questions,
    Rate,
    Skill,
    T,
    Trait,
    Usage,
)
from assay.errors import ConfigError
from assay.sample import Claim
from assay.verdicts import Asked, Cell, Grading, Level, Mark, Rating, Truth, Vector, Verdict

Said = Verdict | Cell | str | None
Graded = Grading | Level | None


class ScriptedJudge:
    """Claims and verdicts from a table or a function.

    ``claims`` maps a text to its claims (default: one a sentence). ``verdicts`` maps (claim,
    premise) to a Verdict, a Cell, or one of the letters E, N, C and ?; what a table does not
    hold is NEUTRAL (default: a premise entails the claims that stand in it word for word).
    ``opinions`` maps a text to its opinions, ``labels`` (trait, text) to True, False or None
    (not answered; what a table does not hold is False), and ``coherence`` a summary to its
    rating. ``gradings`` maps (criterion, text), or as a function criterion, text and reference,
    to a Grading, a level or None (not answered; what a table does not hold is "not").
    ``questions`` maps a text to the questions that it answers (default: not answered), and
    ``embeddings`` a text to its vector (default: zeros). ``asked`` keeps every ask, in order.

    >>> import asyncio
    >>> judge = ScriptedJudge(verdicts={("Rain is wet.", "It rains."): "E"})
    >>> asyncio.run(judge.answer(Entail(("Rain is wet.",), ("It rains.",))))[0][0].verdict
    <Verdict.ENTAILED: 'entailed'>
    """

    def __init__(
        self,
        *,
        claims: Mapping[str, Sequence[str]] | Callable[[str], Sequence[str]] | None = None,
        verdicts: Mapping[tuple[str, str], Said] | Callable[[str, str], Said] | None = None,
        opinions: Mapping[str, Sequence[str]] | None = None,
        labels: Mapping[tuple[Trait, str], Truth] | Callable[[Trait, str], Truth] | None = None,
        coherence: Mapping[str, int | None] | None = None,
        gradings: Mapping[tuple[str, str], Graded]
        | Callable[[str, str, str | None], Graded]
        | None = None,
        questions: Mapping[str, Asked] | None = None,
        embeddings: Mapping[str, Sequence[float]] | None = None,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.usage = Usage()
        self.asked: list[Ask[Any]] = []
        self._claims = claims
        self._verdicts = verdicts
        self._opinions = opinions or {}
        self._labels = labels if labels is not None else {}
        self._coherence = coherence or {}
        self._gradings = gradings if gradings is not None else {}
        self._questions = questions or {}
        self._embeddings = embeddings or {}

    @property
    def fingerprint(self) -> str:
        """Identity by name, tables, and the names and code of functions."""
        scripts = (
            self._claims,
            self._verdicts,
            self._opinions,
            self._labels,
            self._coherence,
            self._gradings,
            self._questions,
            self._embeddings,
        )
        parts = [_identity(script) for script in scripts]
        return f"{self.name}:" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def can(self, skill: Skill) -> bool:
        return True

    async def answer(self, ask: Ask[T]) -> T:
        """The scripted answer."""
        self.asked.append(ask)
        self.usage.calls += 1
        if isinstance(ask, Extract):
            return cast("T", tuple(self._extract(ask)))
        if isinstance(ask, Entail):
            return cast(
                "T",
                tuple(tuple(self._cell(c, p) for p in ask.premises) for c in ask.claims),
            )
        if isinstance(ask, Label | Rate | Grade):
            return cast("T", self._judged(ask))
        if isinstance(ask, Questions):
            return cast("T", self._questions.get(ask.text, Asked((), None)))
        if isinstance(ask, Embed):
            return cast("T", tuple(self._vector(text) for text in ask.texts))
        raise ConfigError(f"the scripted judge does not answer {type(ask).__name__}")

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def _judged(self, ask: Label | Rate | Grade) -> object:
        if isinstance(ask, Label):
            return tuple(Mark(self._label(t, text)) for t, text in ask.pairs)
        if isinstance(ask, Rate):
            return Rating(self._coherence.get(ask.text))
        return tuple(self._grading(criterion, ask) for criterion in ask.criteria)

    def _vector(self, text: str) -> Vector:
        width = max(map(len, self._embeddings.values()), default=1)
        return tuple(self._embeddings.get(text, (0.0,) * width))

    def _label(self, trait: Trait, text: str) -> Truth:
        if callable(self._labels):
            return self._labels(trait, text)
        return self._labels.get((trait, text), False)

    def _grading(self, criterion: str, ask: Grade) -> Grading:
        if callable(self._gradings):
            said = self._gradings(criterion, ask.text, ask.reference)
        else:
            said = self._gradings.get((criterion, ask.text), "not")
        return said if isinstance(said, Grading) else Grading(said)

    def _extract(self, ask: Extract) -> list[Claim]:
        text = ask.text
        opinions = self._opinions.get(text, ()) if ask.opinions else ()
        made = [replace(_place(opinion, text), opinion=True) for opinion in opinions]
        if callable(self._claims):
            texts = list(self._claims(text))
        elif self._claims is not None and text in self._claims:
            texts = list(self._claims[text])
        else:
            texts = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text)]
        return [*(_place(claim, text) for claim in texts if claim), *made]

    def _cell(self, claim: str, premise: str) -> Cell:
        if self._verdicts is None:
            said: Said = Verdict.ENTAILED if claim in premise else Verdict.NEUTRAL
        elif callable(self._verdicts):
            said = self._verdicts(claim, premise)
        else:
            said = self._verdicts.get((claim, premise), Verdict.NEUTRAL)
        if isinstance(said, Cell):
            return said
        if said is None:
            return Cell(Verdict.UNKNOWN)
        return Cell(Verdict.letter(said) if len(said) == 1 else Verdict(said))


def _place(claim: str, text: str) -> Claim:
    start = text.find(claim)
    return Claim(claim, start, start + len(claim)) if start >= 0 else Claim(claim)


def _identity(script: object) -> str:
    if callable(script):
        code = getattr(script, "__code__", None)
        body = (code.co_code, code.co_consts, code.co_names) if code else ""
        return f"{getattr(script, '__qualname__', type(script).__qualname__)} {body}"
    return repr(sorted(script.items(), key=repr)) if isinstance(script, Mapping) else "default"
