"""Verdicts, three-valued logic, and what a matrix says of its claims and premises."""

from __future__ import annotations

from itertools import product

import pytest

from assay.sample import Claim
from assay.verdicts import (
    Cell,
    EntailmentMatrix,
    Truth,
    Verdict,
    all_of,
    any_of,
    both,
    negate,
)

M = EntailmentMatrix.letters
UNKNOWN = Cell(Verdict.UNKNOWN)
TRUTHS: tuple[Truth, ...] = (True, False, None)


def completions(values: tuple[Truth, ...]) -> list[tuple[bool, ...]]:
    """Every way in which the unknown values could have been answered."""
    choices = [(True, False) if value is None else (value,) for value in values]
    return list(product(*choices))


def known(outcomes: set[bool]) -> Truth:
    return outcomes.pop() if len(outcomes) == 1 else None


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_any_and_all_are_known_exactly_where_no_answer_could_change_them(n: int) -> None:
    for values in product(TRUTHS, repeat=n):
        every = completions(values)
        assert any_of(values) is known({any(c) for c in every})
        assert all_of(values) is known({all(c) for c in every})


def test_both_and_negate_agree_with_the_logic_of_completions() -> None:
    for a, b in product(TRUTHS, repeat=2):
        assert both(a, b) is known({x and y for x, y in completions((a, b))})
    assert [negate(value) for value in TRUTHS] == [False, True, None]


def test_an_unknown_verdict_is_neither_a_yes_nor_a_no() -> None:
    assert [v.entailed for v in Verdict] == [True, False, False, None]
    assert [v.contradicted for v in Verdict] == [False, False, True, None]
    assert Cell(Verdict.UNKNOWN).verdict is Verdict.UNKNOWN


def test_verdicts_are_words_in_json() -> None:
    assert [str(v) for v in Verdict] == ["entailed", "neutral", "contradicted", "unknown"]
    assert Verdict("contradicted") is Verdict.CONTRADICTED


def test_supported_and_useful() -> None:
    matrix = M("EN NC ?N ?E")
    assert matrix.supported() == (True, False, None, True)
    assert matrix.useful() == (True, True)
    assert M("N? NN").useful() == (False, None)


def test_supported_among_chosen_premises() -> None:
    matrix = M("EN NE ?N NN")
    assert matrix.supported_among((True, True)) == matrix.supported()
    assert matrix.supported_among((True, False)) == (True, False, None, False)
    assert matrix.supported_among((None, False)) == (None, False, None, False)
    assert matrix.supported_among((False, False)) == (False, False, False, False)


def test_a_choice_of_the_wrong_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        M("NN").supported_among((True,))


def test_contradicted_needs_a_contradiction_and_no_support() -> None:
    assert M("CN CE NN C? ??").contradicted() == (True, False, False, None, None)


def test_rows_and_column_cut_the_matrix() -> None:
    matrix = M("EN NE NN")
    assert matrix.rows([2, 0]).claims == (matrix.claims[2], matrix.claims[0])
    assert matrix.rows([2, 0]).supported() == (False, True)
    assert matrix.rows([]).width == 2
    assert matrix.column(1).supported() == (False, True, False)
    assert matrix.column(1).width == 1


def test_best_prefers_entailment_then_contradiction_then_probability_then_order() -> None:
    assert M("NE").best(0) == 1
    assert M("NC").best(0) == 1
    assert M("CE").best(0) == 1
    assert M("?N").best(0) == 1
    assert M("NN").best(0) == 0
    assert EntailmentMatrix((Claim("a"),), ((),), 0).best(0) is None
    cells = tuple(Cell(Verdict.NEUTRAL, p) for p in (0.1, 0.4, 0.4))
    assert EntailmentMatrix((Claim("a"),), (cells,), 3).best(0) == 1


@pytest.mark.parametrize(
    ("rows", "width"),
    [((), 1), (((UNKNOWN,), (UNKNOWN,)), 1), (((UNKNOWN,),), 2), (((),), 1)],
)
def test_a_matrix_that_is_not_rectangular_is_refused(
    rows: tuple[tuple[Cell, ...], ...], width: int
) -> None:
    with pytest.raises(ValueError, match=r"rows of verdicts|must have"):
        EntailmentMatrix((Claim("a"),), rows, width)


def test_letters_know_their_width_without_claims() -> None:
    assert M("", width=3).width == 3
    assert M("", width=3).useful() == (False, False, False)
    assert M("").width == 0
    assert M("EN").claims == (Claim("claim 1"),)
