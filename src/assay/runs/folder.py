"""The folder of a run: which file is where, and its lock."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ConfigError, DataError
from assay.runs.disk import writing

OWN = ("index.jsonl", "input.jsonl", "lock", "plan.lock")
"""Files that may be there before there is a plan: a start that did not come to its end."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Paths in the folder of a run."""

    path: Path

    @property
    def plan(self) -> Path:
        """What is scored, and by what; once it is there, the run has begun."""
        return self.path / "plan.json"

    @property
    def index(self) -> Path:
        """Where in the input each shard is."""
        return self.path / "index.jsonl"

    @property
    def spool(self) -> Path:
        """The samples, where the input itself cannot be gone to at will."""
        return self.path / "input.jsonl"

    @property
    def usage(self) -> Path:
        """What each process used."""
        return self.path / "usage.jsonl"

    @property
    def totals(self) -> Path:
        """The sums of each shard, for the means at the end of a run."""
        return self.path / "totals.jsonl"

    @property
    def shards(self) -> Path:
        """The folder of the shards."""
        return self.path / "shards"

    def shard(self, number: int, ending: str) -> Path:
        """A shard's scored rows; that it exists is the commit."""
        return self.shards / f"{number:05d}.{ending}"

    def journal(self, number: int, *, again: bool = False) -> Path:
        """The rows of a shard in work; ``again``: of those that failed and are scored again."""
        return self.shards / f"{number:05d}.{'retry' if again else 'partial'}.jsonl"

    def errors(self, number: int) -> Path:
        """The rows of a shard that failed; not there if none did."""
        return self.shards / f"{number:05d}.errors.jsonl"

    def make(self) -> None:
        """Make the folder; raises ConfigError if it holds files but no plan."""
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            if self.plan.exists():
                return
            known = {*OWN, *(f"{name}.tmp" for name in (*OWN, "plan.json")), "shards"}
            strange = [entry.name for entry in self.path.iterdir() if entry.name not in known]
            if strange or any(self.shards.glob("*")):
                what = min(strange) if strange else "shards"
                raise ConfigError(
                    f"{self.path} holds files ({what}) and no plan.json; --run takes a new or "
                    "empty folder, or that of a run"
                )
            self.shards.mkdir(exist_ok=True)

    def clear(self) -> None:
        """Remove what a run has left, but for its plan and its input."""
        with writing(self.path):
            for entry in (self.usage, self.totals, *self.shards.iterdir()):
                entry.unlink(missing_ok=True)

    @contextmanager
    def working(self, *, shared: bool = False) -> Iterator[None]:
        """Holds the folder; raises ConfigError while another process does.

        ``shared``: others that share it may work at other shards. The lock ends with the process,
        however it ends.
        """
        with locked(self.path / "lock", shared=shared) as held:
            if not held:
                raise ConfigError(
                    f"another process works in {self.path}; wait for it or stop it (several may "
                    "work in one folder if each has its --shard I/N)"
                )
            yield

    @contextmanager
    def planning(self) -> Iterator[None]:
        """Holds the plan; waits while another process makes it."""
        with locked(self.path / "plan.lock", wait=True):
            yield


@contextmanager
def locked(path: Path, *, shared: bool = False, wait: bool = False) -> Iterator[bool]:
    """Whether the lock on a file was had; it is held until the end of the block."""
    with writing(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        yield take(handle, shared=shared, wait=wait)
    finally:
        os.close(handle)


def take(handle: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file; False if another holds it. Raises DataError where files have no locks."""
    try:
        import fcntl
    except ImportError:
        raise DataError("runs need file locks, which this system does not have") from None
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(handle, how if wait else how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise DataError(
            f"cannot lock files in the folder of the run: {error.strerror or error}; take a "
            "folder on a local disk"
        ) from error
    return True
