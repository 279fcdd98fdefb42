"""What the embedded judge reads of one claim and one premise, with the question or without."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.judges.batching import Pair
from assay.judges.evidence import overlap
from assay.judges.lending import alone, answers
from assay.verdicts import Span


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim, the premise that is read for it, and what is known beforehand."""

    question: str
    """What the premise is read after; "" if it is read by itself."""
    premise: str
    claim: str
    overlap: float
    """Share of the claim's content words in question and premise."""
    evidence: Span | None
    readable: bool
    """Whether the claim is in letters that the model was trained on; else the words must do."""
    stated: bool
    """Whether a sentence of the premise is the claim, word for word."""

    @classmethod
    def of(
        cls,
        question: str,
        premise: str,
        claim: str,
        *,
        evidence: Span | None,
        readable: bool,
        stated: bool,
    ) -> Reading:
        """The reading, its overlap counted."""
        share = overlap(claim, _after(question, premise))
        return cls(question, premise, claim, share, evidence, readable, stated)

    @property
    def pair(self) -> Pair:
        """What the model scores."""
        return _after(self.question, self.premise), self.claim

    def leans(self) -> bool:
        """Whether the question, not the premise, may be what supports the claim."""
        if not self.question or self.stated:
            return False
        return not answers(self.question, self.premise, self.claim)

    def without_premise(self) -> Reading:
        """The question by itself."""
        return replace(self, premise="", overlap=overlap(self.claim, self.question))

    def without_question(self) -> Reading:
        """The premise by itself, a pronoun at its start resolved."""
        premise = alone(self.question, self.premise, self.claim)
        return replace(self, question="", premise=premise, overlap=overlap(self.claim, premise))


def _after(question: str, premise: str) -> str:
    return " ".join(text for text in (question, premise) if text)
