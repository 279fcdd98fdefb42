"""Two or more adjuncts on one verb, and lists of titles: one version of the predicate for each."""

from __future__ import annotations

import re

from assay.judges.split import lexicon as lex
from assay.judges.split.clauses import Clause
from assay.judges.split.tokens import Token

_YEAR = re.compile(r"(?:1\d{3}|20\d{2})(?:s|[-–]\d{2,4})?$|\d{1,2}(?:st|nd|rd|th)$|\d{2}s$")
_DATE_PREPOSITIONS = frozenset(["in", "on", "from", "since", "until", "during", "at", "between"])
_PLACE_PREPOSITIONS = frozenset(["in", "at", "near", "from", "to"])
_ADJUNCT = _DATE_PREPOSITIONS | _PLACE_PREPOSITIONS | {"by", "as"}
_PARTICLES = lex.word_set("of the de da do la las los del di du al el von van der")
_DATE_FILL = lex.MONTH | lex.DAY | lex.ERA | lex.SEASON | {"the", "age", "of", "and", "to", "until"}
_ROLE = re.compile(
    r"(?:(?:er|or|ist|ian|ress|man|woman|eur|poet|athlete|activist|host|coach|judge|model|pilot)$)"
    r"(?<!number)(?<!other)(?<!river)(?<!center)(?<!member)"
)
_QUOTED_COMMA = re.compile(r",[\"”'’»]$")
Version = list[int | str]
# Words beside which dropping an adjunct changes what is said: "the only one in Spain in 1990".
_SCOPE = re.compile(
    r"(?:first|last|only|most|least|best|worst|more|less|fewer|all|every|each|any|both|sole|than)$"
    r"|[a-z]{3,}est$"
)
_NO_SUPERLATIVE = frozenset(["west", "guest", "interest", "request", "forest", "contest", "test"])


def versions(toks: list[Token], clause: Clause) -> list[Version]:
    """The predicate as token indices and added words, once for each adjunct or list member.

    One version, the whole predicate, if it has no two.
    """
    whole: Version = list(range(clause.start, clause.end))
    if _scoped(toks, clause):
        return [whole]
    listed = _roles(toks, clause) or _titles(toks, clause)
    if listed:
        return listed
    groups = _groups(toks, clause)
    if len(groups) < 2:
        return [whole]
    core: Version = list(range(clause.start, groups[0][0]))
    if not _detachable(toks, clause, groups):
        return [whole]
    return [core + list(range(a, b)) for a, b, _ in groups]


def _roles(toks: list[Token], clause: Clause) -> list[Version]:
    """ "is a French singer, actor and poet": one version for each role."""
    i = clause.body
    if clause.form != "copula" or i >= clause.end or toks[i].low not in ("a", "an"):
        return []
    members = _members(toks, i + 1, clause.end)
    if len(members) < 2 or not all(_is_role(toks, a, b) for a, b in members):
        return []
    head: Version = list(range(clause.start, i))
    first: Version = [*head, *range(i, members[0][1])]
    rest = ([*head, _article(toks[a].text), *range(a, b)] for a, b in members[1:])
    return [first, *rest]


def _members(toks: list[Token], a: int, end: int) -> list[tuple[int, int]]:
    """The spans between commas and a final "and"."""
    cuts = [i for i in range(a, end) if toks[i].tag == "," or toks[i].low == "and"]
    if not cuts or toks[cuts[-1]].low != "and":
        return []
    edges = zip([a, *(i + 1 for i in cuts)], [*cuts, end], strict=True)
    return [(x, y) for x, y in edges if y > x]


def _is_role(toks: list[Token], a: int, b: int) -> bool:
    own = toks[a:b]
    return (
        bool(_ROLE.search(own[-1].low)) and all(tok.tag in "OUGPJM" for tok in own) and b - a <= 4
    )


def _article(word: str) -> str:
    return (
        "an" if word[0].lower() in "aeiou" and not word.lower().startswith(("uni", "eu")) else "a"
    )


def _titles(toks: list[Token], clause: Clause) -> list[Version]:
    """ "appeared in 'A' (1990), 'B' and 'C'": one version for each quoted title."""
    i = clause.end
    members: list[tuple[int, int]] = []
    while i > clause.body:
        end = i
        i -= toks[i - 1].tag == "("
        if i <= clause.body or toks[i - 1].text[0] not in "\"“'‘«":
            return []
        i -= 1
        members.insert(0, (i, end))
        while toks[i - 1].tag == "," or toks[i - 1].low == "and":
            i -= 1
        if i == members[0][0] and not _QUOTED_COMMA.search(toks[i - 1].text):
            break
    joint = any(tok.low == "and" for tok in toks[members[0][0] : clause.end]) if members else False
    if len(members) < 2 or not joint or toks[i - 1].low in ("between", "of", "both", "to", "and"):
        return []
    head = list(range(clause.start, i))
    if toks[i - 1].tag not in "IVPOUZzB," or any(t.tag in "CSWAV;:" for t in toks[clause.body : i]):
        return []
    return [[*head, *range(a, b)] for a, b in members]


def _scoped(toks: list[Token], clause: Clause) -> bool:
    return any(
        tok.tag == "X"
        or tok.low.endswith("n't")
        or tok.low in lex.NEGATION
        or (tok.tag != "U" and tok.low not in _NO_SUPERLATIVE and _SCOPE.match(tok.low))
        for tok in toks[clause.start : clause.end]
    )


def _groups(toks: list[Token], clause: Clause) -> list[tuple[int, int, str]]:
    """The trailing adjuncts, (start, end, kind), neighbours of one kind in one."""
    starts = [i for i in range(clause.body, clause.end) if _opens(toks, i)]
    out: list[tuple[int, int, str]] = []
    stop = clause.end
    for i in reversed(starts):
        end = stop
        while end > i and toks[end - 1].tag == ",":
            end -= 1
        kind = _kind(toks, i, end, clause)
        if kind is None:
            break
        if out and out[0][2] == kind:
            out[0] = (i, out[0][1], kind)
        else:
            out.insert(0, (i, end, kind))
        stop = i
    if len({kind for _, _, kind in out}) < len(out):
        return []
    return out


def _opens(toks: list[Token], i: int) -> bool:
    low = toks[i].low
    if toks[i].tag not in "ITS" or low not in _ADJUNCT:
        return False
    return not (low in ("to", "until") and toks[i - 1].tag == "M")


def _kind(toks: list[Token], i: int, end: int, clause: Clause) -> str | None:
    body = toks[i + 1 : end]
    if not body:
        return None
    low = toks[i].low
    dated = [t for t in body if t.tag == "M" or t.tag in ",IDT" or t.low in _DATE_FILL]
    if low in _DATE_PREPOSITIONS and len(dated) == len(body):
        when = any(_YEAR.match(t.text) or t.low in lex.MONTH | lex.DAY | {"age"} for t in body)
        aged = any(t.low == "age" for t in body)
        return ("age" if aged else "date") if when else None
    names = body[1:] if body[0].low == "the" else body
    named = bool(names) and all(t.tag in "U," or t.low in _PARTICLES for t in names)
    if not named or names[0].tag != "U" or any(t.low in lex.MONTH | lex.DAY for t in names):
        return None
    if low in _PLACE_PREPOSITIONS:
        return "place"
    return "agent" if low == "by" and clause.form == "passive" else None


def _detachable(toks: list[Token], clause: Clause, groups: list[tuple[int, int, str]]) -> bool:
    """Whether each adjunct belongs to the verb: no copula, nothing but a plain object between."""
    if clause.form == "copula":
        return False
    between = toks[clause.body : groups[0][0]]
    if between and any(toks[a].low == "to" for a, _, _ in groups):
        return False
    return not any(tok.tag in "ISWTG;:C," for tok in between)
