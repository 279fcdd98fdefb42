"""Questions to a judge, as plain data, and what a judge is."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Generic, Literal, Protocol, TypeVar

from assay.sample import Claim
from assay.verdicts import Asked, Cell, Grading, Mark, Rating, Vector

T = TypeVar("T")
Against = Literal["passage", "reference", "response"]
"""What kind of text the premises are: a retrieved passage, a right answer, or a response."""


Trait = Literal["relevant_statement", "relevant_passage", "biased", "toxic"]
"""What may be asked of a text: is this statement (passage) relevant to the question; is this
opinion biased, toxic."""
Skill = Literal[
    "claims",
    "opinions",
    "entail",
    "contradict",
    "relevant_statement",
    "relevant_passage",
    "biased",
    "toxic",
    "coherence",
    "criteria",
    "questions",
    "embed",
]
"""What a judge may be able to answer."""


class Ask(Generic[T]):
    """A question whose answer is a ``T``; asks compare by content and know no metric."""

    __slots__ = ()

    @property
    def skills(self) -> frozenset[Skill]:
        """What a judge must be able to do to answer this."""
        raise TypeError(f"{type(self).__name__} does not say what it takes")


@dataclass(frozen=True, slots=True)
class Extract(Ask[tuple[Claim, ...]]):
    """Which atomic claims does the text make? ``question`` is what the text answers.

    With ``opinions``, also which opinions it utters: they come as claims marked ``opinion``.
    """

    text: str
    question: str | None = None
    opinions: bool = False

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"claims", "opinions"} if self.opinions else {"claims"})


@dataclass(frozen=True, slots=True)
class Entail(Ask[tuple[tuple[Cell, ...], ...]]):
    """Which premises entail which claims? The answer has a row a claim and a column a premise.

    ``question`` gives claims and premises their sense: short answers are elliptical without it.
    """

    claims: tuple[str, ...]
    premises: tuple[str, ...]
    question: str | None = None
    against: Against = "passage"

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"entail"})


@dataclass(frozen=True, slots=True)
class Label(Ask[tuple[Mark, ...]]):
    """Which of the texts have the trait they are paired with? One mark a pair, in order."""

    pairs: tuple[tuple[Trait, str], ...]
    question: str | None = None

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset(trait for trait, _ in self.pairs)


@dataclass(frozen=True, slots=True)
class Rate(Ask[Rating]):
    """How coherent a summary of the source is the text, from 1 to 5?"""

    text: str
    source: str

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"coherence"})


@dataclass(frozen=True, slots=True)
class Grade(Ask[tuple[Grading, ...]]):
    """How far does the text meet each of the criteria? One grading a criterion, in order.

    ``question`` is what the text answers, ``reference`` a right answer to it.
    """

    criteria: tuple[str, ...]
    text: str
    question: str | None = None
    reference: str | None = None

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"criteria"})


@dataclass(frozen=True, slots=True)
class Questions(Ask[Asked]):
    """Which questions, up to ``n``, does the text answer, and is it noncommittal?"""

    text: str
    n: int = 3

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"questions"})


@dataclass(frozen=True, slots=True)
class Embed(Ask[tuple[Vector, ...]]):
    """Where do the texts lie in a space of meanings? One vector a text, in order, of one length."""

    texts: tuple[str, ...]

    @property
    def skills(self) -> frozenset[Skill]:
        return frozenset({"embed"})


@dataclass
class Usage:
    """What a judge has used so far."""

    calls: int = 0
    """Requests sent, or pairs scored by a local model."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retries: int = 0
    notes: list[str] = field(default_factory=list)
    """Negotiated limits, e.g. a parameter that the endpoint refused."""
    cached: int = 0
    """Answers that cost no call: remembered, or shared with an equal ask in work."""

    def since(self, before: Usage) -> Usage:
        """What has been used since an earlier copy."""
        return Usage(
            self.calls - before.calls,
            self.prompt_tokens - before.prompt_tokens,
            self.completion_tokens - before.completion_tokens,
            self.retries - before.retries,
            list(self.notes),
            self.cached - before.cached,
        )

    def plus(self, other: Usage) -> Usage:
        """Both added up."""
        numbers = (f.name for f in fields(self) if f.name != "notes")
        total = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return Usage(**total, notes=[*self.notes, *other.notes])

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "retries": self.retries,
            "cached": self.cached,
            "notes": list(self.notes),
        }


class Judge(Protocol):
    """Anything that answers asks.

    ``answer`` raises a JudgeError when there is no answer; inside an answer, a verdict that is
    missing is UNKNOWN. ``fingerprint`` differs whenever answers might: model, endpoint,
    parameters, prompt text, thresholds. A judge may be used from several event loops in turn,
    not at once.
    """

    @property
    def name(self) -> str:
        """Short name for people, e.g. "openai:gpt-4o-mini"."""

    @property
    def fingerprint(self) -> str:
        """Identity of the answerer."""

    @property
    def usage(self) -> Usage:
        """What has been used so far."""

    def can(self, skill: Skill) -> bool:
        """Whether asks that take this skill are answered at all."""

    async def answer(self, ask: Ask[T]) -> T:
        """The answer to one ask."""

    async def aclose(self) -> None:
        """Let go of connections and threads; the judge may be used again later."""
