"""Files that are whole or not there, and what is said when a disk refuses."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from assay.errors import DataError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an OSError inside into a DataError that names the file and says what to do."""
    try:
        yield
    except OSError as error:
        raise refused(path, error) from error


def refused(path: Path, error: OSError) -> DataError:
    """The error of a disk that does not take ``path``."""
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return DataError(
            f"cannot write {path}: {reason}; free some space on the disk of {path.parent}, then "
            "run the same command with --resume: nothing that was scored is lost"
        )
    return DataError(
        f"cannot write {path}: {reason}; put that right, then run the same command with --resume"
    )


def write_whole(path: Path, fill: Callable[[BinaryIO], None]) -> None:
    """Write a file beside ``path``, save it to the disk, and give it the name of ``path``.

    Whoever looks sees the old file or the new one, also after a power cut.
    """
    beside = path.with_name(path.name + ".tmp")
    with writing(path):
        try:
            with beside.open("wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            commit(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)  # on a full disk, half a file takes room for nothing
            raise


def commit(beside: Path, path: Path) -> None:
    """Rename a saved file, and save the rename."""
    beside.replace(path)
    save_names(path.parent)


def save_names(folder: Path) -> None:
    """Save which files a folder holds, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # not every system opens folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write every byte to a file descriptor; an OSError may leave a part of them written."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
