"""Who scores which shard: two at most for each worker, and again where a worker dies."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from assay import errors
from assay.errors import AssayError, ConfigError, DataError
from assay.runner import MetricBug
from assay.runs.outages import OutageError
from assay.runs.shards import ShardReport
from assay.scale.worker import Told

AT_ONCE = 2
"""Shards of one worker: as one comes to its slow last samples, the next one is at work."""
TROUBLES = 10
"""Shards that end in errors before no more are handed out: it is not the shards, then."""
_DEATHS = 3
"""Workers that a shard may lose for good before it is taken for the cause."""
_LOOK = 0.2
"""Seconds between looks at progress and interrupts."""
_ELSEWHERE = 50
"""Times that a shard is tried that another process holds: one that is just dying, as a rule."""
_ENDS_ALL = frozenset(
    {"ConfigError", "JudgeUnusable", "OutageError", "BudgetSpent", "MissingExtra"}
)


class Calls(Protocol):
    """Calls that are on their way to workers."""

    def send(self, worker: int, method: str, *values: Any) -> Any:
        """Begin a call; what stands for its answer."""

    def wait(self, calls: Sequence[Any], seconds: float) -> list[Any]:
        """Those of the calls that have ended, after so many seconds at most."""

    def answer(self, call: Any) -> Any:
        """The answer of a call that has ended; raises LostError if its worker died for good."""


class LostError(Exception):
    """A worker died, and no other takes its place."""


@dataclass
class _Share:
    """One worker: whether it can be given shards, how many it has, its last look at progress."""

    ready: bool = False
    lost: bool = False
    load: int = 0
    looking: Any = None


class Handing:
    """Hands out shards until there are no more, and gathers what came of them.

    A shard that ends in an error does not end the others, unless it is one that all would end in,
    or `TROUBLES` have. ``watch`` is told of every row the reason why it failed, "" if it did not.
    """

    def __init__(
        self,
        calls: Calls,
        workers: int,
        shards: Iterable[int],
        watch: Callable[[str], None] | None = None,
        *,
        patience: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._calls, self._watch, self._clock = calls, watch or (lambda _: None), clock
        self._shares = [_Share() for _ in range(workers)]
        self._todo = deque(shards)
        self._later: deque[tuple[float, int]] = deque()
        self._tries: dict[int, int] = {}
        self._deaths: dict[int, int] = {}
        self._work: dict[Any, tuple[int, int | None]] = {}
        self._deadline = clock() + patience
        self._patience = patience
        self._died = ""
        self.reports: list[ShardReport] = []
        self.troubles: list[tuple[int, AssayError | MetricBug]] = []
        self.stopping = False
        self.broken: AssayError | MetricBug | None = None

    def stop(self) -> None:
        """Hand out no more; samples in work are finished."""
        if not self.stopping:
            self.stopping = True
            for number, share in enumerate(self._shares):
                if not share.lost:
                    self._calls.send(number, "stop")

    def work(self) -> None:
        """Score all shards; raises the first error once those in work have ended."""
        for number in range(len(self._shares)):
            self._work[self._calls.send(number, "ready")] = number, None
        while self._in_work():
            for call in self._calls.wait(list(self._work), _LOOK):
                number, shard = self._work.pop(call)
                self._ended(number, shard, call)
            self._due()
            self._hand_out()
            self._look()
        self._look(last=True)
        if self.broken is not None:
            raise self.broken
        if self.troubles:
            raise self._trouble()

    def _in_work(self) -> bool:
        """Whether anything is still to come; raises what no waiting would help."""
        waiting = any(shard is not None for _, shard in self._work.values())
        left = bool(self._todo or self._later)
        if self.stopping or not left:
            return waiting
        if all(share.lost for share in self._shares):
            self.broken = self.broken or AssayError(
                f"all workers died: {self._died}; what was scored is kept, and --resume goes on"
            )
            return waiting
        if not any(share.ready for share in self._shares) and self._clock() > self._deadline:
            raise ConfigError(
                f"no worker could be started within {self._patience:.0f} s; ask for fewer actors, "
                "or for fewer cpus each"
            )
        return True

    def _hand_out(self) -> None:
        free = [n for n, share in enumerate(self._shares) if share.ready and not share.lost]
        while self._todo and free and not self.stopping:
            number = min(free, key=lambda n: self._shares[n].load)
            if self._shares[number].load >= AT_ONCE:
                return
            shard = self._todo.popleft()
            self._shares[number].load += 1
            self._work[self._calls.send(number, "score", shard)] = number, shard

    def _ended(self, number: int, shard: int | None, call: Any) -> None:
        share = self._shares[number]
        share.load -= shard is not None
        try:
            told: Told = self._calls.answer(call)
        except LostError as error:
            share.lost = True
            self._died = str(error)
            if shard is not None:
                self._lost(shard, error)
            return
        if told.error:
            self._erred(shard, told)
        elif shard is None:
            share.ready = True
        elif told.report is not None:
            self._reported(told.report)

    def _lost(self, shard: int, error: LostError) -> None:
        self._deaths[shard] = self._deaths.get(shard, 0) + 1
        if self._deaths[shard] < _DEATHS:
            self._todo.appendleft(shard)
        else:
            self._note(shard, AssayError(f"workers died at it: {error}"))

    def _erred(self, shard: int | None, told: Told) -> None:
        error = _error(told)
        if shard is None or told.error in _ENDS_ALL:
            self.broken = self.broken or error
            self.stop()
        else:
            self._note(shard, error)

    def _note(self, shard: int, error: AssayError | MetricBug) -> None:
        self.troubles.append((shard, error))
        if len(self.troubles) >= TROUBLES:
            self.stop()

    def _reported(self, report: ShardReport) -> None:
        tries = self._tries.get(report.shard, 0) + 1
        if report.elsewhere and tries < _ELSEWHERE and not self.stopping:
            self._tries[report.shard] = tries
            self._later.append((self._clock() + _LOOK, report.shard))
        else:
            self.reports.append(report)

    def _due(self) -> None:
        while self._later and self._later[0][0] <= self._clock():
            self._todo.append(self._later.popleft()[1])

    def _look(self, *, last: bool = False) -> None:
        """Ask workers how far they are, and tell of what they say; never wait, but at the end."""
        for number, share in enumerate(self._shares):
            if not share.ready or share.lost:
                continue
            if share.looking is not None and self._calls.wait([share.looking], 2.0 * last):
                self._seen(share)
            if share.looking is None:
                share.looking = self._calls.send(number, "progress")
                if last and self._calls.wait([share.looking], 2.0):
                    self._seen(share)

    def _seen(self, share: _Share) -> None:
        call, share.looking = share.looking, None
        try:
            rows, reasons = self._calls.answer(call)
        except LostError:
            return
        for reason in [*reasons, *[""] * (rows - len(reasons))]:
            self._watch(reason)

    def _trouble(self) -> AssayError | MetricBug:
        shard, error = self.troubles[0]
        others = len(self.troubles) - 1
        more = f" (and {others} more)" if others else ""
        return type(error)(f"shard {shard}{more}: {error}; all others are kept")


def _error(told: Told) -> AssayError | MetricBug:
    """The error that was told of, of its own class where that takes just a message."""
    kinds: dict[str, type[AssayError]] = {
        kind.__name__: kind
        for kind in (
            ConfigError,
            DataError,
            errors.JudgeUnusable,
            errors.BudgetSpent,
            OutageError,
        )
    }
    if told.error in kinds:
        return kinds[told.error](told.message)
    if told.error == "MetricBug":
        return MetricBug(told.message)
    if isinstance(getattr(errors, told.error, None), type):
        return AssayError(told.message)
    return MetricBug(f"{told.error}: {told.message}")
