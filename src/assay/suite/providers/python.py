"""A function of a Python file as a provider."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.judges.complete import Slots
from assay.suite.providers.base import Answer, Request
from assay.suite.providers.messages import as_text
from assay.suite.providers.processes import SECONDS
from assay.suite.providers.program import Worker
from assay.suite.providers.settings import Settings, keep_env
from assay.suite.secrets import Secrets

if TYPE_CHECKING:
    from assay.suite.templates import Templates

FUNCTION = "call_api"
"""The function that is called unless another is named."""


class PythonProvider:
    """``function(prompt, options, context)`` of a Python file, sync or async.

    ``options`` is {"id", "config"}, ``context`` {"vars"}; chat messages come as JSON text. It
    returns {"output" or "error", "contexts", "tokenUsage", "cost", "metadata"}, or the output
    itself. ``config``: ``pythonExecutable``, ``workers`` (processes, 1), ``timeout`` (seconds) or
    ``timeoutMs``, and whatever the function wants. Raises ConfigError.
    """

    def __init__(
        self,
        id: str,
        file: Path,
        function: str,
        config: Mapping[str, Any],
        *,
        templates: Templates,
        secrets: Secrets,
        label: str | None = None,
        folder: Path | None = None,
    ) -> None:
        self.id, self.label = id, label or id
        settings = Settings(id, config)
        self._file, self._function, self._config = file, function, dict(config)
        self._templates, self._secrets = templates, secrets
        executable = settings.text("pythonExecutable")
        seconds = settings.timeout(SECONDS)
        count = settings.whole("workers", 1, least=1)
        self._free = [Worker(seconds, executable=executable, folder=folder) for _ in range(count)]
        self._all = tuple(self._free)
        self._slots = Slots(count)
        keep_env(config, templates, secrets)

    async def call(self, request: Request) -> Answer:
        """What the function returns; ``latency_ms`` is the time it took, imports aside."""
        context = {"vars": dict(request.vars)}
        async with self._slots():
            worker = self._free.pop()
            try:
                config = self._templates.render_value(self._config, request.vars)
                options = {"id": self.id, "config": config}
                arguments = [as_text(request.prompt), options, context]
                value, taken = await worker.timed(self._file, self._function, arguments)
            except AssayError as error:
                return Answer(error=self._secrets.scrub(str(error)), calls=1)
            finally:
                self._free.append(worker)
        return self._answer(value, taken)

    async def aclose(self) -> None:
        """End the processes."""
        for worker in self._all:
            await worker.aclose()

    def _answer(self, value: Any, taken: float) -> Answer:
        if not isinstance(value, Mapping) or not ("output" in value or value.get("error")):
            return Answer(output=value, raw=value, latency_ms=taken, calls=1)
        used = value.get("tokenUsage")
        used = used if isinstance(used, Mapping) else {}
        error, metadata = value.get("error"), value.get("metadata")
        return Answer(
            output=value.get("output"),
            error=self._secrets.scrub(_said(error)) if error else None,
            raw=value,
            contexts=value.get("contexts", value.get("context")),
            latency_ms=_number(value.get("latencyMs"), taken),
            cost=_number(value.get("cost"), None),
            prompt_tokens=int(_number(used.get("prompt"), None) or 0),
            completion_tokens=int(_number(used.get("completion"), None) or 0),
            calls=int(_number(used.get("numRequests"), None) or 1),
            cached=value.get("cached") is True,
            metadata=metadata if isinstance(metadata, Mapping) else {},
        )


def _said(error: Any) -> str:
    import json

    return error if isinstance(error, str) else json.dumps(error, ensure_ascii=False, default=str)


def _number(value: Any, default: float | None) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 <= value < float("inf") else default
    return default
