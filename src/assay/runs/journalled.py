"""The rows of a shard in work, as its journal has them: a look that disturbs nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from assay.errors import DataError
from assay.runs.journal import places_in


def open_rows(
    path: Path, seal: str, rows: range, *, unless: Path | None = None
) -> Iterator[bytes] | None:
    """The records in the journal at ``path``, each row once, in order; None if there is none.

    ``seal`` is what they belong to. No lock is taken and nothing is changed, so that another
    process may be at it: what it appends after the look is left out. None, too, if the file
    ``unless`` is there once the journal is open: that of a shard whose journal is over. Raises
    DataError.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from None
    if unless is not None and unless.exists():
        file.close()
        return None
    return _records(path, file, seal, rows)


def _records(path: Path, file: BinaryIO, seal: str, rows: range) -> Iterator[bytes]:
    with file:
        try:
            places, _ = places_in(file, seal.encode(), rows)
            for row in sorted(places):
                offset, length = places[row]
                file.seek(offset)
                yield file.read(length)
        except OSError as error:
            raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot read {path}: {error.strerror or error}")
