"""What an assertion is given, what it finds, and what a kind of assertion takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.errors import AssayError
from assay.score import Item
from assay.suite.providers.base import Answer

EPSILON = 1e-9
"""Scores this close to a threshold count as on it."""


class CannotCheckError(AssayError):
    """An assertion that cannot be decided for this answer: neither pass nor fail."""


@dataclass(frozen=True, slots=True)
class Given:
    """What an assertion may look at; ``value`` and ``config`` are rendered already.

    ``retrieved`` are the passages that came with the answer: those of the assertion's
    ``contextTransform`` or, without one, the provider's own.
    """

    answer: Answer
    value: Any = None
    threshold: float | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    vars: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""
    retrieved: Any = None

    @property
    def text(self) -> str:
        """The output as text."""
        return self.answer.text


@dataclass(frozen=True, slots=True)
class Found:
    """What an assertion found: does it hold (before any ``not-``), its score, and why.

    ``value`` is the score in its own unit and direction; ``goodness`` is 0 to 1, higher is better
    (None: 1 if it holds, else 0).
    """

    holds: bool
    reason: str
    value: float | None = None
    goodness: float | None = None
    items: tuple[Item, ...] = ()
    figures: Mapping[str, float | None] = field(default_factory=dict)


Check = Callable[[Given], Found]
"""Decides at once, without a judge; raises CannotCheckError."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of assertion that needs no judge.

    ``value`` and ``threshold`` say whether those must, may or must not be given;
    ``types`` which Python types a rendered value may have (empty: any), ``default`` the threshold
    where none is given, ``config`` the keys that its config may have. ``bounds``: the least and
    greatest threshold that can make a difference.
    """

    name: str
    about: str
    check: Check
    value: Literal["required", "optional", "none"] = "required"
    types: tuple[type, ...] = (str,)
    threshold: Literal["required", "optional", "none"] = "none"
    default: float | None = None
    bounds: tuple[float, float] | None = None
    lower_is_better: bool = False
    config: tuple[str, ...] = ()


def reaches(score: float, threshold: float) -> bool:
    """Whether a score that is better when higher reaches a threshold, within rounding.

    >>> reaches(0.1 + 0.2, 0.3), reaches(0.29, 0.3)
    (True, False)
    """
    return score >= threshold - EPSILON


def stays_below(score: float, threshold: float) -> bool:
    """Whether a score that is better when lower stays at or below a threshold, within rounding."""
    return score <= threshold + EPSILON
