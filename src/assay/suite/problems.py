"""Problems of a suite: what is wrong, and where it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from assay.errors import ConfigError

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A file with a line and column, both from 1; 0 where it is not known."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        numbers = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.file}{numbers}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One remark about a suite; an error keeps it from running."""

    place: Place
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message}"


class SuiteError(ConfigError):
    """A suite that cannot run, with every error that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
