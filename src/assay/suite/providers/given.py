"""Outputs that are given instead of asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.suite.providers.answers import answer_of, read_rows
from assay.suite.providers.base import Answer, Request


class GivenProvider:
    """Answers with one given output: a text, data, or an object with ``output`` (and contexts)."""

    def __init__(self, output: Any, label: str | None = None) -> None:
        self.id = "given"
        self.label = label or self.id
        self._answer = answer_of(output, ("output",))

    async def call(self, request: Request) -> Answer:
        """The given output, whatever the prompt."""
        return self._answer

    async def aclose(self) -> None:
        """Nothing is open."""


def outputs_file(path: Path) -> list[Any]:
    """The outputs in a JSON or JSON-lines file: texts, or objects with ``output`` and ``tags``.

    Raises DataError for a file that cannot be read so.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise DataError(f"{path}: cannot be read: {why}") from None
    return read_rows(text, str(path))
