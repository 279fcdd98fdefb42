"""What the fake server answers by default: plain functions of the texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Oracle = Callable[[str, str, str | None], str]
"""Claim, premise and question to "entailed", "neutral" or "contradicted"."""
Splitter = Callable[[str], Sequence[str]]
"""Text to its claims, or to its opinions."""
Labels = Callable[[str, str, str | None], bool]
"""Trait, text and question to whether the text has the trait."""
Rater = Callable[[str, str], int]
"""Summary and source to a rating."""
Grader = Callable[[str, str, str | None], str]
"""Criterion, text and reference to a level."""


def contains(claim: str, premise: str, question: str | None) -> str:
    """Entailed if the premise holds the claim's words as they stand, else neutral."""
    return "entailed" if claim.strip(" .").casefold() in premise.casefold() else "neutral"


def sentences(text: str) -> list[str]:
    """The sentences of the text, each a claim."""
    return [part.strip() for part in re.findall(r"[^.!?。]+[.!?。]*", text) if part.strip()]


def exclamations(text: str) -> list[str]:
    """The sentences that end with an exclamation mark, each an opinion."""
    return [part for part in sentences(text) if part.endswith("!")]


def names_trait(trait: str, text: str, question: str | None) -> bool:
    """Yes if the text holds the name of the trait."""
    return trait in text


def stars(text: str, source: str) -> int:
    """A point a star in the summary."""
    return text.count("*")


def last_word(criterion: str, text: str, reference: str | None) -> str:
    """Fully met if the text holds the criterion's last word, else not."""
    words = re.findall(r"\w+", criterion.casefold())
    return "fully" if words and words[-1] in text.casefold() else "not"


def grades(grader: Grader, data: Mapping[str, Any]) -> list[dict[str, str]]:
    """One grade a criterion, in a reply's form."""
    levels = {
        key: grader(criterion, data["text"], data["reference"])
        for key, criterion in data["criteria"].items()
    }
    return [
        {"criterion": key, "reason": f"by oracle: {level}", "level": level}
        for key, level in levels.items()
    ]


def evades(answer: str) -> bool:
    """Noncommittal if the answer does not know."""
    return "know" in answer


def bag_of_words(text: str) -> list[float]:
    """How often each of some words comes; any other word counts as one and the same."""
    words = re.findall(r"\w+", text.casefold())
    known = ("rain", "snow", "wet", "cold", "falls")
    counts = [float(words.count(word)) for word in known]
    return [*counts, float(len(words)) - sum(counts)]
