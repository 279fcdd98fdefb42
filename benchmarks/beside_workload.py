"""Configs for measuring: many tests that differ in every text, and one test a set of assertions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from beside_server import Served

ENDPOINT: Mapping[str, Any] = MappingProxyType(
    {
        "id": "http",
        "config": {
            "url": "{{env.RAG_URL}}/answer",
            "method": "POST",
            "headers": {"Content-Type": "application/json"},
            "body": {"messages": "{{prompt}}"},
            "transformResponse": "json.answer",
        },
    }
)
PROMPT = "Passages:\n{{context}}\n\nQuestion: {{query}}"
FAITHFUL: Mapping[str, Any] = MappingProxyType({"type": "context-faithfulness", "threshold": 0.4})
RECALL: Mapping[str, Any] = MappingProxyType({"type": "context-recall", "value": "{{right}}"})
RELEVANT: Mapping[str, Any] = MappingProxyType({"type": "context-relevance"})
FACTUAL: Mapping[str, Any] = MappingProxyType({"type": "factuality", "value": "{{right}}"})
RUBRIC: Mapping[str, Any] = MappingProxyType(
    {"type": "llm-rubric", "value": "The answer names the '{{keeper}}'."}
)
SETS: Mapping[str, Sequence[Mapping[str, Any]]] = MappingProxyType(
    {
        "context-faithfulness": (FAITHFUL,),
        "context-recall": (RECALL,),
        "context-relevance": (RELEVANT,),
        "answer-relevance": ({"type": "answer-relevance"},),
        "factuality": (FACTUAL,),
        "llm-rubric": (RUBRIC,),
        "model-graded-closedqa": ({**RUBRIC, "type": "model-graded-closedqa"},),
        "g-eval": ({"type": "g-eval", "value": "Names the 'tower'"},),
        "g-eval of three criteria": (
            {"type": "g-eval", "value": ["Names the 'tower'", "Names the 'rain'", "Is 'calm'"]},
        ),
        "faithfulness at two thresholds": (FAITHFUL, {**FAITHFUL, "threshold": 0.9}),
        "faithfulness + recall": (FAITHFUL, RECALL),
        "faithfulness + factuality": (FAITHFUL, FACTUAL),
        "faithfulness + recall + factuality": (FAITHFUL, RECALL, FACTUAL),
        "three llm-rubrics": (
            RUBRIC,
            {**RUBRIC, "value": "The answer names the 'tower'."},
            {**RUBRIC, "value": "The answer names the 'rain'."},
        ),
        "all five": (FAITHFUL, RECALL, RELEVANT, FACTUAL, RUBRIC),
    }
)
"""Assertions of one test, by a name for them."""


def _grader(model: str) -> dict[str, Any]:
    config = {"apiBaseUrl": "{{env.GRADER_URL}}", "temperature": 0}
    embedding = {"id": f"openai:embedding:{model}", "config": {"apiBaseUrl": config["apiBaseUrl"]}}
    return {"text": {"id": f"openai:chat:{model}", "config": config}, "embedding": embedding}


@dataclass(frozen=True, slots=True)
class Workload:
    """A config and the answers of its endpoint, as files."""

    config: Path
    answers: Path


def many(folder: Path, count: int, assertions: Sequence[Mapping[str, Any]]) -> Workload:
    """``count`` tests with the assertions, no two of which share a text."""
    contains = {"type": "contains", "value": "{{keeper}}"}
    tests = [_test(n, [contains, *assertions]) for n in range(count)]
    return _written(folder / "many", tests, count)


def sets(folder: Path) -> Workload:
    """One test for each of `SETS`, whose grader's model has the name of the set."""
    tests = [
        {**_test(n, assertions), "options": {"provider": _grader(_slug(name))}}
        for n, (name, assertions) in enumerate(SETS.items())
    ]
    return _written(folder / "sets", tests, len(tests))


def calls_of(server: Served, program: str) -> dict[str, dict[str, int]]:
    """The judge's calls by set and kind since the last reset."""
    models = server.stats().get(program, {}).get("models", {})
    return {name: models.get(_slug(name), {}) for name in SETS}


def _slug(name: str) -> str:
    return name.replace(" ", "-").replace("+", "and")


def _facts(n: int) -> dict[str, str]:
    keeper, year = f"Keeper{n}", str(1800 + n)
    right = f"{keeper} built tower number {n} in {year}. Its lamp number {n} burned colza oil."
    context = f"{right} The pier {n} was finished one year later. Nobody counted the birds of {n}."
    answer = f"{keeper} built tower number {n} in {year}. Rain number {n} damaged the gallery."
    query = f"Who built tower number {n}?"
    return {"keeper": keeper, "right": right, "context": context, "answer": answer, "query": query}


def _test(n: int, assertions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    facts = _facts(n)
    facts.pop("answer")
    return {"description": f"test {n}", "vars": facts, "assert": [dict(one) for one in assertions]}


def _written(folder: Path, tests: Sequence[Mapping[str, Any]], count: int) -> Workload:
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "prompts": [PROMPT],
        "providers": [dict(ENDPOINT)],
        "defaultTest": {"options": {"provider": _grader("oracle")}},
        "tests": tests,
    }
    out = Workload(folder / "promptfooconfig.json", folder / "answers.json")
    out.config.write_text(json.dumps(config), encoding="utf-8")
    answers = {facts["query"]: facts["answer"] for facts in map(_facts, range(count))}
    out.answers.write_text(json.dumps(answers), encoding="utf-8")
    return out
