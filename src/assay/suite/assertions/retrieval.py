"""Assertions on retrieval and grounding: faithfulness, recall, relevance, answer relevance."""

from __future__ import annotations

from assay.metrics import ContextRecall, ContextRelevance, Faithfulness, ResponseRelevancy
from assay.suite.assertions.base import CannotCheckError, Given
from assay.suite.assertions.graded import GradedKind, Wanted, ratio
from assay.suite.assertions.sources import (
    needed_contexts,
    question_of,
    references_of,
    said_of,
)


def _joined(given: Given) -> bool:
    """Whether a claim may lean on several contexts."""
    joined = given.config.get("joined", True)
    if not isinstance(joined, bool):
        raise CannotCheckError("config.joined must be true or false")
    return joined


def _faithfulness(given: Given) -> Wanted:
    return Wanted(
        {"faithfulness": Faithfulness(_joined(given))},
        said_of(given),
        question_of(given),
        needed_contexts(given),
    )


def _recall(given: Given) -> Wanted:
    return Wanted(
        {"context recall": ContextRecall(_joined(given))},
        question=question_of(given),
        contexts=needed_contexts(given),
        references=references_of(given),
    )


def _relevance(given: Given) -> Wanted:
    return Wanted(
        {"context relevance": ContextRelevance()},
        question=asked(given),
        contexts=needed_contexts(given),
    )


def _answer_relevance(given: Given) -> Wanted:
    return Wanted({"answer relevance": ResponseRelevancy()}, said_of(given), asked(given))


def asked(given: Given) -> str:
    """The question; raises CannotCheckError if there is none."""
    question = question_of(given)
    if question is None:
        raise CannotCheckError("the test has no question: give the variable query")
    return question


RETRIEVAL = (
    GradedKind(
        "context-faithfulness",
        "share of the output's claims that the context entails",
        _faithfulness,
        ratio("faithfulness"),
        config=("contextChunks", "noiseContext", "joined"),
    ),
    GradedKind(
        "context-recall",
        "share of the claims of the value (the right answer) that the context entails",
        _recall,
        ratio("context recall"),
        value="required",
        types=(str, list),
        config=("contextChunks", "noiseContext", "joined"),
    ),
    GradedKind(
        "context-relevance",
        "share of the context's chunks that are relevant to the question",
        _relevance,
        ratio("context relevance"),
        config=("contextChunks", "noiseContext"),
    ),
    GradedKind(
        "answer-relevance",
        "mean likeness of the question and those that the output answers (needs embeddings)",
        _answer_relevance,
        ratio("answer relevance"),
    ),
)
