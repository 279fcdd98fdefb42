"""Verdicts of claims against premises, and the three-valued logic that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from assay.sample import Claim

Truth = bool | None
"""True, False, or None where a judge did not answer."""


class Verdict(StrEnum):
    """What one premise says of one claim. UNKNOWN: the judge did not answer; never a "no"."""

    ENTAILED = "entailed"
    NEUTRAL = "neutral"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"

    @classmethod
    def letter(cls, letter: str) -> Verdict:
        """The verdict of a letter: E, N, C or ?; raises ValueError for any other."""
        for verdict, known in zip(cls, "ENC?", strict=True):
            if letter == known:
                return verdict
        raise ValueError(f"{letter!r} is no verdict; write E, N, C or ?")

    @property
    def entailed(self) -> Truth:
        return None if self is Verdict.UNKNOWN else self is Verdict.ENTAILED

    @property
    def contradicted(self) -> Truth:
        return None if self is Verdict.UNKNOWN else self is Verdict.CONTRADICTED


@dataclass(frozen=True, slots=True)
class Span:
    """A verbatim quote from a premise, with its character offsets."""

    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One verdict, with the probability of entailment (0 to 1), reason and evidence if given."""

    verdict: Verdict
    probability: float | None = None
    reason: str = ""
    evidence: Span | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """Whether a text has a trait (None: the judge did not answer), with probability and reason."""

    value: Truth
    probability: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating from 1 to 5 (None: the judge did not answer), with a reason."""

    value: int | None
    reason: str = ""


Level = Literal["fully", "mostly", "partly", "slightly", "not"]
"""How far a text meets a criterion."""
LEVELS: Mapping[Level, float] = MappingProxyType(
    {"fully": 1.0, "mostly": 0.75, "partly": 0.5, "slightly": 0.25, "not": 0.0}
)
"""What each level is worth."""


@dataclass(frozen=True, slots=True)
class Grading:
    """How far a text meets a criterion (None: the judge did not answer), with a reason.

    >>> Grading("mostly").value, Grading(None).value
    (0.75, None)
    """

    level: Level | None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.level is not None and self.level not in LEVELS:
            raise ValueError(f"{self.level!r} is no level; known: {', '.join(LEVELS)}")

    @property
    def value(self) -> float | None:
        """From 0 (not met) to 1 (fully met), in quarters."""
        return None if self.level is None else LEVELS[self.level]


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions that a text answers, and whether it is noncommittal (None: not answered)."""

    questions: tuple[str, ...]
    noncommittal: Truth


Vector = tuple[float, ...]
"""An embedding; empty where a text is blank."""


def any_of(values: Iterable[Truth]) -> Truth:
    """Three-valued "or": True if any is True, else None if any is unknown, else False.

    >>> any_of([False, None, True]), any_of([False, None]), any_of([])
    (True, None, False)
    """
    unknown = False
    for value in values:
        if value:
            return True
        unknown = unknown or value is None
    return None if unknown else False


def all_of(values: Iterable[Truth]) -> Truth:
    """Three-valued "and": False if any is False, else None if any is unknown, else True."""
    return negate(any_of(negate(value) for value in values))


def both(a: Truth, b: Truth) -> Truth:
    """Three-valued "and" of two.

    >>> both(False, None), both(True, None), both(True, True)
    (False, None, True)
    """
    return all_of((a, b))


def negate(value: Truth) -> Truth:
    """Three-valued "not"; unknown stays unknown."""
    return None if value is None else not value


@dataclass(frozen=True, slots=True)
class EntailmentMatrix:
    """Verdicts, one row a claim and one column a premise.

    >>> M = EntailmentMatrix.letters("EN NN ?N")
    >>> M.supported()
    (True, False, None)
    >>> M.useful()
    (True, False)
    """

    claims: tuple[Claim, ...]
    cells: tuple[tuple[Cell, ...], ...]
    width: int
    """The number of premises; known also where there are no claims."""

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.claims):
            raise ValueError(f"{len(self.cells)} rows of verdicts for {len(self.claims)} claims")
        if any(len(row) != self.width for row in self.cells):
            raise ValueError(f"every row of verdicts must have {self.width} cells")

    @classmethod
    def letters(cls, text: str, width: int | None = None) -> EntailmentMatrix:
        """A matrix from a word a claim and a letter a premise: E, N, C or ? (for tests)."""
        rows = [[Cell(Verdict.letter(x)) for x in word] for word in text.split()]
        claims = tuple(Claim(f"claim {n}") for n in range(1, len(rows) + 1))
        columns = width if width is not None else len(rows[0]) if rows else 0
        return cls(claims, tuple(map(tuple, rows)), columns)

    def supported(self) -> tuple[Truth, ...]:
        """Per claim: does any premise entail it?"""
        return tuple(map(_any_entails, self.cells))

    def supported_among(self, premises: Sequence[Truth]) -> tuple[Truth, ...]:
        """Per claim: does any of the chosen premises entail it? (a choice may be unknown)"""
        return tuple(
            any_of(
                both(chosen, cell.verdict.entailed)
                for chosen, cell in zip(premises, row, strict=True)
            )
            for row in self.cells
        )

    def contradicted(self) -> tuple[Truth, ...]:
        """Per claim: does a premise contradict it, and none entail it?"""
        return tuple(
            both(
                any_of(cell.verdict.contradicted for cell in row),
                negate(_any_entails(row)),
            )
            for row in self.cells
        )

    def useful(self) -> tuple[Truth, ...]:
        """Per premise: does it entail any claim?"""
        return tuple(_any_entails(row[c] for row in self.cells) for c in range(self.width))

    def rows(self, keep: Sequence[int]) -> EntailmentMatrix:
        """The matrix of some of the claims."""
        claims = tuple(self.claims[i] for i in keep)
        return EntailmentMatrix(claims, tuple(self.cells[i] for i in keep), self.width)

    def column(self, c: int) -> EntailmentMatrix:
        """The matrix of one premise."""
        return EntailmentMatrix(self.claims, tuple((row[c],) for row in self.cells), 1)

    def best(self, i: int) -> int | None:
        """The premise that says most about claim ``i``: entailing first, then the likeliest.

        Ties go to the first premise. None where there are no premises.
        """
        best, most = None, (-1, 0.0)
        for c, cell in enumerate(self.cells[i]):
            says = _RANK[cell.verdict], cell.probability or 0.0
            if says > most:
                best, most = c, says
        return best


_RANK: Mapping[Verdict, int] = MappingProxyType(
    {Verdict.ENTAILED: 3, Verdict.CONTRADICTED: 2, Verdict.NEUTRAL: 1, Verdict.UNKNOWN: 0}
)


def _any_entails(cells: Iterable[Cell]) -> Truth:
    """`any_of` the cells' ``entailed``: the innermost loop of most metrics."""
    unknown = False
    for cell in cells:
        verdict = cell.verdict
        if verdict is Verdict.ENTAILED:
            return True
        unknown = unknown or verdict is Verdict.UNKNOWN
    return None if unknown else False
