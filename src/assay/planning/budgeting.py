"""Whether a budget suffices for a plan, and for how many samples if it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.judges.budget import Limit
from assay.planning.estimating import Amount
from assay.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Sufficing:
    """For about how many of ``all`` samples a budget pays, and ``at_least``."""

    samples: int
    at_least: int
    all: int

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {"samples": self.samples, "at_least": self.at_least, "all": self.all}

    def __str__(self) -> str:
        """The verdict in words.

        >>> print(Sufficing(9, 9, 9), Sufficing(9, 5, 9), Sufficing(1, 0, 9), sep=" | ")
        suffices | may suffice: surely for 5 of 9 samples | pays for about 1 of 9 samples
        """
        if self.at_least == self.all:
            return "suffices"
        if self.samples == self.all:
            return f"may suffice: surely for {self.at_least} of {self.all} samples"
        return f"pays for about {self.samples} of {self.all} samples"


def sufficing(plan: Plan, limit: Limit, *, remembers: bool, batched: bool) -> Sufficing | None:
    """For how many samples a budget pays; None where the price is not known.

    ``remembers``: the run has the answers of the pilot, and pays for what is left. ``batched``: it
    pays the price of batches, where that is known.
    """
    load, done = (plan.left, plan.pilot) if remembers else (plan.total, 0)
    tokens = Amount(
        *(
            getattr(load.prompt_tokens, name) + getattr(load.completion_tokens, name)
            for name in ("value", "low", "high")
        )
    )
    share = plan.price.batch if batched and plan.price and plan.price.batch else 1.0
    about, surely = 1.0, 1.0
    for most, amount, part in (
        (limit.usd, load.cost, share),
        (limit.tokens, tokens, 1.0),
        (limit.calls, load.calls, 1.0),
    ):
        if most is None:
            continue
        if amount is None:
            return None
        about = min(about, _part(most, amount.value * part))
        surely = min(surely, _part(most, amount.high * part))
    todo = plan.samples - done
    return Sufficing(done + int(about * todo), done + int(surely * todo), plan.samples)


def _part(most: float, due: float) -> float:
    return most / due if due > most else 1.0
