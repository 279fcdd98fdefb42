"""The question, contexts and references of a graded assertion, from variables and config."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assay.errors import DataError
from assay.sample import Context, Sample
from assay.suite.assertions.base import CannotCheckError, Given

QUESTIONS = ("query", "question", "input", "user_input")
"""Variables that hold the question, the first that is there."""


def question_of(given: Given) -> str | None:
    """The question: a variable of `QUESTIONS` or, without one, the prompt."""
    for name in QUESTIONS:
        value = given.vars.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return given.prompt.strip() or None


def contexts_of(given: Given) -> tuple[Context, ...] | None:
    """The contexts, None if the test has none.

    From the first of these that is there: ``contextChunks`` of the config; passages that came
    with the answer; the variables ``contextChunks``, ``contexts``, ``context``. What came with the
    answer takes over the relevance labels of variables with the same text. ``noiseContext``
    joins a context that is no list of chunks. A text is one context, relevant unless labelled.

    Raises CannotCheckError for what is no context, and where the provider's own contexts could
    not be found: others are not taken in their place.
    """
    variables = given.vars.get("contextChunks", given.vars.get("contexts"))
    if (chunks := given.config.get("contextChunks")) is not None:
        return _chunks("config.contextChunks", chunks)
    if given.retrieved is not None:
        known = _chunks("contextChunks", variables) if variables is not None else ()
        labels = {one.text.strip(): one.relevant for one in known}
        found = _chunks("what contextTransform finds", given.retrieved)
        return tuple(
            one if one.relevant is not None
            else Context(one.text, one.id, labels.get(one.text.strip()))
            for one in found
        )  # fmt: skip
    if given.answer.contexts_error is not None:
        raise CannotCheckError(given.answer.contexts_error)
    if isinstance(variables, list):
        return _chunks("contextChunks", variables)
    texts = _chunks("context", given.vars["context"]) if given.vars.get("context") else ()
    if isinstance(variables, str) and variables.strip():
        texts = _chunks("contextChunks", variables)
    noise = given.config.get("noiseContext")
    if noise is not None:
        texts = (*texts, *_chunks("config.noiseContext", noise))
    return texts or None


def needed_contexts(given: Given) -> tuple[Context, ...]:
    """The contexts; raises CannotCheckError if there are none."""
    found = contexts_of(given)
    if found is None:
        raise CannotCheckError(
            "the test has no context: give the variable context or contextChunks, or"
            " contextTransform for what the provider retrieved"
        )
    return found


def said_of(given: Given) -> str:
    """The output; raises CannotCheckError if it is empty, so that saying nothing never passes."""
    if not given.text.strip():
        raise CannotCheckError("the output is empty: there are no claims to check")
    return given.text


def references_of(given: Given) -> tuple[str, ...]:
    """The right answers that the value holds; raises CannotCheckError if it is empty."""
    values = given.value if isinstance(given.value, list) else [given.value]
    texts = tuple(as_text(value) for value in values if value is not None)
    if not any(text.strip() for text in texts):
        raise CannotCheckError("the value, which is the right answer, is empty")
    return texts


def as_text(value: Any) -> str:
    """A text as it is, data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _chunks(name: str, value: Any) -> tuple[Context, ...]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _parsed(value)
    if isinstance(value, str) and not value.strip():
        return ()
    items = value if isinstance(value, list) else [value]
    if name == "what contextTransform finds":
        items = [_passage(item) for item in items]
    try:
        return Sample(contexts=items).contexts or ()
    except DataError as error:
        raise CannotCheckError(f"{name}: {error}") from None


def _parsed(text: str) -> Any:
    """A list that a cell holds as JSON, else the text."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    fit = isinstance(found, list) and all(
        isinstance(one, str) or (isinstance(one, Mapping) and "text" in one) for one in found
    )
    return found if fit else text


def _passage(item: Any) -> Any:
    """A retrieved passage as endpoints write them: a text, or an object with one."""
    if isinstance(item, Mapping) and "text" not in item:
        for name in ("content", "page_content", "snippet", "passage", "chunk", "body"):
            if isinstance(item.get(name), str):
                return {**{k: item[k] for k in ("id", "relevant") if k in item}, "text": item[name]}
    return item
