"""Whether the endpoint behind a judge can be reached, as far as its calls have shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reach:
    """How calls went of late.

    ``silent``: some have failed, and none was served since. ``outage``: why calls fail without
    being sent, by now beyond hope; "" as long as they are sent or wait. ``waiting``: what calls
    wait for just now, for people to read; "" if they do not.
    """

    silent: bool = False
    outage: str = ""
    waiting: str = field(default="", kw_only=True, compare=False)

    def __or__(self, other: Reach) -> Reach:
        """That of two endpoints, both of which are needed."""
        return Reach(
            self.silent or other.silent,
            self.outage or other.outage,
            waiting=self.waiting or other.waiting,
        )


class Reachable(Protocol):
    """A judge, or a part of one, that knows how the calls to its endpoint go."""

    @property
    def reach(self) -> Reach:
        """How calls went of late."""


def reach_of(judge: object) -> Reach:
    """How calls of a judge went of late; of one that does not know, nothing is said."""
    found = getattr(judge, "reach", None)
    return found if isinstance(found, Reach) else Reach()
