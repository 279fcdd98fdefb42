"""The judge itself: splits by rules, cuts premises to evidence, scores pairs off the loop."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from assay.asks import Ask, Entail, Extract, Label, Skill, T, Usage
from assay.errors import ConfigError
from assay.judges.batching import PairBatcher
from assay.judges.crossencoder import CrossEncoder
from assay.judges.embedded.head import Edition, Head
from assay.judges.embedded.reading import Reading
from assay.judges.evidence import Passage, states
from assay.judges.lending import MARGIN
from assay.judges.split import RULES_VERSION, split_claims
from assay.text import content_words
from assay.verdicts import Cell, Mark, Verdict

HERE = Path(__file__).parent


class EmbeddedJudge:
    """Answers offline, with the model of ``folder`` (default: the one in the package).

    Verdicts are ENTAILED or NEUTRAL: the model tells support from no support, and does not tell
    contradiction from silence. ``probability`` is calibrated on balanced data. Premises longer
    than the model reads are cut to the sentences that bear on the claim. A short premise is read
    after the question, which is no evidence: what the question alone makes as likely, the premise
    must support by itself, unless it is a "yes" or the part of the claim that was asked for. The
    best single sentence is the evidence. A claim in letters that the model never saw is judged by
    its words alone, uncalibrated: a premise that holds nearly all of them supports it. A claim
    that is a sentence of the premise word for word is entailed.
    """

    name = "embedded"

    def __init__(self, folder: str | Path | None = None, *, threads: int | None = None) -> None:
        self._folder = Path(folder) if folder else HERE
        self._edition = Edition.read(self._folder / "judge.json")
        if not (self._folder / "model.int8.onnx").is_file():
            raise ConfigError(f"{self._folder} has no model.int8.onnx")
        encoder = CrossEncoder(self._folder, max_tokens=self._edition.max_tokens, threads=threads)
        self._pairs = PairBatcher(encoder.logits)
        self._passages: OrderedDict[str, Passage] = OrderedDict()

    @property
    def edition(self) -> Edition:
        """What was learned beside the weights."""
        return self._edition

    @property
    def fingerprint(self) -> str:
        """Identity by weights, tokenizer, heads and splitting rules."""
        digest = hashlib.sha256(f"{RULES_VERSION} {READING}\n{self._edition.text}".encode())
        for name in ("model.int8.onnx", "tokenizer.json"):
            digest.update(hashlib.sha256((self._folder / name).read_bytes()).digest())
        return f"embedded:{digest.hexdigest()[:16]}"

    @property
    def usage(self) -> Usage:
        """``calls`` counts the pairs that the model scored."""
        return Usage(calls=self._pairs.scored)

    def can(self, skill: Skill) -> bool:
        return skill in ("claims", "entail", "relevant_passage")

    async def answer(self, ask: Ask[T]) -> T:
        """Claims, or a row of cells a claim."""
        if isinstance(ask, Extract):
            claims = await asyncio.to_thread(split_claims, ask.text, ask.question)
            return cast("T", tuple(claims))
        if isinstance(ask, Entail):
            return cast("T", await self._entail(ask))
        if isinstance(ask, Label) and ask.skills == {"relevant_passage"}:
            return cast("T", await self._relevant(ask))
        raise ConfigError(
            f"the embedded judge does not answer {', '.join(sorted(ask.skills))}; an LLM judge "
            "does: openai:MODEL or a LangChain model"
        )

    async def aclose(self) -> None:
        await self._pairs.aclose()

    async def _entail(self, ask: Entail) -> tuple[tuple[Cell, ...], ...]:
        head = self._edition.heads[ask.against]
        if len(ask.claims) * sum(map(len, ask.premises)) > LONG:
            # Cutting up a book takes seconds: other samples need the loop meanwhile.
            found = await asyncio.to_thread(self._prepare, ask, head)
        else:
            found = self._prepare(ask, head)
        logits = await self._pairs.scores([one.pair for one in found])
        chances = [_chance(head, z, one) for z, one in zip(logits, found, strict=True)]
        await self._take_back(head, found, logits, chances)
        cells = [_cell(chance, one) for chance, one in zip(chances, found, strict=True)]
        width = len(ask.premises)
        return tuple(tuple(cells[i * width : (i + 1) * width]) for i in range(len(ask.claims)))

    async def _take_back(
        self,
        head: Head,
        found: Sequence[Reading],
        logits: Sequence[float],
        chances: list[float],
    ) -> None:
        """Lowers the chances that are the question's work to those without it, in place.

        Three rounds of pairs, each only where the one before leaves a doubt.
        """
        doubtful = [n for n, one in enumerate(found) if chances[n] >= 0.5 and one.leans()]
        lent = [found[n].without_premise() for n in doubtful]
        heard = await self._pairs.scores([one.pair for one in lent])
        again = [
            (n, found[n].without_question())
            for n, one, z in zip(doubtful, lent, heard, strict=True)
            if _is_lent(head, one, z, logits[n])
        ]
        plain = await self._pairs.scores([one.pair for _, one in again])
        for (n, one), z in zip(again, plain, strict=True):
            chances[n] = min(chances[n], _chance(head, z, one))

    async def _relevant(self, ask: Label) -> tuple[Mark, ...]:
        """Whether each passage answers the question: the question is the hypothesis."""
        head = self._edition.heads["question"]
        question = as_question(ask.question or "")
        found = [self._pair(question, self._passage(text), "") for _, text in ask.pairs]
        logits = await self._pairs.scores([one.pair for one in found])
        marks = []
        for z, one in zip(logits, found, strict=True):
            probability = head.probability(z, one.overlap)
            marks.append(Mark(probability >= 0.5, probability))
        return tuple(marks)

    def _prepare(self, ask: Entail, head: Head) -> list[Reading]:
        """One a claim and premise, claim by claim."""
        passages = [self._passage(premise) for premise in ask.premises]
        question = as_question(ask.question or "")
        return [
            self._pair(claim, passage, question if passage.words <= head.question_words else "")
            for claim in ask.claims
            for passage in passages
        ]

    def _pair(self, claim: str, passage: Passage, question: str) -> Reading:
        content = frozenset(content_words(claim))
        stated = states(passage, claim)
        chosen = passage.select(content, self._edition.max_words)
        premise = passage.cut(chosen, self._edition.max_words)
        return Reading.of(
            question,
            premise,
            claim,
            evidence=passage.quote(chosen if stated is None else [stated], content),
            readable=mostly_latin(claim),
            stated=stated is not None,
        )

    def _passage(self, text: str) -> Passage:
        """The passage of a premise, cut up once for all claims and asks."""
        passage = self._passages.get(text)
        if passage is None:
            passage = self._passages[text] = Passage.of(text)
            if len(self._passages) > KEPT_PASSAGES:
                self._passages.popitem(last=False)
        return passage


KEPT_PASSAGES = 512
LONG = 100_000
"""Characters of premises times claims from which an ask is prepared in a thread."""
STATED = 0.99
"""Probability of a claim that stands in the premise as a sentence of its own."""
READING = 2
"""Raised when the same texts are read differently: words, sentences, evidence, formulas."""


def as_question(text: str) -> str:
    """The question with its mark: search queries come without."""
    text = text.strip()
    return text if not text or text.endswith(("?", "？", "؟", ".", "!", ":")) else text + "?"


def mostly_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin, as in all that the model has seen.

    >>> mostly_latin("Zürich 1820"), mostly_latin("磨坊于1820年开业。")
    (True, False)
    """
    letters = [c for c in text if c.isalpha()]
    latin = sum(c < "\u0250" or "\u1e00" <= c < "\u1f00" for c in letters)
    return 2 * latin >= len(letters)


def _chance(head: Head, logit: float, one: Reading) -> float:
    """The probability of entailment."""
    if one.stated:
        return STATED
    if one.readable:
        return head.probability(logit, one.overlap)
    # No data to calibrate on: half the words say next to nothing, and all are not yet proof.
    return 0.95 * one.overlap**4


def _is_lent(head: Head, question: Reading, by_itself: float, both: float) -> bool:
    """Whether the question alone makes the claim about as likely as with the premise."""
    if question.readable:
        return both - by_itself < MARGIN
    return _chance(head, by_itself, question) >= 0.5


def _cell(probability: float, one: Reading) -> Cell:
    if probability >= 0.5:
        return Cell(Verdict.ENTAILED, probability, evidence=one.evidence)
    return Cell(Verdict.NEUTRAL, probability)
