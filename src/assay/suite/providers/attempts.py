"""What providers that ask over HTTP share: when they ask again, and what each call took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from assay.judges.limiting import Limiter
from assay.judges.retrying import Backoff
from assay.suite.providers.base import Answer
from assay.suite.providers.settings import Settings
from assay.suite.secrets import Secrets

SECONDS = 300.0
"""The usual time-out of one attempt."""
_RETRIES = 4
_SHOWN = 200
"""Characters of a server's words in a message."""


def limiter_of(settings: Settings, concurrency: int, backoff: Backoff | None) -> Limiter:
    """The limits of one provider's calls: ``maxRetries`` of its config, unless by ``backoff``.

    A call may take as long as its attempts may, and each test makes its own, whatever became of
    those before: what is asked is what is tested. Raises ConfigError.
    """
    backoff = backoff or Backoff(attempts=settings.whole("maxRetries", _RETRIES) + 1)
    return Limiter(concurrency, deadline=None, adaptive_timeout=False, alone=True, backoff=backoff)


@dataclass(slots=True)
class Tally:
    """The requests of one call, and the milliseconds that the last one took."""

    sent: int = 0
    latency_ms: float | None = None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Counts and times the request inside."""
        self.sent += 1
        started = time.perf_counter()
        try:
            yield
        finally:
            self.latency_ms = (time.perf_counter() - started) * 1000

    def of(self, answer: Answer) -> Answer:
        """The answer with what its call took."""
        return replace(answer, calls=self.sent, latency_ms=self.latency_ms)


def quoted(text: str, secrets: Secrets) -> str:
    """The beginning of what a server says, on one line and without any secret."""
    # A cut before the scrubbing would let the first half of a key through.
    return " ".join(secrets.scrub(text).split())[:_SHOWN]
