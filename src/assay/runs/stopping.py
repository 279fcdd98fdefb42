"""Interrupts: they end a run in order, and never break into the middle of it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While inside, SIGINT and SIGTERM are counted, and whoever heeds them is called.

    To be put around the event loop: an interrupt that is raised while a loop winds up, a second
    one above all, leaves tasks that wait for ever. Nothing is changed outside the main thread.
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, object] = {}
        self._wake: Callable[[], object] | None = None

    def __enter__(self) -> Self:
        with suppress(ValueError):  # not the main thread: signals are somebody else's
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            if before is not None and signal.getsignal(number) == self._heard:
                signal.signal(number, before)  # type: ignore[arg-type]
        self._before.clear()

    @contextmanager
    def heeded(self, *calls: Callable[[], object]) -> Iterator[None]:
        """Inside, in the running loop, the n-th interrupt makes the n-th call; others make none.

        Interrupts that came before are made up for.
        """
        loop = asyncio.get_running_loop()
        left = iter(calls)
        made = 0

        def catch_up() -> None:
            nonlocal made
            while made < self.count:
                made += 1
                if (call := next(left, None)) is not None:
                    call()

        self._wake = lambda: loop.call_soon_threadsafe(catch_up)
        self._wake()
        try:
            yield
        finally:
            self._wake = None

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if (wake := self._wake) is not None:
            with suppress(RuntimeError):  # the loop of another thread has just been closed
                wake()


def ignore_interrupts() -> None:
    """Ignore SIGINT and SIGTERM from now on: the process is about to end, and to say why."""
    with suppress(ValueError):
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
