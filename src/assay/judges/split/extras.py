"""What a sentence says beside its main predicates: appositions, relative clauses, participles."""

from __future__ import annotations

from dataclasses import dataclass

from assay.judges.split import lexicon as lex
from assay.judges.split.grammar import Main, is_past, skip_adverbs
from assay.judges.split.tokens import Token

_STATES = frozenset(
    ["known", "located", "situated", "based", "headquartered", "nicknamed", "considered", "named"]
)
_EVENTS = frozenset(
    """born directed written founded released published built created developed produced
    established designed raised educated constructed discovered invented introduced launched
    composed recorded filmed opened completed formed""".split()
)
# "which" after these mostly stands for the whole clause, not for the noun before it.
_WHOLE_CLAUSE = frozenset(
    """made makes led leads means meant allows allowed causes caused results resulted helps helped
    gave gives earned brought brings enabled enables is was""".split()
)


@dataclass(frozen=True, slots=True)
class Extra:
    """A predicate of its own about toks[about]: an added verb ("is"), then toks[start:end)."""

    about: tuple[int, int]
    verb: str
    start: int
    end: int


def of_insertion(toks: list[Token], main: Main, a: int, b: int) -> Extra | None:
    """The claim of what stands between the commas after a subject, if its kind is known."""
    subject = (main.start, main.head)
    be = _be(toks, main)
    first = toks[a]
    if first.tag == "W" and first.low in ("who", "which"):
        verb = skip_adverbs(toks, a + 1)
        return Extra(subject, "", a + 1, b) if verb < b and toks[verb].tag in "AVPZz" else None
    if first.low in ("a", "an", "the") and toks[main.head - 1].tag == "U":
        plain = all(tok.tag not in "CWVA" for tok in toks[a:b])
        return Extra(subject, be, a, b) if plain and b - a > 1 else None
    return _participle(toks, subject, be, a, b)


def _participle(
    toks: list[Token], subject: tuple[int, int], be: str, a: int, b: int
) -> Extra | None:
    verb = skip_adverbs(toks, a)
    verb += verb < b and toks[verb].low in ("best", "better", "originally")
    if verb + 1 >= b or any(tok.tag in "AVW" for tok in toks[a:b]):
        return None
    if toks[verb].low in _STATES:
        return Extra(subject, be, a, b)
    if toks[verb].low in _EVENTS:
        return Extra(subject, "were" if be in ("are", "were") else "was", a, b)
    return None


def _be(toks: list[Token], main: Main) -> str:
    plural = toks[main.verb].low in ("are", "were", "have") or any(
        tok.low == "and" for tok in toks[main.start : main.head]
    )
    if is_past(toks, main):
        return "were" if plural else "was"
    return "are" if plural else "is"


def of_tail(toks: list[Token], main: Main, body: int, end: int) -> tuple[int, Extra] | None:
    """Where a predicate ends before a tail that is a claim of its own, and that claim."""
    for i in range(body + 1, end - 1):
        tok = toks[i]
        if tok.tag in "SG;:—" and tok.low != "that":
            return None
        found = _tail_at(toks, main, body, i, end)
        if found:
            return i, found
        if tok.tag == "W":
            return None
    return None


def _tail_at(toks: list[Token], main: Main, body: int, i: int, end: int) -> Extra | None:
    tok, subject = toks[i], (main.start, main.head)
    copula = toks[body - 1].low in lex.BE and toks[body].low in ("a", "an")
    if tok.tag == ",":
        return _after_comma(toks, main, body, i, end, copula)
    if not copula or toks[i - 1].tag not in "Oz" or any(t.tag in "I," for t in toks[body:i]):
        return None
    if tok.low in ("who", "which", "that"):
        verb = skip_adverbs(toks, i + 1)
        plain = verb < end and toks[verb].tag in "AVPZz"
        return Extra(subject, "", i + 1, end) if plain else None
    if tok.tag in "PN" and toks[i + 1].tag == "I":
        return _participle(toks, subject, _be(toks, main), i, end)
    return None


def _after_comma(
    toks: list[Token], main: Main, body: int, i: int, end: int, copula: bool
) -> Extra | None:
    subject, nxt = (main.start, main.head), toks[i + 1]
    if nxt.low in ("born", "known", "best") and copula:
        return _participle(toks, subject, _be(toks, main), i + 1, end)
    if any(tok.tag == "," for tok in toks[i + 2 : end]) and nxt.low not in ("who", "which"):
        return None
    name = _name_before(toks, body, i)
    if nxt.tag == "W" and nxt.low in ("who", "which"):
        verb = skip_adverbs(toks, i + 2)
        if verb >= end or toks[verb].tag not in "AVPZz" or name is None:
            return None
        if nxt.low == "which" and toks[verb].low in _WHOLE_CLAUSE - {"is", "was"}:
            return None
        return Extra(name, "", i + 2, end)
    if nxt.low in ("a", "an") and name is not None and name[1] - name[0] >= 2:
        plain = all(tok.tag not in "CWVASPN" for tok in toks[i + 1 : end])
        return Extra(name, "was" if is_past(toks, main) else "is", i + 1, end) if plain else None
    return None


def _name_before(toks: list[Token], body: int, comma: int) -> tuple[int, int] | None:
    """The name that ends at a comma, or None: then nobody can say what the tail is about."""
    a = comma
    while a > body and toks[a - 1].tag == "U":
        a -= 1
    if a == comma or toks[a].low in lex.MONTH | lex.DAY:
        return None
    if toks[a - 1].low in ("of", "and", "or", ",", "to", "de", "for"):
        return None
    if toks[a - 1].low == "the":
        a -= 1
    return a, comma
