"""What two token sequences share: n-grams, and common subsequences by bit-parallel rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


def ngrams(tokens: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    """The runs of n tokens, in order.

    >>> list(ngrams(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    return zip(*(tokens[k:] for k in range(n)), strict=False)


def overlap(left: Sequence[str], right: Sequence[str], n: int = 1) -> int:
    """How many n-grams two sequences share, each as often as in the one that has it less often.

    >>> overlap(["the", "cat", "the"], ["the", "the", "the"])
    2
    """
    if n == 1:
        return _shared(left, right)
    return _shared(ngrams(left, n), ngrams(right, n))


def clipped(tokens: Sequence[str], others: Sequence[Sequence[str]], n: int) -> int:
    """How many n-grams of ``tokens`` occur in ``others``.

    Each counts as often as in the one of the others that has it most often.

    >>> clipped(["a", "a", "a", "b"], [["a", "a"], ["a", "b"]], 1)
    3
    """
    if len(others) == 1:
        return overlap(others[0], tokens, n)
    most: dict[tuple[str, ...], int] = {}
    for other in others:
        for gram, count in Counter(ngrams(other, n)).items():
            if count > most.get(gram, 0):
                most[gram] = count
    return sum(min(count, most.get(g, 0)) for g, count in Counter(ngrams(tokens, n)).items())


def _shared[T](left: Iterable[T], right: Iterable[T]) -> int:
    rest = Counter(left)
    hits = 0
    for gram in right:
        if gram in rest and (count := rest[gram]):
            rest[gram] = count - 1
            hits += 1
    return hits
