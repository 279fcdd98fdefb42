"""JSON by type: what is written is read back equal, and nothing else is written or read."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.asks import Entail, Extract, Label
from assay.judges.memory.codec import entry, pack, unpack
from assay.judges.memory.plain import Form
from assay.sample import Claim
from assay.verdicts import Cell, Mark, Span, Verdict

GRID = tuple[tuple[Cell, ...], ...]
texts = st.text(st.characters())  # half surrogate pairs among them
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
spans = st.none() | st.builds(Span, texts, st.integers(), st.integers())
cells = st.builds(Cell, st.sampled_from(Verdict), numbers, texts, spans)
grids = st.lists(st.lists(cells, max_size=3).map(tuple), max_size=3).map(tuple)


class Word(str):
    """A str that is more than one."""

    __slots__ = ()


class Shade(StrEnum):
    """An enum with the value of another."""

    ENTAILED = "entailed"


@given(grids)
def test_what_is_written_is_read_back_equal(grid: Any) -> None:
    kept = Form(GRID).write(grid)
    back = Form(GRID).read(kept)
    assert (back, repr(back)) == (grid, repr(grid))
    loose = json.dumps(msgspec.to_builtins(grid))
    assert json.loads(kept.decode("utf-8", "surrogatepass")) == json.loads(loose)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, True),
        (float, True),
        (bool, 1),
        (float, float("nan")),
        (float, float("-inf")),
        (float, 1j),
        (str, b"a"),
        (str, 1),
        (str | None, 1),
        (Verdict, "maybe"),
        (Literal[1, "a"], True),
        (Literal["a"], ["a"]),
        (tuple[int, ...], [1]),
        (tuple[int, ...], (1, "1")),
        (tuple[int, ...], (1, 1.5)),
        (tuple[int, str], (1,)),
        (Span, Claim("a")),
        (Span, Span("a", 0, 0.5)),  # type: ignore[arg-type]
        (GRID, ((Cell(Verdict.NEUTRAL, None, ["why"]),),)),  # type: ignore[arg-type]
        (GRID, object()),
    ],
)
def test_what_is_not_of_the_type_is_refused(hint: Any, value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Form(hint).write(value)


@pytest.mark.parametrize(
    ("hint", "value", "known"),
    [
        (str, Word("a"), "a"),
        (str, np.str_("a\ud800"), "a\ud800"),
        (float, 1, 1.0),
        (float, np.float64(0.1), 0.1),
        (tuple[float, ...], (0, -1), (0.0, -1.0)),
        (Verdict, Shade.ENTAILED, Verdict.ENTAILED),
    ],
)
def test_what_is_equal_to_a_value_of_the_type_is_kept_as_that(
    hint: Any, value: Any, known: Any
) -> None:
    back = Form(hint).read(Form(hint).write(value))
    assert (back, type(back)) == (known, type(known))


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (int, b"1.0"),
        (float, b"1"),
        (int, b" 1"),
        (str, b'"a'),
        (str, b'"\\u0061"'),
        (str, b'"\xff"'),
        (tuple[int, ...], b"[1, 2]"),
        (Shade, b'"blue"'),
        (int | str, b"1.5"),
        (Span, b'{"quote":"a","start":0}'),
        (Span, b'{"quote":"a","start":0,"end":1,"more":2}'),
        (Span, b'{"quote":"a","start":0,"start":0,"end":1}'),
    ],
)
def test_only_what_would_be_written_is_read(hint: Any, text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Form(hint).read(text)


def test_an_answer_that_is_equal_to_one_of_the_type_is_kept_as_that() -> None:
    ask = Extract(Word("Rain falls."))
    place = entry(ask, "f")
    assert place is not None
    assert place == entry(Extract("Rain falls."), "f")
    blob = pack(place, ask, (Claim(Word("Rain falls.")),))
    assert unpack(place, ask, blob) == (Claim("Rain falls."),)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (Label((("biased", "a"),)), [Mark(True)]),
        (Label((("biased", "a"),)), (Mark(True), Mark(True))),
        (Label((("biased", "a"),)), (Mark(True, float("nan")),)),
        (Entail(("a",), ("b",)), ((Cell(Verdict.ENTAILED, evidence=Span("bc", 0, 2)),),)),
        (Extract("a"), (Claim("a", 0, 2),)),
    ],
)
def test_an_answer_that_would_not_be_read_back_is_not_kept(ask: Any, answer: Any) -> None:
    place = entry(ask, "f")
    assert place is not None
    assert pack(place, ask, answer) is None
