"""Coordinated predicates and clauses of one sentence, each with its subject."""

from __future__ import annotations

from dataclasses import dataclass

from assay.judges.split import lexicon as lex
from assay.judges.split.grammar import (
    Form,
    Main,
    finite_later,
    group,
    skip_adverbs,
    subject_at,
    verb_at,
)
from assay.judges.split.tokens import EITHER, Token

# Auxiliaries of many, or of "to" and modals: none for the subject of "is" or "would".
_PLURAL = frozenset(["have", "do", "are", "were", "don't", "haven't", "aren't", "weren't"])
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
    return _Cutter(toks, main, end).run()


class _Cutter:
    """One walk over the tokens after the first verb: the predicate that is open, those closed."""

    def __init__(self, toks: list[Token], main: Main, end: int) -> None:
        self.toks, self.end, self.now = toks, end, main
        self.subject, self.own = (main.start, main.head), True
        self.start = main.predicate
        self.borrowed: tuple[int, ...] = ()
        # Commas that may end a predicate, each with the verb after it: "and" has to confirm them.
        self.waiting: list[tuple[int, int]] = []
        self.done: list[Clause] = []

    def run(self) -> list[Clause]:
        i = self.now.body
        while i < self.end and not _closes(self.toks, i):
            tok = self.toks[i]
            if tok.tag == "," and (at := _predicate(self.toks, self.now, i, self.end, serial=True)):
                self.waiting.append((i, at))
            elif tok.low in ("and", "but"):
                i = self._conjunction(i)
                if i < 0:
                    break
            i += 1
        self._close(self.end)
        return self.done

    def _conjunction(self, i: int) -> int:
        """Cuts at a conjunction if that is safe; where to go on, or -1 to cut no more."""
        comma = self.toks[i - 1].tag == ","
        stop = i - 1 if comma else i
        clause = _clause(self.toks, i, self.end, comma=comma)
        if clause:
            self._close(stop)
            self.now, self.subject, self.own = clause, (clause.start, clause.head), True
            self.start, self.borrowed, self.waiting = clause.predicate, (), []
            return clause.body - 1
        at = _predicate(self.toks, self.now, i, self.end)
        if not at:
            return i
        if comma and _unread_verb(self.toks, self.start, i - 1, self.waiting):
            return -1
        for comma_at, verb in self.waiting:
            self._close(comma_at)
            self._share(comma_at, verb)
        self._close(stop)
        self._share(i, at)
        self.waiting = []
        return at

    def _share(self, joint: int, verb: int) -> None:
        """Opens a predicate with the same subject."""
        self.own, self.start = False, joint + 1
        self.borrowed = _borrow(self.toks, self.now, verb)
        if not self.borrowed:
            body, form = group(self.toks, verb)
            self.now = Main(*self.subject, (), verb, body, form)

    def _close(self, end: int) -> None:
        self.done.append(self._made(end))

    def _made(self, end: int) -> Clause:
        toks, now = self.toks, self.now
        if self.own:
            return Clause(self.subject, True, self.start, now.body, end, now.form)
        verb = skip_adverbs(toks, self.start)
        if self.borrowed:
            form = now.form
            return Clause(self.subject, False, self.start, verb + 1, end, form, self.borrowed)
        body, form = group(toks, verb)
        return Clause(self.subject, False, self.start, body, end, form)


def _closes(toks: list[Token], i: int) -> bool:
    """Whether subordination begins, after which "and" may join anything."""
    tok = toks[i]
    if tok.low in EITHER and finite_later(toks, i + 1):
        return True
    return tok.tag in "SW;:—–" or (tok.tag == "C" and tok.low in ("or", "nor"))


def _unread_verb(toks: list[Token], a: int, b: int, waiting: list[tuple[int, int]]) -> bool:
    """Whether a comma before the last ", and" may open a predicate that no rule could read."""
    known = {i for i, _ in waiting}
    return any(
        toks[i].tag == "," and i not in known and toks[skip_adverbs(toks, i + 1)].tag in "VPNZzBA"
        for i in range(a, b)
    )


def _clause(toks: list[Token], conj: int, end: int, *, comma: bool) -> Main | None:
    """The clause with a subject of its own that a conjunction opens."""
    begin = skip_adverbs(toks, conj + 1)
    if begin >= end:
        return None
    first = toks[begin]
    if first.tag == "R":
        verb = skip_adverbs(toks, begin + 1)
        return subject_at(toks, begin) if verb_at(toks, verb, begin) else None
    if not comma or first.tag not in "DU":
        return None
    found = subject_at(toks, begin)
    if found is None or found.insertions or found.head - begin > 8:
        return None
    return None if any(tok.tag in "C," for tok in toks[begin : found.head]) else found


def _predicate(toks: list[Token], main: Main, joint: int, end: int, *, serial: bool = False) -> int:
    """Where the verb of a predicate that shares the subject stands after a joint, or 0."""
    verb = skip_adverbs(toks, joint + 1)
    if verb >= end or _shares_object(toks, joint):
        return 0
    tok = toks[verb]
    after = toks[verb + 1].tag if verb + 1 < end else "."
    if verb + 1 < end and toks[verb + 1].low in lex.QUANTITY:
        after = "D"
    sure = verb > joint + 1 or tok.low not in lex.PLURALS
    fits = {
        "A": not serial and not (tok.low in _PLURAL and _singular(toks[main.verb])),
        "V": True,
        "P": _past_fits(toks, main, verb, joint, serial=serial),
        "N": not serial and main.form in ("passive", "perfect") and after in "IDUMT",
        "Z": _third_fits(toks, main, after, mixed=sure),
        "z": _third_fits(toks, main, after) and after in ("DMRO" if serial else "DMR"),
        "B": _base_fits(toks, main, joint, after),
    }.get(tok.tag, False)
    return verb if fits else 0


def _singular(verb: Token) -> bool:
    return verb.tag in "Zz" or (verb.tag == "A" and verb.low not in _PLURAL | {"had"})


def _shares_object(toks: list[Token], joint: int) -> bool:
    """Whether the verb stands right before the conjunction, as in "wrote and directed the film"."""
    k = joint - 1 if toks[joint - 1].tag != "," else joint - 2
    return toks[k].tag in "VPNZBAbX" and toks[k].low not in lex.INTRANSITIVE


def _participle_between(toks: list[Token], main: Main, joint: int) -> bool:
    """Whether a participle could be what the next one is joined to ("being found and sent to")."""
    return main.form == "copula" or any(t.tag in "PNGb" for t in toks[main.body : joint])


def _past_fits(toks: list[Token], main: Main, verb: int, joint: int, *, serial: bool) -> bool:
    after = toks[verb + 1].tag if verb + 1 < len(toks) else "."
    low = toks[verb].low
    if main.form in ("present", "modal", "progressive") or _negated(toks, main):
        return False
    if serial:
        return low in lex.ACTIVE and after in "DUMI"
    if after in "IT" and low not in lex.INTRANSITIVE and _participle_between(toks, main, joint):
        return False
    if main.form == "copula":
        return low in lex.ACTIVE and after in _AFTER_PAST
    return after in _AFTER_PAST or (low in lex.ACTIVE and after in "OG.z")


def _third_fits(toks: list[Token], main: Main, after: str, *, mixed: bool = False) -> bool:
    """Whether a present verb may follow; ``mixed``: after a past one too."""
    plural = toks[main.verb].tag == "B" or toks[main.verb].low in ("are", "have", "do")
    present = main.form != "modal" and (mixed or not _past_main(toks, main))
    plural = plural or toks[main.verb].low == "were"
    return present and not plural and after not in "AVZ"


def _base_fits(toks: list[Token], main: Main, joint: int, after: str) -> bool:
    if main.form not in ("modal", "present") or _negated(toks, main) or after not in "DUORMIJGP":
        return False
    if main.form == "present" and toks[main.verb].tag != "B":
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
