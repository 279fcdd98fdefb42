"""How each process makes its own judge, as data that can be sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.asks import Judge
from assay.errors import ConfigError
from assay.judges.limiting import Limiter
from assay.judges.named import open_judge

Making = str | Callable[..., Judge]
"""The name of a judge, or a function that makes one."""

_OF_LIMITER = ("concurrency", "deadline", "adaptive_timeout")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a judge is made of: a name with its options as JSON, or a function.

    ``threads`` are those of a model that runs in the process. ``cache``: answers are kept in, and
    taken from, the user's answer cache on the machine.
    """

    judge: Making
    packed: bool = False
    options: str = "{}"
    cache: bool = False
    threads: int | None = None

    @property
    def is_called(self) -> bool:
        """Whether the name is that of a judge behind an endpoint."""
        return isinstance(self.judge, str) and self.judge.startswith("openai:")

    def open(self, limiter: Callable[..., Limiter] | None = None) -> Judge:
        """The judge, a new one each time.

        ``limiter`` makes what holds back its calls, from options of `Limiter`. Raises ConfigError
        for what is no judge.
        """
        judge = self._judge(limiter)
        if not self.cache:
            return judge
        from assay.judges.memory.sqlite import SqliteStore
        from assay.judges.remembering import RememberingJudge

        return RememberingJudge(judge, SqliteStore())

    def _judge(self, limiter: Callable[..., Limiter] | None) -> Judge:
        if not isinstance(self.judge, str):
            return open_judge(self.judge() if limiter is None else self.judge(limiter()))
        options = json.loads(self.options)
        if self.judge == "embedded" and not options:
            from assay.judges.embedded import EmbeddedJudge

            return EmbeddedJudge(threads=self.threads)
        if limiter is not None and self.is_called:
            ours = {name: options.pop(name) for name in _OF_LIMITER if name in options}
            options["limiter"] = limiter(**ours)
        try:
            return open_judge(self.judge, packed=self.packed, options=options)
        except TypeError as error:  # an option that there is not
            raise ConfigError(f"judge {self.judge!r}: {error}") from None


def recipe(
    judge: Making,
    *,
    packed: bool = False,
    options: Mapping[str, Any] | None = None,
    cache: bool = False,
    threads: int | None = None,
) -> Recipe:
    """The recipe of a judge; raises ConfigError for what cannot be sent to other processes."""
    if not isinstance(judge, str) and not callable(judge):
        raise ConfigError(
            f"{judge!r} lives in this process; give the name of a judge, or a function that makes "
            "one, such as lambda: assay.openai('gpt-4o-mini')"
        )
    if not isinstance(judge, str) and (options or packed):
        raise ConfigError("options are for judges by name; a function makes its judge with its own")
    try:
        text = json.dumps(dict(options or {}), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"options of the judge must be plain values: {error}; for others, give a function that "
            "makes the judge"
        ) from None
    return Recipe(judge, packed, text, cache, threads)
