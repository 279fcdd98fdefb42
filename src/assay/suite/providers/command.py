"""A command as a provider: arguments in, stdout out."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, ConfigError
from assay.judges.complete import Slots
from assay.suite.providers.base import Answer, Request
from assay.suite.providers.messages import as_json, as_text
from assay.suite.providers.processes import MOST_BYTES, SECONDS, Process, ProgramError
from assay.suite.providers.settings import Settings, keep_env
from assay.suite.secrets import Secrets

if TYPE_CHECKING:
    from assay.suite.templates import Templates


class CommandProvider:
    """Runs a command for each prompt, without a shell; its stdout is the output.

    Three arguments are added: the prompt, {"id", "config"} as JSON and {"vars"} as JSON.
    ``config``: ``timeout`` (seconds) or ``timeoutMs``, and whatever the command wants. Raises
    ConfigError.
    """

    def __init__(
        self,
        id: str,
        config: Mapping[str, Any],
        *,
        templates: Templates,
        secrets: Secrets,
        label: str | None = None,
        folder: Path | None = None,
        concurrency: int = 4,
    ) -> None:
        self.id, self.label = id, label or id
        settings = Settings(id, config)
        self._arguments = _arguments(id)
        self._config, self._folder = dict(config), folder
        self._seconds = settings.timeout(SECONDS)
        self._templates, self._secrets = templates, secrets
        self._slots = Slots(concurrency)
        keep_env(config, templates, secrets)

    async def call(self, request: Request) -> Answer:
        """What the command writes to stdout, without blank ends."""
        started = None
        try:
            config = self._templates.render_value(self._config, request.vars)
            options = as_json({"id": self.id, "config": config})
            context = as_json({"vars": dict(request.vars)})
            arguments = [*self._arguments, as_text(request.prompt), options, context]
            async with self._slots():
                started = time.perf_counter()
                output = await self._run(arguments)
        except AssayError as error:
            return Answer(
                error=self._secrets.scrub(str(error)), latency_ms=_since(started), calls=1
            )
        return Answer(output=output, raw=output, latency_ms=_since(started), calls=1)

    async def aclose(self) -> None:
        """Nothing stays open between calls."""

    async def _run(self, arguments: list[str]) -> str:
        process = await Process.start(arguments, folder=self._folder)
        try:
            async with asyncio.timeout(self._seconds):
                written = await _read(process)
                code = await process.wait()
        except TimeoutError:
            raise ProgramError(f"no answer within {self._seconds:g} s") from None
        finally:
            await process.end()
        if code:
            ending = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            raise ProgramError(f"{arguments[0]}: {ending}: {process.last_words()}")
        return written.decode("utf-8", "replace").strip()


async def _read(process: Process) -> bytes:
    out = bytearray()
    while chunk := await process.output.read(2**16):
        out += chunk
        if len(out) > MOST_BYTES:
            raise ProgramError("the answer is larger than 5 MB")
    return bytes(out)


def _arguments(id: str) -> list[str]:
    """The words of the command; raises ConfigError."""
    try:
        words = shlex.split(id.partition(":")[2])
    except ValueError as error:
        raise ConfigError(f"provider {id}: the command cannot be read: {error}") from None
    if not words:
        raise ConfigError("provider exec: which command? write exec: COMMAND ARGUMENTS")
    return words


def _since(started: float | None) -> float | None:
    return None if started is None else (time.perf_counter() - started) * 1000
