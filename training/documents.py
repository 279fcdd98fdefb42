"""Rows made from documents: a sentence's claim kept, made false, or parted from its evidence.

Names are told by capitals and roughly typed by the words beside them, so that "born in Ulm"
becomes "born in Bern" rather than "born in Marie Curie"; no parser is needed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from assay.judges.split import split_claims
from assay.text import content_words
from pools import Row, sentences_of

DOCUMENT_WORDS = 320
PER_DOCUMENT = 4
BANK = 3000
_CAPITAL = "A-ZÀ-ÖØ-Þ"
_NAME = re.compile(
    rf"(?<!\w)[{_CAPITAL}][\w&’'-]*(?:\s+(?:(?:of|de|van|von)\s+(?:the\s+)?)?[{_CAPITAL}][\w&’'-]*)*"
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?![\w,]\d|\w)")
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|could|would|should|did|does|do)\b"
)
_BEGINS = re.compile(r"(?:^|[.!?:\"“”‘'(])\s*$")
_BEFORE = re.compile(r"(\w+)\s+$")
_PLACE = frozenset(["in", "at", "near", "from", "to", "into", "outside"])
_PEOPLE = re.compile(r"(?:an|ish|ese|ic|ch|ek|ss)$")
_MONTH = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)$"
)
_DAY = re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day$")


@dataclass(frozen=True, slots=True)
class Spot:
    """A name or number in a text that another of its kind could take the place of."""

    kind: str
    text: str
    start: int


@dataclass
class Bank:
    """Names and numbers by kind, each once, in the order in which they were found."""

    kinds: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, spots: Iterable[Spot]) -> None:
        for spot in spots:
            found = self.kinds.setdefault(spot.kind, {})
            if len(found) < BANK:
                found[spot.text] = None

    def others(self, spot: Spot, besides: str) -> list[str]:
        """Those of the spot's kind that neither share text with it nor occur in ``besides``."""
        return [
            text
            for text in self.kinds.get(spot.kind, ())
            if text not in besides and text not in spot.text and spot.text not in text
        ]

    def __contains__(self, text: str) -> bool:
        return any(text in found for found in self.kinds.values())


def spots(sentence: str, known: Bank | None = None) -> list[Spot]:
    """Names and numbers of a sentence.

    A single capitalised word that begins a sentence or quotation is a name only where ``known``.
    """
    out = []
    for found in _NAME.finditer(sentence):
        start, text = _without_function_words(found)
        inside = " " in text or not _BEGINS.search(sentence[:start])
        if text and (inside or (known is not None and text in known)):
            out.append(Spot(_kind(sentence, start, text), text, start))
    numbers = _NUMBER.finditer(sentence)
    return out + [Spot(f"number of {len(n[0])}", n[0], n.start()) for n in numbers]


def swapped(claim: str, window: str, near: Bank, far: Bank, rng: random.Random) -> str | None:
    """The claim with one name or number changed for another; None if there is nothing to change.

    Those of the same document (``near``) come before those of others (``far``).
    """
    found = spots(claim, near)
    if not found:
        return None
    spot = rng.choice(found)
    numeric = spot.kind.startswith("number")
    if numeric and rng.random() < 0.6:
        new = other_number(spot.text, rng)
    else:
        others = near.others(spot, claim) or far.others(spot, window + claim)
        if not others and not numeric:
            return None
        new = rng.choice(others) if others else other_number(spot.text, rng)
    return claim[: spot.start] + new + claim[spot.start + len(spot.text) :]


def other_number(text: str, rng: random.Random) -> str:
    """A number close to the one given, written alike.

    >>> import random
    >>> other_number("1,200,000", random.Random(0)) != "1,200,000"
    True
    """
    value = int(text.replace(",", ""))
    if value < 3000:
        new = value + rng.choice([-10, -3, -2, -1, 1, 2, 3, 10])
    else:
        new = int(value * rng.choice([0.5, 0.8, 1.25, 2]))
    if new < 0:
        new = value + 7
    return f"{new:,}" if "," in text else str(new)


def negated(claim: str) -> str | None:
    """The claim with "not" after its first auxiliary; None without one or where negated already.

    >>> negated("He was born in Ulm.")
    'He was not born in Ulm.'
    """
    found = _AUXILIARY.search(claim)
    if not found or re.search(r"\b(?:not|never|no)\b|n['’]t\b", claim):
        return None
    return f"{claim[: found.end()]} not{claim[found.end() :]}"


def document_rows(documents: Sequence[str], rng: random.Random, limit: int) -> list[Row]:
    """At most ``limit`` rows from documents of four sentences or more, four rows a document."""
    out: list[Row] = []
    far = Bank()
    for document in documents:
        if len(out) >= limit:
            break
        text = " ".join(document.split()[:DOCUMENT_WORDS])
        found = [s for s in sentences_of(text) if 6 < len(s.split()) < 50]
        if len(found) < PER_DOCUMENT:
            continue
        near = Bank()
        for sentence in found:
            near.add(spots(sentence))
        far.add(Spot(kind, text, 0) for kind, texts in near.kinds.items() for text in texts)
        out += _of_document(found, near, far, rng)
    return out[:limit]


def _of_document(found: list[str], near: Bank, far: Bank, rng: random.Random) -> Iterator[Row]:
    for at in rng.sample(range(len(found)), PER_DOCUMENT):
        claims = [c.text for c in split_claims(found[at]) if 4 <= len(c.text.split()) <= 40]
        if not claims:
            continue
        claim = rng.choice(claims)
        if len(claims) > 1 and rng.random() < 0.2:
            claim = " ".join(claims[:2])
        window = " ".join(found[max(0, at - rng.randint(1, 4)) : at + rng.randint(1, 4) + 1])
        gap = " ".join(found[max(0, at - 4) : at] + found[at + 1 : at + 5])
        row = _made(claim, window, gap, near, far, rng)
        if rng.random() < 0.15:
            row = Row(row.premise.lower(), row.hypothesis.lower(), row.label, row.source)
        yield row


def _made(claim: str, window: str, gap: str, near: Bank, far: Bank, rng: random.Random) -> Row:
    """The claim against its window as it is, changed, negated, or against a gap in its place."""
    what = rng.random()
    if what < 0.42:
        return Row(window, claim, 1, "document_kept")
    if what < 0.75 and (changed := swapped(claim, window, near, far, rng)):
        return Row(window, changed, 0, "document_swapped")
    if what < 0.83 and (changed := negated(claim)):
        return Row(window, changed, 0, "document_negated")
    missing = set(content_words(claim)) - set(content_words(gap))
    if len(missing) >= 2:
        return Row(gap, claim, 0, "document_missing")
    return Row(window, claim, 1, "document_kept")


def _without_function_words(found: re.Match[str]) -> tuple[int, str]:
    """Start and text of a capitalised phrase without "The", "In" and the like before it."""
    start, text = found.start(), found[0]
    while text:
        first = text.split()[0]
        if content_words(first) or _MONTH.match(first):  # "may" is a function word too
            break
        rest = text[len(first) :].lstrip()
        start, text = start + len(text) - len(rest), rest
    return start, re.sub(r"['’]s$|['’-]+$", "", text)


def _kind(sentence: str, start: int, text: str) -> str:
    if _MONTH.match(text):
        return "month"
    if _DAY.match(text):
        return "day"
    before = _BEFORE.search(sentence[:start])
    word = before[1].lower() if before else ""
    if _PEOPLE.search(text) and re.match(r"\s+[a-z]", sentence[start + len(text) :]):
        return "people"
    if word in _PLACE:
        return "place"
    return "thing" if word == "the" else "name"
