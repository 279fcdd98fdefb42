"""Asking again after a passing fault: how often, and how long to wait."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TypeVar

from assay.errors import ConfigError, JudgeError

T = TypeVar("T")

_KEPT = 100
"""The most idle connections that HTTP clients commonly keep."""
_OTHER_LOOP = re.compile(r"[Ee]vent loop is closed|(?:different|another) (?:event )?loop")

PASSING = frozenset({408, 409, 425, 429})
"""Client errors that may pass; so may every 5xx."""


LIMITED = "429"
LATE = "time-outs"
BUSY = MappingProxyType({429: LIMITED, 503: "503", 529: "529"})
"""What statuses of an endpoint that has too much to do are called."""


class PassingError(Exception):
    """A fault that may pass: the error to raise in the end, and the wait the server asks for.

    ``busy`` says how an endpoint showed that it has too much to do: `LATE`, a value of `BUSY`,
    or "" if it did not.
    """

    def __init__(self, error: JudgeError, after: float | None = None, *, busy: str = "") -> None:
        self.error = error
        self.after = after
        self.busy = busy
        super().__init__(str(error))


def passes(status: int) -> bool:
    """Whether a request with this HTTP status is worth repeating."""
    return status in PASSING or status >= 500


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often one call is tried and how long the pauses are, in seconds.

    Pauses double from ``first`` up to ``longest``, each cut by up to half at random. A longer
    wait that the server asks for is kept, unless it is beyond ``patience``: then the call fails.
    """

    attempts: int = 5
    first: float = 0.5
    longest: float = 30.0
    patience: float = 300.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigError(f"attempts must be at least 1, not {self.attempts}")

    def pause(self, attempt: int) -> float:
        """Seconds before attempt ``attempt + 1``, unless the server asks for more."""
        return min(self.longest, self.first * 2.0 ** (attempt - 1)) * (0.5 + chance() / 2)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait by ``retry-after-ms`` or ``Retry-After`` (seconds or HTTP date).

    Header names are expected in lower case.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"})
    (2.0, 0.25)
    >>> retry_after({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=50.0)
    10.0
    >>> retry_after({"retry-after": "soon"}) is None
    True
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        at = parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return max(0.0, at - (time.time() if now is None else now))


def of_another_loop(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, is that a connection belongs to another event loop.

    >>> of_another_loop(RuntimeError("Event loop is closed")), of_another_loop(ValueError())
    (True, False)
    """
    for _ in range(8):  # the causes of causes may go round
        if isinstance(error, RuntimeError) and _OTHER_LOOP.search(str(error)):
            return True
        error = error and (error.__cause__ or error.__context__)
    return False


async def without_stale(call: Callable[[], Awaitable[T]]) -> T:
    """The call's result, where connections that an earlier event loop left behind may fail it.

    A client drops such a connection as it fails, so that calling anew, at once, finds the next;
    raises what the last of many calls raised.
    """
    for _ in range(_KEPT):
        try:
            return await call()
        except Exception as error:
            if not of_another_loop(error):
                raise
    return await call()


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def chance() -> float:
    """A number from 0 up to 1, at random."""
    return secrets.randbelow(1000) / 1000
