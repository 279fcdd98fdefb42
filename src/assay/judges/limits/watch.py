"""Ends what takes too long: one timer for all calls of an event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import cast


@dataclass(eq=False, slots=True)
class Watched:
    """A context whose task is cancelled at ``due``; it raises TimeoutError then."""

    watch: Watch
    task: asyncio.Task[object]
    due: float
    cancelling: int
    expired: bool = False

    def __enter__(self) -> Watched:
        self.watch.begin(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.watch.end(self)
        expired, self.expired = self.expired, False
        # Cancelled by the watch, and by nothing else.
        if expired and self.task.uncancel() <= self.cancelling and kind is asyncio.CancelledError:
            raise TimeoutError


class Watch:
    """The tasks under watch in one event loop; a timer for each would cost more than the rest."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._watched: set[Watched] = set()
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float) -> Watched:
        """A context for the running task that takes at most so many seconds."""
        task = cast("asyncio.Task[object]", asyncio.current_task(self.loop))
        return Watched(self, task, self.loop.time() + seconds, task.cancelling())

    def begin(self, watched: Watched) -> None:
        """Watch until `end`."""
        self._watched.add(watched)
        if self._timer is None or watched.due < self._timer.when():
            self._arm(watched.due)

    def end(self, watched: Watched) -> None:
        """Watch no more."""
        self._watched.discard(watched)

    def _arm(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self.loop.time() + 0.001  # timers may come a little early
        for watched in [watched for watched in self._watched if watched.due <= now]:
            self._watched.discard(watched)
            watched.expired = True
            watched.task.cancel()
        if self._watched:
            self._arm(min(watched.due for watched in self._watched))
