"""Which sentences of a long premise bear on a claim, and how much of the claim they hold."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.text import content_words, sentences, words
from assay.verdicts import Span

PIECE = 80
"""Words of the longest piece that a premise is cut into."""
CANDIDATES = 200
"""Sentences that are compared at each step: the best at the start, far more than fit."""
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A premise cut into sentences: their spans, content words and lengths in words."""

    text: str
    spans: tuple[tuple[int, int], ...]
    contents: tuple[frozenset[str], ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Passage:
        """The passage of a text; without a sentence it is one piece."""
        spans = tuple(
            piece for span in sentences(text) or [(0, len(text))] for piece in _short(text, *span)
        )
        pieces = [text[start:end] for start, end in spans]
        return cls(
            text,
            spans,
            tuple(frozenset(content_words(piece)) for piece in pieces),
            tuple(len(piece.split()) for piece in pieces),
        )

    @property
    def words(self) -> int:
        """Length in words."""
        return sum(self.lengths)

    def select(self, claim: frozenset[str], max_words: int) -> list[int]:
        """The sentences that cover most of the claim's words, in order, within ``max_words``.

        Greedy: each next sentence adds the most uncovered words, rare ones first; a word that is
        covered already counts a fifth. All sentences where they fit.
        """
        if self.words <= max_words:
            return list(range(len(self.spans)))
        shared = [content & claim for content in self.contents]
        weight = {w: 1 / n for w, n in Counter(w for s in shared for w in s).items()}
        gain = [_gain(words, frozenset(), weight) for words in shared]
        ranked = sorted(range(len(gain)), key=lambda i: (-gain[i], i))
        left = ranked[:CANDIDATES]
        covered: frozenset[str] = frozenset()
        chosen: list[int] = []
        used = 0
        while left:
            best = max(left, key=lambda i: (_gain(shared[i], covered, weight), -i))
            left.remove(best)
            if chosen and used + self.lengths[best] > max_words:
                if used > 0.7 * max_words:
                    break
                continue
            chosen.append(best)
            used += self.lengths[best]
            covered |= shared[best]
        return sorted(chosen)

    def cut(self, chosen: Sequence[int], max_words: int) -> str:
        """The chosen sentences as one text, at most ``max_words`` of them."""
        if len(chosen) == len(self.spans) and self.words <= max_words:
            return self.text
        text = " ".join(self.text[slice(*self.spans[i])] for i in chosen)
        return " ".join(text.split()[:max_words])

    def quote(self, chosen: Iterable[int], claim: frozenset[str]) -> Span | None:
        """The one sentence among the chosen that covers the claim best; None if blank."""
        weight = Counter(w for content in self.contents for w in content & claim)
        best = max(
            chosen,
            key=lambda i: (
                sum(1 / weight[w] for w in self.contents[i] & claim),
                -self.lengths[i],
                -i,
            ),
        )
        start, end = self.spans[best]
        quote = self.text[start:end]
        return Span(quote, start, end) if quote.strip() else None


def states(passage: Passage, claim: str) -> int | None:
    """The sentence of the passage that is the claim, word for word; None if there is none.

    >>> states(Passage.of("It rained. The mill opened in 1820!"), "the mill opened in 1820")
    1
    """
    wanted = words(claim)
    for n, (start, end) in enumerate(passage.spans):
        if passage.lengths[n] <= 2 * len(wanted) and words(passage.text[start:end]) == wanted:
            return n if wanted else None
    return None


def _short(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span in pieces of at most `PIECE` words: tables and lists may have no sentence end."""
    starts = [m.start() for m in _WORD.finditer(text, start, end)]
    if len(starts) <= PIECE:
        return [(start, end)]
    cuts = [start, *starts[PIECE::PIECE], end]
    return [(a, a + len(text[a:b].rstrip())) for a, b in pairwise(cuts)]


def _gain(shared: frozenset[str], covered: frozenset[str], weight: dict[str, float]) -> float:
    new = math.fsum(weight[w] for w in shared - covered)
    return new + 0.2 * math.fsum(weight[w] for w in shared)


def overlap(claim: str, premise: str) -> float:
    """Share of the claim's content words (repeats count) that the premise holds.

    A claim without content words has all of them.

    >>> overlap("Paris has airports.", "The airport of Paris")
    0.5
    """
    content = content_words(claim)
    there = set(content_words(premise))
    return sum(word in there for word in content) / len(content) if content else 1.0
