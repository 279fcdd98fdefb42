"""The claims of one English sentence."""

from __future__ import annotations

import re
from itertools import pairwise

from assay.judges.split import lexicon as lex
from assay.judges.split.adjuncts import Version, versions
from assay.judges.split.clauses import Clause, clauses
from assay.judges.split.extras import Extra, fronted, of_bracket, of_insertion, of_tail
from assay.judges.split.grammar import Main, find_main, finite_later, group, is_past, skip_adverbs
from assay.judges.split.lists import listed
from assay.judges.split.referents import Referents
from assay.judges.split.tokens import Token, stray, tokens
from assay.sample import Claim
from assay.text import content_words

# One of these and "and" may join anything: the sentence stays whole.
_WHOLE = lex.word_set(
    """if unless whether either neither nor respectively together otherwise lest hence
    versus vs"""
)
_LIMITS = lex.NEGATION | {"only", "not"}
_TIMES = frozenset(["as", "after", "before", "since", "until", "till"])
_LATER = frozenset(["later", "then", "eventually", "subsequently", "afterwards", "finally"])


class Sentence:
    """One sentence under the rules: text[start:end], its tokens, and who its pronouns are."""

    def __init__(
        self, text: str, start: int, end: int, referents: Referents, *, capital: bool = False
    ) -> None:
        self.text, self.start, self.end = text, start, end
        self.capital = capital or text[start].isupper()
        self.toks = tokens(text, start, end)
        self.referents = referents
        while self.toks and self.toks[-1].tag in ".!…":
            self.toks.pop()

    def claims(self) -> list[Claim]:
        """The claims in order; the sentence itself where no rule is sure, and never a word less."""
        found = self._found()
        said = {word for claim in found or [] for word in content_words(claim.text)}
        if found is None or not set(content_words(self.text[self.start : self.end])) <= said:
            return [self._whole()]
        whole = self._whole()
        return [whole] if len(found) == 1 and _same(found[0], whole) else found

    def _whole(self) -> Claim:
        text = self.text[self.start : self.end]
        return Claim(text[0].upper() + text[1:] if self.capital else text, self.start, self.end)

    def _found(self) -> list[Claim] | None:
        toks = self.toks
        if len(toks) < 3 or _blocked(toks):
            return None
        by_list = listed(self.text, toks)
        if by_list:
            return [self._claim(text, a, b) for text, a, b in by_list]
        main = find_main(toks)
        if main is None or _reports(toks, main) or _limited(toks, main):
            if toks[0].tag != "R" and toks[0].low not in ("his", "her", "its", "their"):
                self.referents.forget()
            return None
        return self._parsed(main)

    def _parsed(self, main: Main) -> list[Claim]:
        found = clauses(self.toks, main, len(self.toks))
        out: list[Claim] = []
        subject = ""
        now = main
        for n, clause in enumerate(found):
            if clause.own:
                now = main if n == 0 else _main_of(self.toks, clause)
                subject = self._subject(now)
            out += self._of_clause(main, clause, subject, first=n == 0)
        if out and out[0].start is not None:
            out[0] = Claim(out[0].text, self.start, out[0].end)
        unique = {claim.text: claim for claim in reversed(out)}
        return [claim for claim in out if unique.get(claim.text) is claim]

    def _subject(self, main: Main) -> str:
        """The subject, with the name that its pronoun stands for."""
        toks = self.toks
        own = [t for t in toks[main.start : main.head] if t.tag != "("]
        text = self._render(range(main.start, main.head), brackets=False)
        first = own[0] if own else toks[main.start]
        rest = self.text[first.end : toks[-1].end].strip()
        if first.tag == "R" and len(own) == 1:
            return self.referents.name(first.text, rest) or text
        if first.low in ("his", "her", "its") and main.start == 0:
            owner = self.referents.name(first.text, rest)
            return f"{owner}'s {text[len(first.text) :].strip()}" if owner else text
        self.referents.see(toks, main, text)
        return text

    def _of_clause(self, main: Main, clause: Clause, subject: str, *, first: bool) -> list[Claim]:
        toks = self.toks
        about = _main_of(toks, clause)
        extras: list[Extra] = []
        front = ""
        kept = subject
        if first:
            front, of_front = self._front(main)
            kept, inserted = self._with_insertions(main, subject)
            extras += of_front + inserted
        elif not clause.own and self._repeats_front(main, clause):
            front = self._render(range(main.start), trim=False)
        tail = of_tail(toks, about, clause.body, clause.end)
        end = clause.end
        if tail:
            end = tail[0]
            extras.append(tail[1])
        cut = Clause(clause.subject, clause.own, clause.start, clause.body, end, clause.form)
        borrowed = " ".join(toks[i].text for i in clause.borrowed)
        a = toks[main.start if clause.own and first else clause.start].start
        a = toks[clause.subject[0]].start if clause.own else a
        b = toks[end - 1].end
        out = [
            self._claim(_joined(front, kept, borrowed, self._render(version)), a, b)
            for version in versions(toks, cut)
        ]
        for extra in extras:
            out += self._of_extra(extra, clause, subject)
        return out

    def _of_extra(self, extra: Extra, clause: Clause, subject: str) -> list[Claim]:
        toks = self.toks
        about = subject
        if extra.about != clause.subject:
            about = self._render(range(*extra.about))
        if extra.bracket is not None:
            tok = toks[extra.bracket]
            return [self._claim(_joined(about, extra.verb, tok.text[1:-1]), tok.start, tok.end)]
        return [
            self._claim(
                _joined(
                    about, extra.verb, *(toks[i].text for i in part.borrowed), _plain(rendered)
                ),
                toks[part.start].start,
                toks[part.end - 1].end,
            )
            for part in self._parts(extra)
            for rendered in map(self._render, versions(toks, part))
        ]

    def _parts(self, extra: Extra) -> list[Clause]:
        """The predicates of a tail or insertion; a relative clause may have several."""
        toks = self.toks
        verb = skip_adverbs(toks, extra.start)
        if extra.verb:
            return [Clause(extra.about, False, extra.start, verb + 1, extra.end, "passive")]
        body, form = group(toks, verb)
        main = Main(extra.start, extra.start, (), verb, body, form)
        found = clauses(toks, main, extra.end)
        if any(part.own for part in found[1:]):
            return [Clause(extra.about, False, extra.start, body, extra.end, form)]
        return found

    def _front(self, main: Main) -> tuple[str, list[Extra]]:
        extra = fronted(self.toks, main)
        if extra:
            return "", [extra]
        return self._render(range(main.start), trim=False), []

    def _with_insertions(self, main: Main, subject: str) -> tuple[str, list[Extra]]:
        """The subject of the first claim, with what could not be made a claim of its own."""
        toks = self.toks
        extras = [of_insertion(toks, main, a, b) for a, b in main.insertions]
        if any(extra is None for extra in extras):
            own = self._render(range(main.start, main.predicate), trim=False)
            return own, []
        known = [extra for extra in extras if extra]
        brackets = [i for i in range(main.start, main.head) if toks[i].tag == "("]
        about = [of_bracket(toks, main, i) for i in brackets]
        if all(about):
            return subject, known + [extra for extra in about if extra]
        return " ".join([subject, *(toks[i].text for i in brackets)]), known

    def _repeats_front(self, main: Main, clause: Clause) -> bool:
        """Whether a fronted phrase limits the later predicates too, as a place or topic does."""
        toks = self.toks
        if main.start == 0 or toks[0].tag != "I" or toks[0].low in ("despite", "after", "before"):
            return False
        front = toks[: main.start]
        timed = any(t.tag in "MG" or t.low in lex.MONTH | lex.ERA | {"addition"} for t in front)
        return not timed and toks[clause.start].low not in _LATER

    def _render(self, indices: range | Version, *, trim: bool = True, brackets: bool = True) -> str:
        """The tokens as they stand in the text, one space where something was left out."""
        toks = self.toks
        out = ""
        last = None
        for i in indices:
            if isinstance(i, str):
                out, last = f"{out} {i}", -9
                continue
            if toks[i].tag == "(" and not brackets:
                continue
            if last is not None:
                between = self.text[toks[last].end : toks[i].start] if i == last + 1 else ""
                out += " " if i != last + 1 or between.strip() or "\n" in between else between
                out = out.rstrip() if toks[i].tag in ",;:" else out
            out += toks[i].text
            last = i
        return out.strip(" ,;") if trim else out.strip()

    def _claim(self, text: str, a: int, b: int) -> Claim:
        text = re.sub(r",(?=\W*$)", "", text).strip(" ,;:")
        if text and self.capital:
            text = text[0].upper() + text[1:]
        if text and not text.endswith((".", "!")) and not re.search(r"[.!]['\"”’]$", text):
            text += "."
        return Claim(text, a, self.end if b == self.toks[-1].end else b)


def _same(claim: Claim, other: Claim) -> bool:
    """Whether two claims differ in spaces and the full stop at most."""
    return re.sub(r"[\s.]", "", claim.text) == re.sub(r"[\s.]", "", other.text)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _plain(text: str) -> str:
    """The words with no capital that came from the start of the sentence."""
    return text[0].lower() + text[1:] if text[:5] in ("Born ", "Known", "Based", "Found") else text


def _main_of(toks: list[Token], clause: Clause) -> Main:
    verb = skip_adverbs(toks, clause.start)
    if clause.borrowed:
        verb = clause.borrowed[0]
    return Main(*clause.subject, (), verb, clause.body, clause.form)


def _blocked(toks: list[Token]) -> bool:
    if stray(toks):
        return True
    if any(tok.low in _WHOLE or ("?" in tok.text) for tok in toks):
        return True
    pairs = {(a.low, b.low) for a, b in pairwise(toks)}
    return ("according", "to") in pairs or ("one", "hand") in pairs or ("rather", "than") in pairs


def _limited(toks: list[Token], main: Main) -> bool:
    """Whether a fronted condition or a subject like "no one" bears on the whole sentence."""
    if any(tok.low in _LIMITS for tok in toks[main.start : main.head]):
        return True
    front = toks[: main.start]
    if not front or front[0].tag == "S":
        return bool(front)
    verbs = front[0].low in _TIMES and any(tok.tag in "AVZB" for tok in front)
    return verbs and not is_past(toks, main)


def _reports(toks: list[Token], main: Main) -> bool:
    """Whether the sentence tells what somebody says or thinks: that stays in one piece."""
    if any(tok.low in lex.THINK and tok.tag != "U" for tok in toks[main.start : main.head]):
        return True
    verb = toks[main.body - 1]
    nxt = toks[main.body] if main.body < len(toks) else None
    if verb.low not in lex.SAY or nxt is None:
        return False
    quoted = nxt.text[0] in "\"“'‘:" or nxt.low == "that" or nxt.tag in ":,"
    return quoted or finite_later(toks, main.body)


def fragment(text: str, start: int, end: int) -> bool:
    """Whether no verb makes a sentence of text[start:end], and no colon either."""
    toks = tokens(text, start, end)
    return bool(toks) and ":" not in text[start:end] and find_main(toks) is None


def independent(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The clauses between semicolons; the sentence itself unless all have subject and verb."""
    if text.find(";", start, end) < 0:
        return [(start, end)]
    toks = tokens(text, start, end)
    cuts = [i for i, tok in enumerate(toks) if tok.tag == ";"]
    if not cuts or _blocked(toks):
        return [(start, end)]
    parts = [
        (a, b)
        for a, b in zip([0, *(i + 1 for i in cuts)], [*cuts, len(toks)], strict=True)
        if b > a
    ]
    if any(find_main(toks[a:b]) is None for a, b in parts):
        return [(start, end)]
    return [(toks[a].start, toks[b - 1].end) for a, b in parts]
