"""The line in front of an endpoint: first come, first served, and repeats before all others."""

from __future__ import annotations

import asyncio
from collections import deque

from assay.judges.limits.rates import Quota
from assay.judges.limits.watch import Watch
from assay.judges.limits.window import Window

_Waiting = deque[tuple[asyncio.Future[None], float]]


class Gate:
    """Lets calls in as the window and the rates allow, in whichever event loop is running."""

    def __init__(self, window: Window, rates: Quota) -> None:
        self._window, self._rates = window, rates
        self._lane: Lane | None = None

    def lane(self) -> Lane:
        """The lane of the running event loop."""
        lane = self._lane
        loop = asyncio.get_running_loop()
        if lane is None or lane.loop is not loop:
            # What an earlier loop has left behind is gone with it.
            lane = self._lane = Lane(loop, self._window, self._rates)
        return lane


class Lane:
    """The calls of one event loop: those that are open, those that pause, those that wait.

    A call takes a place by `admits_at_once` or else `wait`, and gives it back by `leave`. A
    repeat (``again``) comes before calls that have not begun. A call that is cancelled while it
    waits holds no place.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, window: Window, rates: Quota) -> None:
        self.loop = loop
        self._window, self._rates = window, rates
        self.open = self.pausing = 0
        self.watch = Watch(loop)
        self._again: _Waiting = deque()
        self._fresh: _Waiting = deque()
        self._timer: asyncio.TimerHandle | None = None

    def admits_at_once(self, tokens: float, *, again: bool) -> bool:
        """Take a place if there is one and nobody waits for it."""
        if self._again or (self._fresh and not again) or not self._room(again=again):
            return False
        if self._rates.any:
            if self._rates.wait(tokens) > 0:
                return False
            self._rates.take(tokens)
        self.open += 1
        return True

    async def wait(self, tokens: float, *, again: bool) -> None:
        """Wait in line for a place."""
        turn = self.loop.create_future()
        (self._again if again else self._fresh).append((turn, tokens))
        self._admit()  # sets the clock where a rate holds the first in line back
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._rates.take(-tokens, -1.0)
                self.leave()
            else:
                self._admit()
            raise

    def leave(self) -> None:
        """Give the place back."""
        self.open -= 1
        if self._fresh or self._again:
            self._admit()

    def resume(self) -> None:
        """End a pause that was counted in ``pausing``."""
        self.pausing -= 1
        self._admit()

    @property
    def is_crowded(self) -> bool:
        """Whether more calls are open than the window has room for since it was cut."""
        return self.open > self._window.size

    def _room(self, *, again: bool) -> bool:
        # While many calls pause before they are repeated, no further ones begin: an endpoint
        # that is away for a while must not run through all there is to ask.
        return self.open < self._window.size and (again or self.pausing < self._window.maximum)

    def _admit(self) -> None:
        """Let in as many as there is room for."""
        for line in (self._again, self._fresh):
            while line:
                turn, tokens = line[0]
                if turn.done():  # cancelled meanwhile
                    line.popleft()
                elif not self._room(again=line is self._again) or self._held_back(tokens):
                    return
                else:
                    line.popleft()
                    self.open += 1
                    turn.set_result(None)

    def _held_back(self, tokens: float) -> bool:
        if not self._rates.any:
            return False
        if (wait := self._rates.wait(tokens)) > 0:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self.loop.call_later(wait, self._admit)
            return True
        self._rates.take(tokens)
        return False
