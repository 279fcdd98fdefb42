"""An event loop whose time passes in no time: what is waited for comes at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop that skips the time in which nothing happens; it begins at second 1000."""

    def __init__(self) -> None:
        self._now = 1000.0
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return self._now

    def skip(self, seconds: float) -> None:
        self._now += seconds


class _Skipping(selectors.DefaultSelector):  # type: ignore[misc, valid-type, unused-ignore]
    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._own = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0:
            self._own.skip(timeout)
            timeout = 0
        found: list[tuple[selectors.SelectorKey, int]] = super().select(timeout)
        return found


def simulated(work: Coroutine[Any, Any, T]) -> T:
    """What the coroutine gives, in a simulated loop of its own."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)


def now() -> float:
    """The time of the running loop."""
    return asyncio.get_running_loop().time()
