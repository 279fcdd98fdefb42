"""From arrays of calls and tokens to loads with money and time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from assay.judges.sizing import WORKS, Exchange
from assay.planning.estimating import CALLS, PROMPT, REPLY, Amount, Estimator
from assay.planning.plan import Load
from assay.planning.prices import Price

if TYPE_CHECKING:
    from assay.planning.estimating import Loads

_FIRST, _TOKENS_A_SECOND = 0.7, 80.0
"""Seconds until a reply begins and its tokens a second, until some were seen."""
_PACE, _GUESSED_PACE = (0.75, 1.5), (0.5, 2.0)
"""How much faster and slower than planned a run may be: endpoints slow down under load."""
_STAGES = 3
"""Calls of a sample that wait for one another, at the most: a run is never shorter."""
_START = 0.5
"""Seconds until the first request is sent. It goes alone, to find out what is accepted."""


class Meter:
    """Loads of arrays: at a price for chat and one for embeddings, and at a pace.

    ``exchanges`` are the pilot's, whose times count. ``pairs`` is how many pairs a second a
    local model compares (None: not known). ``at_once`` requests are open at once; ``rpm`` are
    sent in a minute at the most, with ``tpm`` tokens of prompts and replies.
    """

    def __init__(
        self,
        estimator: Estimator,
        *,
        price: Price | None,
        embedding: Price | None,
        exchanges: Iterable[Exchange],
        pairs: float | None,
        at_once: int,
        rpm: float | None,
        tpm: float | None = None,
    ) -> None:
        self._estimator = estimator
        self._price, self._embedding = price, embedding
        self._pairs, self._at_once, self._rpm, self._tpm = pairs, at_once, rpm, tpm
        self._seconds: dict[str, list[float]] = {}
        for one in exchanges:
            self._seconds.setdefault(one.size.work, []).append(one.seconds)

    @property
    def timed(self) -> bool:
        """Whether any time was measured rather than assumed."""
        return bool(self._seconds) or self._pairs is not None

    def load(self, value: Loads, draws: Loads, *, exact: bool) -> Load:
        """The load of an array and its draws; ``exact``: the number of calls is not in doubt."""
        amount = self._estimator.amount
        return Load(
            amount(value, draws, lambda x: x[..., CALLS].sum(-1), exact=exact),
            amount(value, draws, lambda x: x[..., PROMPT].sum(-1)),
            amount(value, draws, lambda x: x[..., REPLY].sum(-1)),
            self._cost(value, draws),
            self._time(value, draws),
        )

    def _cost(self, value: Loads, draws: Loads) -> Amount | None:
        if self._price is None:
            return None
        import numpy as np

        embeds = WORKS.index("embeddings")
        prompt = np.full(len(WORKS), self._price.input / 1e6)
        reply = np.full(len(WORKS), self._price.output / 1e6)
        if self._embedding is not None:
            prompt[embeds] = self._embedding.input / 1e6
        return self._estimator.amount(
            value, draws, lambda x: x[..., PROMPT] @ prompt + x[..., REPLY] @ reply
        )

    def _time(self, value: Loads, draws: Loads) -> Amount | None:
        import numpy as np

        pairs = WORKS.index("pairs")
        if value[pairs, CALLS] and self._pairs is None:
            return None
        if not value[:, CALLS].any():
            return Amount(0.0, 0.0, 0.0)
        one = self._latencies(value)

        def seconds(x: Loads) -> Any:
            calls = x[..., CALLS]
            wall = calls @ one / self._at_once
            if self._rpm:
                wall = np.maximum(wall, calls.sum(-1) * 60 / self._rpm)
            if self._tpm:
                wall = np.maximum(wall, x[..., PROMPT:].sum((-1, -2)) * 60 / self._tpm)
            if self._pairs is not None:
                wall = wall + calls[..., pairs] / self._pairs
            wall = np.maximum(wall, _STAGES * one.max())
            return wall + (_START + one.max() if one.any() else 0.0)

        found = self._estimator.amount(value, draws, seconds)
        low, high = _PACE if self.timed else _GUESSED_PACE
        return Amount(found.value, found.low * low, found.high * high)

    def _latencies(self, value: Loads) -> Any:
        """Seconds of a call of each kind."""
        import numpy as np

        out = np.zeros(len(WORKS))
        for k, work in enumerate(WORKS):
            measured = self._seconds.get(work)
            if work == "pairs" or not value[k, CALLS]:
                continue
            reply = value[k, REPLY] / value[k, CALLS]
            guess = _FIRST + reply / _TOKENS_A_SECOND
            out[k] = sum(measured) / len(measured) if measured else guess
        return out
