"""Words as the Penn Treebank has them, for counting: punctuation and endings are words too."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

_MARKS = re.compile(r"\s+|(\.\.\.|--|[:,](?!\d)|[;@#$%&?!()\[\]{}<>]|``|''|\")")
_OPENING = re.compile(r"(?<![^\s(\[{<])\"")
_LAST_STOP = re.compile(r"(?<=[^.])\.(?=[\])}>'\"\s]*\Z)")
_INITIALS = re.compile(r"\b[a-z]\.[a-z]\Z", re.IGNORECASE)
_ENDING = re.compile(r"(.+?)('ll|'re|'ve|n't|'[smd]|')\Z", re.DOTALL)
_TWO: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "cannot": ("can", "not"),
        "d'ye": ("d", "'ye"),
        "gimme": ("gim", "me"),
        "gonna": ("gon", "na"),
        "gotta": ("got", "ta"),
        "lemme": ("lem", "me"),
        "more'n": ("more", "'n"),
        "wanna": ("wan", "na"),
        "'tis": ("'t", "is"),
        "'twas": ("'t", "was"),
    }
)
_TAIL = 1000
"""Characters at the end among which the last full stop is looked for."""


def words(text: str) -> Counter[str]:
    """How often each word of a text in lower case occurs.

    Marks are words, a full stop only at the end of the text; "isn't" is "is" and "n't".

    >>> sorted(words("it isn't so. 3,000 cats, really.").elements())
    [',', '.', '3,000', 'cats', 'is', 'it', "n't", 'really', 'so.']
    """
    tail = max(0, len(text) - _TAIL)
    stop = _LAST_STOP.search(text, tail)
    if stop and not _INITIALS.search(text, max(0, stop.start() - 3), stop.start()):
        text = f"{text[: stop.start()]} . {text[stop.end() :]}"
    counts: Counter[str] = Counter()
    others: defaultdict[int, list[str]] = defaultdict(list)
    for chunk, times in Counter(text.split()).items():
        if chunk.isalnum() and chunk not in _TWO:
            counts[chunk] = times
        else:
            others[times].append(chunk)
    for times, chunks in others.items():
        for word, number in _split(" ".join(chunks)):
            counts[word] += times * number
    return counts


def _split(text: str) -> Iterable[tuple[str, int]]:
    """The words of a text and how often each occurs, in parts that may repeat a word."""
    counts = Counter(filter(None, _MARKS.split(text)))
    if quotes := counts.pop('"', 0):
        opening = len(_OPENING.findall(text))
        yield from (("``", opening), ("''", quotes - opening))
    for part, number in counts.items():
        if "'" in part or part in _TWO:
            yield from ((word, number) for word in _endings(part))
        else:
            yield part, number


def _endings(part: str) -> Iterator[str]:
    if part == "''":
        yield part
    elif part in _TWO:
        yield from _TWO[part]
    elif ending := _ENDING.match(part):
        yield from _endings(ending[1]) if ending[2] == "'" else ending.groups()[:1]
        yield ending[2]
    else:
        yield part
