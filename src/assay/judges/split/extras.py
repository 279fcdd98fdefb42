"""What a sentence says beside its main predicates: appositions, relative clauses, participles."""

from __future__ import annotations

from dataclasses import dataclass

from assay.judges.split import lexicon as lex
from assay.judges.split.grammar import Main, is_past, skip_adverbs
from assay.judges.split.tokens import Token

_STATES = frozenset(
    ["known", "located", "situated", "based", "headquartered", "nicknamed", "considered", "named"]
)
_EVENTS = lex.word_set(
    """born directed written founded released published built created developed produced
    established designed raised educated constructed discovered invented introduced launched
    composed recorded filmed opened completed formed"""
)
# "which" after these mostly stands for the whole clause, not for the noun before it.
_WHOLE_CLAUSE = lex.word_set(
    """made makes led leads means meant allows allowed causes caused results resulted helps helped
    gave gives earned brought brings enabled enables"""
)


@dataclass(frozen=True, slots=True)
class Extra:
    """A predicate of its own about toks[about]: an added verb ("is"), then toks[start:end)."""

    about: tuple[int, int]
    verb: str
    start: int
    end: int
    bracket: int | None = None


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
    # "is a singer ...": what follows the noun is said of the subject.
    copula = toks[body - 1].low in lex.BE and body < end and toks[body].low in ("a", "an")
    for i in range(body + 1, end - 1):
        tok = toks[i]
        if tok.tag in "SG;:—" and tok.low != "that":
            return None
        found = None
        if tok.tag == ",":
            found = _after_comma(toks, main, body, (i, end))
            if copula and toks[i + 1].low in ("born", "known", "best"):
                found = _participle(toks, (main.start, main.head), _be(toks, main), i + 1, end)
        elif copula and toks[i - 1].tag in "Oz":
            found = _after_noun(toks, main, body, (i, end))
        if found:
            return i, found
        if tok.tag == "W":
            return None
    return None


def _after_noun(toks: list[Token], main: Main, body: int, span: tuple[int, int]) -> Extra | None:
    """ "a singer who won ...", "a film directed by ...": said of the subject."""
    i, end = span
    if any(tok.tag in "I," for tok in toks[body:i]):
        return None
    subject, tok = (main.start, main.head), toks[i]
    if tok.low in ("who", "which", "that"):
        return Extra(subject, "", i + 1, end) if _verb_next(toks, i, end) else None
    best = tok.low in ("best", "better") and toks[i + 1].tag in "PN"
    if best or (tok.tag in "PN" and toks[i + 1].tag == "I"):
        return _participle(toks, subject, _be(toks, main), i, end)
    return None


def _verb_next(toks: list[Token], i: int, end: int) -> bool:
    verb = skip_adverbs(toks, i + 1)
    return verb < end and toks[verb].tag in "AVPZz"


def _after_comma(toks: list[Token], main: Main, body: int, span: tuple[int, int]) -> Extra | None:
    """ "... John Smith, who won ..." and "... John Smith, a singer": said of the name."""
    i, end = span
    nxt, name = toks[i + 1], _name_before(toks, body, i)
    if name is None:
        return None
    if nxt.low in ("who", "which"):
        whole = nxt.low == "which" and toks[skip_adverbs(toks, i + 2)].low in _WHOLE_CLAUSE
        return Extra(name, "", i + 2, end) if _verb_next(toks, i + 1, end) and not whole else None
    plain = all(tok.tag not in ",CWVASPN" for tok in toks[i + 1 : end])
    if nxt.low in ("a", "an") and name[1] - name[0] >= 2 and plain:
        return Extra(name, "was" if is_past(toks, main) else "is", i + 1, end)
    return None


def _name_before(toks: list[Token], body: int, comma: int) -> tuple[int, int] | None:
    """The name that ends at a comma, or None: then nobody can say what the tail is about."""
    a = comma
    while a > body and toks[a - 1].tag == "U":
        a -= 1
    if a == comma or toks[a].low in lex.MONTH | lex.DAY:
        return None
    if toks[a - 1].low == "the":
        a -= 1
    if toks[a - 1].low in ("of", "and", "or", ",", "to", "de", "for"):
        return None
    return a, comma


def fronted(toks: list[Token], main: Main) -> Extra | None:
    """The claim of a participle before the subject: "Born in Ohio, she ..."."""
    end = main.start - 1
    if end < 2 or toks[end].tag != "," or toks[0].low not in _EVENTS | _STATES:
        return None
    return _participle(toks, (main.start, main.head), _be(toks, main), 0, end)


def of_bracket(toks: list[Token], main: Main, i: int) -> Extra | None:
    """The claim of a bracket after a name: "X (born 3 May 1960)"."""
    if not toks[i].text[1:].lower().startswith("born ") or len(toks[i].text) > 90:
        return None
    return Extra((main.start, main.head), "was", i, i + 1, bracket=i)
