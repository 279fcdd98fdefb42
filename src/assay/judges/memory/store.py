"""What keeps packed answers by key, and the one that keeps them in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Record:
    """A packed answer; ``judge``, ``fingerprint`` and ``kind`` are for people who look."""

    blob: bytes
    judge: str
    fingerprint: str
    kind: str


class Store(Protocol):
    """Keeps packed answers by key; whatever goes wrong with it is a note, never an error.

    ``get`` and ``put`` may be called from any thread.
    """

    @property
    def notes(self) -> list[str]:
        """What went wrong so far, for people."""

    def get(self, key: bytes) -> object:
        """The blob of a key, or None; what it holds is for the reader to check."""

    def put(self, key: bytes, record: Record) -> None:
        """Keep a record, in the place of an earlier one."""

    def close(self) -> None:
        """Save what is not saved and let go of files and threads; it may be used again later."""


class MemoryStore:
    """Keeps up to ``max_bytes`` of packed answers while the process lives, the last used ones."""

    def __init__(self, *, max_bytes: int = 64 * 2**20) -> None:
        self.notes: list[str] = []
        self._max_bytes = max_bytes
        self._bytes = 0
        self._blobs: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._blobs)

    def get(self, key: bytes) -> object:
        """The blob of a key, or None."""
        with self._lock:
            blob = self._blobs.get(key)
            if blob is not None:
                self._blobs.move_to_end(key)
            return blob

    def put(self, key: bytes, record: Record) -> None:
        """Keep a record; those that were not used for longest make room."""
        with self._lock:
            self._bytes -= len(self._blobs.pop(key, b""))
            self._blobs[key] = record.blob
            self._bytes += len(record.blob)
            while self._bytes > self._max_bytes:
                self._bytes -= len(self._blobs.popitem(last=False)[1])

    def close(self) -> None:
        """Nothing to let go of; the answers stay."""
