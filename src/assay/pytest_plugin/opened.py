"""A suite's judges, providers and programs while its tests run."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from assay.pytest_plugin.session import Session
from assay.suite.asserting import Asserting
from assay.suite.evaluating import secrets_of
from assay.suite.graders import Graders
from assay.suite.loading import Suite
from assay.suite.model import ProviderSpec
from assay.suite.outcome import Result, SuiteRun
from assay.suite.outputs.findings import rows_of
from assay.suite.outputs.record import as_record
from assay.suite.providers.base import Answer, Provider, Request
from assay.suite.providers.named import open_provider
from assay.suite.providers.program import Worker
from assay.suite.running import Limits, Unit, run_units, units_of
from assay.suite.secrets import Secrets


@dataclass
class LateProvider:
    """A provider that is opened when it is first asked.

    So tests can be named and counted where what answers them cannot be had: without a key, or
    without leave to run programs.
    """

    spec: ProviderSpec
    suite: Suite
    secrets: Secrets
    allow_code: bool
    _provider: Provider | None = None

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def label(self) -> str:
        return self.spec.label or self.spec.id

    async def call(self, request: Request) -> Answer:
        """The answer of the provider; raises ConfigError if it cannot be opened."""
        if self._provider is None:
            self._provider = open_provider(
                self.spec.model_dump(include={"id", "label", "config"}),
                templates=self.suite.templates,
                folder=self.suite.folder,
                secrets=self.secrets,
                allow_code=self.allow_code,
                concurrency=1,
            )
        return await self._provider.call(request)

    async def aclose(self) -> None:
        """Close the provider if it was opened."""
        if self._provider is not None:
            await self._provider.aclose()
            self._provider = None


class OpenSuite:
    """A suite whose tests run one by one, in the session's event loop.

    What they share is opened at its first use and closed by ``close``.
    """

    def __init__(self, suite: Suite, session: Session) -> None:
        self.suite, self._session = suite, session
        self.secrets = secrets_of(suite)
        spec = suite.spec
        pause = spec.evaluate_options.delay or 0.0
        self._providers = [
            (
                LateProvider(one, suite, self.secrets, session.allow_code),
                None if one.prompts is None else tuple(one.prompts),
                max(one.delay, pause) / 1000,
            )
            for one in spec.providers or spec.targets
        ]
        self._graders: Graders | None = None
        self._worker: Worker | None = None

    def units(self) -> list[Unit]:
        """Every test with every prompt, provider and repeat."""
        repeat = self.suite.spec.evaluate_options.repeat or 1
        return units_of(self.suite.cases, self.suite.prompts, self._providers, repeat=repeat)

    def row(self, unit: Unit) -> dict[str, Any]:
        """The result of a unit, as a row of the suite's record without secrets.

        Raises ConfigError for what can never work.
        """
        result = self._session.run(self._result(unit))
        record = as_record(SuiteRun([result]))
        row: dict[str, Any] = rows_of(self.secrets.scrub_data(record))[0]
        return row

    def close(self) -> None:
        """Close what was opened."""
        if self._graders is not None:
            self._session.run(self._close(self._graders))

    async def _result(self, unit: Unit) -> Result:
        suite, session = self.suite, self._session
        if self._graders is None:
            self._graders = Graders(
                suite.templates, self.secrets, default=session.name, packed=session.packed
            )
            self._worker = Worker() if session.allow_code else None
        asserting = Asserting(suite.templates, suite.folder, self._graders, self._worker)
        timeout = suite.spec.evaluate_options.timeout_ms
        limits = Limits(1, timeout / 1000 if timeout else None)
        async with aclosing(run_units([unit], asserting, suite.templates, limits)) as running:
            return await anext(running)

    async def _close(self, graders: Graders) -> None:
        for provider, _, _ in self._providers:
            await provider.aclose()
        await graders.aclose()
        if self._worker is not None:
            await self._worker.aclose()
        self._graders = self._worker = None
