"""A look into the file of answers from outside a run: counts, copies, deletions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.judges.memory.codec import LARGEST, opened
from assay.judges.memory.database import APPLICATION, VERSION, connect, is_damage
from assay.judges.memory.endpoints import forget_endpoints, known_endpoints

_MATCHING = (
    "(:judge IS NULL OR judge = :judge) AND (:before IS NULL OR used < :before) "
    "AND (:fingerprint IS NULL OR fingerprint = :fingerprint)"
)


@dataclass(frozen=True, slots=True)
class Group:
    """The answers of one judge, as it was configured at a time, to one kind of ask."""

    judge: str
    fingerprint: str
    kind: str
    entries: int
    bytes: int
    """Of the packed answers; the file also holds keys, names and indices."""
    oldest: float
    newest: float
    """Seconds since 1970 when the first and the last were stored."""
    endpoint: str | None = None
    """Where the judge is asked, if it was noted."""


def groups(path: Path) -> list[Group]:
    """What the file holds, by judge and kind; empty where there is none. Raises DataError."""
    sql = (
        "SELECT judge, fingerprint, kind, count(*), sum(length(blob)), min(created), max(created) "
        "FROM answers GROUP BY judge, fingerprint, kind ORDER BY judge, fingerprint, kind"
    )
    if not path.exists():
        return []
    with _reading(path) as connection:
        endpoints = known_endpoints(connection)
        found = [Group(*row) for row in connection.execute(sql)]
    return [replace(one, endpoint=endpoints.get(one.fingerprint)) for one in found]


def size(path: Path) -> int:
    """Bytes of the file and of its journal."""
    total = 0
    for file in (path, path.with_name(path.name + "-wal")):
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def rows(path: Path) -> Iterator[dict[str, Any] | None]:
    """Each answer with its ask and where it came from, as JSON-able values; None for a damaged one.

    Raises DataError.
    """
    if not path.exists():
        return
    sql = "SELECT key, blob, judge, created, used FROM answers ORDER BY id"
    with _reading(path) as connection:
        for row in connection.execute(sql):
            yield _row(*row)


def clear(
    path: Path,
    *,
    judge: str | None = None,
    before: float | None = None,
    fingerprint: str | None = None,
) -> int:
    """Delete answers, and give the room back; the number of answers that went.

    With ``judge``, those of judges of that name only, with ``fingerprint``, of that one; with
    ``before``, in seconds since 1970, those that were not used since. Raises DataError.
    """
    if not path.exists():
        return 0
    with _deliberately(path), closing(connect(path, [])) as connection:
        # Our own constant; what comes from outside is bound.
        sql = f"DELETE FROM answers WHERE {_MATCHING}"  # noqa: S608
        which = {"judge": judge, "before": before, "fingerprint": fingerprint}
        gone = connection.execute(sql, which).rowcount
        forget_endpoints(connection)
        with suppress(sqlite3.OperationalError):  # another process is at work: the room stays free
            connection.execute("VACUUM")
    return gone


def matching(
    path: Path,
    *,
    judge: str | None = None,
    before: float | None = None,
    fingerprint: str | None = None,
) -> int:
    """How many answers `clear` would delete. Raises DataError."""
    if not path.exists():
        return 0
    sql = f"SELECT count(*) FROM answers WHERE {_MATCHING}"  # noqa: S608 - our own constant
    with _reading(path) as connection:
        which = {"judge": judge, "before": before, "fingerprint": fingerprint}
        (count,) = connection.execute(sql, which).fetchone()
        return int(count)


def _row(key: object, blob: object, judge: str, created: float, used: float) -> Any:
    try:
        if not isinstance(key, bytes):
            return None
        identity, answer = opened(key, blob, 2 * LARGEST)
        _, fingerprint, repeat, kind, ask = json.loads(identity.decode("utf-8", "surrogatepass"))
        return {
            "key": key.hex(),
            "judge": judge,
            "fingerprint": fingerprint,
            "repeat": repeat,
            "kind": kind,
            "created": created,
            "used": used,
            "ask": ask,
            "answer": json.loads(answer.decode("utf-8", "surrogatepass")),
        }
    except (ValueError, RecursionError):
        return None


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing."""
    with _deliberately(path):
        uri = path.absolute().as_uri() + "?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=10)) as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if (application, version) == (APPLICATION, VERSION):
                yield connection
            else:
                raise DataError(f"{path} holds no answers of this version of assay")


@contextmanager
def _deliberately(path: Path) -> Iterator[None]:
    """Database errors as DataError."""
    try:
        yield
    except sqlite3.Error as error:
        advice = "; it is damaged: delete it" if is_damage(error) else ""
        raise DataError(f"{path}: {error}{advice}") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
