"""An endpoint that only fails is left alone for a while."""

from __future__ import annotations

from typing import Literal

from assay.judges.reaching import Reach

Pass = Literal["go", "probe"]

FAILURES = 10
_FIRST, _LONGEST = 5.0, 60.0
_HOPE = 30.0
_LOOK = 0.25


class OpenCircuitError(Exception):
    """The endpoint is left alone: no call is sent."""


class Circuit:
    """Opens after ten failures in a row, of all calls, for 5 seconds, twice that, up to 60.

    Each time, one call finds out whether the endpoint is back. Calls meanwhile fail at once,
    unless the endpoint has served within half a minute: then they wait. An endpoint that says
    that it is asked too often is not dead: such failures count only after half a minute of
    nothing else. Times are seconds of a monotonic clock.
    """

    def __init__(self) -> None:
        self._failures = self._dead = 0
        self._served: float | None = None
        self._since: float | None = None
        self._until: float | None = None
        self._cool_off = _FIRST
        self._probing = False
        self._last = ""

    @property
    def is_open(self) -> bool:
        """Whether calls are held back or fail."""
        return self._until is not None

    def ask(self, now: float) -> Pass | float:
        """Whether a call may go, as the one that finds out or as any; or seconds to wait.

        Raises OpenCircuitError.
        """
        if self._until is None:
            return "go"
        if now >= self._until and not self._probing:
            self._probing = True
            return "probe"
        if self._hopes(now):
            return max(self._until - now, _LOOK)
        raise OpenCircuitError(
            f"{self._failures} calls in a row failed, so that this one was not sent"
            f" (the last: {self._last})"
        )

    def reach(self, now: float) -> Reach:
        """Whether the endpoint has served since the last failure; why it is given up, if it is."""
        if self._until is None:
            return Reach(silent=self._failures > 0)
        if self._hopes(now):
            return Reach(
                silent=self._failures > 0, waiting=f"waiting for the endpoint: {self._last}"
            )
        return Reach(True, f"{self._failures} calls in a row failed (the last: {self._last})")

    def _hopes(self, now: float) -> bool:
        return self._served is not None and now - self._served < _HOPE

    def served(self, now: float) -> None:
        """Note that the endpoint has answered."""
        self._served = now
        if self._failures or self._until is not None:
            self._failures = self._dead = 0
            self._since = self._until = None
            self._cool_off, self._probing = _FIRST, False

    def failed(self, now: float, error: str, *, limited: bool, probe: bool) -> None:
        """Note a failure; ``limited``: the endpoint says that it is asked too often."""
        self._failures += 1
        self._dead += not limited
        self._last = error
        self._since = now if self._since is None else self._since
        if probe:
            self._probing = False
            self._cool_off = min(_LONGEST, self._cool_off * 2)
            self._until = now + self._cool_off
        elif self._until is None and self._is_enough(now - self._since):
            self._until = now + self._cool_off

    def _is_enough(self, seconds: float) -> bool:
        return self._dead >= FAILURES or (self._failures >= FAILURES and seconds >= _HOPE)

    def unknown(self) -> None:
        """Note that the call that was to find out has come to nothing."""
        self._probing = False
