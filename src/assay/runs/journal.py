"""The journal of a shard in work: each row as it is done, in any order."""

from __future__ import annotations

import os
import re
import threading
import zlib
from collections.abc import Iterable
from pathlib import Path

from assay.runs.disk import write_all, writing
from assay.runs.folder import take

_HEAD = re.compile(rb'\[(\d{1,15}),"([0-9a-f]{8})",')
_END = b"]\n"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


class Journal:
    """Rows done of one shard, held by one process.

    Each line is ``[row, check, record]``; the check covers the row, the record and ``seal``, which
    says what the row belongs to. Lines that do not check, such as one that a kill cut short, are
    passed over. What was appended survives the end of the process at once, and that of the
    machine after `sync`.
    """

    def __init__(self, path: Path, handle: int, seal: str, rows: range) -> None:
        self.path = path
        self._handle = handle
        self._seal = seal.encode()
        self._places: dict[int, tuple[int, int]] = {}
        self._unsaved = False
        self._open = True
        self._lock = threading.Lock()  # saving may go on in one thread as another closes
        with writing(path):
            self._end = self._recover(rows)
            os.ftruncate(handle, self._end)

    @classmethod
    def open(cls, path: Path, seal: str, rows: range) -> Journal | None:
        """The journal of a shard, with what is in it; None while another process holds it."""
        while True:
            with writing(path):
                handle = os.open(path, _FLAGS, 0o644)
            try:
                if not take(handle):
                    os.close(handle)
                    return None
                if _is_at(handle, path):
                    return cls(path, handle, seal, rows)
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # another process finished the shard while we came to it

    @property
    def done(self) -> frozenset[int]:
        """The rows that are in."""
        return frozenset(self._places)

    def __contains__(self, row: int) -> bool:
        return row in self._places

    def __len__(self) -> int:
        return len(self._places)

    def keep(self, row: int, record: bytes) -> None:
        """Append one row."""
        line = b'[%d,"%08x",' % (row, _check(self._seal, row, record)) + record + _END
        with writing(self.path):
            write_all(self._handle, line)
        self._places[row] = (self._end + len(line) - len(record) - len(_END), len(record))
        self._end += len(line)
        self._unsaved = True

    def record(self, row: int) -> bytes:
        """A row that is in."""
        offset, length = self._places[row]
        return os.pread(self._handle, length, offset)

    def drop(self, row: int) -> None:
        """Take a row for not done."""
        del self._places[row]

    def sync(self) -> None:
        """Save what was appended to the disk."""
        with self._lock, writing(self.path):
            if self._unsaved and self._open:
                self._unsaved = False
                os.fsync(self._handle)

    def close(self, *, remove: bool = False) -> None:
        """Let go of the shard; ``remove``: its rows are elsewhere."""
        if remove:
            self.path.unlink(missing_ok=True)  # first, so that nobody else gets hold of it
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._handle)

    def _recover(self, rows: range) -> int:
        """Take in the lines that check; the length of the file up to its last whole line."""
        with os.fdopen(os.dup(self._handle), "rb") as file:
            file.seek(0)
            self._places, end = places_in(file, self._seal, rows)
        return end


def places_in(
    file: Iterable[bytes], seal: bytes, rows: range
) -> tuple[dict[int, tuple[int, int]], int]:
    """Offset and length of the record of each row in a journal, where its line checks.

    With the length of the file up to its last whole line. Of a row that is there twice, the later
    line counts.
    """
    places: dict[int, tuple[int, int]] = {}
    offset = 0
    for line in file:
        if not line.endswith(b"\n"):
            break  # a kill cut it short
        head = _HEAD.match(line)
        if head is not None and line.endswith(_END):
            row, record = int(head[1]), line[head.end() : -len(_END)]
            if row in rows and _check(seal, row, record) == int(head[2], 16):
                places[row] = (offset + head.end(), len(record))
        offset += len(line)
    return places, offset


def _check(seal: bytes, row: int, record: bytes) -> int:
    return zlib.crc32(record, zlib.crc32(b"%d %s" % (row, seal)))


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at its path."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(handle)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
