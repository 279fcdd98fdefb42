"""One suite from config to results: providers and judges opened, units run, usage added up."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.asks import Judge
from assay.errors import ConfigError
from assay.suite.asserting import Asserting
from assay.suite.filters import Filters
from assay.suite.graders import Graders, Remember
from assay.suite.loading import Suite
from assay.suite.outcome import Result, SuiteRun
from assay.suite.preflight import Preflight
from assay.suite.problems import Problem
from assay.suite.providers.base import Provider
from assay.suite.providers.given import outputs_file
from assay.suite.providers.named import open_provider
from assay.suite.providers.program import Worker
from assay.suite.providers.replay import recorded
from assay.suite.running import Limits, Unit, provided, run_units, units_of
from assay.suite.secrets import Secrets
from assay.version import __version__

CONCURRENCY = 8
"""Answers in work at once, unless the suite or the command line says."""


@dataclass(frozen=True)
class Choices:
    """What the command line chooses; None leaves a choice to the suite."""

    grader: str | Judge | None = None
    concurrency: int | None = None
    repeat: int | None = None
    delay: float | None = None
    packed: bool = False
    allow_code: bool = False
    filters: Filters = field(default_factory=Filters)
    model_outputs: Path | None = None
    remember: Remember | None = None


async def evaluate_suite(
    suite: Suite,
    choices: Choices,
    secrets: Secrets,
    *,
    on_start: Callable[[int], None] = lambda _: None,
    on_result: Callable[[Result], None] = lambda _: None,
) -> SuiteRun:
    """All results of a suite; ``on_start`` is told their number, ``on_result`` each in turn.

    What `check_suite` finds is not looked for again: a grader that cannot be opened is an error
    of its assertions. Raises ConfigError for what can never work.
    """
    options = suite.spec.evaluate_options
    concurrency = choices.concurrency or options.max_concurrency or CONCURRENCY
    graders = Graders(
        suite.templates,
        secrets,
        default=choices.grader,
        packed=choices.packed,
        remember=choices.remember,
    )
    worker = Worker(folder=suite.folder.root) if choices.allow_code else None
    providers = _providers(suite, choices, secrets, concurrency)
    clock, started = time.perf_counter(), datetime.now(UTC)
    results: list[Result] = []
    try:
        units = _units(suite, choices, providers)
        on_start(len(units))
        asserting = Asserting(suite.templates, suite.folder, graders, worker)
        seconds = options.timeout_ms / 1000 if options.timeout_ms else None
        limits = Limits(concurrency, seconds)
        async with aclosing(run_units(units, asserting, suite.templates, limits)) as running:
            async for result in running:
                results.append(result)
                on_result(result)
    finally:
        for provider, _, _ in providers:
            await provider.aclose()
        await graders.aclose()
        if worker is not None:
            await worker.aclose()
    about = {
        "assay": __version__,
        "python": platform.python_version(),
        "config": suite.path.name,
        "judges": {judge.name: judge.fingerprint for judge in graders.opened},
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - clock, 3),
        "usage": {"judges": graders.usage().as_dict(), "providers": provided(results)},
    }
    config = suite.document.data if isinstance(suite.document.data, Mapping) else {}
    return SuiteRun(results, suite.spec.description or "", about, config)


def check_suite(suite: Suite, choices: Choices | None, secrets: Secrets) -> list[Problem]:
    """What keeps a suite from running or will be an error, found without asking.

    ``choices`` None: nobody has made any yet, so that only what no choice can mend is an error.
    The suite's env must be in the environment.
    """
    chosen = choices or Choices()
    preflight = Preflight(
        suite,
        Graders(suite.templates, secrets, default=chosen.grader, packed=chosen.packed),
        secrets,
        allow_code=None if choices is None else choices.allow_code,
        recorded=chosen.model_outputs is not None,
    )
    return preflight.problems()


def _units(
    suite: Suite,
    choices: Choices,
    providers: Sequence[tuple[Provider, tuple[str, ...] | None, float]],
) -> list[Unit]:
    repeat = choices.repeat or suite.spec.evaluate_options.repeat or 1
    cases = suite.cases
    if choices.model_outputs is not None:
        if len(cases) == 1 and not cases[0].vars and not suite.spec.tests:
            # Without tests of its own every recorded output is one.
            number = len(outputs_file(choices.model_outputs))
            cases = [replace(cases[0], index=k) for k in range(number)]
        cases = recorded(cases, choices.model_outputs)
    every = units_of(cases, suite.prompts, providers, repeat=repeat)
    if not every:
        raise ConfigError("there is no test to run: tests are empty, or no provider takes them")
    filters = choices.filters
    if filters.span is None and suite.spec.evaluate_options.filter_range:
        filters = replace(filters, span=suite.spec.evaluate_options.filter_range)
    units = filters.kept(every)
    if not units:
        raise ConfigError(f"no test is left to run: the filters keep none of {len(every)}")
    return units


def _providers(
    suite: Suite, choices: Choices, secrets: Secrets, concurrency: int
) -> list[tuple[Provider, tuple[str, ...] | None, float]]:
    spec = suite.spec
    pause = choices.delay if choices.delay is not None else spec.evaluate_options.delay or 0.0
    if choices.model_outputs is not None:
        return []
    if not (spec.providers or spec.targets) and any(not case.has_output for case in suite.cases):
        raise ConfigError(
            f"{suite.path}: no providers: name what is tested under providers, or with -r; or give"
            " tests a providerOutput, or answers with --model-outputs"
        )
    opened = []
    for one in spec.providers or spec.targets:
        provider = open_provider(
            one.model_dump(include={"id", "label", "config"}),
            templates=suite.templates,
            folder=suite.folder,
            secrets=secrets,
            allow_code=choices.allow_code,
            concurrency=concurrency,
        )
        prompts = None if one.prompts is None else tuple(one.prompts)
        opened.append((provider, prompts, max(one.delay, pause) / 1000))
    return opened


def secrets_of(suite: Suite) -> Secrets:
    """The secrets of the environment and of the suite's own env."""
    return Secrets.from_environment({**os.environ, **suite.spec.env})


def usage_of(run: SuiteRun) -> Mapping[str, Any]:
    """What judges and providers used."""
    usage: Mapping[str, Any] = run.provenance.get("usage", {})
    return usage
