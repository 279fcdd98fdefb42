"""Claims of a record, with the relevance that a test's chunks are labelled with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.score import Item


def claims_of(items: Sequence[Item], variables: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The claims as data; evidence from a labelled chunk says whether that is ``relevant``.

    Chunks are those of the variables ``contextChunks`` or ``contexts``. A label counts only where
    the chunk has the quote: the contexts may have come from elsewhere.
    """
    chunks = variables.get("contextChunks", variables.get("contexts"))
    every = [item.as_dict() for item in items]
    if not isinstance(chunks, list):
        return every
    for claim in every:
        relevant = _label(claim["evidence"], chunks)
        if relevant is not None:
            claim["evidence"]["relevant"] = relevant
    return every


def _label(evidence: Mapping[str, Any] | None, chunks: Sequence[Any]) -> bool | None:
    if evidence is None or evidence["context"] is None or not evidence["quote"]:
        return None
    n = evidence["context"]
    chunk = chunks[n] if n < len(chunks) else None
    if not isinstance(chunk, Mapping):
        return None
    relevant, text = chunk.get("relevant"), chunk.get("text")
    holds = isinstance(text, str) and evidence["quote"] in text
    return relevant if holds and isinstance(relevant, bool) else None
