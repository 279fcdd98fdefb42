"""Results of both programs as the same rows: one a test and prompt, one outcome an assertion."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Key = tuple[str, str, int]
"""Description of a test, label of a prompt, and a number where both come more than once."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether one assertion holds, and its score from 0 to 1."""

    type: str
    holds: bool
    score: float
    reason: str
    error: bool = False

    @property
    def shown(self) -> str:
        """The outcome in few letters."""
        if self.error:
            return "error"
        return f"{'pass' if self.holds else 'fail'} {self.score:.3f}"


@dataclass(frozen=True, slots=True)
class Row:
    """One answer and what was asserted of it; sets come before their parts."""

    prompt: Any
    holds: bool
    score: float
    outcomes: tuple[Outcome, ...]
    error: str | None


def rows_of(path: Path) -> dict[Key, Row]:
    """The rows of a results file of either program, in the order of tests."""
    found: dict[Key, Row] = {}
    seen: Counter[tuple[str, str]] = Counter()
    rows = json.loads(path.read_text(encoding="utf-8"))["results"]["results"]
    for one in sorted(rows, key=lambda row: (row["testIdx"], row["promptIdx"])):
        name = (one["testCase"].get("description") or "", one["prompt"]["label"])
        seen[name] += 1
        found[*name, seen[name]] = _row(one)
    return found


def _row(one: Mapping[str, Any]) -> Row:
    grading = one.get("gradingResult") or {}
    outcomes = tuple(_outcomes(grading.get("componentResults") or []))
    error = (one.get("error") or "an error") if one.get("failureReason") == 2 else None
    return Row(_data(one["prompt"]["raw"]), one["success"], one["score"], outcomes, error)


def _outcomes(components: list[dict[str, Any]]) -> Iterator[Outcome]:
    for one in components:
        spec = one.get("assertion") or {}
        yield Outcome(
            # promptfoo leaves out which set it was, but not that there was one.
            spec.get("type") or "assert-set",
            one["pass"],
            one["score"],
            one["reason"],
            error=one.get("status") == "error"
            or bool((one.get("metadata") or {}).get("graderError")),
        )
        if "status" in one:  # assay keeps the parts of a set in it; promptfoo puts them behind it
            yield from _outcomes(one.get("componentResults") or [])


def _data(prompt: str) -> Any:
    """A chat as its messages, whatever the spaces between them."""
    try:
        return json.loads(prompt)
    except ValueError:
        return prompt
