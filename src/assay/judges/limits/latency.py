"""How long an answer may take before it is taken for lost, by how long answers take."""

from __future__ import annotations

from collections import deque

_ENOUGH = 20
_RECENT = 200
_SHORTEST = 10.0
_TIMES = 8.0
_MORE = 4.0


class Latencies:
    """The times that recent answers took, in seconds."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._new = 0
        self._limit: float | None = None

    def add(self, seconds: float) -> None:
        """Note an answer."""
        self._recent.append(seconds)
        self._new += 1
        if self._new >= _ENOUGH:
            self._new = 0
            nearly_all = sorted(self._recent)[len(self._recent) * 95 // 100]
            self._limit = max(_SHORTEST, _TIMES * nearly_all)

    def limit(self, late: int) -> float | None:
        """Seconds for the next attempt of a call that was late so often; None: not known yet.

        Eight times what 95 % of the answers take, and at least 10. A call that was late gets four
        times that, for it may only be a long one.
        """
        return None if self._limit is None else self._limit * _MORE**late
