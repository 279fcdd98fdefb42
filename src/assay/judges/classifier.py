"""A judge over any model that scores premise-hypothesis pairs: verdicts only, no claims."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from assay.asks import Ask, Entail, Skill, T, Usage
from assay.errors import ConfigError
from assay.judges.batching import Pair, PairBatcher
from assay.judges.embedded.judge import as_question
from assay.judges.evidence import Passage
from assay.judges.lending import MARGIN, alone, answers
from assay.text import content_words, words
from assay.verdicts import Cell, Verdict

KEPT_PASSAGES = 512
LONG = 100_000
"""Characters of premises times claims from which an ask is prepared in a thread."""
OVERLAP = 4
"""Neighbouring windows share at most one part in so many."""


class PairScorer(Protocol):
    """A model of pairs."""

    def scores(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """P(entailment) a pair, 0 to 1; less 1 where contradiction is the likeliest class.

        Called in a worker thread, one call at a time.
        """


class ClassifierJudge:
    """Verdicts of a pair classifier; answers `Entail` and nothing else.

    A premise longer than ``window`` words is read in windows of whole sentences that overlap, and
    the likeliest counts (None: always read whole). ``probability`` is the model's own. ENTAILED
    from ``threshold`` on; else CONTRADICTED if the model finds so in the window that holds the
    sentence nearest to the claim; else NEUTRAL. Evidence is the sentence of the window that covers
    the claim best. References and responses of at most ``question_words`` words are read after
    the question, without which they say little, and passages as they are. The question is no
    evidence: what it makes as likely alone, the premise must entail by itself, unless it is a
    "yes" or the part of the claim that was asked for. A blank premise entails nothing.
    ``fingerprint`` identifies the scorer, ``contradicts`` says whether it tells contradiction from
    silence, and ``batch`` is the most pairs that are handed to it at once.
    Raises ConfigError for parameters out of range.
    """

    def __init__(
        self,
        scorer: PairScorer,
        *,
        name: str,
        fingerprint: str,
        threshold: float = 0.5,
        window: int | None = 350,
        question_words: int = 30,
        contradicts: bool = False,
        batch: int = 256,
    ) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold must be above 0 and at most 1, not {threshold}")
        if window is not None and window < 1:
            raise ConfigError(f"window must be at least 1 word, not {window}")
        self.name = name
        self._threshold = threshold
        self._window = window
        self._question_words = question_words
        self._contradicts = contradicts
        self._fingerprint = f"{fingerprint} threshold={threshold:g} window={window}"
        self._fingerprint += f" question_words={question_words} rules={RULES_VERSION}"
        self._pairs = PairBatcher(scorer.scores, batch=batch)
        self._texts: OrderedDict[str, tuple[Window, ...]] = OrderedDict()

    @property
    def fingerprint(self) -> str:
        """Identity by scorer, threshold and how premises are cut."""
        return self._fingerprint

    @property
    def usage(self) -> Usage:
        """``calls`` counts the pairs that the model scored."""
        return Usage(calls=self._pairs.scored)

    def can(self, skill: Skill) -> bool:
        return skill == "entail" or (skill == "contradict" and self._contradicts)

    async def answer(self, ask: Ask[T]) -> T:
        """A row of cells a claim; raises ConfigError for any other ask."""
        if isinstance(ask, Entail):
            return cast("T", await self._entail(ask))
        raise ConfigError(
            f"judge {self.name} gives verdicts only and does not answer {type(ask).__name__}; "
            "combine it: RoutedJudge(extract=..., entail=...)"
        )

    async def aclose(self) -> None:
        await self._pairs.aclose()

    async def _entail(self, ask: Entail) -> tuple[tuple[Cell, ...], ...]:
        if len(ask.claims) * sum(map(len, ask.premises)) > LONG:
            # Cutting up a book takes seconds: other samples need the loop meanwhile.
            tasks = await asyncio.to_thread(self._prepare, ask)
        else:
            tasks = self._prepare(ask)
        scores = await self._scores([task.pairs for task in tasks])
        await self._take_back(tasks, scores)
        cells = [task.cell(s, self._threshold) for task, s in zip(tasks, scores, strict=True)]
        width = len(ask.premises)
        return tuple(tuple(cells[i * width : (i + 1) * width]) for i in range(len(ask.claims)))

    async def _scores(self, pairs: Sequence[Sequence[Pair]]) -> list[list[float]]:
        """As many lists of numbers, each as long."""
        scores = iter(await self._pairs.scores([pair for some in pairs for pair in some]))
        return [[next(scores) for _ in some] for some in pairs]

    async def _take_back(self, tasks: Sequence[_Task], scores: Sequence[list[float]]) -> None:
        """Replaces scores that are the question's work by those without it, in place.

        Three rounds of pairs, each only where the one before leaves a doubt.
        """
        doubtful = [
            (task, found, k)
            for task, found in zip(tasks, scores, strict=True)
            for k in task.leaning(found, self._threshold)
        ]
        heard = await self._pairs.scores([task.question_alone for task, _, _ in doubtful])
        again = [
            (task.premise_alone(k), found, k)
            for (task, found, k), score in zip(doubtful, heard, strict=True)
            if _log_odds(found[k]) - _log_odds(score) < MARGIN
        ]
        plain = await self._pairs.scores([pair for pair, _, _ in again])
        for (_, found, k), score in zip(again, plain, strict=True):
            if _chance(score) < _chance(found[k]):
                found[k] = score

    def _prepare(self, ask: Entail) -> list[_Task]:
        """One a claim and premise, claim by claim."""
        question = as_question(ask.question or "") if ask.against != "passage" else ""
        read = [self._windows(premise) for premise in ask.premises]
        lead = [
            question if len(words(premise)) <= self._question_words else ""
            for premise in ask.premises
        ]
        return [
            _Task(claim, windows, before)
            for claim in ask.claims
            for windows, before in zip(read, lead, strict=True)
        ]

    def _windows(self, text: str) -> tuple[Window, ...]:
        """The windows of a premise, found once for all claims and asks; none if it is blank."""
        found = self._texts.get(text)
        if found is None:
            found = windows(Passage.of(text), self._window) if text.strip() else ()
            self._texts[text] = found
            if len(self._texts) > KEPT_PASSAGES:
                self._texts.popitem(last=False)
        return found


RULES_VERSION = 2
"""Raised when pairs or verdicts come out differently; part of every fingerprint."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a passage that is read at once, and the sentences that it has a part of."""

    passage: Passage
    text: str
    sentences: range


def windows(passage: Passage, limit: int | None) -> tuple[Window, ...]:
    """Stretches of whole sentences of at most ``limit`` words, each sharing some with the next.

    A text that fits stays as it is; a sentence that does not fit is cut up.

    >>> text = "One is here. Two is here. Three is here. Four is here."
    >>> [window.text for window in windows(Passage.of(text), 6)]
    ['One is here. Two is here.', 'Three is here. Four is here.']
    """
    pieces = _pieces(passage, limit) if limit is not None else []
    sizes = [size(passage.text[start:end]) for start, end, _ in pieces]
    if limit is None or sum(sizes) <= limit:
        return (Window(passage, passage.text, range(len(passage.spans))),)
    out = []
    first = last = 0
    while last < len(pieces):
        used = sum(sizes[first:last])
        while last < len(pieces) and (last == first or used + sizes[last] <= limit):
            used += sizes[last]
            last += 1
        held = pieces[first:last]
        text = passage.text[held[0][0] : held[-1][1]]
        out.append(Window(passage, text, range(held[0][2], held[-1][2] + 1)))
        first = _next_start(sizes, first, last, limit)
    return tuple(out)


def _next_start(sizes: Sequence[int], first: int, last: int, limit: int) -> int:
    """Where the next window begins: a little back, as far as it still takes in a new piece."""
    coming = sizes[last] if last < len(sizes) else 0
    room = min(limit // OVERLAP, limit - coming)
    start = last
    while start - 1 > first and sizes[start - 1] <= room:
        start -= 1
        room -= sizes[start]
    return start


def _pieces(passage: Passage, limit: int) -> list[tuple[int, int, int]]:
    """Start, end and sentence of each piece: a sentence, or equal parts of one too long."""
    out = []
    for n, (start, end) in enumerate(passage.spans):
        parts = max(1, -(-size(passage.text[start:end]) // limit))
        step = -(-(end - start) // parts) or 1
        out += [(at, min(at + step, end), n) for at in range(start, max(end, start + 1), step)]
    return out


def size(text: str) -> int:
    """Length in words, or what so many characters of English would make if that is more.

    >>> size("Two words"), size("磨坊于1820年开业"), size("0" * 600)
    (2, 7, 100)
    """
    return max(len(words(text)), len(text) // 6)


class _Task:
    """One claim against one premise."""

    def __init__(self, claim: str, read: Sequence[Window], question: str) -> None:
        self._claim = claim
        self._windows = read
        self._question = question
        lead = f"{question} " if question else ""
        self.pairs = [(_plain(lead + window.text), _plain(claim)) for window in read]

    @property
    def question_alone(self) -> Pair:
        return _plain(self._question), _plain(self._claim)

    def premise_alone(self, k: int) -> Pair:
        text = alone(self._question, self._windows[k].text, self._claim)
        return _plain(text), _plain(self._claim)

    def leaning(self, scores: Sequence[float], threshold: float) -> list[int]:
        """The windows that entail the claim, though the question may do so in their place."""
        return [
            k
            for k, score in enumerate(scores)
            if self._question
            and _chance(score) >= threshold
            and not answers(self._question, self._windows[k].text, self._claim)
        ]

    def cell(self, scores: Sequence[float], threshold: float) -> Cell:
        """The verdict from the scores of the pairs."""
        if not scores:
            return Cell(Verdict.NEUTRAL, 0.0)
        chances = [_chance(score) for score in scores]
        best = max(range(len(chances)), key=lambda i: (chances[i], -i))
        passage, content = self._windows[best].passage, frozenset(content_words(self._claim))
        if chances[best] >= threshold:
            quote = passage.quote(self._windows[best].sentences, content)
            return Cell(Verdict.ENTAILED, chances[best], evidence=quote)
        if any(score < 0 for score in scores):
            # Models find contradiction in much that is merely off the point.
            nearest = passage.quote(range(len(passage.spans)), content)
            if any(
                score < 0 and nearest and nearest.start in _starts(window)
                for score, window in zip(scores, self._windows, strict=True)
            ):
                return Cell(Verdict.CONTRADICTED, chances[best], evidence=nearest)
        return Cell(Verdict.NEUTRAL, chances[best])


def _chance(score: float) -> float:
    """P(entailment) of a score, whatever the likeliest class."""
    return score + 1 if score < 0 else score


def _log_odds(score: float) -> float:
    chance = min(max(_chance(score), 1e-6), 1 - 1e-6)
    return math.log(chance / (1 - chance))


def _starts(window: Window) -> set[int]:
    return {window.passage.spans[i][0] for i in window.sentences}


def _plain(text: str) -> str:
    # Tokenizers take UTF-8 only; a lone surrogate is no character anyhow.
    return text.encode(errors="replace").decode()


def in_batches(
    lengths: Sequence[int], batch: int, run: Callable[[Sequence[int]], Sequence[float]]
) -> list[float]:
    """One number an item, items of like length run together, the longest first.

    ``run`` takes the numbers of at most ``batch`` items. So little is padded, and memory runs out
    at the start or not at all.

    >>> in_batches([1, 5, 2], 2, lambda items: [10.0 * i for i in items])
    [0.0, 10.0, 20.0]
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    out = [0.0] * len(lengths)
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        for i, number in zip(chosen, run(chosen), strict=True):
            out[i] = float(number)
    return out
