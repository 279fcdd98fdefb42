"""How many calls may be open at once: fewer after trouble, more after success."""

from __future__ import annotations

import math

from assay.errors import ConfigError

TOLERATED = 0.15
"""The share of busy answers that an endpoint may give before it is asked less."""


class Window:
    """A number of calls at once, between 1 and ``maximum``, where it begins.

    It is halved when clearly more than ``TOLERATED`` of a window's calls find the endpoint busy,
    and grows by a sixteenth of the maximum with every window that goes better, by one near the
    size that was too much. Only calls that
    began after the last change count: those before it met the old load. Raises ConfigError.
    """

    def __init__(self, maximum: int) -> None:
        if maximum < 1:
            raise ConfigError(f"concurrency must be at least 1, not {maximum}")
        self.maximum = self.size = maximum
        self.era = 0
        """Goes up with every change; a call belongs to the era in which it began."""
        self._sore = maximum
        self._seen = self._busy = 0

    def good(self, era: int) -> None:
        """Note a call that found the endpoint at leisure."""
        if era == self.era:
            self._seen += 1
            if self._seen >= self.size:
                self._turn()

    def busy(self, era: int) -> bool:
        """Note a call that found the endpoint busy; whether the window is smaller for it."""
        if era != self.era:
            return False
        self._seen += 1
        self._busy += 1
        if self._busy >= _too_many(max(self.size, self._seen)):
            before = self._sore = self.size
            self._resize(max(1, self.size // 2))
            return self.size < before
        if self._seen >= self.size:
            self._turn()
        return False

    def _turn(self) -> None:
        """Begin the next window, but count on while this one may be too large."""
        if self._busy > TOLERATED * self._seen:
            return
        if self.size < self.maximum:
            near = self._sore * 3 // 4 <= self.size <= self._sore
            step = 1 if near else max(1, self.maximum // 16)
            self._resize(min(self.maximum, self.size + step))
        self._seen = self._busy = 0

    def _resize(self, size: int) -> None:
        self.size, self.era = size, self.era + 1
        self._seen = self._busy = 0


def _too_many(n: int) -> int:
    """The least number of busy answers among n that chance alone hardly brings about.

    Two standard deviations above the share that is tolerated.

    >>> [_too_many(n) for n in (1, 2, 4, 8, 64)]
    [1, 2, 3, 4, 16]
    """
    return math.floor(TOLERATED * n + 2 * math.sqrt(TOLERATED * (1 - TOLERATED) * n)) + 1
