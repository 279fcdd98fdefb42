"""Claims of a text without a language model: sentences, and cautious rules for English."""

from __future__ import annotations

import re

from assay.judges.split.lexicon import word_set
from assay.judges.split.nonclaims import claims_nothing, leads_in, refuses
from assay.judges.split.referents import Referents
from assay.judges.split.sentence import Sentence, fragment, independent
from assay.sample import Claim
from assay.text import Block, block_sentences, blocks, words

RULES_VERSION = 1
"""Raised when claims come out differently; part of every fingerprint."""
_ENGLISH = word_set(
    """the a an of and to is are was were has have had be been by with for that it its he she they
    his her their this which who from as on at can will not you your do does did i in or"""
)
_SHARE = 0.15
# No rule is sure of a sentence of so many characters, and the time stays linear.
_LONGEST = 1500
_TITLE_LINE = re.compile(r"\*\*[^*]+\*\*:?$|__[^_]+__:?$")
_OPEN_END = re.compile(
    r"\b(?:is|are|was|were|be|includes?|included|including|such as|to|should|must|can|by|of|for|as"
    r"|following|and|or|with|you)\W*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\(?\d{1,2}[.)]\s+(?=\S)")
_PROVENANCE = re.compile(
    r"(?:based on|according to|from|given|as (?:stated|mentioned|described) in|in)\s+"
    r"(?:the|this|these|your)\s+"
    r"(?:(?:provided|given|retrieved|above|available|supplied|following|search)\s+)*"
    r"(?:documents?|contexts?|passages?|information|texts?|sources?|results?|excerpts?|articles?)"
    r"(?:\s+(?:provided|given|above|available|retrieved))?,\s+(?=\S)",
    re.IGNORECASE,
)


def split_claims(text: str, question: str | None = None) -> list[Claim]:
    """The claims that a text makes, in order, each with the span of text that it is from.

    English sentences are cut into coordinated predicates, adjuncts, appositions and relative
    clauses where that is safe, and subject pronouns give way to the names that they stand for;
    other languages are cut into sentences only. Questions, refusals, greetings, headings and code
    claim nothing. ``question`` is not needed: a short answer is a claim as it stands.

    >>> text = "Einstein was born in Germany on 14 March 1879. I hope this helps!"
    >>> for claim in split_claims(text):
    ...     print(claim.text, (claim.start, claim.end))
    Einstein was born in Germany. (0, 46)
    Einstein was born on 14 March 1879. (0, 46)
    """
    out: list[Claim] = []
    referents = Referents() if _english(text) else None
    found = blocks(text)
    lead: tuple[int, int] | None = None
    for n, block in enumerate(found):
        if block.kind != "item":
            lead = None
        if _titles(text, block):
            continue
        listed = n + 1 < len(found) and found[n + 1].kind == "item"
        spans = block_sentences(text, block)
        if listed and text[spans[-1][0] : spans[-1][1]].endswith((":", "：")):
            lead = spans.pop()
            out += _of_lead(text, lead, found[n + 1 : n + 9])
        for k, span in enumerate(spans):
            of_item = lead if block.kind == "item" and k == 0 else None
            out += _of_sentence(text, span, of_item, referents)
    return out


def _titles(text: str, block: Block) -> bool:
    """Whether a block is code or a title, which claim nothing."""
    body = text[block.start : block.end]
    if block.kind == "heading":
        return not body.endswith((".", "!"))
    return block.kind == "code" or (block.kind == "text" and bool(_TITLE_LINE.match(body)))


def _of_sentence(
    text: str, span: tuple[int, int], lead: tuple[int, int] | None, referents: Referents | None
) -> list[Claim]:
    a, b = span
    if claims_nothing(text[a:b]) or leads_in(text[a:b]):
        return []
    if source := _PROVENANCE.match(text, a, b):
        a = source.end()
    if number := _NUMBER.match(text, a, b):
        a = number.end()
    if source and claims_nothing(text[a:b]):
        return []
    if referents is None:
        return [Claim(text[a:b], a, b)]
    if lead is not None and not leads_in(text[slice(*lead)]) and fragment(text, a, b):
        return [Claim(f"{_without_colon(text[slice(*lead)])} {text[a:b]}", a, b)]
    if text.count(" ", a, b) < 2 or b - a > _LONGEST:
        return [Claim(text[a:b], a, b)]
    capital = text[span[0]].isupper()
    return [
        claim
        for x, y in independent(text, a, b)
        for claim in Sentence(text, x, y, referents, capital=capital).claims()
        if not refuses(claim.text)
    ]


def _of_lead(text: str, lead: tuple[int, int], after: list[Block]) -> list[Claim]:
    """The claim of a sentence before a list, if it is whole and no item takes it up."""
    sentence = text[slice(*lead)]
    if claims_nothing(sentence) or leads_in(sentence) or _OPEN_END.search(sentence):
        return []
    for block in after:
        if block.kind != "item":
            break
        if fragment(text, block.start, block.end):
            return []
    if fragment(text, *lead):
        return []
    return [Claim(sentence.rstrip(":： ") + ".", *lead)]


def _without_colon(lead: str) -> str:
    bare = lead.rstrip(":： ")
    return bare if _OPEN_END.search(bare) else f"{bare}:"


def _english(text: str) -> bool:
    """Whether a text has the share of function words that English has."""
    found = words(text[:4000])
    return sum(word in _ENGLISH for word in found) >= max(1, _SHARE * len(found))
