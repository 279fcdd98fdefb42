"""A suite's run as one JSON-able record, in the shape that promptfoo's results have.

Readers of promptfoo's results find what they know: ``results.results`` rows with ``success``,
``failureReason`` (0 none, 1 an assertion failed, 2 an error), ``score`` and ``gradingResult``.
promptfoo knows neither errors of single assertions nor tests that were skipped, so:

- ``pass`` and ``success`` are true only for status "pass".
- ``score`` is 0 where there is none (an error, something skipped).

What that shape cannot say stands beside it: ``status`` ("pass", "fail", "error", "skipped") and
``value`` (None where there is none) of each row and component, and of a component ``claims``
(with verdicts and evidence), ``figures`` and ``lowerIsBetter``. A component's ``value``, and what
``namedScores`` has of it, is the score in its own unit and direction, its ``score`` 0 to 1, higher
is better. The parts of an assert-set are its ``componentResults``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.suite.outcome import Outcome, Result, SuiteRun
from assay.suite.outputs.columns import Column, columns_of, leaves
from assay.suite.outputs.jsonable import jsonable
from assay.suite.outputs.labels import claims_of
from assay.suite.outputs.spent import Spent, recorded, spent_by_providers, spent_on

FORMAT = 1
"""Counts changes to our own additions."""

FAILURE_REASONS = {"pass": 0, "skipped": 0, "fail": 1, "error": 2}


def as_record(run: SuiteRun) -> dict[str, Any]:
    """The whole run as JSON-able data; nothing is shortened and nothing redacted."""
    columns = columns_of(run.results)
    config = dict(run.config)
    if run.description:
        config.setdefault("description", run.description)
    record = {
        "evalId": None,
        "results": {
            "version": 3,
            "timestamp": run.provenance.get("started"),
            "prompts": [_column(column) for column in columns],
            "results": _rows(run.results, columns),
            "stats": _stats(run),
        },
        "config": config,
        "shareableUrl": None,
        "metadata": _metadata(run),
        "vars": sorted({str(name) for result in run.results for name in result.vars}),
    }
    plain: dict[str, Any] = jsonable(record)
    return plain


def _rows(results: Sequence[Result], columns: Sequence[Column]) -> list[dict[str, Any]]:
    tests = 1 + max((result.test for result in results), default=0)
    place = {column.key: n for n, column in enumerate(columns)}
    return [
        # A repeat is a test of its own there: a cell of promptfoo's table holds one result.
        _row(one, one.test + one.repeat * tests, place[one.provider, one.prompt_index])
        for one in results
    ]


def _row(result: Result, test: int, column: int) -> dict[str, Any]:
    answer = result.answer
    spent = spent_on(answer)
    return {
        "id": f"{test}-{column}",
        "promptIdx": column,
        "testIdx": test,
        "test": result.test,
        "repeat": result.repeat,
        "testCase": {
            "description": result.description,
            "vars": result.vars,
            "threshold": result.threshold,
            "assert": [_assertion(outcome) for outcome in result.outcomes],
            "metadata": result.metadata,
        },
        "prompt": {"raw": result.prompt_text, "label": result.prompt},
        "vars": result.vars,
        "provider": {"id": result.provider, "label": result.provider},
        "response": _response(result, spent),
        "status": result.status,
        "success": result.passed,
        "failureReason": FAILURE_REASONS[result.status],
        "score": result.score or 0,
        "value": result.score,
        "reason": result.reason,
        "namedScores": result.named_scores,
        "gradingResult": _grading(result),
        "error": _error(result),
        "latencyMs": answer.latency_ms if answer else None,
        "cost": answer.cost if answer else None,
        "tokenUsage": spent.as_dict(),
        "metadata": result.metadata,
    }


def _response(result: Result, spent: Spent) -> dict[str, Any] | None:
    answer = result.answer
    if answer is None:
        return None
    response: dict[str, Any] = {
        "output": answer.output,
        "tokenUsage": spent.as_dict(),
        "cost": answer.cost,
        "cached": answer.cached,
        "metadata": answer.metadata,
    }
    extra = {"raw": answer.raw, "contexts": answer.contexts, "error": answer.error}
    return response | {name: value for name, value in extra.items() if value is not None}


def _error(result: Result) -> str | None:
    if result.answer is not None and result.answer.error is not None:
        return result.answer.error
    return result.reason if result.status in ("fail", "error") else None


def _grading(result: Result) -> dict[str, Any] | None:
    """None where nothing was graded because there was no answer."""
    if not result.outcomes and result.status == "error":
        return None
    return {
        "pass": result.passed,
        "score": result.score or 0,
        "reason": result.reason,
        "namedScores": result.named_scores,
        "componentResults": [_component(outcome, result.vars) for outcome in result.outcomes],
    }


def _component(outcome: Outcome, variables: Mapping[str, Any]) -> dict[str, Any]:
    component: dict[str, Any] = {
        "pass": outcome.status == "pass",
        "score": _score(outcome),
        "reason": outcome.reason,
        "assertion": _assertion(outcome),
        "status": outcome.status,
        "value": outcome.value,
        "lowerIsBetter": outcome.lower_is_better,
        "claims": claims_of(outcome.items, variables),
        "figures": outcome.figures,
    }
    if outcome.parts:
        component["componentResults"] = [_component(part, variables) for part in outcome.parts]
    return component


def _score(outcome: Outcome) -> float:
    if outcome.goodness is not None:
        return outcome.goodness
    return 1 if outcome.status == "pass" else 0


def _assertion(outcome: Outcome) -> dict[str, Any]:
    return {
        "type": outcome.type,
        "value": outcome.expected,
        "threshold": outcome.threshold,
        "weight": outcome.weight,
        "metric": outcome.metric,
        "config": outcome.config,
    }


def _column(column: Column) -> dict[str, Any]:
    results = column.results
    single = [leaf for result in results for leaf in leaves(result.outcomes)]
    names = dict.fromkeys(name for result in results for name in result.named_scores)
    named: dict[str, list[float]] = {
        name: [r.named_scores[name] for r in results if name in r.named_scores] for name in names
    }
    return {
        "raw": column.prompt,
        "label": column.prompt,
        "provider": column.provider,
        "metrics": {
            "score": sum(result.score or 0 for result in results),
            "testPassCount": sum(result.status == "pass" for result in results),
            "testFailCount": sum(result.status == "fail" for result in results),
            "testErrorCount": sum(result.status == "error" for result in results),
            "testSkippedCount": sum(result.status == "skipped" for result in results),
            "assertPassCount": sum(leaf.status == "pass" for leaf in single),
            "assertFailCount": sum(leaf.status == "fail" for leaf in single),
            "assertErrorCount": sum(leaf.status == "error" for leaf in single),
            "totalLatencyMs": sum(column.latencies),
            "latencyCount": len(column.latencies),
            "tokenUsage": column.spent.as_dict(),
            "namedScores": {name: sum(values) for name, values in named.items()},
            "namedScoresCount": {name: len(values) for name, values in named.items()},
            "cost": column.spent.cost or 0,
        },
    }


def _stats(run: SuiteRun) -> dict[str, Any]:
    counts = run.counts
    judges = recorded(run.provenance, "judges") or Spent()
    seconds = run.provenance.get("seconds")
    providers = spent_by_providers(run.results, run.provenance)
    return {
        "successes": counts["pass"],
        "failures": counts["fail"],
        "errors": counts["error"],
        "skipped": counts["skipped"],
        "passRate": run.pass_rate,
        "tokenUsage": providers.as_dict() | {"assertions": judges.as_dict()},
        "cost": providers.cost,
        "durationMs": round(seconds * 1000) if isinstance(seconds, int | float) else None,
    }


def _metadata(run: SuiteRun) -> Mapping[str, Any]:
    said = dict(run.provenance)
    return {
        "assayVersion": said.pop("assay", None),
        "pythonVersion": said.pop("python", None),
        "assayFormat": FORMAT,
        **said,
    }
