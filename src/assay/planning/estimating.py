"""From what a pilot took to what all samples will take, with 90 % intervals by bootstrap.

Where a pilot's samples do not differ, a bootstrap says that none ever will. So an interval also
holds what comes if the largest share of other samples that such a pilot may have missed were of
another kind: ``1 - 0.05 ** (1 / n)`` of them, about 3 in n (the rule of three: Hanley and
Lippman-Hand, JAMA 249, 1983), taking as little or as much as is assumed without a pilot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from assay.judges.sizing import WORKS, CallSize, Exchange
from assay.stats import t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.planning.surveying import Bounds

    Loads = NDArray[np.float64]
    """Calls, tokens of prompts and of replies in the last axis, kinds of work in the one before."""

DRAWS = 1000
FEW = 5
"""Pilot samples below which a bootstrap would look surer than it is."""
CALLS, PROMPT, REPLY = 0, 1, 2
_LOW = (0.95, 0.8, 0.3)
_HIGH = (1.05, 1.25, 2.0)
"""What calls and tokens may be times their estimate where there is next to no pilot."""
_EXTREMES = 2
"""The first draws are no draws: the least and the most by the rule of three."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity with the interval that holds it with 90 % confidence."""

    value: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether nothing about it is uncertain."""
        return self.low == self.value == self.high

    def as_dict(self) -> dict[str, float]:
        """JSON-able form."""
        return {"value": self.value, "low": self.low, "high": self.high, "exact": self.exact}


def loads(sizes: Iterable[CallSize]) -> Loads:
    """The sum of the requests: an array of kinds of work by calls, prompt and reply tokens."""
    import numpy as np

    out = np.zeros((len(WORKS), 3))
    for size in sizes:
        row = out[WORKS.index(size.work)]
        row += (size.count, size.count * size.prompt_tokens, size.count * size.reply_tokens)
    return out


def exchanged(exchanges: Iterable[Exchange]) -> Loads:
    """The sum of the replies, in the shape of `loads`, with the tokens that were counted."""
    import numpy as np

    out = np.zeros((len(WORKS), 3))
    for one in exchanges:
        row = out[WORKS.index(one.size.work)]
        row += (1, one.prompt_tokens, one.completion_tokens)
    return out


class Estimator:
    """Ratios of what the pilot took to what was foreseen for it, and draws of them.

    ``actual`` and ``foreseen`` have a load a pilot sample; ``foreseen`` was made without what
    the pilot told. Without pilot samples the ratios are 1. ``counted``: by kind of work, whether
    the tokens of ``actual`` were counted; others are assumed.
    """

    def __init__(
        self,
        actual: Sequence[Loads],
        foreseen: Sequence[Loads],
        *,
        seed: int,
        counted: NDArray[np.bool_] | None = None,
    ) -> None:
        import numpy as np

        self.n = len(actual)
        self._counted = np.ones(len(WORKS), bool) if counted is None else counted
        empty = np.zeros((0, len(WORKS), 3))
        self._actual = np.stack(actual) if actual else empty
        self._foreseen = np.stack(foreseen) if foreseen else empty
        self._random = np.random.default_rng(seed)
        # A bootstrap of few samples is too narrow: by their own mean, and by not being a t.
        self._wider = 1.0
        if self.n >= FEW:
            t = t_quantile(0.95, self.n - 1)
            self._wider = t / NormalDist().inv_cdf(0.95) * math.sqrt(self.n / (self.n - 1))
        self.paid: Loads = self._actual.sum(axis=0)
        self.ratio = _ratio(self.paid, self._foreseen.sum(axis=0), 1.0)
        self._share = self._unseen()
        if self.n >= FEW:
            picks = self._random.integers(0, self.n, (DRAWS, self.n))
            counts = np.stack([np.bincount(row, minlength=self.n) for row in picks])
            drawn = np.tensordot(counts, self._actual, 1)
            self.ratios = _ratio(drawn, np.tensordot(counts, self._foreseen, 1), self.ratio)
        else:
            self.ratios = self.ratio[None]

    @property
    def asked(self) -> int:
        """Pilot samples that anything was asked for."""
        return int((self._actual[..., CALLS].sum(axis=1) > 0).sum())

    def _unseen(self) -> Loads:
        """The share of samples that may be of another kind than those of the pilot."""
        import numpy as np

        seen = ((self._actual + self._foreseen)[..., CALLS] > 0).sum(axis=0)
        share = np.where(seen < FEW, 1.0, 1 - 0.05 ** (1 / np.maximum(seen, 1)))
        out: Loads = np.repeat(share[:, None], 3, axis=1)
        out[~self._counted, PROMPT:] = 1.0
        return out

    def taken(self, load: Loads) -> Loads:
        """Draws of what the pilot took: all the same, except for tokens that nobody counted."""
        import numpy as np

        draws: Loads = np.repeat(load[None], len(self.ratios) + _EXTREMES, axis=0)
        for draw, factors in zip(draws, (_LOW, _HIGH), strict=False):
            draw[~self._counted, PROMPT:] *= factors[PROMPT:]
        return draws

    def rest(self, foreseen: Loads) -> Loads:
        """What is foreseen for samples outside the pilot, corrected."""
        return foreseen * self.ratio

    def rest_draws(
        self,
        foreseen: Loads,
        samples: int,
        *,
        known: bool | NDArray[np.bool_] = False,
        bounds: Bounds | None = None,
    ) -> Loads:
        """The least, the most, and draws of `rest` for so many samples.

        ``known``: of all or of some kinds of work, the number of calls is not in doubt.
        ``bounds`` say how much depends on how many claims there are.
        """
        import numpy as np

        draws: Loads = foreseen * self.ratios
        if self.n >= FEW:
            # The samples to come differ from one another as those of the pilot did.
            errors = self._actual - self.ratio * self._foreseen
            noise = self._random.standard_normal((DRAWS, self.n)) * np.sqrt(samples / self.n)
            draws += np.tensordot(noise, errors, 1)
            draws = np.maximum(draws, 0.0)
        draws = np.concatenate([self._extremes(foreseen, bounds), draws])
        sure = np.broadcast_to(known, len(WORKS))
        draws[:, sure, CALLS] = foreseen[sure, CALLS]
        return draws

    def _extremes(self, foreseen: Loads, bounds: Bounds | None) -> Loads:
        """What comes if the samples that the pilot may have missed take the least, or the most."""
        import numpy as np

        middle, share = self.rest(foreseen), self._share
        low, high = np.array(_LOW), np.array(_HIGH)
        if bounds is not None:
            # A sample may have no claim at all, but not every sample does.
            low = low * np.where(share < 1, bounds.none, bounds.fewest)
            high = high * bounds.most
        least = middle * (1 - share * (1 - np.minimum(low, 1.0)))
        most = middle * (1 + share * (np.maximum(high, 1.0) - 1))
        out: Loads = np.stack([least, most])
        return out

    def amount(
        self, value: Loads, draws: Loads, measure: Callable[[Loads], Any], *, exact: bool = False
    ) -> Amount:
        """A quantity of a load, with the interval of the draws."""
        import numpy as np

        middle = float(measure(value))
        if exact:
            return Amount(middle, middle, middle)
        several = measure(draws)
        least, most = (float(x) for x in several[:_EXTREMES])
        several = several[_EXTREMES:]
        low, high = (float(x) for x in np.percentile(several, (5, 95)))
        low = max(middle - self._wider * (middle - low), float(several.min()))
        high = middle + self._wider * (high - middle)
        return Amount(middle, min(low, least, middle), max(high, most, middle))


def _ratio(actual: Loads, foreseen: Loads, otherwise: Loads | float) -> Loads:
    """What there was by what was foreseen; ``otherwise`` where nothing was foreseen."""
    import numpy as np

    safe = np.where(foreseen > 0, foreseen, 1.0)
    out: Loads = np.where(foreseen > 0, actual / safe, otherwise)
    return out
