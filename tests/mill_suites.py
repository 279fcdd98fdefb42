"""Suites about mills, and the endpoint that they ask, for the tests of ``assay eval``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from assay.judges.retrying import Backoff
from suite_endpoint import Endpoint

RATE, CODE = "PROMPTFOO_PASS_RATE_THRESHOLD", "PROMPTFOO_FAILED_TEST_EXIT_CODE"
CONTAINS = {"type": "contains", "value": "mill"}
RUBRIC = {"type": "llm-rubric", "value": "It speaks of a mill"}
GRADED = ("--grader", "openai:judge")


def given(*outputs: Any, **keys: Any) -> str:
    """A suite of recorded outputs that are to have the word mill."""
    tests = [{"providerOutput": one, "assert": [CONTAINS]} for one in outputs]
    return json.dumps({"tests": tests, **keys})


def asking(*queries: str, assertion: dict[str, Any] = RUBRIC, **keys: Any) -> str:
    """A suite that asks the model under test."""
    tests = [
        {"description": f"about {one}", "vars": {"query": one}, "assert": [assertion]}
        for one in queries
    ]
    config = {"prompts": ["Say {{query}}"], "providers": ["openai:tested"], "tests": tests}
    return json.dumps({**config, **keys})


@contextlib.contextmanager
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """The endpoint of all OpenAI models, which is asked again at once after a fault."""
    monkeypatch.setattr(Backoff, "pause", lambda *_: 0.001)
    with Endpoint().in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        yield endpoint
