"""The share of texts that a judge's label applies to, with one item a text."""

from __future__ import annotations

from collections.abc import Iterable

from assay.asks import Trait
from assay.score import Item, Score, fraction
from assay.verdicts import Mark


def share_marked(trait: Trait, marks: Iterable[tuple[str, Mark]], empty: str) -> Score:
    """Share of the texts that have the trait; undefined without texts, for the reason ``empty``.

    >>> share_marked("toxic", [("Rain is wet.", Mark(False)), ("You fool!", Mark(True))], "").value
    0.5
    """
    known = list(marks)
    items = [
        Item(text, None, None, mark.probability, hit=mark.value, reason=mark.reason, label=trait)
        for text, mark in known
    ]
    return fraction((mark.value for _, mark in known), empty).showing(items)
