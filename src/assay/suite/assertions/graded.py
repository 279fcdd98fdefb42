"""What a graded assertion is: the sample and metrics it wants, and how it reads their scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from assay.metrics import Metric
from assay.sample import Sample
from assay.score import Score
from assay.suite.assertions.base import Found, Given, reaches, stays_below

Purpose = Literal["text", "embedding"]
IF_UNDEFINED = ("pass", "fail", "skip", "error")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The metrics that an assertion reads, and the fields of the sample that they are about.

    A field that is None matters to none of them. The first metric is the one that decides.
    """

    metrics: Mapping[str, Metric]
    response: str | None = None
    question: str | None = None
    contexts: tuple[Any, ...] | None = None
    references: tuple[str, ...] | None = None

    def joined(self, other: Wanted) -> Wanted | None:
        """Both in one, so that they share verdicts; None if they are about different samples."""
        merged: dict[str, Any] = {"metrics": {**self.metrics, **other.metrics}}
        for name in (f.name for f in fields(self) if f.name != "metrics"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours is not None and theirs is not None and ours != theirs:
                return None
            merged[name] = theirs if ours is None else ours
        return Wanted(**merged)

    def sample(self) -> Sample:
        """The sample to score; raises DataError for fields of the wrong type."""
        return Sample(self.question, self.response, self.contexts, self.references)


Read = Callable[[Given, Mapping[str, Score]], Found]


@dataclass(frozen=True, slots=True)
class GradedKind:
    """A kind of assertion that a judge answers.

    ``want`` raises CannotCheckError where the test lacks something. ``read`` sees the scores by
    the names that ``want`` gave them, and is called only if the first has a value. The other
    fields are those of `Kind`.
    """

    name: str
    about: str
    want: Callable[[Given], Wanted]
    read: Read
    value: Literal["required", "optional", "none"] = "none"
    types: tuple[type, ...] = (str,)
    threshold: Literal["required", "optional", "none"] = "optional"
    default: float | None = 0.5
    bounds: tuple[float, float] | None = (0.0, 1.0)
    lower_is_better: bool = False
    config: tuple[str, ...] = ()
    undefined: Callable[[Given], str] = field(default=lambda _: "skip")
    """What becomes of an assertion that has nothing to measure, unless its config says."""


def ratio(main: str, *, lower: bool = False) -> Read:
    """Reads one score from 0 to 1 and holds it against the threshold."""

    def read(given: Given, scores: Mapping[str, Score]) -> Found:
        score = scores[main]
        value = score.value if score.value is not None else 0.0
        bound = 0.0 if given.threshold is None else given.threshold
        holds = stays_below(value, bound) if lower else reaches(value, bound)
        goodness = min(1.0, max(0.0, 1 - value if lower else value))
        reason = explained(main, score, bound, lower=lower)
        return Found(holds, reason, value, goodness, score.items)

    return read


def explained(name: str, score: Score, bound: float, *, lower: bool) -> str:
    """A score with its counts and bound, in words."""
    value = 0.0 if score.value is None else score.value
    counts = ""
    if score.hits is not None and score.total is not None:
        counts = f" ({score.hits:g} of {score.total:g})"
    return f"{name} {value:.3g}{counts}, threshold {'at most' if lower else 'at least'} {bound:g}"
