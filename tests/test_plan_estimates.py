"""Intervals of plans: how often they hold the truth, and what they never do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.asks import Extract
from assay.judges.sizing import WORKS, CallSize
from assay.metrics import Faithfulness, SummaryCoherence
from assay.planning.estimating import CALLS, PROMPT, REPLY, Amount, Estimator, loads
from assay.planning.guessing import Rates, guess, sentence_count
from assay.planning.precision import half_width
from assay.planning.surveying import Bounds
from assay.score import Score


def test_loads_add_up_by_kind_of_work() -> None:
    found = loads(
        [CallSize("verdicts", 400, parts=2), CallSize("verdicts", 40), CallSize("rating", 8)]
    )
    assert found[WORKS.index("verdicts")].tolist() == [2, 110, 30 + 2 * 50 + 30]
    assert found[WORKS.index("rating")].tolist() == [1, 2, 70]
    assert found.sum(axis=0)[CALLS] == 3


def test_nine_intervals_of_ten_hold_the_truth() -> None:
    draw, held, n, m = np.random.default_rng(7), 0, 300, 30
    for trial in range(120):
        size = draw.lognormal(0, 0.6, n)
        foreseen, actual = np.zeros((2, n, len(WORKS), 3))
        foreseen[:, 1, CALLS] = actual[:, 1, CALLS] = 1
        foreseen[:, 1, PROMPT] = 900 * size
        actual[:, 1, PROMPT] = 900 * size * draw.lognormal(0.2, 0.3, n)
        made = Estimator(list(actual[:m]), list(foreseen[:m]), seed=trial)
        rest = foreseen[m:].sum(axis=0)
        found = made.amount(
            made.paid + made.rest(rest),
            made.paid + made.rest_draws(rest, n - m, known=False),
            lambda x: x[..., PROMPT].sum(-1),
        )
        held += found.low <= actual[..., PROMPT].sum() <= found.high
    assert 0.83 * 120 <= held <= 0.97 * 120


def test_with_nothing_left_nothing_is_uncertain() -> None:
    load = loads([CallSize("claims", 400)])
    made = Estimator([load] * 8, [2 * load] * 8, seed=0)
    rest = made.rest_draws(load * 0, 0, known=False)
    found = made.amount(made.paid, made.paid + rest, lambda x: x[..., CALLS].sum(-1))
    assert found == Amount(8, 8, 8)
    assert found.exact


def column(k: int) -> Callable[[Any], Any]:
    """The sum of a load's calls, or of its tokens."""
    return lambda x: x[..., k].sum(-1)


def told(m: int, *, bounds: Bounds | None = None, known: bool = False) -> list[Amount]:
    """Calls, tokens of prompts and of replies of 100 samples like the ``m`` of a pilot."""
    load = loads([CallSize("claims", 400)])
    made = Estimator([load] * m, [load] * m, seed=0)
    draws = made.rest_draws(load * 100, 100, known=known, bounds=bounds)
    return [made.amount(made.rest(load * 100), draws, column(k)) for k in (CALLS, PROMPT, REPLY)]


@pytest.mark.parametrize("m", [5, 30, 300])
def test_a_pilot_of_equal_samples_leaves_the_rule_of_three(m: int) -> None:
    share = 1 - 0.05 ** (1 / m)
    assert share == pytest.approx(3 / m, rel=0.1 if m > 5 else 0.3)
    none, most = np.full((2, len(WORKS), 3), 0.1)
    most[:] = 3.0
    for found, low, high in zip(
        told(m, bounds=Bounds(none, none * 5, most)),
        (0.095, 0.08, 0.03),  # a tenth, by what calls and tokens may be less without a pilot
        (3.15, 3.75, 6.0),
        strict=True,
    ):
        assert found.low == pytest.approx(found.value * (1 - share * (1 - low)))
        assert found.high == pytest.approx(found.value * (1 + share * (high - 1)))


def test_what_is_known_stays_exact_beside_what_is_not() -> None:
    calls, prompts, _ = told(30, known=True)
    assert calls == Amount(100, 100, 100)
    assert prompts.low < prompts.value < prompts.high
    one, other = CallSize("claims", 400), CallSize("verdicts", 400)
    load = loads([one, other])
    made = Estimator([load] * 30, [load] * 30, seed=0)
    known = np.array([work == "claims" for work in WORKS])
    draws = made.rest_draws(load * 100, 100, known=known)
    by_work = np.ptp(draws[..., CALLS], axis=0)
    assert by_work[WORKS.index("claims")] == 0 < by_work[WORKS.index("verdicts")]


def test_kinds_of_work_that_the_pilot_did_not_see_are_assumed() -> None:
    seen, unseen = loads([CallSize("claims", 400)]), loads([CallSize("verdicts", 400)])
    made = Estimator([seen] * 30, [seen] * 30, seed=0)
    draws = made.rest_draws(unseen * 100, 100)
    found = made.amount(unseen * 100, draws, lambda x: x[..., PROMPT].sum(-1))
    assert found.low == pytest.approx(0.8 * found.value)
    assert found.high == pytest.approx(1.25 * found.value)


def test_tokens_that_nobody_counted_are_in_doubt_for_the_pilot_too() -> None:
    load = loads([CallSize("claims", 400)])
    made = Estimator([load] * 30, [load] * 30, seed=0, counted=np.zeros(len(WORKS), bool))
    draws = made.taken(made.paid) + made.rest_draws(load * 0, 0)
    found = [made.amount(made.paid, draws, column(k)) for k in range(3)]
    assert found[CALLS].exact
    assert found[PROMPT].low == pytest.approx(0.8 * found[PROMPT].value)
    assert found[REPLY].high == pytest.approx(2 * found[REPLY].value)


@pytest.mark.parametrize("m", [0, 1, 4])
def test_few_pilot_samples_give_no_narrow_interval(m: int) -> None:
    load = loads([CallSize("claims", 400)])
    made = Estimator([load] * m, [load] * m, seed=0)
    draws = made.rest_draws(load * 100, 100, known=False)
    found = made.amount(made.rest(load * 100), draws, lambda x: x[..., PROMPT].sum(-1))
    assert found.low == pytest.approx(0.8 * found.value)
    assert found.high == pytest.approx(1.25 * found.value)


def test_half_widths_come_from_the_spread_and_never_leave_the_range() -> None:
    metric = Faithfulness()
    equal = [Score(1.0)] * 30
    mixed = [Score(float(k % 2)) for k in range(30)]
    widths = [half_width(metric, scores, 100) for scores in (equal, mixed, [])]
    assert None not in widths
    assert 0 < (widths[0] or 0) < (widths[1] or 0)
    assert widths[2] == pytest.approx(0.0992, abs=1e-4)
    assert half_width(metric, [], 1) == 0.5
    assert half_width(SummaryCoherence(), [], 2) == 2.0
    undefined = [*mixed, *[Score.undefined("nothing")] * 30]
    wider = half_width(metric, undefined, 100)
    assert wider == pytest.approx(half_width(metric, mixed, 50))


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        (" \n", 0),
        ("One. Two! Three?", 3),
        ("no end", 1),
        ("磨坊于1820年开业。它很老。", 2),
        ("\x00", 1),
    ],
)
def test_sentences_are_counted(text: str, n: int) -> None:
    assert sentence_count(text) == n


@pytest.mark.parametrize("text", ["One.", "One. Two. Three.", "x" * 10_000, "\ud800", "\x00"])
def test_guessed_claims_are_as_many_as_said_and_all_different(text: str) -> None:
    found = guess(Extract(text, None, opinions=True), Rates(3.0, 1.0))
    claims = [claim.text for claim in found if not claim.opinion]
    assert len(claims) == len(set(claims)) == 3 * sentence_count(text)
    assert len(found) - len(claims) == sentence_count(text)
