"""The judge as a command line describes it: model, limits, budget, memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.asks import Judge
from assay.cli.remembering import remember
from assay.errors import ConfigError
from assay.judges.named import open_judge


@dataclass(frozen=True, slots=True)
class Judging:
    """What the options of a command say about the judge; None: as the judge has it.

    ``calls`` at once, ``rpm`` requests and ``tpm`` tokens a minute, ``timeout`` seconds for one
    attempt. ``usd``, ``tokens`` and ``requests`` bound what a run may use. ``batch``: the folder of
    a batch run.
    """

    name: str | None = None
    packed: bool = False
    calls: int | None = None
    rpm: float | None = None
    tpm: float | None = None
    timeout: float | None = None
    cache: bool = True
    offline: bool = False
    usd: float | None = None
    tokens: int | None = None
    requests: int | None = None
    prices: str | None = None
    price_input: float | None = None
    price_output: float | None = None
    batch: Path | None = None

    def opened(self, say: Callable[[str], None] = lambda _: None) -> Opened:
        """The judge, ready to be asked; ``say`` is told of batches. Raises ConfigError."""
        inner = self._batch(say) if self.batch is not None else self._judge()
        judge = inner
        if (self.usd, self.tokens, self.requests) != (None, None, None):
            from assay.cli.plan import budgeted, open_prices

            prices = open_prices(self.price_input, self.price_output, self.prices)
            judge = budgeted(
                inner, usd=self.usd, tokens=self.tokens, calls=self.requests, prices=prices
            )
        wrapped = remember(cache=self.cache, offline=self.offline)(judge, 0)
        return Opened(self, inner, wrapped)

    def _options(self) -> dict[str, Any]:
        options = {
            "concurrency": self.calls,
            "rpm": self.rpm,
            "tpm": self.tpm,
            "timeout": self.timeout,
        }
        return {name: value for name, value in options.items() if value is not None}

    def _judge(self) -> Judge:
        return open_judge(self.name, packed=self.packed, options=self._options())

    def _batch(self, say: Callable[[str], None]) -> Judge:
        kind, _, model = (self.name or "").partition(":")
        if kind != "openai" or not model or self.batch is None:
            raise ConfigError("--batch needs --judge openai:MODEL: other judges take no batches")
        if self.calls or self.rpm or self.tpm:
            raise ConfigError("--batch sends files: leave out --calls, --rpm and --tpm")
        from assay.judges.batch.judge import open_batch_judge

        return open_batch_judge(
            model,
            state=self.batch,
            packed=self.packed,
            on_state=say,
            timeout=60.0 if self.timeout is None else self.timeout,
        )


@dataclass(frozen=True, slots=True)
class Opened:
    """An open judge: ``judge`` is to be asked, ``inner`` knows its endpoint."""

    judging: Judging
    inner: Judge
    judge: Judge

    def cost(self) -> dict[str, Any] | None:
        """What was spent, as in the provenance of a run; None where the price is not known."""
        if not self.inner.usage.prompt_tokens and not self.inner.usage.completion_tokens:
            return None
        from assay.cli.plan import open_prices
        from assay.planning.models import endpoint_of
        from assay.planning.prices import cost_of

        said, place = self.judging, endpoint_of(self.inner)
        prices = open_prices(said.price_input, said.price_output, said.prices)
        cost = cost_of(self.inner.usage, place.model, prices, base_url=place.base_url)
        return None if cost is None else cost.as_dict()
