"""levenshtein and word-count: how far the output is from a text, and how long it is."""

from __future__ import annotations

import math
from typing import Any

from assay.suite.assertions.base import CannotCheckError, Found, Given, Kind, stays_below
from assay.suite.assertions.quoting import counted, plain, quoted

DISTANCE = 5.0
"""Edits allowed unless told."""

_CELLS = 10_000_000_000
"""Cells of the table of distances that are computed at most; some tenths of a second."""


def levenshtein(given: Given) -> Found:
    """Whether at most ``threshold`` insertions, deletions and substitutions lead to the value."""
    if isinstance(given.value, dict | list) or given.value is None:
        raise CannotCheckError("the value must be a text")
    text, wanted = given.text, plain(given.value)
    most = DISTANCE if given.threshold is None else given.threshold
    edits, exact = _edits(text, wanted, max(0, math.floor(most + 1e-9)))
    number = f"{edits}" if exact else f"over {edits - 1}"
    plural = "" if number == "1" else "s"
    sides = f"the output {quoted(text, 60)} and {quoted(wanted, 60)}"
    return Found(
        stays_below(edits, most),
        f"{number} edit{plural} between {sides} (at most {counted(most)} allowed)",
        value=float(edits),
    )


def _edits(text: str, wanted: str, most: int) -> tuple[int, bool]:
    """The distance and whether it is exact; else it is one more than ``most``."""
    from rapidfuzz.distance import Levenshtein

    if len(text) * len(wanted) <= _CELLS:
        return Levenshtein.distance(text, wanted), True
    gap = abs(len(text) - len(wanted))
    if gap <= most and max(len(text), len(wanted)) * (2 * most + 1) > _CELLS:
        raise CannotCheckError(
            f"the texts are too long for a distance of {most:,}: lower the threshold"
        )
    edits = Levenshtein.distance(text, wanted, score_cutoff=most)
    return edits, edits <= most


def word_count(given: Given) -> Found:
    """Whether the output has so many words; words are what stands between spaces."""
    if wrong := bad_count(given.value):
        raise CannotCheckError(wrong)
    least, most = _limits(given.value)
    words = len(given.text.split())
    if least == most:
        wanted = f"exactly {counted(most)}"
    elif math.isinf(most):
        wanted = f"at least {counted(least)}"
    else:
        wanted = f"{counted(least)} to {counted(most)}" if least else f"at most {counted(most)}"
    plural = "" if words == 1 else "s"
    return Found(
        least <= words <= most,
        f"the output has {words} word{plural} ({wanted} wanted)",
        figures={"words": float(words)},
    )


def bad_count(value: Any) -> str | None:
    """What is wrong with a value that is to be a number of words or limits of it."""
    if isinstance(value, dict):
        if not value or not value.keys() <= {"min", "max"}:
            return "the value must be a number or have min, max or both"
        limits = [value[key] for key in ("min", "max") if key in value]
    else:
        limits = [value]
    numbers = [number for each in limits if (number := _number(each)) is not None]
    if len(numbers) < len(limits):
        return "the value must be a number of words, 0 or more"
    if numbers != sorted(numbers):
        return "min is greater than max"
    if not isinstance(value, dict) and not numbers[0].is_integer():
        return "the value must be a whole number of words"
    return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _limits(value: Any) -> tuple[float, float]:
    if isinstance(value, dict):
        return float(value.get("min", 0)), float(value.get("max", math.inf))
    return float(value), float(value)


KINDS = (
    Kind(
        "levenshtein",
        "at most so many insertions, deletions and substitutions lead to the value",
        levenshtein,
        types=(str, int, float),
        threshold="optional",
        default=DISTANCE,
        bounds=(0.0, math.inf),
        lower_is_better=True,
    ),
    Kind(
        "word-count",
        "the output has so many words: a number, or min and max",
        word_count,
        types=(int, float, str, dict),
    ),
)
