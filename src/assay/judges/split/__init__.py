"""Claims of a text without a language model: sentences, and rules for English."""

from __future__ import annotations

from assay.sample import Claim
from assay.text import sentences


def split_claims(text: str, question: str | None = None) -> list[Claim]:
    """The claims that a text makes, in order, each with the span of the sentence it is from."""
    return [Claim(text[a:b], a, b) for a, b in sentences(text)]
