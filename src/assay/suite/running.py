"""A suite's run: each test with each prompt and provider, asked and asserted."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import AssayError, ConfigError
from assay.suite.asserting import Asserting
from assay.suite.case import Placed, TestCase
from assay.suite.deciding import named_scores, summed_up, without_texts
from assay.suite.kinds import SET, leaves
from assay.suite.outcome import Outcome, Result
from assay.suite.prompts import Prompt, render
from assay.suite.providers.base import Answer, Provider, Request
from assay.suite.providers.given import GivenProvider
from assay.suite.templates import Templates

_AHEAD = 1024
"""Units begun or done, at least, while the results of earlier ones are awaited."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One answer to come: a test, a prompt, a provider, a repeat; the delay is in seconds."""

    case: TestCase
    prompt: Prompt
    prompt_index: int
    provider: Provider
    repeat: int = 0
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Units in work at once, and seconds that one may take (None: any)."""

    concurrency: int = 4
    seconds: float | None = None


async def run_units(
    units: Sequence[Unit], asserting: Asserting, templates: Templates, limits: Limits
) -> AsyncGenerator[Result, None]:
    """Results in the order of the units; a unit's trouble is in its result.

    Raises ConfigError for what can never work.
    """
    waiting: deque[asyncio.Task[Result]] = deque()
    slots = asyncio.Semaphore(limits.concurrency)

    async def work(unit: Unit) -> Result:
        async with slots:
            done = await _timed(unit, asserting, templates, limits.seconds)
            if unit.delay:
                await asyncio.sleep(unit.delay)
            return done

    try:
        # So many that one slow answer does not hold up those behind it.
        ahead = max(_AHEAD, 4 * limits.concurrency)
        source = iter(units)
        for unit in source:
            waiting.append(asyncio.create_task(work(unit)))
            if len(waiting) >= ahead:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _timed(
    unit: Unit, asserting: Asserting, templates: Templates, seconds: float | None
) -> Result:
    try:
        async with asyncio.timeout(seconds):
            return await run_unit(unit, asserting, templates)
    except TimeoutError:
        why = f"not done within timeoutMs ({1000 * (seconds or 0):g})"
        return _result(unit, "", Answer(error=why), (), why)


async def run_unit(unit: Unit, asserting: Asserting, templates: Templates) -> Result:
    """The result of one unit."""
    case = unit.case
    try:
        options = case.options
        prompt = render(
            unit.prompt, case.vars, templates, prefix=options.prefix, suffix=options.suffix
        )
    except AssayError as error:
        return _result(unit, "", None, (), f"the prompt: {error}")
    shown = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)
    request = Request(prompt, case.vars, case.index, unit.repeat)
    started = time.perf_counter()
    try:
        answer = await unit.provider.call(request)
    except ConfigError:
        raise
    except AssayError as error:
        answer = Answer(error=str(error))
    if answer.latency_ms is None and not answer.cached and answer.calls:
        answer = replace(answer, latency_ms=1000 * (time.perf_counter() - started))
    if answer.error is None and answer.output is None:
        answer = replace(answer, error="the provider gave no output")
    if answer.error is not None:
        return _result(unit, shown, answer, (), f"{unit.provider.label}: {answer.error}")
    outcomes = await asserting.outcomes(case, answer, shown, unit.repeat)
    return _result(unit, shown, answer, outcomes, None)


def _result(
    unit: Unit,
    shown: str,
    answer: Answer | None,
    outcomes: tuple[Outcome, ...],
    trouble: str | None,
) -> Result:
    case = unit.case
    if trouble is None:
        status, score, reason = summed_up(outcomes, case.threshold)
    else:
        # What could not be asked was not passed over: every assertion of the test says why.
        outcomes = tuple(_unasked(one, trouble) for one in case.assertions)
        status, score, reason = "error", None, trouble
    return Result(
        test=case.index,
        prompt_index=unit.prompt_index,
        repeat=unit.repeat,
        description=case.description,
        provider=unit.provider.label,
        prompt=unit.prompt.label,
        prompt_text=shown,
        vars=case.vars,
        answer=answer,
        outcomes=outcomes,
        status=status,
        score=score,
        reason=reason,
        threshold=case.threshold,
        named_scores=named_scores(outcomes),
        metadata=case.metadata,
    )


def _unasked(placed: Placed, trouble: str) -> Outcome:
    """The outcome of an assertion, or a set of them, whose answer never came."""
    spec = placed.spec
    return Outcome(
        spec.type,
        "error",
        trouble,
        threshold=spec.threshold,
        weight=spec.weight,
        metric=spec.metric,
        parts=tuple(_unasked(one, trouble) for one in leaves(placed)) if spec.type == SET else (),
        config=without_texts(spec.config),
    )


def units_of(
    cases: Sequence[TestCase],
    prompts: Sequence[Prompt],
    providers: Sequence[tuple[Provider, tuple[str, ...] | None, float]],
    *,
    repeat: int = 1,
) -> list[Unit]:
    """Every test with every prompt and provider that it takes; recorded answers once a prompt.

    ``providers`` come with the prompts that they take (None: all) and their delay in seconds.
    """
    out = []
    for case in cases:
        times = case.options.repeat or repeat
        for n, prompt in enumerate(prompts):
            if case.prompts is not None and not _takes(prompt, case.prompts):
                continue
            for provider, taken, delay in _providers(case, providers):
                if taken is not None and not _takes(prompt, taken):
                    continue
                out += [Unit(case, prompt, n, provider, k, delay) for k in range(times)]
    return out


def _providers(
    case: TestCase, providers: Sequence[tuple[Provider, tuple[str, ...] | None, float]]
) -> Sequence[tuple[Provider, tuple[str, ...] | None, float]]:
    if case.has_output:
        return [(GivenProvider(case.provider_output), None, 0.0)]
    if case.providers is None:
        return providers
    return [one for one in providers if _named(one[0].label, case.providers)
            or _named(one[0].id, case.providers)]  # fmt: skip


def _takes(prompt: Prompt, wanted: Sequence[str]) -> bool:
    return _named(prompt.label, wanted) or bool(prompt.id and _named(prompt.id, wanted))


def _named(label: str, wanted: Sequence[str]) -> bool:
    """Whether a label is among those wanted; ``*`` at the end of one stands for any rest."""
    return any(label == one or (one.endswith("*") and label.startswith(one[:-1])) for one in wanted)


def provided(results: Sequence[Result]) -> Mapping[str, Any]:
    """Calls, tokens and cost that the providers used, added up; the cost is None if unknown."""
    answers = [result.answer for result in results if result.answer is not None]
    costs = [answer.cost for answer in answers if answer.cost is not None]
    return {
        "calls": sum(answer.calls for answer in answers),
        "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
        "completion_tokens": sum(answer.completion_tokens for answer in answers),
        "cost": sum(costs) if costs else None,
    }
