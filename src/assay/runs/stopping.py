"""Interrupts: the first ends a run in order, the second at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable(first: Callable[[], None], second: Callable[[], object]) -> Iterator[None]:
    """While inside, SIGINT and SIGTERM call ``first`` once, and then ``second``.

    Nothing is changed where signals are somebody else's: outside the main thread, or on systems
    whose event loops do not take them.
    """
    loop = asyncio.get_running_loop()
    calls = iter((first,))

    def got() -> None:
        next(calls, second)()

    taken = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    with suppress(ValueError, RuntimeError, NotImplementedError):
        for number in _SIGNALS:
            loop.add_signal_handler(number, got)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
