"""What a run will take, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.asks import Usage
from assay.judges.sizing import Work
from assay.planning.estimating import Amount
from assay.planning.models import Endpoint
from assay.planning.prices import Cost, Price


@dataclass(frozen=True, slots=True)
class Load:
    """Calls, tokens, US dollars and seconds; None: not known.

    For a local model ``calls`` are pairs of texts, and there are no tokens.
    """

    calls: Amount
    prompt_tokens: Amount
    completion_tokens: Amount
    cost: Amount | None
    seconds: Amount | None

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "calls": self.calls.as_dict(),
            "prompt_tokens": self.prompt_tokens.as_dict(),
            "completion_tokens": self.completion_tokens.as_dict(),
            "cost": self.cost.as_dict() if self.cost else None,
            "seconds": self.seconds.as_dict() if self.seconds else None,
        }


@dataclass(frozen=True, slots=True)
class MetricPlan:
    """A metric by itself, and its share when all are scored together.

    A call that serves several metrics counts for each with an equal part, so that the shares of
    all metrics add up to the whole.
    """

    name: str
    alone: Load
    together: Load


@dataclass(frozen=True, slots=True)
class Smaller:
    """What a random sample of ``n`` rows would cost and tell.

    ``half_widths`` are those expected of the 95 % intervals of the means; None for a metric
    without an end to its range.
    """

    n: int
    calls: float
    cost: float | None
    seconds: float | None
    half_widths: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Held:
    """Asks that are answered before, or asked twice, and the calls that they would take."""

    asks: int = 0
    calls: int = 0
    shared_asks: int = 0
    shared_calls: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What scoring the samples will take in all, ``left`` of it after the pilot, and by metric.

    ``pilot`` is the number of samples that were really scored for it, ``paid`` and ``paid_cost``
    what that took; ``failed`` further ones had no answer. ``measured``: what is not exact rests on
    replies of the pilot, else it is a guess. ``local``: the judge is a model on this machine.
    ``batch`` is the whole cost in batches, where the provider has them.
    """

    judge: str
    endpoint: Endpoint
    samples: int
    metrics: Sequence[MetricPlan]
    total: Load
    left: Load
    works: Mapping[Work, Load]
    pilot: int
    paid: Usage
    paid_cost: Cost | None
    held: Held
    smaller: Sequence[Smaller]
    price: Price | None = None
    local: bool = False
    concurrency: int = 64
    rpm: float | None = None
    notes: Sequence[str] = field(default_factory=tuple)
    measured: bool = True
    failed: int = 0
    failure: str | None = None
    """Why a pilot that was wanted could not be made."""
    tpm: float | None = None

    @property
    def batch(self) -> Amount | None:
        """The whole cost in batches; None where there are none, or the price is not known."""
        cost, price = self.total.cost, self.price
        if cost is None or price is None or price.batch is None:
            return None
        return Amount(*(value * price.batch for value in (cost.value, cost.low, cost.high)))

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form; every quantity with its 90 % interval."""
        price, batch = self.price, self.batch
        return {
            "judge": self.judge,
            "model": self.endpoint.model,
            "samples": self.samples,
            "measured": self.measured,
            "total": self.total.as_dict(),
            "left": self.left.as_dict(),
            "batch_cost": batch.as_dict() if batch else None,
            "metrics": {
                one.name: {"alone": one.alone.as_dict(), "together": one.together.as_dict()}
                for one in self.metrics
            },
            "work": {name: load.as_dict() for name, load in self.works.items()},
            "pilot": {
                "samples": self.pilot,
                "failed": self.failed,
                "failure": self.failure,
                "usage": self.paid.as_dict(),
                "cost": self.paid_cost.as_dict() if self.paid_cost else None,
            },
            "cached": {
                "asks": self.held.asks,
                "calls": self.held.calls,
                "shared_asks": self.held.shared_asks,
                "shared_calls": self.held.shared_calls,
            },
            "smaller": [
                {
                    "samples": one.n,
                    "calls": one.calls,
                    "cost": one.cost,
                    "seconds": one.seconds,
                    "half_width": dict(one.half_widths),
                }
                for one in self.smaller
            ],
            "price": price
            and {
                "input": price.input,
                "output": price.output,
                "batch": price.batch,
                "source": price.source,
            },
            "concurrency": self.concurrency,
            "rpm": self.rpm,
            "tpm": self.tpm,
            "notes": list(self.notes),
        }
