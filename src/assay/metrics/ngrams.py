"""What two token sequences share: n-grams and common subsequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence


def ngrams(tokens: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    """The runs of n tokens, in order.

    >>> list(ngrams(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    return zip(*(tokens[k:] for k in range(n)), strict=False)


def overlap(left: Sequence[str], right: Sequence[str], n: int = 1) -> int:
    """How many n-grams two sequences share.

    Each counts as often as in the sequence that has it less often.

    >>> overlap(["the", "cat", "the"], ["the", "the", "the"])
    2
    """
    return _shared(left, right) if n == 1 else _shared(ngrams(left, n), ngrams(right, n))


def clipped(tokens: Sequence[str], others: Sequence[Sequence[str]], n: int = 1) -> int:
    """How many n-grams of a sequence occur in any of the others.

    Each counts as often as in the one of the others that has it most often.

    >>> clipped(["a", "a", "a", "b"], [["a", "a"], ["a", "b"]])
    3
    """
    if len(others) == 1:
        return overlap(others[0], tokens, n)
    most: dict[tuple[str, ...], int] = {}
    for other in others:
        for gram, count in Counter(ngrams(other, n)).items():
            most[gram] = max(count, most.get(gram, 0))
    return sum(min(count, most.get(g, 0)) for g, count in Counter(ngrams(tokens, n)).items())


def _shared(left: Iterable[Hashable], right: Iterable[Hashable]) -> int:
    rest = Counter(left)
    hits = 0
    for gram in right:
        if gram in rest and (count := rest[gram]):
            rest[gram] = count - 1
            hits += 1
    return hits


class Columns:
    """The columns of a table of common subsequences, for texts given as lines of tokens.

    A row of the table is one integer: a column is a bit, which is 0 where the subsequence grows
    by one (Hyyrö 2004), so that a token costs a few operations on integers of n bits. After
    each line stands a spare column, which keeps the carry of one line out of the next.

    >>> columns = Columns([["the", "cat"], ["sat", "down"]])
    >>> columns.common(["the", "cat", "sat", "up"])
    3
    """

    __slots__ = ("_lines", "_masks", "_size")

    def __init__(self, lines: Iterable[Sequence[str]]) -> None:
        self._masks: dict[str, int] = {}
        self._lines: list[tuple[int, int, int]] = []
        masks, bit, start = self._masks, 1, 0
        for line in lines:
            for token in line:
                masks[token] = masks[token] | bit if token in masks else bit
                bit <<= 1
            end = start + len(line)
            self._lines.append((start, end, bit - (1 << start)))
            bit <<= 1
            start = end + 1
        self._size = start

    def common(self, tokens: Iterable[str]) -> int:
        """Length of the longest common subsequence with the text, lines not heeded."""
        masks = self._masks
        row = every = (1 << self._size) - 1
        for token in tokens:
            if token in masks:
                grown = row & masks[token]
                row = (row + grown) | (row - grown)
        return self._size - (row & every).bit_count()

    def union(self, lines: Iterable[Sequence[str]]) -> int:
        """Tokens of ``lines`` that are in the union of their common subsequences.

        Each line is held against every line of the text; a token counts once where several
        subsequences hold it, and in all no more often than the text has it. Which of several
        longest subsequences is taken bears on the value; the choice is that of rouge-score.

        >>> Columns([["a", "b"], ["c", "d"]]).union([["a", "x", "c", "d"]])
        3
        """
        masks = self._masks
        found = Counter(token for line in lines for token in self._union_of(line))
        return sum(min(count, masks[token].bit_count()) for token, count in found.items())

    def _union_of(self, line: Sequence[str]) -> list[str]:
        """The tokens of one line in the union of its subsequences common with each text line."""
        masks = self._masks
        row = full = sum(bits for _, _, bits in self._lines)
        rows: list[tuple[int, int, str]] = []
        for token in line:
            if token in masks:  # others leave the row as it is
                mask = masks[token]
                rows.append((mask, row, token))
                grown = row & mask
                row = ((row + grown) | (row - grown)) & full
        rows.reverse()
        hits: set[int] = set()
        for start, end, bits in self._lines:
            if length := end - start - (row & bits).bit_count():
                hits.update(_path(rows, start, end, bits, length))
        return [rows[n][2] for n in hits]


def _path(
    rows: list[tuple[int, int, str]], start: int, end: int, bits: int, length: int
) -> Iterator[int]:
    """The rows, last first, that the way back through the table takes within one text line.

    From the last cell: a match is taken; else the way goes up if the cell above is as large, and
    to the left if not, which means to the next match in the row.
    """
    limit = bits
    for n, (mask, above, _) in enumerate(rows):
        if mask := mask & limit:
            column = mask.bit_length()
            if column == end or end - start - (above & limit).bit_count() < length:
                yield n
                length -= 1
                if not length:
                    return
                end = column - 1
                limit = bits & ((1 << end) - 1)
