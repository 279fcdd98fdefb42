"""The kinds of asks whose answers can be kept: what an answer must look like, and be whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args, get_origin

from assay.asks import Ask, Embed, Entail, Extract, Grade, Label, Questions, Rate
from assay.sample import Claim
from assay.verdicts import Asked, Cell, Grading, Mark, Rating, Vector, Verdict

Check = Callable[[Any, Any], bool]
"""Whether an answer of the right type fits its ask."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of ask, by its class, and the check that an answer belongs to it."""

    ask: type[Ask[Any]]
    fits: Check

    @property
    def answer(self) -> Any:
        """The type of the answer: the ``T`` of ``Ask[T]``."""
        for base in getattr(self.ask, "__orig_bases__", ()):
            if get_origin(base) is Ask:
                return get_args(base)[0]
        raise TypeError(f"{self.ask.__name__} does not say what answers it")


def _claims(ask: Extract, claims: tuple[Claim, ...]) -> bool:
    return all(_inside(c.start, c.end, ask.text) for c in claims)


def _grid(ask: Entail, rows: tuple[tuple[Cell, ...], ...]) -> bool:
    if len(rows) != len(ask.claims):
        return False
    width = len(ask.premises)
    for row in rows:
        if len(row) != width:
            return False
        for cell, premise in zip(row, ask.premises, strict=True):
            span = cell.evidence
            if span is not None and not 0 <= span.start <= span.end <= len(premise):
                return False
    return True


def _marks(ask: Label, marks: tuple[Mark, ...]) -> bool:
    return len(marks) == len(ask.pairs)


def _rating(ask: Rate, rating: Rating) -> bool:
    return rating.value is None or 1 <= rating.value <= 5


def _gradings(ask: Grade, gradings: tuple[Grading, ...]) -> bool:
    return len(gradings) == len(ask.criteria)


def _questions(ask: Questions, asked: Asked) -> bool:
    return len(asked.questions) <= ask.n


def _vectors(ask: Embed, vectors: tuple[Vector, ...]) -> bool:
    widths = {len(vector) for vector in vectors if vector}
    return len(vectors) == len(ask.texts) and len(widths) <= 1


def _inside(start: int | None, end: int | None, text: str) -> bool:
    if start is None or end is None:
        return start is end
    return 0 <= start <= end <= len(text)


# A new kind of ask takes one line here, and one below if its answer can lack something.
KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.ask.__name__: kind
        for kind in (
            Kind(Extract, _claims),
            Kind(Entail, _grid),
            Kind(Label, _marks),
            Kind(Rate, _rating),
            Kind(Grade, _gradings),
            Kind(Questions, _questions),
            Kind(Embed, _vectors),
        )
    }
)
"""Every kind of ask that is remembered, by name."""

LACKING: Mapping[type, tuple[str, object]] = MappingProxyType(
    {
        Cell: ("verdict", Verdict.UNKNOWN),
        Mark: ("value", None),
        Rating: ("value", None),
        Grading: ("level", None),
        Asked: ("noncommittal", None),
    }
)
"""By the type of a part of an answer, the field and value that say: the judge did not answer."""


def complete(answer: object) -> bool:
    """Whether the judge answered every part.

    >>> complete((Mark(True), Mark(False))), complete((Mark(True), Mark(None)))
    (True, False)
    """
    if isinstance(answer, tuple):
        # Numbers lack nothing, and a vector has many.
        return all(map(complete, answer)) if _has_parts(answer) else True
    lacking = LACKING.get(type(answer))
    return lacking is None or getattr(answer, lacking[0]) != lacking[1]


def _has_parts(answer: Iterable[object]) -> bool:
    return not isinstance(next(iter(answer), None), int | float)
