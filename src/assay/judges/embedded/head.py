"""From a logit and word overlap to a calibrated probability and a verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assay.errors import ConfigError

FEATURES = ("logit", "content")
Kind = Literal["passage", "reference", "response", "question"]
KINDS: tuple[Kind, ...] = ("passage", "reference", "response", "question")
"""What a claim is held against; under "question", whether a passage answers a question."""


@dataclass(frozen=True, slots=True)
class Head:
    """Logistic regression over one pair's features; 1/2 is the best threshold for a yes."""

    weights: Mapping[str, float]
    bias: float
    question_words: int
    """A premise of at most so many words is read together with the question."""

    def probability(self, logit: float, content: float) -> float:
        """Probability of entailment, 0 to 1, on balanced data; from 1/2 on it is a yes.

        ``content`` is the share of the claim's content words that the premise holds.
        """
        z = self.bias + self.weights["logit"] * logit + self.weights["content"] * content
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


@dataclass(frozen=True, slots=True)
class Edition:
    """What was learned beside the weights: heads by kind of premise, and measured agreement."""

    name: str
    max_words: int
    max_tokens: int
    heads: Mapping[Kind, Head]
    measured: tuple[Mapping[str, Any], ...]
    text: str
    """The file itself, for the fingerprint."""

    @classmethod
    def read(cls, path: Path) -> Edition:
        """The edition of a ``judge.json``; raises ConfigError if it is none."""
        try:
            text = path.read_text("utf-8")
            raw = json.loads(text)
            heads: dict[Kind, Head] = {
                kind: Head(
                    {name: float(raw["heads"][kind][name]) for name in FEATURES},
                    float(raw["heads"][kind]["bias"]),
                    int(raw["heads"][kind]["question_words"]),
                )
                for kind in KINDS
            }
            return cls(
                str(raw["name"]),
                int(raw["max_words"]),
                int(raw["max_tokens"]),
                heads,
                tuple(raw["measured"]),
                text,
            )
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"{path} is no edition of the embedded judge: {error!r}") from error
