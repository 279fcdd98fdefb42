"""All calls to one endpoint: how many at once and a minute, when again, and when no more."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from assay.asks import Usage
from assay.errors import ConfigError, JudgeError, JudgeUnavailable
from assay.judges.limits.budget import RetryBudget
from assay.judges.limits.circuit import Circuit, OpenCircuitError
from assay.judges.limits.gate import Gate, Lane
from assay.judges.limits.headers import until_reset
from assay.judges.limits.latency import Latencies
from assay.judges.limits.rates import Quota, Rates
from assay.judges.limits.window import Window
from assay.judges.reaching import Reach
from assay.judges.retrying import LATE, LIMITED, Backoff, PassingError, chance

T = TypeVar("T")

_PATIENCE = 4
"""A call may be refused for a rate limit this many times as often as it may fail otherwise."""
_JITTER = 0.05
"""Calls come back from a common wait within this part of it, not all at once."""


@dataclass(slots=True)
class Trip:
    """One call on its way, through all its attempts; ``reached``: the time it has waited to."""

    where: str
    usage: Usage
    attempts: int = 0
    limited: int = 0
    """Attempts that were refused for a rate limit."""
    late: int = 0
    started: float | None = None
    reached: float = 0.0
    lane: Lane | None = None


class Limiter:
    """Holds back and repeats the calls to one endpoint; judges that share it share its limits.

    At most ``concurrency`` calls are open at once, fewer while the endpoint shows that it has too
    much to do (429, 503, 529, time-outs); at most ``rpm`` requests and about ``tpm`` tokens go out
    a minute. A wait that the endpoint asks for holds back all calls. A call and its repeats take
    at most ``deadline`` seconds from its first sending on (None: no limit). With
    ``adaptive_timeout`` an attempt is given up after eight times what 95 % of the recent answers
    took, at least after 10 s, and repeated with four times that.

    Where too many calls fail, further ones are not repeated, and an endpoint that only fails is not
    asked at all for a while; see `RetryBudget`, `Circuit`. ``alone``: each call is tried as often
    as ``backoff`` says, and no more often at a rate limit, whatever became of the others.

    ``rates`` are kept in the place of ``rpm`` and ``tpm``, e.g. those of several processes.
    It works in several event loops in turn. Raises ConfigError for limits that cannot work.
    """

    def __init__(
        self,
        concurrency: int = 128,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        deadline: float | None = 300.0,
        adaptive_timeout: bool = True,
        alone: bool = False,
        backoff: Backoff | None = None,
        clock: Callable[[], float] = time.monotonic,
        rates: Quota | None = None,
    ) -> None:
        if deadline is not None and not deadline > 0:
            raise ConfigError(f"deadline must be above 0 seconds, not {deadline}")
        self._backoff = backoff or Backoff()
        self._deadline, self._clock = deadline, clock
        self._window = Window(concurrency)
        self._rates: Quota = rates or Rates(rpm, tpm, clock)
        self._gate = Gate(self._window, self._rates)
        self._budget = RetryBudget(concurrency)
        self._circuit, self._alone = Circuit(), alone
        self._latencies = Latencies() if adaptive_timeout else None
        self._quiet_until = self._quiet_for = 0.0
        self._note = ""
        self._least = concurrency

    @property
    def concurrency(self) -> int:
        """How many calls may be open at once, at present."""
        return self._window.size

    @property
    def maximum(self) -> int:
        """How many calls may ever be open at once."""
        return self._window.maximum

    @property
    def counts_tokens(self) -> bool:
        """Whether it matters how many tokens a call is said to have."""
        return self._rates.counts_tokens

    @property
    def reach(self) -> Reach:
        """How calls went of late."""
        now = self._clock()
        reach, wait = self._circuit.reach(now), self._quiet_until - now
        if wait >= 1 and not reach.waiting:
            reach = replace(reach, waiting=f"rate limited: waiting {wait:.0f} s")
        return reach

    async def run(
        self, call: Callable[[], Awaitable[T]], *, where: str, usage: Usage, tokens: float = 0.0
    ) -> T:
        """The result of ``call``, which is repeated where it raises PassingError.

        ``where`` is the endpoint in messages, ``tokens`` an estimate. Raises the JudgeError of
        the last attempt, and JudgeUnavailable where no (further) attempt is made.
        """
        trip = Trip(where, usage)
        try:
            while True:
                if (lane := trip.lane) is None:
                    lane = self._gate.lane()
                    again = trip.attempts > 0
                    if not lane.admits_at_once(tokens, again=again):
                        await lane.wait(tokens, again=again)
                    trip.lane = lane
                else:  # a repeat that has kept its place
                    self.charge(tokens)
                try:
                    return await self._attempt(call, trip, lane)
                except PassingError as fault:
                    pause = self._pause(fault, trip)
                usage.retries += 1
                if pause > 0 or lane.is_crowded:
                    await self._rest(trip, lane, pause)
        finally:
            if trip.lane is not None:
                trip.lane.leave()

    def told(self, headers: Mapping[str, str]) -> None:
        """Note what the headers of an answer say of the requests and tokens that remain."""
        if (wait := until_reset(headers)) is not None:
            self._hold(wait)

    def hold(self, seconds: float) -> None:
        """Hold all calls back for so long at least, unless it is beyond patience."""
        until = self._clock() + seconds
        if seconds <= self._backoff.patience and until > self._quiet_until:
            self._quiet_until, self._quiet_for = until, seconds

    def correct(self, estimated: float, tokens: float) -> None:
        """Note how many tokens a call really had."""
        self._rates.take(tokens - estimated, 0.0)

    def charge(self, tokens: float) -> None:
        """Note a further request within an attempt; calls after it wait the longer."""
        self._rates.take(tokens)

    async def _rest(self, trip: Trip, lane: Lane, pause: float) -> None:
        """Pause outside the gate."""
        trip.lane = None
        trip.reached = max(self._clock(), trip.reached) + pause
        lane.pausing += 1
        lane.leave()
        try:
            if pause > 0:
                await self._backoff.sleep(pause)
        finally:
            lane.resume()

    async def _attempt(self, call: Callable[[], Awaitable[T]], trip: Trip, lane: Lane) -> T:
        began, probe = self._clock(), False
        if self._quiet_until > began or self._circuit.is_open:
            probe = await self._clear(trip)
            began = self._clock()
        if trip.started is None:
            trip.started = began
        trip.attempts += 1
        era = self._window.era
        try:
            result = await self._timed(call, trip, lane, began)
        except PassingError as fault:
            self._failed(fault, trip, era, probe=probe)
            raise
        except JudgeError:
            self._served(era, self._clock())
            raise
        except BaseException:
            if probe:
                self._circuit.unknown()
            raise
        ended = self._clock()
        self._served(era, ended)
        self._budget.earn()
        if self._latencies is not None:
            self._latencies.add(ended - began)
        return result

    async def _clear(self, trip: Trip) -> bool:
        """Wait until the endpoint may be asked; whether this call finds out if it is back."""
        while True:
            now = max(self._clock(), trip.reached)
            if self._quiet_until > now:
                wait = self._quiet_until - now + chance() * _JITTER * self._quiet_for
            elif not self._circuit.is_open:
                return False
            else:
                try:
                    answer = self._circuit.ask(now)
                except OpenCircuitError as error:
                    raise JudgeUnavailable(f"{trip.where}: {error}") from None
                if isinstance(answer, str):
                    return answer == "probe"
                wait = answer
            await self._backoff.sleep(wait)
            trip.reached = now + wait

    async def _timed(
        self, call: Callable[[], Awaitable[T]], trip: Trip, lane: Lane, began: float
    ) -> T:
        limit = self._time_limit(trip, began)
        if limit is None:
            return await call()
        try:
            with lane.watch.within(limit):
                return await call()
        except TimeoutError:
            late = JudgeUnavailable(f"{trip.where}: no answer within {limit:.3g} s")
            raise PassingError(late, busy=LATE) from None

    def _time_limit(self, trip: Trip, began: float) -> float | None:
        """Seconds for the next attempt; its own time-out may be shorter."""
        limit = None if self._latencies is None else self._latencies.limit(trip.late)
        if self._deadline is None:
            return limit
        left = self._deadline - (max(began, trip.reached) - (trip.started or began))
        return left if limit is None or left < limit else limit

    def _served(self, era: int, now: float) -> None:
        self._window.good(era)
        self._circuit.served(now)

    def _failed(self, fault: PassingError, trip: Trip, era: int, *, probe: bool) -> None:
        """Let all calls learn from the fault of one."""
        trip.late += fault.busy == LATE
        if fault.after:
            self._hold(fault.after)
        waits = bool(fault.after) and not self._is_beyond_patience(fault.after)
        if isinstance(fault.error, JudgeUnavailable) and not waits and not self._alone:
            limited = fault.busy == LIMITED
            self._circuit.failed(self._clock(), str(fault.error), limited=limited, probe=probe)
        elif probe:
            self._circuit.unknown()
        if fault.busy and self._window.busy(era) and self._window.size < self._least:
            self._least = self._window.size
            note = f"slowed down to {self._least} calls at once after {fault.busy}"
            _replace(trip.usage.notes, self._note, note)
            self._note = note

    def _pause(self, fault: PassingError, trip: Trip) -> float:
        """Seconds of this call's own before its next attempt; raises if it gets none."""
        error, backoff = fault.error, self._backoff
        # A rate limit is no fault of the call: it waits longer, and takes nothing from the budget.
        limited = fault.busy == LIMITED
        trip.limited += limited
        alike = trip.limited if limited else trip.attempts - trip.limited
        if self._is_enough(trip, alike, limited=limited):
            s = "" if trip.attempts == 1 else "s"
            raise type(error)(f"{error} ({trip.attempts} attempt{s})") from None
        if self._is_beyond_patience(fault.after):
            raise JudgeUnavailable(f"{error} (it asks to wait {fault.after:.0f} s)") from None
        pause, asked = backoff.pause(alike), fault.after or 0.0
        now = max(self._clock(), trip.reached)
        spent = now - (now if trip.started is None else trip.started)
        if self._deadline is not None and spent + max(pause, asked) >= self._deadline:
            raise type(error)(
                f"{error} (no more attempts: the deadline of {self._deadline:g} s)"
            ) from None
        if not (asked or limited or self._alone or self._budget.spend()):
            raise JudgeUnavailable(f"{error} (not tried again: too many calls fail)") from None
        # what the endpoint asks for is waited out with all the others
        return pause if pause >= asked else 0.0

    def _is_enough(self, trip: Trip, alike: int, *, limited: bool) -> bool:
        """Whether a call has had its attempts: all, or those ``alike`` in being limited or not."""
        most = self._backoff.attempts
        if self._alone:
            return trip.attempts >= most
        return alike >= (most * _PATIENCE if limited else most)

    def _is_beyond_patience(self, wait: float | None) -> bool:
        return wait is not None and wait > self._backoff.patience

    def _hold(self, wait: float) -> None:
        """Hold all calls back; a wait beyond patience is left to the refusal that will say so."""
        if self._clock() + wait > self._quiet_until:
            self.hold(wait)
            self._rates.held(wait)


def _replace(notes: list[str], old: str, new: str) -> None:
    if old in notes:
        notes[notes.index(old)] = new
    else:
        notes.append(new)
