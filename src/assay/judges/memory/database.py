"""The file of answers: where it is, how it is opened, and what is done with a damaged one."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from assay.errors import DataError

VERSION = 1
"""Version of the table."""
APPLICATION = 0x61737379
"""Marks the file as ours."""
WAIT = 30.0
"""Seconds to wait for another process that is writing."""
_MAGIC = b"SQLite format 3\0"
# Rows by number and the key in an index of its own: keys are random, and rows would be moved.
_SCHEMA = (
    """CREATE TABLE answers (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,
        blob BLOB NOT NULL,
        judge TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        kind TEXT NOT NULL,
        created REAL NOT NULL,
        used REAL NOT NULL
    )""",
    "CREATE INDEX answers_used ON answers (used)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


class DamagedError(sqlite3.DatabaseError):
    """The file is no sound database any more."""


def default_path() -> Path:
    """$ASSAY_CACHE (a file, or a folder for one), or assay/answers.sqlite among the user's caches.

    Raises DataError where the user has no home.
    """
    given = os.environ.get("ASSAY_CACHE")
    caches = os.environ.get("XDG_CACHE_HOME", "")
    try:
        if given:
            path = Path(given).expanduser()
            folder = given.endswith(("/", os.sep)) or path.is_dir()
            return path / "answers.sqlite" if folder else path
        root = Path(caches) if Path(caches).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        raise DataError("no home folder to keep answers in; set ASSAY_CACHE to a file") from None
    return root / "assay" / "answers.sqlite"


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the error says that the file is no sound database."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the error says that another process holds the file."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def connect(path: Path, notes: list[str]) -> sqlite3.Connection:
    """A connection to the file, made or replaced if need be; for use in any thread.

    A damaged file is set aside, with a note. Raises OSError, sqlite3.Error, and DataError for a
    file of something else.
    """
    _make(path)
    try:
        return _opened(path)
    except DamagedError:
        with _alone(path):
            try:
                return _opened(path)  # another process was quicker
            except DamagedError:
                aside = _set_aside(path)
                notes.append(f"the answers in {path} were damaged; the file is now {aside.name}")
                _make(path)
                return _opened(path)


def mark_damaged(path: Path) -> None:
    """Have the file set aside when it is next opened: others may be using it now."""
    with suppress(OSError):
        _marker(path).touch()


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        # Only a new file is opened here: to close one that is in use would drop its locks.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _opened(path: Path) -> sqlite3.Connection:
    if _marker(path).exists():
        raise DamagedError("found damaged before")
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        if not _is_ours(connection, path):
            _create(connection)
        # Answers survive the end of the process at once, and a power cut after a checkpoint.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("SELECT key, blob FROM answers LIMIT 1").fetchall()
    except sqlite3.DatabaseError as error:
        connection.close()
        if is_damage(error) and _is_database(path):
            raise DamagedError(str(error)) from None
        if is_damage(error):
            raise DataError(f"{path} holds no answers; set ASSAY_CACHE to another file") from None
        raise
    except BaseException:
        connection.close()
        raise
    return connection


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """False for a new file; raises DataError for a database of something or somebody else."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not tables and application in (0, APPLICATION):
        return False
    if application != APPLICATION:
        raise DataError(f"{path} is a database of something else; set ASSAY_CACHE to another file")
    if version != VERSION:
        raise DataError(
            f"{path} was made by another version of assay (format {version}); delete it, or set "
            "ASSAY_CACHE to another file"
        )
    return True


def _create(connection: sqlite3.Connection) -> None:
    """The table, unless another process is quicker."""
    _patiently(connection, "PRAGMA journal_mode = WAL")
    _patiently(connection, "BEGIN IMMEDIATE")
    with connection:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        for statement in () if tables else _SCHEMA:
            connection.execute(statement)


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    # SQLite itself does not wait where two processes change the journal of a new file.
    end = time.monotonic() + WAIT
    while True:
        try:
            connection.execute(statement).fetchall()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _is_database(path: Path) -> bool:
    """Whether a damaged file was ours to replace: a user's text file never is."""
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
    return head == _MAGIC or path.suffix in (".sqlite", ".sqlite3", ".db")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """While one process holds this, others wait."""
    lock = path.with_name(path.name + ".lock")
    with closing(sqlite3.connect(lock, timeout=WAIT, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


def _set_aside(path: Path) -> Path:
    places = (path.with_name(f"{path.name}.damaged-{n}") for n in count(1))
    aside = next(place for place in places if not place.exists())
    path.replace(aside)
    # A journal that stayed behind would be taken for that of the new file.
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(aside.with_name(aside.name + suffix))
    _marker(path).unlink(missing_ok=True)
    return aside


def _marker(path: Path) -> Path:
    return path.with_name(path.name + ".damaged")
