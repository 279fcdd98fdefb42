"""The judges of one pytest process, and the event loop that they live in."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

    from assay.asks import Judge

T = TypeVar("T")
CURRENT: ContextVar[Session | None] = ContextVar("assay_pytest_session", default=None)
"""The session of the test that is running."""


class Session:
    """Judges by name, each opened at its first use and closed with the session.

    They are asked in one event loop, in a thread of its own, so that their connections outlive
    a test. ``name`` is the judge where a test names none (None: as `open_judge` has it),
    ``packed`` is for all, and ``allow_code`` lets suites run programs. Nothing is imported or
    started before the first use.
    """

    def __init__(
        self, name: str | None = None, *, packed: bool = False, allow_code: bool = False
    ) -> None:
        self.name, self.packed, self.allow_code = name, packed, allow_code
        self.remarks: list[str] = []
        self._judges: dict[str | None, Judge] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def open(self, name: str | None = None) -> Judge:
        """The judge of a name, or the session's own; raises ConfigError for an unknown name."""
        from assay.judges.named import open_judge

        wanted = name or self.name
        with self._lock:
            if wanted not in self._judges:
                self._judges[wanted] = open_judge(wanted, packed=self.packed)
            return self._judges[wanted]

    def owns(self, judge: object) -> bool:
        """Whether the session opened this judge."""
        return any(judge is own for own in self._judges.values())

    def remark(self, text: str) -> None:
        """Keep a remark for the end of the test run."""
        if text not in self.remarks:
            self.remarks.append(text)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine in the session's loop; an interrupt cancels it."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        finally:
            future.cancel()

    async def join(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for code in a loop of its own, which goes on meanwhile."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(work, self._running())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Close the judges and end the loop; does nothing if none was used."""
        if self._loop is None and not self._judges:
            return
        loop = self._running()
        try:
            self.run(self._close())
        finally:
            loop.call_soon_threadsafe(loop.stop)
            if self._thread is not None:
                self._thread.join()
            loop.close()
            self._loop = self._thread = None

    async def _close(self) -> None:
        import asyncio

        try:
            for judge in self._judges.values():
                await judge.aclose()
        finally:
            self._judges.clear()
            loop = asyncio.get_running_loop()
            await loop.shutdown_asyncgens()
            await loop.shutdown_default_executor()

    def _running(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="assay", daemon=True
                )
                self._thread.start()
            return self._loop
