"""What the fake server answers by default: plain functions of the texts."""

from __future__ import annotations

import re


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


def evades(answer: str) -> bool:
    """Noncommittal if the answer does not know."""
    return "know" in answer


def bag_of_words(text: str) -> list[float]:
    """How often each of some words comes; any other word counts as one and the same."""
    words = re.findall(r"\w+", text.casefold())
    known = ("rain", "snow", "wet", "cold", "falls")
    counts = [float(words.count(word)) for word in known]
    return [*counts, float(len(words)) - sum(counts)]
