"""The way of one file of requests: uploaded, made a batch, waited for, its answers fetched."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from assay.errors import ConfigError, JudgeUnavailable, JudgeUnusable
from assay.judges.batch.lines import LINE_URL, count_lines
from assay.judges.batch.protocol import CROWDED, ENDED, AwayError, Batch, BatchEndpoint
from assay.judges.batch.state import Sent, State
from assay.judges.retrying import PassingError

Say = Callable[[str], None]
"""Told in words what goes on."""
_FILES_LATE = 5
"""How often a batch that is completed without any file is asked for once more."""
_FETCHES = 3


@dataclass(frozen=True, slots=True)
class Polling:
    """How often a batch is asked for, in seconds: after ``first``, then ever more rarely.

    ``outage``: how long the endpoint may be out of reach; ``patience``: how long a process waits
    for a batch at most. Raises ConfigError.
    """

    first: float = 2.0
    longest: float = 60.0
    outage: float = 3600.0
    patience: float = 26 * 3600.0

    def __post_init__(self) -> None:
        if not 0 < self.first <= self.longest:
            raise ConfigError("polling: first must be above 0 and at most longest")

    def after(self, pause: float) -> float:
        """The pause that follows a pause."""
        return min(self.longest, pause * 1.5)


class LostBatchError(Exception):
    """A batch ended as a whole and has answered nothing; it may be submitted once more."""


class CrowdedError(Exception):
    """The endpoint takes no batch as large as this while so much is queued."""


class Following:
    """Takes files of requests through the endpoint; each step is on record before the next."""

    def __init__(
        self, endpoint: BatchEndpoint, state: State, polling: Polling, *, window: str, say: Say
    ) -> None:
        self._endpoint, self._state = endpoint, state
        self._polling, self._window, self._say = polling, window, say

    async def submit(self, sent: Sent) -> None:
        """Upload the file of requests and make a batch of it."""
        path = self._state.file(sent, "requests")
        size = path.stat().st_size / 1e6
        self._state.note(sent, file_id=await self._endpoint.upload(path))
        batch = await self._endpoint.create(
            sent.file_id,
            url=LINE_URL,
            window=self._window,
            metadata={"assay_run": self._state.run, "assay_file": sent.name},
            since=sent.at,
        )
        self._state.note(sent, batch_id=batch.id)
        path.unlink(missing_ok=True)
        until = f", at the latest by {_clock(batch.expires)}" if batch.expires else ""
        self._say(
            f"batch {batch.id}: {_requests(len(sent.ids))} ({size:.1f} MB) submitted, answers"
            f" within {self._window}{until}"
        )

    async def find(self, sent: Sent) -> bool:
        """Whether a batch was made of an uploaded file before all was cut off."""
        batch = await self._endpoint.find(sent.file_id, sent.at) if sent.file_id else None
        if batch is None:
            return False
        self._state.note(sent, batch_id=batch.id)
        self._say(f"batch {batch.id}: found again, {_requests(len(sent.ids))}")
        return True

    async def finish(self, sent: Sent) -> None:
        """Wait for the end of the batch and fetch its answers.

        Raises LostBatchError and CrowdedError for a batch that has brought none, and JudgeError.
        """
        batch = await self._end(sent)
        if batch.status == "failed":
            self._state.note(sent, dropped=True)
            raise self._failure(batch)
        if not batch.answers and batch.status != "completed":
            self._state.note(sent, dropped=True)
            raise LostBatchError(f"batch {batch.id} has {batch.status}")
        if not batch.answers and not batch.errors:
            raise JudgeUnavailable(
                f"{self._endpoint.where}: batch {batch.id} is completed, but has no file of answers"
            )
        await self._fetch(sent, "answers", batch.answers, batch.completed)
        await self._fetch(sent, "errors", batch.errors, batch.failed)
        self._state.note(sent, status=batch.status)
        self._say(f"batch {batch.id}: {batch.status}, {batch.completed} of {batch.total} answered")

    async def _end(self, sent: Sent) -> Batch:
        """The batch once nothing changes any more."""
        polling, began = self._polling, time.monotonic()
        pause, reached, late = polling.first, began, 0
        seen: tuple[object, ...] = ()
        while True:
            try:
                batch = await self._endpoint.get(sent.batch_id)
            except PassingError as fault:
                if time.monotonic() - reached > polling.outage:
                    raise AwayError(str(fault.error)) from None
                self._say(f"batch {sent.batch_id}: {fault.error}; asking again")
                wait = max(pause, min(fault.after or 0.0, polling.outage))
            else:
                reached, wait = time.monotonic(), pause
                if batch.status in ENDED:
                    if batch.status != "completed" or batch.answers or batch.errors:
                        return batch
                    if (late := late + 1) > _FILES_LATE:
                        return batch
                seen = self._progress(batch, seen)
            if time.monotonic() - began > polling.patience:
                raise AwayError(
                    f"{self._endpoint.where}: batch {sent.batch_id} has not ended within"
                    f" {polling.patience / 3600:.3g} h; the next start goes on waiting for it"
                )
            await asyncio.sleep(wait)
            pause = polling.after(pause)

    def _progress(self, batch: Batch, seen: tuple[object, ...]) -> tuple[object, ...]:
        """Say how far the batch is, if that is news."""
        now = (batch.status, batch.completed, batch.failed)
        if now != seen:
            done = f"{batch.completed + batch.failed} of {batch.total} done"
            self._say(f"batch {batch.id}: {batch.status}, {done}")
        return now

    def _failure(self, batch: Batch) -> Exception:
        words = "; ".join(message for _, message in batch.faults[:3] if message)
        said = f"{self._endpoint.where}: batch {batch.id} failed: {words}"
        if any(code == CROWDED for code, _ in batch.faults):
            return CrowdedError(said)
        if not words:
            return LostBatchError(f"batch {batch.id} has failed without a word")
        return JudgeUnusable(said)

    async def _fetch(self, sent: Sent, kind: str, file_id: str, expected: int) -> None:
        """Have the file of answers or errors here, with as many lines as it should have."""
        path = self._state.file(sent, kind)
        if not file_id:
            path.unlink(missing_ok=True)
            return
        lines = 0
        for _ in range(_FETCHES):
            await self._endpoint.download(file_id, path)
            lines = await asyncio.to_thread(count_lines, path)
            if lines >= max(1, expected):
                return
        if not lines and expected:
            raise JudgeUnavailable(
                f"{self._endpoint.where}: file {file_id} of batch {sent.batch_id} has no JSON lines"
            )
        self._say(f"batch {sent.batch_id}: {lines} of {expected} lines in its file of {kind}")


def _requests(count: int) -> str:
    return f"{count} request" if count == 1 else f"{count} requests"


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
