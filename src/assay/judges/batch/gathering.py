"""What is to be submitted, cut into files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Gathering:
    """When a file of requests is complete: after ``quiet`` seconds without a new request, or
    with ``max_requests`` requests, or before it has more than ``max_bytes`` bytes.

    Raises ConfigError for limits that cannot work.
    """

    quiet: float = 1.0
    max_requests: int = 50_000
    max_bytes: int = 200_000_000

    def __post_init__(self) -> None:
        if self.quiet < 0 or self.max_requests < 1 or self.max_bytes < 1:
            raise ConfigError("quiet must be at least 0, max_requests and max_bytes at least 1")


class Queue:
    """Requests by id with the sizes of their lines in bytes, in order of arrival.

    >>> queue = Queue()
    >>> for key in "abc":
    ...     queue.add(key, 10)
    >>> queue.cut(50, 25), queue.cut(50, 25), queue.bytes
    (['a', 'b'], ['c'], 0)
    """

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def add(self, key: str, size: int) -> None:
        """Put a request at the end."""
        self._sizes[key] = size
        self.bytes += size

    def remove(self, key: str) -> None:
        """Take one request out."""
        self.bytes -= self._sizes.pop(key)

    def cut(self, most: int, max_bytes: int | None) -> list[str]:
        """Take out what fits into one file, at least one request."""
        keys: list[str] = []
        total = 0
        for key, size in self._sizes.items():
            total += size
            if keys and (len(keys) == most or (max_bytes is not None and total > max_bytes)):
                break
            keys.append(key)
        for key in keys:
            self.remove(key)
        return keys
