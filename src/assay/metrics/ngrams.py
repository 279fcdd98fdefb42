"""What two token sequences share: n-grams and common subsequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence


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
    ones: Sequence[object] = left if n == 1 else list(ngrams(left, n))
    others: Sequence[object] = right if n == 1 else list(ngrams(right, n))
    one, other = set(ones), set(others)
    both = one & other
    if len(one) == len(ones) or len(other) == len(others):
        return len(both)  # one of them has each n-gram once
    counts = Counter(gram for gram in others if gram in both)
    return sum(
        min(count, counts[gram]) for gram, count in Counter(g for g in ones if g in both).items()
    )


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

    def common(self, tokens: Iterable[str]) -> int:
        """Length of the longest common subsequence with the text, lines not heeded."""
        masks = self._masks
        row = every = (1 << self._size) - 1
        for token in tokens:
            if token in masks:
                grown = row & masks[token]
                row = (row + grown) | (row - grown)
        return self._size - (row & every).bit_count()

    def union(self, lines: Sequence[Sequence[str]]) -> int:
        """Tokens of the text in the union of their common subsequences with several lines.

        Each line of the text is held against each of ``lines``; a token of the text counts once
        where several subsequences hold it, and equal tokens together no more often than
        ``lines`` have them. Which of several longest subsequences is taken bears on the value;
        the choice is that of rouge-score.

        >>> Columns([["a", "b", "c"]]).union([["a", "b"], ["b", "c"]])
        3
        """
        found = 0
        for line in lines:
            found |= self._found(line)
        hits = found.bit_count()
        counts = Counter(token for line in lines for token in line)
        for token, mask in self._masks.items():
            if mask & (mask - 1):  # in several columns
                hits -= max(0, (mask & found).bit_count() - counts[token])
        return hits

    def _found(self, tokens: Sequence[str]) -> int:
        """The columns in the longest common subsequence of ``tokens`` with each line."""
        masks = self._masks
        row = full = sum(self._lines)
        met = 0
        rows: list[tuple[int, int]] = []
        for token in tokens:
            mask = masks.get(token, 0)
            if mask:
                met |= mask
                grown = row & mask
                row = ((row + grown) | (row - grown)) & full
            rows.append((mask, (row ^ full) | mask))
        rows.reverse()
        ends = row ^ full
        found = 0
        for line in self._lines:
            if length := (ends & line).bit_count():
                every = met & line
                found |= every if every.bit_count() == length else _path(rows, line)
        return found


def _path(rows: Iterable[tuple[int, int]], line: int) -> int:
    """The columns of one line that the way back through the table takes.

    Of each row, last first, come its matches and the columns where it is larger than the column
    before, or a match. From the last cell: a match is taken; else the way goes to the column
    before if the subsequence is as long there; else to the row above.
    """
    found = 0
    for mask, stops in rows:
        if not (here := stops & line):
            break
        column = 1 << (here.bit_length() - 1)
        if mask & column:
            found |= column
            line &= column - 1
        else:
            line &= 2 * column - 1
    return found
