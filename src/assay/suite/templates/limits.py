"""What one rendering may cost, and the meter that stops it before it costs more."""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import monotonic

from assay.errors import ConfigError

ITEM = 64
"""Bytes charged for an element of a list that a template makes; a little more than CPython's."""

SCANNED = 1024
"""Characters of a text that are compared or searched in one step."""

CLOCK_EVERY = 64
"""Steps between two looks at the clock."""


class TemplateError(ConfigError):
    """A template that cannot be read, or that asks for more than it may have."""


class Refusal(Exception):
    """Why a template cannot go on, at ``line`` if it is known; else the meter knows."""

    def __init__(self, why: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(why)


@dataclass(frozen=True)
class Limits:
    """The most that one rendering may take; every field is a positive number.

    ``output`` counts characters; ``steps`` counts loop iterations, statements and parts of
    expressions (names, operators, calls, filters, and the elements that these walk over);
    ``template`` counts characters of the template; ``memory`` counts bytes of all texts and lists
    that the template makes on its way, those it drops included. Raises ConfigError.
    """

    output: int = 10_000_000
    steps: int = 1_000_000
    seconds: float = 5.0
    template: int = 1_000_000
    memory: int = 64_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not value > 0:
                raise ConfigError(f"limit {field.name} must be a positive number, not {value!r}")


class Meter:
    """Steps, time and bytes that one rendering has used."""

    __slots__ = ("_clock_at", "_deadline", "_limits", "_memory", "_steps", "line")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._steps = self._memory = 0
        self._clock_at = CLOCK_EVERY
        self._deadline = monotonic() + limits.seconds
        self.line = 1

    @property
    def output(self) -> int:
        """Characters that a text may have."""
        return self._limits.output

    def step(self, count: int = 1) -> None:
        """Counts ``count`` steps about to be taken; raises Refusal."""
        self._steps += count
        if self._steps < self._clock_at:
            return
        self._clock_at = self._steps + CLOCK_EVERY
        if self._steps > self._limits.steps:
            raise Refusal(
                f"it takes more than {self._limits.steps} steps; loop over less, or raise the limit"
            )
        if monotonic() > self._deadline:
            raise Refusal(f"it takes more than {self._limits.seconds:g} s; loop over less")

    def scan(self, *texts: str) -> None:
        """Counts a look at every character of ``texts``; raises Refusal."""
        self.step(sum(map(len, texts)) // SCANNED)

    def make(self, size: float) -> None:
        """Counts ``size`` bytes about to be made; raises Refusal."""
        self._memory += int(min(size, self._limits.memory + 1))
        if self._memory > self._limits.memory:
            raise Refusal(
                f"its texts and lists take more than {self._limits.memory} bytes on the way; "
                "make less, or raise the limit"
            )

    def make_items(self, count: float) -> None:
        """Counts a list of ``count`` elements about to be made; raises Refusal."""
        self.make(count * ITEM)

    def make_text(self, length: float, *parts: str) -> None:
        """Counts a text of ``length`` characters out of ``parts`` about to be made."""
        self.make(length * (1 if all(part.isascii() for part in parts) else 4))


class Output:
    """Text in the making, no longer than the limit."""

    __slots__ = ("_length", "_limit", "_parts")

    def __init__(self, limit: int) -> None:
        self._parts: list[str] = []
        self._length, self._limit = 0, limit

    def write(self, text: str) -> None:
        """Adds ``text``; raises Refusal if it is all too long."""
        self._length += len(text)
        if self._length > self._limit:
            raise Refusal(
                f"it makes more than {self._limit} characters; loop over less, or raise the limit"
            )
        if text:
            self._parts.append(text)

    def text(self) -> str:
        """Everything written so far."""
        return "".join(self._parts)

    def captured(self, meter: Meter) -> str:
        """Everything written so far, counted as a value that the template made."""
        meter.make_text(self._length, *self._parts)
        return self.text()
