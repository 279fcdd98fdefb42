"""What each process of a run used, appended as it goes, so that no kill makes it forgotten."""

from __future__ import annotations

import json
import os
import secrets
import time
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from assay.asks import Judge, Usage
from assay.errors import DataError
from assay.runs.disk import write_all, writing

_SOONEST = 0.5
_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Spent:
    """All that a run used so far; ``seconds`` are those of its processes, added up."""

    usage: Usage
    seconds: float
    processes: int


class Ledger:
    """The usage of this process, written every half second at first and more seldom later.

    What a kill makes forgotten is half a second's worth, or a hundredth of the whole.
    """

    def __init__(self, path: Path, judge: Judge) -> None:
        self._path, self._judge = path, judge
        self._process = secrets.token_hex(8)
        self._before = copy(judge.usage)
        self._start = self._written = time.monotonic()
        self._first = True

    @property
    def spent(self) -> Usage:
        """What this process used so far."""
        return self._judge.usage.since(self._before)

    def write(self, *, at_once: bool = False) -> None:
        """Append what was used so far, if it is time."""
        now = time.monotonic()
        due = self._written + max(_SOONEST, _SHARE * (now - self._start))
        if now < due and not at_once:
            return
        self._written = now
        told = {
            "process": self._process,
            "seconds": round(now - self._start, 3),
            "judge": self._judge.name,
            **self.spent.as_dict(),
        }
        line = json.dumps(told).encode() + b"\n"
        with writing(self._path):
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                # A line that a kill cut short must not take ours along.
                cut = self._first and os.fstat(handle).st_size
                write_all(handle, b"\n" + line if cut else line)
                self._first = False
            finally:
                os.close(handle)


def read_usage(path: Path) -> Spent:
    """The usage of all processes; lines that cannot be read are passed over."""
    last: dict[str, dict[str, Any]] = {}
    try:
        with path.open("rb") as file:
            for line in file:
                if (told := _told(line)) is not None:
                    last[told["process"]] = told
    except FileNotFoundError:
        pass
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    total = Usage()
    for told in last.values():
        total = total.plus(Usage(**{f.name: told[f.name] for f in fields(Usage)}))
    total.notes = list(dict.fromkeys(total.notes))
    seconds = sum(told["seconds"] for told in last.values())
    return Spent(total, round(seconds, 3), len(last))


def _told(line: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    if not isinstance(told, dict) or not isinstance(told.get("process"), str):
        return None
    numbers = ["seconds", *(f.name for f in fields(Usage) if f.name != "notes")]
    counted = all(isinstance(told.get(name), int | float) for name in numbers)
    return told if counted and isinstance(told.get("notes"), list) else None
