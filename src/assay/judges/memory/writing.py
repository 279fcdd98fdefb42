"""The thread that saves answers, a few at a time, and makes room for them."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.judges.memory.store import Record

SOON = 0.05
"""Seconds after which an answer is saved at the latest."""
MANY = 64
"""Answers that are saved without waiting."""
_CHUNK = 5_000
"""Rows that are deleted at once, so that other processes get their turn."""
_LOOK = 256
"""Batches after which the size of the file is looked at again."""

_PUT = """INSERT INTO answers (key, blob, judge, fingerprint, kind, created, used)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET blob = excluded.blob, judge = excluded.judge,
        fingerprint = excluded.fingerprint, kind = excluded.kind, created = excluded.created,
        used = excluded.used"""


@dataclass(frozen=True, slots=True)
class _Row:
    record: Record
    created: float


class Writer:
    """Saves records through a connection of its own, in a thread of its own.

    ``failed`` is called in that thread with the error that ends it; what comes after is not saved.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        max_bytes: int,
        failed: Callable[[sqlite3.Error, int], None],
    ) -> None:
        self._connection = connection
        self._max_bytes = max_bytes
        self._failed = failed
        self._state = threading.Condition()
        self._waiting: dict[bytes, _Row] = {}
        self._saving: Mapping[bytes, _Row] = {}
        self._used: dict[bytes, float] = {}
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="assay-answers", daemon=True)
        self._thread.start()

    def get(self, key: bytes) -> bytes | None:
        """The blob of a record that is not saved yet."""
        row = self._waiting.get(key) or self._saving.get(key)
        return row.record.blob if row else None

    def put(self, key: bytes, record: Record) -> None:
        """Save a record soon."""
        with self._state:
            if not self._ending:
                self._waiting[key] = _Row(record, time.time())
                if len(self._waiting) in (1, MANY):
                    self._state.notify_all()

    def use(self, key: bytes, when: float) -> None:
        """Note, with the next batch, that a record was used."""
        with self._state:
            if not self._ending:
                self._used[key] = when

    def close(self) -> None:
        """Save what is waiting and end the thread."""
        with self._state:
            self._ending = True
            self._state.notify_all()
        if threading.current_thread() is not self._thread:  # which may be the one that collects us
            self._thread.join()

    def _run(self) -> None:
        try:
            self._evict()
            batches = 0
            while self._wait():
                self._save()
                batches += 1
                if batches % _LOOK == 0:
                    self._evict()
        except sqlite3.Error as error:
            with self._state:
                self._ending = True
                lost = len(self._waiting) + len(self._saving)
                self._waiting, self._saving = {}, {}
            self._failed(error, lost)
        finally:
            self._connection.close()

    def _wait(self) -> bool:
        """Wait for the next batch; False when there will be none."""
        with self._state:
            self._state.wait_for(lambda: self._waiting or self._ending)
            self._state.wait_for(lambda: len(self._waiting) >= MANY or self._ending, SOON)
            return bool(self._waiting or self._used)

    def _save(self) -> None:
        with self._state:
            self._saving, self._waiting = self._waiting, {}
            used, self._used = self._used, {}
        rows = [
            (key, r.blob, _utf8(r.judge), _utf8(r.fingerprint), r.kind, row.created, row.created)
            for key, row in self._saving.items()
            for r in (row.record,)
        ]
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            self._connection.executemany(_PUT, rows)
            marks = [(when, key) for key, when in used.items()]
            self._connection.executemany("UPDATE answers SET used = ? WHERE key = ?", marks)
        self._saving = {}

    def _evict(self) -> None:
        """Delete what was not used for longest until a tenth of the room is free."""
        if self._size() <= self._max_bytes:
            return
        while self._size() > 0.9 * self._max_bytes:
            (rows,) = self._connection.execute("SELECT count(*) FROM answers").fetchone()
            if not rows:
                return
            some = min(_CHUNK, rows // 20 + 1)
            self._connection.execute(
                "DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY used LIMIT ?)",
                (some,),
            )

    def _size(self) -> int:
        """Bytes of the file that are in use; what was freed is used again."""
        pages, free, size = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)


def _utf8(text: str) -> str:
    # A column cannot hold half a surrogate pair.
    return text.encode("utf-8", "replace").decode()
