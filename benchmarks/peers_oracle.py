"""The oracle that answers for the judge, so that scores are exact and the same for everybody.

Claims are sentences. A text supports a claim if it holds four in five of the claim's content words
(four letters or more, or a number); it contradicts the claim if it holds half of them but not four
in five. A text is relevant to a question if they share a content word other than those that all
questions have.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

REASON = "Decided by the words that it shares with the text."
_WORD = re.compile(r"[A-Za-z]{4,}|\d+")
_END = re.compile(r"(?<=[.!?])\s+")
_SAID_BY_ALL = frozenset({"about", "founder", "institute", "known", "know", "what"})


@lru_cache(maxsize=65536)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, each a claim."""
    return tuple(part.strip() for part in _END.split(text) if part.strip())


@lru_cache(maxsize=65536)
def content_words(text: str) -> frozenset[str]:
    """The words of four letters or more and the numbers, without regard to case."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def verdict(claim: str, premise: str) -> str:
    """entailed, neutral or contradicted."""
    wanted = content_words(claim)
    held = len(wanted & content_words(premise))
    if wanted and held >= 0.8 * len(wanted):
        return "entailed"
    return "contradicted" if wanted and held >= 0.5 * len(wanted) else "neutral"


def relevant(text: str, question: str | None) -> bool:
    """Whether the text shares a word of sense with the question."""
    return bool(content_words(text) & content_words(question or "") - _SAID_BY_ALL)


def claims(text: str) -> list[dict[str, str]]:
    """The list of claims, as a reply has it."""
    return [{"quote": sentence, "claim": sentence} for sentence in sentences(text)]


def verdicts(data: dict[str, Any]) -> list[dict[str, str]]:
    """The list of verdicts on every claim by every premise."""
    if "premises" not in data:
        return [_item(key, claim, data["premise"]) for key, claim in data["claims"].items()]
    return [
        {"premise": number, **_item(key, claim, premise)}
        for key, claim in data["claims"].items()
        for number, premise in data["premises"].items()
    ]


def _item(key: str, claim: str, premise: str) -> dict[str, str]:
    said = verdict(claim, premise)
    quote = "" if said == "neutral" else _quote(claim, premise)
    return {"claim": key, "quote": quote, "reason": REASON, "verdict": said}


def _quote(claim: str, premise: str) -> str:
    """The claim where it stands in the premise, else the sentence that shares most with it."""
    if claim in premise:
        return claim
    wanted = content_words(claim)
    return max(sentences(premise), key=lambda part: len(wanted & content_words(part)))


def labels(data: dict[str, Any]) -> list[dict[str, str]]:
    """The list of labels of every text by each of its traits; only relevance is ever said."""
    return [
        {"text": key, "trait": trait, "reason": REASON, "label": _label(trait, item, data)}
        for key, item in data["texts"].items()
        for trait in item["traits"]
    ]


def _label(trait: str, item: dict[str, Any], data: dict[str, Any]) -> str:
    told = trait.startswith("relevant") and relevant(item["text"], data["question"])
    return "yes" if told else "no"
