"""Ends what takes too long: one timer for all calls of an event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import cast


@dataclass(eq=False, slots=True)
class Watched:
    """A task that is cancelled at ``due``, unless it is released before."""

    task: asyncio.Task[object]
    due: float
    cancelling: int
    expired: bool = False


class Watch:
    """The tasks under watch in one event loop; a timer for each would cost more than the rest."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watched: set[Watched] = set()
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, seconds: float) -> Watched:
        """Cancel the running task in so many seconds, unless it is released."""
        task = cast("asyncio.Task[object]", asyncio.current_task(self._loop))
        watched = Watched(task, self._loop.time() + seconds, task.cancelling())
        self._watched.add(watched)
        if self._timer is None or watched.due < self._timer.when():
            self._arm(watched.due)
        return watched

    def release(self, watched: Watched) -> bool:
        """End the watch; whether the task was cancelled by it, and by nothing else."""
        self._watched.discard(watched)
        expired, watched.expired = watched.expired, False
        return expired and watched.task.uncancel() <= watched.cancelling

    def _arm(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time() + 0.001  # timers may come a little early
        for watched in [watched for watched in self._watched if watched.due <= now]:
            self._watched.discard(watched)
            watched.expired = True
            watched.task.cancel()
        if self._watched:
            self._arm(min(watched.due for watched in self._watched))
