"""Text: where its blocks and sentences are, and which words it holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f"
)
# Vowel signs and points belong to the word, though Python does not count them as letters.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0df3\u0e31"
    "\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u0f35-\u0f84\u102b-\u103e\u1056-\u109d"
    "\u135d-\u135f\u17b4-\u17d3\u200c\u200d"
)
_LETTER = rf"(?:[^\W_{_CJK}]|[{_MARKS}])"
_WORD = re.compile(rf"[{_CJK}]|\d+(?:[.,]\d+)+|{_LETTER}+(?:['’]{_LETTER}+)*")
_STOP_WORDS = """
    a an the this that these those and or but nor so yet if then than as at by for from in into of
    off on onto out over to up with about above after again against before below between down during
    further once through under until upon while within without is am are was were be been being has
    have had having do does did doing will would shall should can could may might must i me my mine
    myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves who whom whose which what when where
    why how there here also just very too s t i'm i've i'd i'll you're you've you'd you'll he's
    she's it's we're we've they're they've that's there's what's who's both each such own same some
    any all because since although though
"""
_STOP = frozenset(re.findall(r"\S+", _STOP_WORDS))
_ITEM = r"[-*+•·‣▪◦●–—][ \t]+|\(?\d{1,2}[.)][ \t]+|\(?[a-z]\)[ \t]+"
_LINE = re.compile(
    rf"[ \t>]*(?:(?P<heading>#{{1,6}})[ \t]+|(?P<item>(?:{_ITEM})))?(?P<body>.*)", re.DOTALL
)
_BREAK = re.compile(r"(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}$")
_NUMBER_ONLY = re.compile(r"\(?(?:\d{1,2}|[a-z])[.)]$")
_TITLE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Gen|Lt|Col|Sgt|Capt|Rev|Hon|Sen|Rep|Gov|approx|vs|e\.g|i\.e)\.$"
)
_INNER_END = re.compile(r"[.!?。！？।॥؟۔…․‥｡．](?=\S*\s*\S)")
_ENDS = tuple(".!?:;。！？।؟۔…\"'”’)")
_WINDOW = 800

Kind = Literal["text", "item", "heading", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """A line of text without its marker, or a fenced stretch of code; offsets in characters."""

    kind: Kind
    start: int
    end: int
    indent: int = 0


def words(text: str) -> list[str]:
    """The words of a text, casefolded, in order; numbers stay whole, a CJK character is a word.

    >>> words("Einstein's 3.5 theories – 相对论")
    ["einstein's", '3.5', 'theories', '相', '对', '论']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def content_words(text: str) -> list[str]:
    """The words that carry content: no English function words, no possessive endings.

    Negations stay, since a text without them says something else.

    >>> content_words("It was not in Einstein's lab.")
    ['not', 'einstein', 'lab']
    """
    return [word.removesuffix("'s") for word in words(text) if word not in _STOP]


def sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences are: (start, end) character offsets, in order, without outer space.

    Ends of lines, list items and headings end a sentence too; list and heading markers belong to
    no sentence; fenced code is one piece. A line that merely wraps goes on in the next.

    >>> text = "He paid 3.5 million. Dr. Who left."
    >>> [text[a:b] for a, b in sentences(text)]
    ['He paid 3.5 million.', 'Dr. Who left.']
    """
    return [span for block in blocks(text) for span in block_sentences(text, block)]


def block_sentences(text: str, block: Block) -> list[tuple[int, int]]:
    """Where the sentences of one block are."""
    if block.kind == "code" or not _INNER_END.search(text, block.start, block.end):
        return [(block.start, block.end)]
    return list(_joined(text, _cut(text, block.start, block.end)))


def blocks(text: str) -> list[Block]:
    """The non-blank lines of a text, wrapped lines joined, fenced code in one piece.

    >>> [(b.kind, b.start, b.end) for b in blocks("## Why\\n- one\\n- two")]
    [('heading', 3, 6), ('item', 9, 12), ('item', 15, 18)]
    """
    out: list[Block] = []
    fence = ""
    at = 0
    for line in _BREAK.split(text):
        mark = _FENCE.match(line)
        end = at + len(line.rstrip())
        if fence:
            out[-1] = Block("code", out[-1].start, end if line.strip() else out[-1].end)
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
            out.append(Block("code", at + mark.start(1), end))
        elif block := _block(line, at):
            if out and _wraps(text, out[-1], block):
                block = Block(out[-1].kind, out.pop().start, block.end, block.indent)
            out.append(block)
        at += len(line)
    return out


def _block(line: str, at: int) -> Block | None:
    if not line.strip() or _RULE.match(line):
        return None
    indent = len(line) - len(line.lstrip())
    parts = _LINE.match(line)
    if parts is None or not parts["body"].strip():
        return Block("text", at + indent, at + len(line.rstrip()), indent)
    start, end = _trim(line, parts.start("body"), len(line))
    kind: Kind = "heading" if parts["heading"] else "item" if parts["item"] else "text"
    return Block(kind, at + start, at + end, indent)


def _wraps(text: str, before: Block, after: Block) -> bool:
    """Whether a line goes on with the one before: that is long and open-ended, this lower-case."""
    return (
        after.kind == "text"
        and before.kind in ("text", "item")
        and before.end - before.start >= 60
        and not text.endswith(_ENDS, before.start, before.end)
        and text[after.start].islower()
        and text.count("\n", before.end, after.start) <= 1
    )


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentence spans within text[start:end].

    In windows: the library takes quadratic time in the number of sentences of one call.
    """
    from sentencex import get_sentence_boundaries

    size = _WINDOW
    while start < end:
        piece = text[start : min(start + size, end)]
        last = start + size >= end
        found = get_sentence_boundaries("en", piece)
        if not last and len(found) < 2:
            size *= 4  # one sentence fills the window
            continue
        # The last sentence of a window may go on in the next one.
        for each in found if last else found[:-1]:
            yield _trim(text, start + each["start_index"], start + each["end_index"])
        start = end if last else start + found[-1]["start_index"]
        size = _WINDOW


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _joined(text: str, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans, with item numbers ("2.") and titles ("Dr.") joined to what follows them."""
    held: int | None = None
    end = 0
    for a, b in spans:
        if a >= b:
            continue
        start = a if held is None else held
        if _NUMBER_ONLY.match(text[a:b]) or _TITLE.search(text, max(a, b - 10), b):
            held, end = start, b
            continue
        held = None
        yield start, b
    if held is not None:
        yield held, end
