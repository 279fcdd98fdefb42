"""The judge as a command line describes it: model, limits, budget, memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from assay.asks import Judge, Usage
from assay.cli.remembering import remember
from assay.cli.wording import counted
from assay.errors import ConfigError
from assay.judges.named import open_judge

T = TypeVar("T")


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

    def opened(
        self, say: Callable[[str], None] = lambda _: None, before: Usage | None = None
    ) -> Opened:
        """The judge, ready to be asked; ``say`` is told of batches.

        ``before`` is what the run has used already, and counts for its budget. Raises ConfigError.
        """
        inner = self._batch(say) if self.batch is not None else self._judge()
        judge = self._budgeted(inner, before or Usage())
        wrapped = remember(cache=self.cache, offline=self.offline)(judge, 0)
        if judge is not inner:
            wrapped = self._thrifty(wrapped, judge, inner)
        return Opened(self, inner, wrapped)

    def _budgeted(self, judge: Judge, before: Usage) -> Judge:
        if (self.usd, self.tokens, self.requests) == (None, None, None):
            return judge
        from assay.cli.plan import budgeted, open_prices
        from assay.planning.models import endpoint_of
        from assay.planning.prices import cost_of

        prices, place = self.prices_by(open_prices), endpoint_of(judge)
        cost = cost_of(before, place.model, prices, base_url=place.base_url, batched=place.batched)
        spent, used = 0.0 if cost is None else cost.usd, before.prompt_tokens
        used += before.completion_tokens
        _check_left("--budget", self.usd, spent, f"${spent:.4g}")
        _check_left("--budget-tokens", self.tokens, used, counted(used, "token"))
        _check_left("--budget-calls", self.requests, before.calls, counted(before.calls, "call"))
        return budgeted(
            judge,
            usd=self.usd,
            tokens=self.tokens,
            calls=self.requests,
            prices=prices,
            before=before,
        )

    def _thrifty(self, judge: Judge, budget: Judge, inner: Judge) -> Judge:
        from assay.judges.budget import Budgeted
        from assay.planning.affording import SHARE, SHARE_OF_BATCHES, Thrifty

        if not isinstance(budget, Budgeted):
            return judge
        share = SHARE if self.batch is None else SHARE_OF_BATCHES
        return Thrifty(judge, budget, inner, share=share)

    def prices_by(self, opened: Callable[[float | None, float | None, str | None], T]) -> T:
        """Where prices are looked up, as the options say."""
        return opened(self.price_input, self.price_output, self.prices)

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


def _check_left(option: str, limit: float | None, used: float, said: str) -> None:
    """Raise ConfigError if nothing is left of a limit."""
    if limit is not None and used >= limit > 0:
        raise ConfigError(f"the run has used {said} already: give a {option} above that")


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

        prices, place = self.judging.prices_by(open_prices), endpoint_of(self.inner)
        cost = cost_of(
            self.inner.usage, place.model, prices, base_url=place.base_url, batched=place.batched
        )
        return None if cost is None else cost.as_dict()
