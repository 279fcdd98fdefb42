"""Tokens of one sentence: quoted, bracketed and linked stretches are single, unbreakable tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.judges.split.lexicon import tag

_TOKEN = re.compile(
    r"""
    (?P<link>https?://\S+|www\.\S+|`[^`]{1,400}`)
    | (?P<quote>"[^"]{0,400}"|“[^”]{0,400}”|«[^»]{0,400}»
        |(?<!\w)['‘](?=\w)(?!s\b)(?:[^'’]|['’](?=\w)){0,150}?(?<=\S)['’](?!\w)
        |\*\*[^*]{1,400}\*\*)
    | (?P<bracket>\([^()]{0,600}\)|\[[^\[\]]{0,600}\])
    | (?P<number>[$€£#]?\d+(?:[.,:/]\d+)*(?:[-–]\d+)*(?:[a-z]{1,3}\b|%)?)
    | (?P<short>(?:[A-Za-z]\.){2,}
        |\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|vs|No|[A-Z])\.(?=\s))
    | (?P<word>\w+(?:[’'.&/-]\w+)*)
    | (?P<other>\S)
    """,
    re.VERBOSE,
)
# Prepositions before a noun, subordinators before a clause.
EITHER = frozenset(["as", "after", "before", "since", "till", "until"])
_STRAY = frozenset('"“”()[]«»|{}<>')


@dataclass(slots=True)
class Token:
    """A word or mark: where it is in the text, its lower-cased form and its tag."""

    text: str
    low: str
    tag: str
    start: int
    end: int


def tokens(text: str, start: int, end: int) -> list[Token]:
    """The tokens of text[start:end]; marks have themselves as tags, "(" stands for a bracket."""
    out: list[Token] = []
    for found in _TOKEN.finditer(text, start, end):
        word, kind = found[0], found.lastgroup
        if kind in ("word", "short"):
            label = tag(word, starts=not out)
        elif kind == "number":
            label = "M"
        elif kind == "bracket":
            label = "("
        elif kind == "other":
            label = word
        else:
            label = "U"
        out.append(Token(word, word.lower().replace("’", "'"), label, found.start(), found.end()))
    for k, tok in enumerate(out[:-1]):
        if tok.tag == "S" and tok.low in EITHER and out[k + 1].tag not in "RS":
            tok.tag = "I"
    return out


def stray(toks: list[Token]) -> bool:
    """Whether a quotation mark or bracket lacks its partner, so that no cut can be trusted."""
    return any(tok.tag in _STRAY and len(tok.text) == 1 for tok in toks)
