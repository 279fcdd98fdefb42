"""Outcome by outcome: where promptfoo and assay agree, and why where they do not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from beside_outcomes import Key, Outcome, Row, rows_of

NEAR = 1e-6
"""Scores this close are the same."""

GRADED = frozenset(
    {
        "answer-relevance",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "factuality",
        "g-eval",
        "llm-rubric",
        "model-graded-closedqa",
        "similar",
    }
)
"""What the judge decides; everything else is deterministic."""

ON_PURPOSE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("several references", "bleu"): (
            "an n-gram counts as often as in the reference that has it most often, as BLEU is"
            " defined; promptfoo takes one reference for all n-grams of an order"
        ),
        ("factuality negated", "not-factuality"): "promptfoo passes over the not-",
        ("floors from a table", "contains"): (
            "cells are data: assay fills in no {{...}} in them, and warns"
        ),
    }
)
"""Differences by description of the test and type of the assertion."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One assertion in both programs; None where one of them has it not."""

    key: Key
    promptfoo: Outcome | None
    assay: Outcome | None

    @property
    def type(self) -> str:
        """Its type, with ``not-``."""
        one = self.promptfoo or self.assay
        return one.type if one else ""

    @property
    def same(self) -> bool:
        """Whether both have it, hold or not alike, and give the same score."""
        ours, theirs = self.assay, self.promptfoo
        return (
            ours is not None
            and theirs is not None
            and (ours.type, ours.holds, ours.error) == (theirs.type, theirs.holds, theirs.error)
            and abs(ours.score - theirs.score) <= NEAR
        )

    @property
    def graded(self) -> bool:
        """Whether the judge decides it."""
        return self.type.removeprefix("not-") in GRADED

    @property
    def reason(self) -> str | None:
        """Why it differs on purpose; None where nobody meant it to."""
        return ON_PURPOSE.get((self.key[0], self.type))


def compare(promptfoo: Path, assay: Path) -> bool:
    """Print what agrees and what does not; False if something deterministic should and does not."""
    theirs, ours = rows_of(promptfoo), rows_of(assay)
    keys = list(dict.fromkeys([*theirs, *ours]))
    pairs = [pair for key in keys for pair in _pairs(key, theirs.get(key), ours.get(key))]
    whole = [one for key in keys for one in _rows_differ(key, theirs.get(key), ours.get(key))]
    _table(pairs)
    different = [pair for pair in pairs if not pair.same]
    for pair in different:
        _print(pair)
    for line in whole:
        print(f"  test    {line}")
    for name, kind in sorted(set(ON_PURPOSE) - {(pair.key[0], pair.type) for pair in different}):
        print(f"  note    {name} · {kind}: no longer different")
    bad = sum(not (pair.graded or pair.reason) for pair in different) + len(whole)
    print(
        f"{len(keys)} rows, {len(pairs)} outcomes: {len(pairs) - len(different)} the same,"
        f" {sum(pair.reason is not None for pair in different)} different on purpose, {bad} wrong"
    )
    return bad == 0


def _pairs(key: Key, theirs: Row | None, ours: Row | None) -> Iterator[Pair]:
    left, right = theirs.outcomes if theirs else (), ours.outcomes if ours else ()
    for k in range(max(len(left), len(right))):
        yield Pair(key, left[k] if k < len(left) else None, right[k] if k < len(right) else None)


def _rows_differ(key: Key, theirs: Row | None, ours: Row | None) -> Iterator[str]:
    """What differs about a row that its outcomes do not explain."""
    where = _named(key)
    if theirs is None or ours is None:
        yield f"{where}: only {'assay' if theirs is None else 'promptfoo'} has it"
        return
    if theirs.prompt != ours.prompt:
        yield f"{where}: prompts {_short(theirs.prompt)} and {_short(ours.prompt)}"
    explained = any(not pair.same for pair in _pairs(key, theirs, ours))
    alike = theirs.holds == ours.holds and abs(theirs.score - ours.score) <= NEAR
    if not explained and not alike:
        yield (
            f"{where}: passed {theirs.holds} and {ours.holds}, scores {theirs.score:.4f} and"
            f" {ours.score:.4f}"
        )


def _table(pairs: list[Pair]) -> None:
    """How many outcomes of each type are the same."""
    every = Counter(pair.type for pair in pairs)
    same = Counter(pair.type for pair in pairs if pair.same)
    print(f"{'assertion':24} {'outcomes':>9} {'the same':>9} {'passed':>7}")
    held = Counter(pair.type for pair in pairs if pair.promptfoo and pair.promptfoo.holds)
    for kind in sorted(every):
        print(f"{kind:24} {every[kind]:9} {same[kind]:9} {held[kind]:7}")


def _print(pair: Pair) -> None:
    label = "purpose" if pair.reason else "graded" if pair.graded else "WRONG"
    shown = [one.shown if one else "absent" for one in (pair.promptfoo, pair.assay)]
    print(f"  {label:7} {_named(pair.key)} · {pair.type}: promptfoo {shown[0]}, assay {shown[1]}")
    if pair.reason:
        print(f"          {pair.reason}")
        return
    for name, one in (("promptfoo", pair.promptfoo), ("assay", pair.assay)):
        if one:
            print(f"          {name}: {_short(one.reason)}")


def _named(key: Key) -> str:
    return f"{key[0]} ({key[1]}{f', {key[2]}' if key[2] > 1 else ''})"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:159] + "…"
