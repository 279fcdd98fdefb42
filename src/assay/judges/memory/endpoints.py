"""Where judges were asked, by fingerprint: a table beside the answers, for people who look."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from assay.judges.memory.database import connect

# No part of the format: a file without it is as good, and earlier versions pass it over.
_TABLE = (
    "CREATE TABLE IF NOT EXISTS judges (fingerprint TEXT PRIMARY KEY, endpoint TEXT NOT NULL)"
    " WITHOUT ROWID"
)


def note_endpoints(path: Path, endpoints: Mapping[str, str]) -> None:
    """Keep the endpoint of each fingerprint; raises what `connect` raises."""
    with closing(connect(path, [])) as connection:
        if all(known_endpoints(connection).get(name) == at for name, at in endpoints.items()):
            return
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            connection.execute(_TABLE)
            connection.executemany(
                "INSERT OR REPLACE INTO judges VALUES (?, ?)", list(endpoints.items())
            )


def known_endpoints(connection: sqlite3.Connection) -> dict[str, str]:
    """The endpoints of a file of answers, by fingerprint; none where none were noted."""
    if not _noted(connection):
        return {}
    return dict(connection.execute("SELECT fingerprint, endpoint FROM judges"))


def forget_endpoints(connection: sqlite3.Connection) -> None:
    """Delete the endpoints of judges that no answer is left of."""
    if _noted(connection):
        connection.execute(
            "DELETE FROM judges WHERE fingerprint NOT IN (SELECT fingerprint FROM answers)"
        )


def _noted(connection: sqlite3.Connection) -> bool:
    sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'judges'"
    (tables,) = connection.execute(sql).fetchone()
    return bool(tables)
