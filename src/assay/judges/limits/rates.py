"""Requests and tokens a minute, as buckets that fill while nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay.errors import ConfigError

_BURST = 60
"""A bucket holds this part of a minute's worth: endpoints count seconds as well as minutes."""


class Quota(Protocol):
    """How many requests and tokens may go out, for whoever lets calls in."""

    @property
    def any(self) -> bool:
        """Whether there is a rate to keep."""

    @property
    def counts_tokens(self) -> bool:
        """Whether it matters how many tokens a call is said to have."""

    def wait(self, tokens: float) -> float:
        """Seconds after which to look again whether a request may be sent; 0: it may."""

    def take(self, tokens: float, requests: float = 1.0) -> None:
        """Count a request and its tokens; negative numbers give back."""

    def held(self, seconds: float) -> None:
        """Hear that the endpoint asks for a wait, which is kept by others."""


class Bucket:
    """A level that rises to ``capacity`` at ``rate`` a second; what is taken may overdraw it."""

    def __init__(self, capacity: float, rate: float, now: float) -> None:
        self._capacity, self._rate = capacity, rate
        self._level, self._at = capacity, now

    def wait(self, cost: float, now: float) -> float:
        """Seconds until ``cost``, or the whole bucket where it is less, is there."""
        self._fill(now)
        missing = min(cost, self._capacity) - self._level
        # what a float leaves of a debt is no debt
        return missing / self._rate if missing > 1e-9 else 0.0

    def take(self, cost: float) -> None:
        """Take what `wait` has found to be there; a negative cost gives back."""
        self._level = min(self._capacity, self._level - cost)

    def _fill(self, now: float) -> None:
        if now > self._at:
            self._level = min(self._capacity, self._level + (now - self._at) * self._rate)
            self._at = now


class Rates:
    """At most ``rpm`` requests in any minute, and about ``tpm`` tokens.

    Raises ConfigError for rates that are not above 0.
    """

    def __init__(self, rpm: float | None, tpm: float | None, clock: Callable[[], float]) -> None:
        for name, rate in (("rpm", rpm), ("tpm", tpm)):
            if rate is not None and not 0 < rate < float("inf"):
                raise ConfigError(f"{name} must be above 0, not {rate}")
        now = clock()
        self._clock = clock
        self._requests, self._tokens = _requests(rpm, now), _tokens(tpm, now)
        self.any = rpm is not None or tpm is not None
        """Whether there is a rate to keep."""
        self.counts_tokens = tpm is not None

    def wait(self, tokens: float) -> float:
        """Seconds until a request of so many tokens may be sent."""
        now = self._clock()
        return max(
            self._requests.wait(1.0, now) if self._requests else 0.0,
            self._tokens.wait(tokens, now) if self._tokens else 0.0,
        )

    def take(self, tokens: float, requests: float = 1.0) -> None:
        """Count a request and its tokens; negative numbers give back."""
        if self._requests:
            self._requests.take(requests)
        if self._tokens:
            self._tokens.take(tokens)

    def held(self, seconds: float) -> None:
        """Nothing to do: whoever keeps these rates waits already."""


def _requests(rpm: float | None, now: float) -> Bucket | None:
    """A full bucket and what flows in within a minute are together rpm requests."""
    if rpm is None:
        return None
    capacity = max(1.0, rpm // _BURST)
    return Bucket(capacity, (rpm - capacity + 1) / 60, now)


def _tokens(tpm: float | None, now: float) -> Bucket | None:
    if tpm is None:
        return None
    capacity = tpm / _BURST
    return Bucket(capacity, (tpm - capacity) / 60, now)
