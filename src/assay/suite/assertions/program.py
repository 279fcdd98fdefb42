"""python: an assertion by a program of the user's, in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assay.suite.assertions.base import CannotCheckError, Found, Given, reaches


@dataclass(frozen=True, slots=True)
class ProgramKind:
    """A kind of assertion that runs the user's code; its value is code, or a file of code."""

    name: str
    about: str
    value: Literal["required"] = "required"
    types: tuple[type, ...] = (str,)
    threshold: Literal["optional"] = "optional"
    default: float | None = None
    bounds: tuple[float, float] | None = None
    lower_is_better: bool = False
    config: tuple[str, ...] | None = None
    """None: any key; the program sees them."""


PYTHON = ProgramKind(
    "python",
    "what a Python function or expression says of output and context (needs --allow-code)",
)


def context_of(given: Given) -> dict[str, Any]:
    """What the program sees beside the output."""
    return {
        "prompt": given.prompt,
        "vars": dict(given.vars),
        "config": dict(given.config),
        "metadata": dict(given.answer.metadata),
        "retrieved": given.retrieved,
    }


def read_result(given: Given, result: Any) -> Found:
    """What a program's answer means: true or false, a score, or an object with pass and score.

    A score without ``pass`` holds if it reaches the threshold or, without one, if it is above 0.
    Raises CannotCheckError for anything else.
    """
    if isinstance(result, bool):
        return Found(result, f"the program said {result}", goodness=float(result))
    if isinstance(result, int | float):
        return _scored(given, float(result), "")
    if isinstance(result, Mapping):
        holds, score = result.get("pass", result.get("pass_")), result.get("score")
        reason = str(result.get("reason") or "")
        if isinstance(holds, bool):
            value = _number(score)
            goodness = None if value is None else min(1.0, max(0.0, value))
            return Found(holds, reason or f"the program said pass: {holds}", value, goodness)
        if (number := _number(score)) is not None:
            return _scored(given, number, reason)
    raise CannotCheckError(
        f"the program gave {str(result)[:80]!r}; it must give true or false, a number, or"
        ' {"pass": ..., "score": ..., "reason": ...}'
    )


def _number(value: Any) -> float | None:
    """A finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _scored(given: Given, score: float, reason: str) -> Found:
    if not math.isfinite(score):
        raise CannotCheckError(f"the program gave the score {score}, which is not finite")
    holds = score > 0 if given.threshold is None else reaches(score, given.threshold)
    bound = "above 0" if given.threshold is None else f"at least {given.threshold:g}"
    said = f"score {score:g}, threshold {bound}"
    return Found(holds, f"{reason} ({said})" if reason else said, score, min(1.0, max(0.0, score)))
