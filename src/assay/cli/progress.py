"""Progress of a run: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from assay.cli.tables import plain

EVERY = 10.0
"""Seconds between lines where there is no terminal."""


class Progress:
    """Counts rows on stderr, with rate and time left.

    ``waiting`` tells what is waited for just now, if anything; a bar shows it even while no row is
    done.
    """

    def __init__(
        self, total: int, *, quiet: bool = False, waiting: Callable[[], str] = lambda: ""
    ) -> None:
        self._total = total
        self._done = self._failed = 0
        self._quiet, self._waiting = quiet, waiting
        self._bar: Any = None
        self._task: Any = None
        self._start = self._said = time.monotonic()

    def __enter__(self) -> Progress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console, RenderableType
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )
            from rich.progress import Progress as Bar

            waiting = self._waiting

            class Waiting(Bar):
                def get_renderables(self) -> Iterable[RenderableType]:
                    yield from super().get_renderables()
                    if said := plain(waiting()):
                        said.no_wrap, said.overflow = True, "ellipsis"
                        yield said

            self._bar = Waiting(
                TextColumn("scoring"),
                BarColumn(bar_width=None),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("scoring", total=self._total, rate="")
        return self

    def step(self, *, failure: str = "") -> None:
        """One more row is done; the first ``failure`` is told at once, not at the end."""
        self._done += 1
        if failure and not self._failed and not self._quiet:
            self._tell(f"first failure: {failure}")
        self._failed += bool(failure)
        now = time.monotonic()
        rate = self._done / max(now - self._start, 1e-9)
        trouble = f", {self._failed} failed" if self._failed else ""
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, rate=f"{rate:.1f}/s{trouble}")
        elif not self._quiet and now - self._said >= EVERY:
            self._said = now
            left = (self._total - self._done) / rate
            said = f"{self._done}/{self._total} samples, {rate:.1f}/s, {left:.0f} s left{trouble}"
            self._tell(said)

    def _tell(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(plain(text), soft_wrap=True)
        else:
            print(plain(text), file=sys.stderr, flush=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
