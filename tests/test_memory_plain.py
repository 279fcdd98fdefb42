"""Writers by type: what they take is read back equal, and they take nothing else."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.asks import Entail, Extract, Label
from assay.judges.memory.codec import entry, pack, plain, unpack
from assay.judges.memory.plain import writer
from assay.judges.memory.reading import reader
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
    value = writer(GRID)(grid)
    assert value == plain(grid)
    kept = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert reader(GRID)(json.loads(kept.decode("utf-8", "surrogatepass"))) == grid


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, True),
        (float, True),
        (bool, 1),
        (float, float("nan")),
        (float, float("-inf")),
        (str, Word("a")),
        (str, b"a"),
        (str | None, 1),
        (Verdict, "entailed"),
        (Verdict, Shade.ENTAILED),
        (Literal[1, "a"], True),
        (Literal["a"], ["a"]),
        (tuple[int, ...], [1]),
        (tuple[int, ...], (1, "1")),
        (tuple[int, str], (1,)),
        (Span, Claim("a")),
        (Span, Span("a", 0, 1.0)),  # type: ignore[arg-type]
        (GRID, ((Cell(Verdict.NEUTRAL, None, ["why"]),),)),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_of_exactly_the_type_is_refused(hint: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r"^(no|zip)"):
        writer(hint)(value)


def test_a_type_without_a_reader_has_no_writer() -> None:
    with pytest.raises(TypeError):
        writer(dict[str, int])


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
