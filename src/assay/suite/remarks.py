"""Problems as they are found: each once, and not more of one file than somebody reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.suite.problems import Place, Problem, Severity

MOST = 50
"""Problems of one file and severity that are listed; the rest are counted."""


class Remarks:
    """Collects problems; the same one is kept once."""

    def __init__(self) -> None:
        self._kept: dict[Problem, None] = {}
        self._topics: set[str] = set()
        self._counts: Counter[tuple[str, Severity]] = Counter()

    def error(self, place: Place, message: str) -> None:
        """Notes what keeps the suite from running."""
        self._note(Problem(place, message))

    def warning(self, place: Place, message: str, *, once: str = "") -> None:
        """Notes what does not; of those with the same topic ``once`` only the first."""
        if once in self._topics:
            return
        if once:
            self._topics.add(once)
        self._note(Problem(place, message, "warning"))

    def add(self, problems: Iterable[Problem]) -> None:
        """Notes problems that are made already."""
        for problem in problems:
            self._note(problem)

    def listed(self) -> list[Problem]:
        """What was found, in order, with a count of what is left out."""
        rest = [
            Problem(Place(file), f"{count - MOST} more like these", severity)
            for (file, severity), count in self._counts.items()
            if count > MOST
        ]
        return [*self._kept, *rest]

    def _note(self, problem: Problem) -> None:
        if problem in self._kept:
            return
        key = problem.place.file, problem.severity
        self._counts[key] += 1
        if self._counts[key] <= MOST:
            self._kept[problem] = None
