"""Whom a pronoun stands for: the last full subjects of the same text."""

from __future__ import annotations

import re

from assay.judges.split import lexicon as lex
from assay.judges.split.grammar import Main
from assay.judges.split.tokens import Token

_SHE = frozenset(["she", "her", "herself", "hers"])
_HE = frozenset(["he", "his", "him", "himself"])
_EXPLETIVE = re.compile(
    r"\W*it('s| is| was| has been| will be| would be| may be| can be| seems?| appears?| takes?)"
    r"(\s\w+){0,3}?\s(that|to|for|when|if|whether|likely|raining|how|why|who)\b",
    re.IGNORECASE,
)


class Referents:
    """The last person, thing and group that were subjects; None where that is not certain."""

    def __init__(self) -> None:
        self.person: str | None = None
        self.thing: str | None = None
        self.group: str | None = None
        self._gender: str | None = None

    def forget(self) -> None:
        """Nothing is certain any more, e.g. after a sentence that could not be read."""
        self.person = self.thing = self.group = self._gender = None

    def name(self, pronoun: str, rest: str) -> str | None:
        """What a subject pronoun stands for before ``rest`` of its sentence."""
        low = pronoun.lower()
        if low in ("he", "she", "his", "her"):
            gender = "she" if low in _SHE else "he"
            if self.person is None or self._gender not in (None, gender):
                return None
            self._gender = gender
            return self.person
        if low in ("it", "its"):
            return None if _EXPLETIVE.match(f"{pronoun} {rest}") else self.thing
        return self.group if low in ("they", "their") else None

    def see(self, toks: list[Token], main: Main, subject: str) -> None:
        """Takes note of a full subject and of an object that could compete with it."""
        own = toks[main.start : main.head]
        kind = _kind(toks, own, main)
        rival = _rival(toks, main)
        if kind in ("person", "name"):
            if _surname(subject) != _surname(self.person or ""):
                self._gender = None
            self.person = None if rival == "name" and self.person != subject else subject
            self.thing = _object(toks, main) or (subject if kind == "name" else None)
        elif kind == "thing":
            self.thing = subject
            if rival == "name":
                self.person = None
        elif kind == "group":
            self.group = subject


def _surname(name: str) -> str:
    return name.rsplit(" ", 1)[-1].lower()


def _kind(toks: list[Token], own: list[Token], main: Main) -> str | None:
    head = own[-1]
    if any(tok.low in ("and", "or") for tok in own) or toks[main.verb].low in (
        "are",
        "were",
        "have",
    ):
        return "group"
    names = [tok for tok in own if tok.tag == "U" and not tok.text.startswith(tuple("\"“'‘«*`"))]
    if own[0].tag == "R" or own[0].low in ("this", "these", "such", "his", "her", "their", "its"):
        return None
    words = {tok.low.rstrip(".") for tok in own}
    if len(names) == len(own) and len(own) <= 4 and not words & lex.ORGANISATION:
        return "person" if len(own) >= 2 else "name"
    particles = all(
        tok.tag == "U"
        or tok.low in ("de", "da", "van", "von", "der", "la", "bin", "al", "del", "di")
        for tok in own
    )
    if particles and own[0].tag == head.tag == "U":
        return "person"
    return "thing" if own[0].tag in "DU" else None


def _rival(toks: list[Token], main: Main) -> str | None:
    """Whether the object is a name, which the next pronoun could stand for as well."""
    for i in range(main.body, min(len(toks), main.body + 12)):
        tok = toks[i]
        if tok.tag != "U" or tok.low in lex.MONTH | lex.DAY:
            continue
        before = toks[i - 1]
        if before.tag in "VPZzBN" or before.low in ("with", "and", "to", "by"):
            nxt = toks[i + 1] if i + 1 < len(toks) else None
            if nxt is not None and nxt.tag == "U" and not tok.text.startswith(tuple("\"“'‘«*`")):
                return "name"
    return None


def _object(toks: list[Token], main: Main) -> str | None:
    """A plain singular object with an article or a title: "it" in the next clause."""
    i = main.body
    if i >= len(toks) or (toks[i].low not in ("the", "a", "an") and toks[i].tag != "U"):
        return None
    if toks[i].tag == "U" and not toks[i].text.startswith(tuple("\"“'‘«")):
        return None
    end = i + 1
    while end < len(toks) and toks[end].tag in "OU":
        end += 1
    named = all(tok.tag == "U" for tok in toks[i + 1 : end])
    if (end == i + 1 and toks[i].tag != "U") or not named:
        return None
    return " ".join(tok.text for tok in toks[i:end]).replace(",'", "'").replace(',"', '"')
