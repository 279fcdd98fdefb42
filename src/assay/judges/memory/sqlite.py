"""Answers in one SQLite file, for all processes of a user and all runs to come."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from assay.errors import DataError
from assay.judges.memory.database import (
    connect,
    default_path,
    is_busy,
    is_damage,
    mark_damaged,
)
from assay.judges.memory.endpoints import note_endpoints
from assay.judges.memory.store import Record
from assay.judges.memory.writing import Writer

_AGAIN = 3600.0
"""Seconds after which another use of an answer is worth a write."""

_PATIENCE = 1000
"""Milliseconds that a look-up waits where another process holds the whole file."""


class SqliteStore:
    """Keeps packed answers in a file: ``path``, or that of `default_path`.

    Several processes may use one file. An answer is saved within a twentieth of a second, and
    survives the end of the process from then on. The file is opened when first used; then, and
    as it grows, answers that were not used for longest make room, so that it stays near
    ``max_bytes``. A damaged file is set aside and a new one begun. Where the file cannot be used
    at all, or no more be written, a note says so and nothing is kept.
    """

    def __init__(self, path: str | Path | None = None, *, max_bytes: int = 2 * 2**30) -> None:
        self.notes: list[str] = []
        self._given = None if path is None else Path(path)
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        self._open: _Open | None = None
        self._useless = False
        self._endpoints: dict[str, str] = {}
        self._asked: set[str] = set()
        self._finalizer: weakref.finalize[[], SqliteStore] | None = None

    def get(self, key: bytes) -> object:
        """The blob of a key, or None."""
        with self._lock:
            file = self._file()
            if file is None:
                return None
            try:
                return file.get(key)
            except sqlite3.Error as error:
                if not is_busy(error):
                    self._give_up(file, error)
                return None

    def put(self, key: bytes, record: Record) -> None:
        """Save a record soon, in the place of an earlier one."""
        with self._lock:
            file = self._file()
            if file is not None:
                file.writer.put(key, record)
                if record.fingerprint in self._endpoints:
                    self._asked.add(record.fingerprint)

    def place(self, fingerprint: str, endpoint: str) -> None:
        """Say where the judge of a fingerprint is asked, for people who look at its answers.

        It is saved as the file is closed, if the judge has answered by then. It must hold no
        secret.
        """
        with self._lock:
            self._endpoints[fingerprint] = endpoint

    def close(self) -> None:
        """Save what is waiting and close the file; the next use opens it again."""
        with self._lock:
            file, self._open = self._open, None
            if file is not None and file.process == os.getpid():
                if self._finalizer is not None:
                    self._finalizer.detach()
                file.close()
                self._note(file.path)

    def _note(self, path: Path) -> None:
        asked, self._asked = self._asked, set()
        if asked and not self._useless:
            # The answers are as good without it.
            with suppress(DataError, OSError, sqlite3.Error):
                note_endpoints(path, {name: self._endpoints[name] for name in asked})

    def _file(self) -> _Open | None:
        if self._open is not None and self._open.process == os.getpid():
            return self._open
        # After a fork, the parent's connections are left alone: closing them would hurt it.
        self._open = None
        if self._useless:
            return None
        try:
            self._open = _Open(self._given or default_path(), self._max_bytes, self.notes)
        except DataError as error:
            self._say_useless(str(error))
        except (OSError, RuntimeError, sqlite3.Error) as error:  # no file, or no thread
            self._say_useless(f"cannot open {self._given or default_path()}: {_reason(error)}")
        else:
            self._finalizer = weakref.finalize(self, self._open.close)
        return self._open

    def _give_up(self, file: _Open, error: sqlite3.Error) -> None:
        if is_damage(error):
            mark_damaged(file.path)
        self.close()
        self._say_useless(f"{file.path}: {_reason(error)}")

    def _say_useless(self, why: str) -> None:
        self._useless = True
        self.notes.append(f"answers are not remembered: {why}")


class _Open:
    """The connections to an open file, and the process that they belong to."""

    def __init__(self, path: Path, max_bytes: int, notes: list[str]) -> None:
        self.process = os.getpid()
        self.path = path
        self._notes = notes
        with ExitStack() as made:
            self._reader = made.enter_context(closing(connect(path, notes)))
            self._reader.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
            writing = made.enter_context(closing(connect(path, notes)))
            self.writer = Writer(writing, max_bytes, self._unwritable)
            made.pop_all()  # both stay open

    def get(self, key: bytes) -> object:
        blob = self.writer.get(key)
        if blob is not None:
            return blob
        # All rows are fetched, of one: a statement half done would hold up checkpoints.
        rows = self._reader.execute(
            "SELECT blob, used FROM answers WHERE key = ?", (key,)
        ).fetchall()
        if not rows:
            return None
        found, used = rows[0]
        now = time.time()
        if not isinstance(used, float) or abs(now - used) > _AGAIN:
            self.writer.use(key, now)
        return found

    def close(self) -> None:
        if self.process == os.getpid():
            self.writer.close()
            self._reader.close()

    def _unwritable(self, error: sqlite3.Error, lost: int) -> None:
        if is_damage(error):
            mark_damaged(self.path)
        what = f"{lost} answers and those that follow" if lost else "new answers"
        self._notes.append(f"{what} are not remembered: {self.path}: {_reason(error)}")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
