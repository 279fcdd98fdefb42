"""Coordinated predicates and clauses of one sentence, each with its subject."""

from __future__ import annotations

from dataclasses import dataclass

from assay.judges.split import lexicon as lex
from assay.judges.split.grammar import Form, Main, group, skip_adverbs, subject_at, verb_at
from assay.judges.split.tokens import Token

_AFTER_PAST = frozenset("IDUMRTJ")


@dataclass(frozen=True, slots=True)
class Clause:
    """One predicate: toks[start:end), its subject, the auxiliaries it borrows, its body start."""

    subject: tuple[int, int]
    own: bool
    start: int
    body: int
    end: int
    form: Form
    borrowed: tuple[int, ...] = ()


def clauses(toks: list[Token], main: Main, end: int) -> list[Clause]:
    """The coordinated predicates of a sentence; one if nothing can safely be cut."""
    out: list[Clause] = []
    now = main
    borrowed: tuple[int, ...] = ()
    subject, own = (main.start, main.head), True
    start = main.verb
    waiting: list[tuple[int, int]] = []
    i = main.body
    while i < end:
        tok = toks[i]
        if _closes(toks, i):
            break
        if tok.tag == "," and (at := _predicate(toks, now, i + 1, i, end, serial=True)):
            waiting.append((i, at))
        elif tok.low in ("and", "but"):
            comma = toks[i - 1].tag == ","
            stop = i - 1 if comma else i
            clause = _clause(toks, i, end, comma=comma)
            at = 0 if clause else _predicate(toks, now, i + 1, i, end)
            if clause or at:
                for comma_at, serial_at in waiting if at else []:
                    out.append(_made(toks, subject, own, start, comma_at, now, borrowed))
                    start, own, borrowed = serial_at, False, _borrow(toks, now, serial_at)
                out.append(_made(toks, subject, own, start, stop, now, borrowed))
                waiting = []
            if clause:
                now, subject, own, borrowed = clause, (clause.start, clause.head), True, ()
                start, i = clause.verb, clause.body
                continue
            if at:
                own, borrowed = False, _borrow(toks, now, at)
                start = i + 1
                i = at
        i += 1
    out.append(_made(toks, subject, own, start, end, now, borrowed))
    return out


def _closes(toks: list[Token], i: int) -> bool:
    """Whether subordination begins, after which "and" may join anything."""
    tok = toks[i]
    return tok.tag in "SW;:—–" or (tok.tag == "C" and tok.low in ("or", "nor"))


def _made(
    toks: list[Token],
    subject: tuple[int, int],
    own: bool,
    start: int,
    end: int,
    now: Main,
    borrowed: tuple[int, ...],
) -> Clause:
    if own:
        return Clause(subject, True, start, now.body, end, now.form, ())
    verb = skip_adverbs(toks, start)
    if borrowed or toks[verb].tag != "A":
        form: Form = now.form if borrowed else "past" if toks[verb].tag in "VP" else "present"
        return Clause(subject, False, start, verb + 1, end, form, borrowed)
    body, form = group(toks, verb)
    return Clause(subject, False, start, body, end, form, ())


def _clause(toks: list[Token], conj: int, end: int, *, comma: bool) -> Main | None:
    """The clause with a subject of its own that a conjunction opens."""
    begin = skip_adverbs(toks, conj + 1)
    if begin >= end:
        return None
    first = toks[begin]
    if first.tag == "R":
        return subject_at(toks, begin) if verb_at(toks, skip_adverbs(toks, begin + 1), begin) else None
    if not comma or first.tag not in "DU":
        return None
    found = subject_at(toks, begin)
    if found is None or found.insertions or found.head - begin > 8:
        return None
    return None if any(tok.tag in "C," for tok in toks[begin : found.head]) else found


def _predicate(
    toks: list[Token], main: Main, at: int, joint: int, end: int, *, serial: bool = False
) -> int:
    """Where the verb of a predicate that shares the subject stands, or 0."""
    verb = skip_adverbs(toks, at)
    if verb >= end or _shares_object(toks, joint):
        return 0
    tok = toks[verb]
    after = toks[verb + 1].tag if verb + 1 < end else "."
    fits = {
        "A": not serial,
        "V": True,
        "P": _past_fits(toks, main, verb, after, serial=serial),
        "N": not serial and main.form in ("passive", "perfect") and after in "IDUMT",
        "Z": _third_fits(toks, main, verb, after),
        "z": not serial and _third_fits(toks, main, verb, after) and after in "DMR",
        "B": _base_fits(toks, main, joint, after),
    }.get(tok.tag, False)
    return verb if fits else 0


def _shares_object(toks: list[Token], joint: int) -> bool:
    """Whether the verb stands right before the conjunction, as in "wrote and directed the film"."""
    k = joint - 1 if toks[joint - 1].tag != "," else joint - 2
    return toks[k].tag in "VPNZBAbX" and toks[k].low not in lex.INTRANSITIVE


def _past_fits(toks: list[Token], main: Main, verb: int, after: str, *, serial: bool) -> bool:
    low = toks[verb].low
    if main.form in ("present", "modal", "progressive") or _negated(toks, main):
        return False
    if serial:
        return low in lex.ACTIVE and after in "DUMI"
    if main.form == "copula":
        return low in lex.ACTIVE and after in _AFTER_PAST
    return after in _AFTER_PAST or (low in lex.ACTIVE and after in "OG.z")


def _third_fits(toks: list[Token], main: Main, verb: int, after: str) -> bool:
    return not _past_main(toks, main) and main.form != "modal" and after not in "AVZ"


def _base_fits(toks: list[Token], main: Main, joint: int, after: str) -> bool:
    if main.form not in ("modal", "present") or _negated(toks, main) or after not in "DUORMIJGP":
        return False
    if main.form == "present" and toks[main.verb].tag not in "B":
        return False
    return not any(tok.tag in "TGS" for tok in toks[main.body : joint])


def _past_main(toks: list[Token], main: Main) -> bool:
    return toks[main.verb].tag in "VP" or toks[main.verb].low in ("was", "were", "had", "did")


def _negated(toks: list[Token], main: Main) -> bool:
    return any(t.tag == "X" or t.low.endswith("n't") for t in toks[main.verb : main.body])


def _borrow(toks: list[Token], main: Main, verb: int) -> tuple[int, ...]:
    """The auxiliaries that a coordinated verb needs from the first predicate."""
    tok = toks[verb]
    group = tuple(i for i in range(main.verb, main.body) if toks[i].tag in "AbX")
    if tok.tag == "N":
        return group
    if tok.tag == "B" and main.form == "modal":
        return tuple(i for i in group if toks[i].low in lex.MODAL or toks[i].tag == "X")
    if tok.tag != "P" or main.form not in ("passive", "perfect"):
        return ()
    after = toks[verb + 1].tag if verb + 1 < len(toks) else "."
    if main.form == "perfect":
        return group
    active = tok.low in lex.INTRANSITIVE or after in "DUMRO"
    return () if active else group
