"""Cosines of embeddings: response and reference, the question and those the response answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from assay.errors import ConfigError
from assay.metrics.base import Metric
from assay.needs import Need
from assay.score import Score
from assay.similarity import AnsweredQuestions, QuestionVectors, ReferenceVectors
from assay.traits import EMPTY
from assay.verdicts import Asked, Vector

NO_TEXT = "the response or the references are empty"
NO_DIRECTION = "an embedding is all zeros, and has no direction"


def cosine(a: Vector, b: Vector) -> float | None:
    """Cosine of the angle between two vectors, from -1 to 1; None if either has no direction.

    >>> cosine((1.0, 0.0), (2.0, 0.0)), cosine((1.0, 0.0), (0.0, -3.0)), cosine((1.0,), (-1.0,))
    (1.0, 0.0, -1.0)
    >>> cosine((0.0, 0.0), (1.0, 0.0)) is None
    True
    """
    if not (any(a) and any(b)):
        return None
    value = math.fsum(x * y for x, y in zip(_unit(a), _unit(b), strict=True))
    return max(-1.0, min(1.0, value))


def _unit(vector: Vector) -> Vector:
    # Squares of very large or small numbers would leave the range of floats.
    largest = max(map(abs, vector))
    scaled = [x / largest for x in vector]
    norm = math.hypot(*scaled)
    return tuple(x / norm for x in scaled)


@dataclass(frozen=True)
class AnswerSimilarity(Metric):
    """Cosine of the embeddings of response and reference, from -1 to 1; the best reference counts.

    ragas calls it SemanticSimilarity. The value depends on the embedding model: those of one
    model compare, and those of unrelated texts are seldom near 0.

    >>> AnswerSimilarity().score(((1.0, 0.0), (0.0, 1.0), (3.0, 4.0))).value
    0.6
    """

    name = "answer_similarity"
    low = -1.0

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (ReferenceVectors(),)

    def score(self, vectors: tuple[Vector, ...]) -> Score:
        response, *references = vectors
        if not any(references):
            return Score.undefined(NO_TEXT)
        values = [cosine(response, reference) for reference in references]
        known = [value for value in values if value is not None]
        if not known:
            return Score.undefined(NO_DIRECTION)
        return Score(max(known), stats={"cosine": max(known)})


@dataclass(frozen=True)
class ResponseRelevancy(Metric):
    """Mean cosine of the question and ``strictness`` questions that the response answers (ragas).

    From -1 to 1, by embeddings; 0 if the response is noncommittal. The value depends on the
    embedding model. Raises ConfigError for a ``strictness`` below 1.

    >>> asked = Asked(("What is wet?", "What falls?"), noncommittal=False)
    >>> ResponseRelevancy().score(asked, ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0))).value
    0.5
    """

    name = "response_relevancy"
    low = -1.0
    strictness: int = 3

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that a parameter cannot have."""
        super().__post_init__()
        if self.strictness < 1:
            raise ConfigError(f"{self.name}(strictness={self.strictness}): it must be at least 1")

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        return (AnsweredQuestions(self.strictness), QuestionVectors(self.strictness))

    def score(self, asked: Asked | None, vectors: tuple[Vector, ...]) -> Score:
        if asked is None:
            return Score.undefined(EMPTY)
        if asked.noncommittal is None:
            return Score.failed("the judge did not say whether the response answers", unknown=1)
        if asked.noncommittal:
            return Score(0.0, stats={"cosines": 0.0, "questions": 0.0, "noncommittal": 1.0})
        values = [cosine(vectors[0], vector) for vector in vectors[1:]]
        known = [value for value in values if value is not None]
        if not values:
            return Score.undefined("the response answers no question")
        if len(known) < len(values):
            return Score.undefined(NO_DIRECTION)
        total = math.fsum(known)
        stats = {"cosines": total, "questions": float(len(known)), "noncommittal": 0.0}
        return Score(total / len(known), stats=stats)
