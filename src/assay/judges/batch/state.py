"""What has been submitted, on disk: append-only, so that a run goes on after any end."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from assay.errors import ConfigError

FORMAT = 1


@dataclass(slots=True)
class Sent:
    """A file of requests: what it asks and how far it has come.

    ``file_id`` and ``batch_id`` are the endpoint's, "" until they are known. ``status`` is that
    with which the batch ended, once its answers are on disk; ``dropped``: it will bring none.
    """

    name: str
    ids: frozenset[str]
    at: float
    file_id: str = ""
    batch_id: str = ""
    status: str = ""
    dropped: bool = False

    @property
    def open(self) -> bool:
        """Whether the endpoint works on it, as far as is known."""
        return bool(self.batch_id) and not self.status and not self.dropped


_NOTED = MappingProxyType({"file_id": str, "batch_id": str, "status": str, "dropped": bool})
_NAME = re.compile(r"\d+-[0-9a-f]{8}")


class State:
    """The folder of one run: its secret, the files it has submitted, and their answers.

    Every record is on disk before the next step is taken. One process may have it open.
    ``endpoint`` is where the run asks; with None, wherever it has asked before.
    """

    def __init__(self, folder: str | Path, endpoint: str | None) -> None:
        self.folder = Path(folder)
        self.run, self.endpoint = "", endpoint
        self.sent: list[Sent] = []
        self._secret = b""
        self._log: int | None = None
        self._lock: int | None = None

    @property
    def is_open(self) -> bool:
        return self._log is not None

    def secret(self) -> bytes:
        """32 random bytes of this run, which never leave the folder; opens it."""
        self.open()
        return self._secret

    def open(self) -> None:
        """Read the folder, or begin it where there is none; nothing if it is open.

        Raises ConfigError if another process has it, if it is damaged, or if it belongs to
        another endpoint.
        """
        if self.is_open:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = _locked(self.folder / "lock")
            self._log = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            self.close()
            raise ConfigError(f"{self.folder} cannot hold a run: {error.strerror}") from None
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the folder go; it may be opened again."""
        for handle in (self._log, self._lock):
            if handle is not None:
                os.close(handle)
        self._log = self._lock = None

    @property
    def path(self) -> Path:
        """The log of all records."""
        return self.folder / "state.jsonl"

    def file(self, sent: Sent | str, kind: str) -> Path:
        """Where a file's "requests", "answers" or "errors" are."""
        name = sent if isinstance(sent, str) else sent.name
        return self.folder / f"{name}.{kind}.jsonl"

    def next_name(self) -> str:
        """A name that no file of this run has."""
        return f"{len(self.sent) + 1:04d}-{secrets.token_hex(4)}"

    def intend(self, name: str, ids: Collection[str]) -> Sent:
        """Record that a file is about to be submitted."""
        sent = Sent(name, frozenset(ids), time.time())
        self._append({"file": name, "at": sent.at, "ids": sorted(sent.ids)})
        self.sent.append(sent)
        return sent

    def note(self, sent: Sent, **changes: str | bool) -> None:
        """Record fields of a file that have become known."""
        self._append({"file": sent.name, **changes})
        for name, value in changes.items():
            setattr(sent, name, value)

    def _load(self) -> None:
        whole = self.path.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]
        if len(kept) < len(whole) and self._log is not None:
            os.ftruncate(self._log, len(kept))  # the end of a record that was cut off
        records = [self._record(n, line) for n, line in enumerate(kept.splitlines(), 1)]
        if not records:
            records = [self._begin()]
        self._header(records[0])
        files: dict[str, Sent] = {}
        for n, record in enumerate(records[1:], 2):
            try:
                _replay(files, record)
            except (KeyError, TypeError, ValueError):
                raise self._damaged(n) from None
        self.sent = list(files.values())
        for sent in self.sent:
            if not sent.file_id:
                sent.dropped = True  # what was never uploaded is no batch
        for path in [*self.folder.glob("*.requests.jsonl"), *self.folder.glob("*.part")]:
            path.unlink(missing_ok=True)  # no file of an earlier process is uploaded later

    def _begin(self) -> dict[str, Any]:
        if self.endpoint is None:
            raise ConfigError(f"{self.folder} holds no run")
        header = {
            "assay_batch": FORMAT,
            "run": secrets.token_hex(8),
            "endpoint": self.endpoint,
            "secret": secrets.token_hex(32),
        }
        self._append(header)
        _sync_folder(self.folder)
        return header

    def _header(self, header: dict[str, Any]) -> None:
        if header.get("assay_batch") != FORMAT:
            raise ConfigError(f"{self.path} is not of this version of assay: give another folder")
        try:
            self._secret = bytes.fromhex(header["secret"])
            self.run, endpoint = str(header["run"]), str(header["endpoint"])
        except (KeyError, TypeError, ValueError):
            raise self._damaged(1) from None
        if len(self._secret) < 32:
            raise self._damaged(1)
        if self.endpoint not in (None, endpoint):
            raise ConfigError(
                f"{self.folder} holds a run at {endpoint}, not at {self.endpoint}: give another"
                " folder"
            )
        self.endpoint = endpoint

    def _record(self, n: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            raise self._damaged(n) from None
        if not isinstance(record, dict):
            raise self._damaged(n)
        return record

    def _damaged(self, n: int) -> ConfigError:
        return ConfigError(
            f"{self.path}, line {n}, is damaged: give another folder, where everything is asked"
            " anew"
        )

    def _append(self, record: dict[str, Any]) -> None:
        if self._log is None:
            raise ConfigError(f"{self.folder} is not open")
        line = json.dumps(record).encode() + b"\n"
        while line:
            line = line[os.write(self._log, line) :]
        os.fsync(self._log)


def _replay(files: dict[str, Sent], record: dict[str, Any]) -> None:
    name = record["file"]
    if "ids" in record:
        if not _NAME.fullmatch(name) or not all(isinstance(one, str) for one in record["ids"]):
            raise ValueError(name)
        files[name] = Sent(name, frozenset(record["ids"]), float(record["at"]))
        return
    for field in _NOTED.keys() & record.keys():
        if not isinstance(record[field], _NOTED[field]):
            raise TypeError(field)
        setattr(files[name], field, record[field])


def _locked(path: Path) -> int | None:
    """The handle of a lock that ends with the process; None where files have no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise ConfigError(
                f"{path.parent} is in use: another run has it; wait for its end, or give another"
                " folder"
            ) from None
        raise
    return handle


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system opens folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file that is there only once it is complete and on disk; raises OSError."""
    part = path.with_name(path.name + ".part")
    with open_own(part) as file:
        for piece in parts:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def open_own(path: Path) -> BinaryIO:
    """A new file that only its owner may read, open for writing; raises OSError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    return os.fdopen(handle, "wb")
