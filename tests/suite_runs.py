"""Runs of suites made by hand, with every status, for the tests of outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assay.score import Evidence, Item
from assay.suite.outcome import Outcome, Result, Status, SuiteRun
from assay.suite.providers.base import Answer
from assay.verdicts import Span, Verdict

CONTEXTS = [
    "Perlan 2 climbed to 22,646 m over Patagonia in September 2018.",
    "The crew were Jim Payne and Tim Gardner.",
]

SUPPORTED = Item(
    "The glider climbed to 22,646 m.",
    Verdict.ENTAILED,
    "context",
    0.97,
    Evidence("context", 0, Span("Perlan 2 climbed to 22,646 m", 0, 28)),
    hit=True,
)
WRONG = Item(
    "It took off from Chile.",
    Verdict.CONTRADICTED,
    "context",
    0.04,
    Evidence("context", 1),
    hit=False,
    reason="the context names Argentina",
)
SILENT = Item("It carried oxygen.", Verdict.UNKNOWN, "context", hit=None)

FAITHFUL = Outcome(
    "context-faithfulness",
    "fail",
    "1 of 2 claims is supported",
    value=0.5,
    goodness=0.5,
    threshold=0.8,
    weight=2.0,
    metric="grounded",
    items=(SUPPORTED, WRONG),
    figures={"claims": 2.0, "unanswered": 0.0, "coverage": None},
)
NOISE = Outcome(
    "noise-sensitivity",
    "fail",
    "1 of 2 claims is wrong",
    value=0.5,
    goodness=0.5,
    threshold=0.2,
    lower_is_better=True,
    items=(replace(SUPPORTED, hit=False), replace(WRONG, hit=True)),
)
LABELLED = [
    {"text": "Perlan 2 climbed to 22,646 m.", "relevant": True},
    {"text": "A balloon took off from Chile.", "relevant": False},
]
MISLED = Outcome(
    "noise-sensitivity",
    "fail",
    "noise sensitivity 0.5 (1 of 2), threshold at most 0.2; “It took off from Chile.” (context 1)",
    value=0.5,
    goodness=0.5,
    threshold=0.2,
    lower_is_better=True,
    config={"mode": "irrelevant", "dialect": "ragas"},
    items=(
        replace(SUPPORTED, hit=False, correct=True),
        Item(
            "It took off from Chile.",
            Verdict.ENTAILED,
            "context",
            0.93,
            Evidence("context", 1, Span("took off from Chile", 10, 29)),
            hit=True,
            correct=False,
        ),
    ),
)
CONTAINS = Outcome("contains", "pass", "the output contains it", 1.0, 1.0, expected="22,646")
BLEU = Outcome("bleu", "pass", "", 0.61, 0.61, threshold=0.5)
BROKEN = Outcome("llm-rubric", "error", "the judge answered 503", items=(SILENT,))
LATE = Outcome(
    "latency", "skipped", "an earlier assertion failed", threshold=900.0, lower_is_better=True
)
SET = Outcome(
    "assert-set", "fail", "1 of 2 holds", 0.8, 0.8, threshold=0.9, parts=(CONTAINS, FAITHFUL)
)


def result(test: int = 0, status: Status = "pass", **fields: Any) -> Result:
    """A result; without fields it is one plain pass."""
    given: dict[str, Any] = {
        "prompt_index": 0,
        "repeat": 0,
        "description": f"number {test}",
        "provider": "echo",
        "prompt": "short",
        "prompt_text": "How high did it climb?",
        "vars": {"query": "How high did it climb?", "context": CONTEXTS},
        "answer": Answer("It climbed to 22,646 m.", latency_ms=120.0, calls=1, prompt_tokens=10),
        "outcomes": (CONTAINS,),
        "score": 1.0,
        "reason": "all assertions hold",
    }
    return Result(test=test, status=status, **(given | fields))


def every_status() -> SuiteRun:
    """Six results of two providers: pass, two fails, two errors, skipped."""
    long = Answer(
        "It climbed to 22,646 m, from Chile.",
        latency_ms=1234.5,
        cost=0.002,
        prompt_tokens=100,
        completion_tokens=20,
        calls=1,
        contexts=CONTEXTS,
        metadata={"finish": "stop"},
    )
    cached = Answer({"height": 22646}, cached=True, prompt_tokens=90, completion_tokens=10)
    results = [
        result(0, answer=long, named_scores={"grounded": 1.0}, outcomes=(CONTAINS, BLEU)),
        result(
            0,
            "fail",
            provider="openai:chat:gpt-4o-mini",
            answer=long,
            outcomes=(SET, NOISE, LATE),
            score=0.7,
            reason="2 assertions failed",
            named_scores={"grounded": 0.5},
        ),
        result(1, "fail", answer=cached, outcomes=(FAITHFUL,), score=0.5, reason="1 of 1 failed"),
        result(
            1,
            "error",
            provider="openai:chat:gpt-4o-mini",
            answer=Answer(error="HTTP 429: slow down", calls=1),
            outcomes=(),
            score=None,
            reason="the provider gave no answer",
        ),
        result(2, "error", outcomes=(BROKEN, CONTAINS), score=None, reason="1 assertion erred"),
        result(
            2,
            "skipped",
            provider="openai:chat:gpt-4o-mini",
            answer=None,
            outcomes=(),
            score=None,
            reason="the run was stopped",
        ),
    ]
    return SuiteRun(
        results,
        "Gliders",
        {
            "assay": "0.3.0",
            "python": "3.11.7",
            "judges": {"openai:gpt-4o": "f00d"},
            "started": "2025-03-04T05:06:07+00:00",
            "seconds": 12.34,
            "usage": {
                "providers": {
                    "echo": {"calls": 3, "prompt_tokens": 110, "completion_tokens": 20},
                    "openai:chat:gpt-4o-mini": {"calls": 2, "prompt_tokens": 100},
                },
                "judges": {"calls": 7, "prompt_tokens": 900, "completion_tokens": 80},
            },
        },
        {"prompts": ["{{query}}"], "tests": "file://tests.csv"},
    )


def repeated(count: int, *, failing: int = 0) -> SuiteRun:
    """Many results, of which the last ``failing`` fail."""
    bad = range(count - failing, count)
    return SuiteRun(
        [
            result(n, "fail", outcomes=(FAITHFUL, NOISE, CONTAINS), score=0.6, reason="failed")
            if n in bad
            else result(n, outcomes=(CONTAINS, BLEU))
            for n in range(count)
        ]
    )
