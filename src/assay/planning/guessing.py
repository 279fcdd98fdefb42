"""Answers that a judge might give: no content, but about as many parts and as long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.asks import Ask, Embed, Entail, Extract, Grade, Label, Questions, Rate
from assay.errors import ConfigError
from assay.sample import Claim
from assay.text import sentences
from assay.verdicts import Asked, Cell, Grading, Mark, Rating, Verdict

_CELL = Cell(Verdict.NEUTRAL)


@dataclass(frozen=True, slots=True)
class Rates:
    """Claims and opinions that a judge finds in a sentence."""

    claims: float = 1.5
    opinions: float = 0.1


def guess(ask: Ask[Any], rates: Rates) -> Any:
    """An answer of the right shape; raises ConfigError for an ask of a kind that is not known."""
    if isinstance(ask, Entail):
        return ((_CELL,) * len(ask.premises),) * len(ask.claims)
    if isinstance(ask, Label | Grade | Embed):
        return _one_each(ask)
    if isinstance(ask, Extract):
        return _claims(ask, rates)
    if isinstance(ask, Questions):
        return Asked(tuple(f"{ask.text[:60]} {k}?" for k in range(ask.n)), False)
    if isinstance(ask, Rate):
        return Rating(3)
    raise ConfigError(f"what {type(ask).__name__} takes cannot be foreseen")


def _one_each(ask: Label | Grade | Embed) -> Any:
    if isinstance(ask, Label):
        return (Mark(False),) * len(ask.pairs)
    if isinstance(ask, Grade):
        return (Grading("partly"),) * len(ask.criteria)
    return ((0.0,),) * len(ask.texts)


def decides(ask: Ask[Any]) -> bool:
    """Whether later asks depend on the answer: how many claims, which questions."""
    return isinstance(ask, Extract | Questions)


def sentence_count(text: str) -> int:
    """The number of sentences; at least 1 if there is any text."""
    return max(len(sentences(text)), 1) if text.strip() else 0


def _claims(ask: Extract, rates: Rates) -> tuple[Claim, ...]:
    spans = sentences(ask.text) or [(0, len(ask.text))]
    found = [ask.text[a:b] for a, b in spans]
    claims = _repeated(found, max(rates.claims > 0, round(rates.claims * len(found))))
    opinions = round(rates.opinions * len(found)) if ask.opinions else 0
    return (
        *(Claim(text) for text in claims),
        *(Claim(text, opinion=True) for text in _repeated(found, opinions)),
    )


def _repeated(texts: list[str], n: int) -> list[str]:
    """So many texts, from the given ones in turn; equal ones are told apart by a number."""
    return [texts[k % len(texts)] + f" ({k // len(texts)})" * (k >= len(texts)) for k in range(n)]
