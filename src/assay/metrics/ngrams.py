"""What two token sequences share: n-grams and common subsequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence


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
    one, other = set(_grams(left, n)), set(_grams(right, n))
    if len(one) == len(left) - n + 1 or len(other) == len(right) - n + 1:
        return len(one & other)  # one of them has each n-gram once
    return _smaller(Counter(_grams(left, n)), Counter(_grams(right, n)))


def clipped(tokens: Sequence[str], others: Sequence[Sequence[str]], n: int = 1) -> int:
    """How many n-grams of a sequence occur in any of the others.

    Each counts as often as in the one of the others that has it most often.

    >>> clipped(["a", "a", "a", "b"], [["a", "a"], ["a", "b"]])
    3
    """
    if len(others) == 1:
        return overlap(others[0], tokens, n)
    most: dict[Hashable, int] = {}
    for other in others:
        for gram, count in Counter(_grams(other, n)).items():
            most[gram] = max(count, most.get(gram, 0))
    return _smaller(Counter(_grams(tokens, n)), most)


def _smaller(left: Mapping[Hashable, int], right: Mapping[Hashable, int]) -> int:
    """Sum of the smaller of two counts."""
    return sum([min(count, right[gram]) for gram, count in left.items() if gram in right])


def _grams(tokens: Sequence[str], n: int) -> Iterable[Hashable]:
    """N-grams to be counted: of one token, the token."""
    return tokens if n == 1 else ngrams(tokens, n)


class Columns:
    """The columns of a table of common subsequences: the tokens of a text given as lines.

    The table has a row for each token of another text, and a row is one integer: a column is a
    bit, which is 0 where the subsequence grows by one (Hyyrö 2004), so that a token costs a few
    operations on integers of as many bits as the text has tokens. After each line stands a spare
    column, which keeps the carry of a line out of the next.

    >>> columns = Columns([["the", "cat"], ["sat", "down"]])
    >>> columns.common(["the", "cat", "sat", "up"])
    3
    """

    __slots__ = ("_lines", "_masks", "_size")

    def __init__(self, lines: Iterable[Sequence[str]]) -> None:
        masks: dict[str, int] = {}
        self._masks = masks
        self._lines: list[int] = []
        bit = 1
        for line in lines:
            start = bit
            for token in line:
                masks[token] = masks[token] | bit if token in masks else bit
                bit <<= 1
            self._lines.append(bit - start)
            bit <<= 1
        self._size = bit.bit_length() - 1

    def shared(self, counts: Mapping[str, int]) -> int:
        """How many tokens the text shares with one that has them so often."""
        masks = self._masks
        return sum([min(n, masks[t].bit_count()) for t, n in counts.items() if t in masks])

    def common(self, tokens: Iterable[str]) -> int:
        """Length of the longest common subsequence with the text, lines not heeded."""
        masks = self._masks
        row = every = (1 << self._size) - 1
        for token in tokens:
            if token in masks:
                grown = row & masks[token]
                row = (row + grown) | (row - grown)
        return self._size - (row & every).bit_count()

    def union(self, lines: Iterable[Sequence[str]], counts: Mapping[str, int]) -> int:
        """Tokens of the text in the union of their common subsequences with several lines.

        Each line of the text is held against each of ``lines``; a token of the text counts once
        where several subsequences hold it, and equal tokens together no more often than
        ``counts`` says that the lines have them. Which of several longest subsequences is taken
        bears on the value; the choice is that of rouge-score.

        >>> columns = Columns([["a", "b", "c"]])
        >>> columns.union([["a", "b"], ["b", "c"]], Counter("abbc"))
        3
        """
        found = 0
        for tokens in lines:
            rows, met = self._rows(tokens)
            for line in self._lines:
                every = met & line
                if every & ~found:
                    ends = rows[0][1] & line
                    found |= every if ends == every else _path(rows, line)
        hits = found.bit_count()
        for token, mask in self._masks.items():
            if mask & (mask - 1):  # in several columns
                hits -= max(0, (mask & found).bit_count() - counts.get(token, 0))
        return hits

    def _rows(self, tokens: Iterable[str]) -> tuple[list[tuple[int, int]], int]:
        """Matches and growth of each row, last first, and the columns with any match."""
        masks = self._masks
        row = full = sum(self._lines)
        met = 0
        rows: list[tuple[int, int]] = []
        for token in tokens:
            if token in masks:
                mask = masks[token]
                met |= mask
                grown = row & mask
                row = ((row + grown) | (row - grown)) & full
                rows.append((mask, row ^ full))
            elif rows and rows[-1][0]:
                rows.append((0, row ^ full))  # as good as several without a match
        rows.reverse()
        return rows, met


def _path(rows: Iterable[tuple[int, int]], line: int) -> int:
    """The columns of one line that the way back through the table takes.

    From the last cell: a match is taken; else the way goes to the column before while the
    subsequence is as long there, that is to the next growth or match; else to the row above.
    """
    found = 0
    for mask, growth in rows:
        if not (stops := (mask | growth) & line):
            break
        column = 1 << (stops.bit_length() - 1)
        if mask & column:
            found |= column
            line &= column - 1
        else:
            line &= 2 * column - 1
    return found
