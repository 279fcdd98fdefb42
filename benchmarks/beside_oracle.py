"""One judge for both programs: claims are sentences, and words decide.

A text supports a claim if it holds four in five of the claim's words (of four letters or more, and
numbers), and contradicts it if it holds half of them but not its numbers. A criterion is met by the
share of its words in single quotation marks that the text holds, in quarters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal

_WORD = re.compile(r"[^\W\d_]{4,}|\d+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_QUOTED = re.compile(r"(?<!\w)'([^']+)'")
_LEVELS = MappingProxyType({0: "not", 1: "slightly", 2: "partly", 3: "mostly", 4: "fully"})
DIMENSIONS = 64

Relation = Literal["same", "subset", "superset", "different", "disagree"]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each a claim."""
    return [part.strip() for part in _SENTENCE.split(text.strip()) if part.strip()]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def verdict(claim: str, premise: str, question: str | None = None) -> str:
    """entailed, neutral or contradicted."""
    wanted, there = _words(claim), _words(premise)
    held = len(wanted & there)
    if wanted and held >= 0.8 * len(wanted):
        return "entailed"
    numbers = {word for word in wanted if word.isdigit()}
    return "contradicted" if numbers - there and 2 * held >= len(wanted) else "neutral"


def supported(claim: str, premise: str) -> bool:
    """Whether the premise entails the claim."""
    return verdict(claim, premise) == "entailed"


def relation(answer: str, reference: str) -> Relation:
    """How what an answer says lies to what a reference says."""
    right = [verdict(claim, reference) for claim in sentences(answer)]
    told = [verdict(claim, answer) for claim in sentences(reference)]
    if "contradicted" in right + told:
        return "disagree"
    if "neutral" in right:
        return "different" if "neutral" in told else "superset"
    return "subset" if "neutral" in told else "same"


def met(criterion: str, text: str) -> float:
    """How far the text meets a criterion: 0, 1/4, 1/2, 3/4 or 1."""
    named = _QUOTED.findall(criterion)
    held = sum(name.casefold() in text.casefold() for name in named)
    return round(4 * held / len(named)) / 4 if named else 0.0


def level(criterion: str, text: str, reference: str | None = None) -> str:
    """The same, in a word."""
    return _LEVELS[round(4 * met(criterion, text))]


def relevant(trait: str, text: str, question: str | None) -> bool:
    """Whether the text shares a word with the question."""
    return bool(_words(text) & _words(question or ""))


def vector(text: str) -> Sequence[float]:
    """How often words come, by their letters."""
    out = [0.05] * DIMENSIONS
    for word in _words(text):
        out[sum(map(ord, word)) % DIMENSIONS] += 1.0
    return out
