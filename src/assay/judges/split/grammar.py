"""The skeleton of an English sentence: fronted phrase, subject, insertions, verb group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.judges.split import lexicon as lex
from assay.judges.split.tokens import Token

Form = Literal["copula", "passive", "progressive", "perfect", "modal", "past", "present"]
_LONGEST_SUBJECT = 16
_PLURAL_PRONOUNS = frozenset(["they", "we", "i", "you", "these", "those"])


@dataclass(frozen=True, slots=True)
class Main:
    """Token indices: subject [start, head), insertions between commas, verb group [verb, body)."""

    start: int
    head: int
    insertions: tuple[tuple[int, int], ...]
    verb: int
    body: int
    form: Form

    @property
    def predicate(self) -> int:
        """Where the predicate begins, with the adverbs before its verb."""
        return self.insertions[-1][1] + 1 if self.insertions else self.head


def find_main(toks: list[Token], start: int = 0) -> Main | None:
    """The first clause of toks[start:], or None where the rules cannot tell."""
    for begin in _subject_starts(toks, start):
        found = subject_at(toks, begin)
        if found:
            return found
    return None


def _subject_starts(toks: list[Token], start: int) -> list[int]:
    """Where a subject may begin: at once, or after the commas of a fronted phrase."""
    first = toks[start]
    if first.tag not in "IJTPNGS" or first.low in ("if", "unless", "whether", "because"):
        return [start]
    stops: list[int] = []
    for i in range(start + 1, min(len(toks) - 1, start + 30)):
        comma = toks[i].tag == "," and (first.tag != "G" or toks[i + 1].tag in "DRU")
        if comma or (toks[i + 1].tag == "R" and first.tag in "IJ"):
            stops.append(i + 1)
        elif toks[i].tag in ";:" or len(stops) >= 4:
            break
    if first.tag == "J":
        stops.insert(0, start + 1)
    return stops


def subject_at(toks: list[Token], begin: int) -> Main | None:
    """The clause whose subject begins at a token."""
    if begin >= len(toks) or toks[begin].tag not in "DUOMRz" or toks[begin].low == "such":
        return None
    insertions: list[tuple[int, int]] = []
    head = None
    i = begin
    while i < min(len(toks), begin + _LONGEST_SUBJECT + sum(b - a for a, b in insertions)):
        if verb_at(toks, i, begin):
            if not _agrees(toks, begin, i):
                break
            body, form = group(toks, i)
            return Main(begin, head or _before_adverbs(toks, i), tuple(insertions), i, body, form)
        if toks[i].tag == ",":
            close = _insertion_end(toks, i, begin)
            if close is None:
                break
            head = head or i
            insertions.append((i + 1, close))
            i = close + 1
        elif i > begin and _ends_subject(toks, i, begin, inserted=head is not None):
            break
        else:
            i += 1
    return None


def _ends_subject(toks: list[Token], i: int, begin: int, *, inserted: bool) -> bool:
    """Whether a token cannot stand between a subject's start and its verb."""
    if i == begin + 1 and toks[begin].tag == "R" and toks[i].tag not in "JC(":
        return True
    return toks[i].tag in "SWTRX;:?!AV" or (inserted and toks[i].tag != "J")


def _agrees(toks: list[Token], begin: int, verb: int) -> bool:
    """Whether "A and B" has a verb that two may have; if not, "and" joins something else."""
    if not any(tok.low == "and" for tok in toks[begin:verb]):
        return True
    return toks[verb].low not in ("is", "was", "has", "isn't", "wasn't", "hasn't")


def _before_adverbs(toks: list[Token], i: int) -> int:
    while toks[i - 1].tag == "J":
        i -= 1
    return i


def _insertion_end(toks: list[Token], comma: int, begin: int) -> int | None:
    """The comma that closes an insertion after a subject: a verb follows it."""
    nxt = toks[comma + 1] if comma + 1 < len(toks) else None
    if nxt is None or nxt.tag == "C" or nxt.tag not in "WDPNJIO":
        return None
    for i in range(comma + 2, min(len(toks) - 1, comma + 30)):
        if toks[i].tag == "," and toks[i + 1].tag in "AVZPJz":
            k = skip_adverbs(toks, i + 1)
            if (
                k < len(toks)
                and toks[k].tag in "AVZPz"
                and verb_at(toks, k, begin, after_comma=True)
            ):
                return i
    return None


def skip_adverbs(toks: list[Token], i: int) -> int:
    """The index of the first token from ``i`` on that is no adverb."""
    while i < len(toks) and toks[i].tag == "J":
        i += 1
    return i


def verb_at(toks: list[Token], i: int, begin: int, *, after_comma: bool = False) -> bool:
    """Whether the finite verb of a clause with the subject toks[begin:i] stands at i."""
    if i <= begin or i >= len(toks):
        return False
    tag, k = toks[i].tag, i - 1
    while k > begin and toks[k].tag == "J":
        k -= 1
    before = toks[k]
    if tag in "AV":
        return before.tag not in ("DIC" if tag == "A" else "DI")
    if before.tag in "DICTPNGX" and not after_comma:
        return False
    if tag in "PZz":
        return (_past_here if tag == "P" else _third_here)(toks, i, before)
    return tag == "B" and _base_here(toks, i, before, begin)


def _past_here(toks: list[Token], i: int, before: Token) -> bool:
    if before.low in ("they", "we", "he", "she", "it", "i", "you"):
        return True
    if finite_later(toks, i + 1):
        return False
    after = toks[i + 1].tag if i + 1 < len(toks) else "."
    return after in "IDUMRTJS(,." or (toks[i].low in lex.ACTIVE and after in "OGz")


def _third_here(toks: list[Token], i: int, before: Token) -> bool:
    if before.tag == "R":
        return before.low in ("he", "she", "it", "this", "that")
    if before.tag not in "UOM,(z" or finite_later(toks, i + 1):
        return False
    after = toks[i + 1] if i + 1 < len(toks) else None
    if toks[i].tag == "Z":
        return after is None or after.tag not in "VA"
    if after is not None and toks[i].low == "helps" and after.tag == "B":
        return True
    return after is not None and (
        after.tag in "DM" or after.low in ("you", "them", "it", "as", "well")
    )


def _base_here(toks: list[Token], i: int, before: Token, begin: int) -> bool:
    plural = before.low in _PLURAL_PRONOUNS or (
        before.tag in "Oz" and before.low.endswith("s") and not before.low.endswith(("ss", "us"))
    )
    joined = any(tok.low == "and" for tok in toks[begin:i])
    return (plural or joined) and not finite_later(toks, i + 1)


def finite_later(toks: list[Token], i: int) -> bool:
    """Whether a finite verb follows before anything could have ended the clause."""
    for k in range(i, len(toks)):
        tag = toks[k].tag
        if tag in ",CSW;:":
            return False
        if tag in "AV" or (tag == "Z" and toks[k - 1].tag in "UO"):
            return True
    return False


def group(toks: list[Token], verb: int) -> tuple[int, Form]:
    """Where the verb group that starts at ``verb`` ends, and its form."""
    first = toks[verb]
    if first.tag != "A":
        return verb + 1, "past" if first.tag in "VP" else "present"
    i = verb + 1
    last = verb
    while i < len(toks) and toks[i].tag in "AbXJ":
        last = i if toks[i].tag != "J" else last
        i += 1
    nxt = toks[i] if i < len(toks) else None
    form: Form
    if first.low in lex.MODAL:
        form = "modal"
    elif nxt is not None and nxt.tag in "PN":
        form = "passive" if toks[last].low in lex.BE else "perfect"
    elif nxt is not None and nxt.tag == "G" and toks[last].low in lex.BE:
        form = "progressive"
    elif toks[last].low in lex.BE:
        return last + 1, "copula"
    else:
        return last + 1, "past" if first.low in lex.PAST_AUX else "present"
    if nxt is None or nxt.tag not in "PNGBOzV":
        return last + 1, form
    return i + 1, form


def is_past(toks: list[Token], main: Main) -> bool:
    """Whether the clause tells of the past."""
    return toks[main.verb].tag in "VP" or toks[main.verb].low in lex.PAST_AUX
