"""A sample about a glider with scripted verdicts, for the tests of the pytest plugin."""

from __future__ import annotations

from typing import Any

from assay.verdicts import Cell, Span, Verdict

CONTEXTS = ["Perlan 2 climbed to 22,646 m.", "They took off from Argentina."]
RIGHT, WRONG = "Perlan 2 climbed to 22,646 m.", "It took off from Chile."
SAMPLE: dict[str, Any] = {
    "question": "How high?",
    "response": f"{RIGHT} {WRONG}",
    "contexts": CONTEXTS,
}
VERDICTS = {
    (RIGHT, RIGHT): Cell(Verdict.ENTAILED),
    (RIGHT, f"{RIGHT} {WRONG}"): Cell(Verdict.ENTAILED),
    (RIGHT, CONTEXTS[0]): Cell(Verdict.ENTAILED, 0.97, evidence=Span(CONTEXTS[0], 0, 29)),
    (WRONG, CONTEXTS[1]): Cell(
        Verdict.CONTRADICTED, 0.02, "it names another country", Span("from Argentina", 14, 28)
    ),
}
HEAD = f"""
import pytest, assay
from assay.pytest_plugin import assert_scores, assert_scores_async
SAMPLE = {SAMPLE!r}
"""
"""The head of a file of tests that has the sample."""
