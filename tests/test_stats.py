"""Means, intervals and counts over samples."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay.score import Score, fraction
from assay.stats import mean_interval, summarise, t_quantile


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize(
    "df", [1, 2, 3, 4, 5, 8, 13, 30, 99, 100, 399, 400, 401, 402, 600, 1000, 5000, 100_000]
)
def test_t_quantile_is_scipy_s(df: int, level: float) -> None:
    p = 0.5 + level / 2
    assert t_quantile(p, df) == pytest.approx(float(scipy_stats.t.ppf(p, df)), abs=1e-6, rel=1e-6)


def test_the_median_of_t_is_zero() -> None:
    assert t_quantile(0.5, 7) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_fewer_than_two_values_have_no_interval(values: list[float]) -> None:
    assert mean_interval(values) is None


def test_two_values_have_a_wide_interval() -> None:
    interval = mean_interval([0.4, 0.6])
    assert interval is not None
    assert 0 < interval[0] < 0.2
    assert 0.8 < interval[1] < 1


@pytest.mark.parametrize("n", [2, 5, 20, 500, 10_000])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_values_that_are_all_alike_leave_room_on_one_side(n: int, value: float) -> None:
    interval = mean_interval([value] * n)
    assert interval is not None
    low, high = interval
    assert 0 <= low <= value <= high <= 1
    far = 1 - low if value else high
    assert far < 8 / n or n == 2


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_an_interval_of_shares_lies_within_0_and_1(values: list[float], level: float) -> None:
    interval = mean_interval(values, level)
    assert interval is not None
    assert 0 <= interval[0] < interval[1] <= 1
    drawn_in = (sum(values) + 1) / (len(values) + 2)
    assert interval[0] < drawn_in < interval[1]


def test_more_confidence_is_wider_and_more_samples_are_narrower() -> None:
    values = [0.2, 0.9, 0.5, 0.7]

    def width(values: list[float], level: float = 0.95) -> float:
        interval = mean_interval(values, level)
        assert interval is not None
        return interval[1] - interval[0]

    assert width(values, 0.5) < width(values, 0.9) < width(values, 0.99)
    assert width(values * 10) < width(values * 2) < width(values)


def test_the_interval_of_a_mirrored_scale_is_mirrored() -> None:
    values = [0.1, 0.4, 0.8, 1.0]
    here, there = mean_interval(values), mean_interval([1 - v for v in values])
    assert here is not None
    assert there is not None
    assert here == pytest.approx((1 - there[1], 1 - there[0]))


def test_values_outside_0_and_1_get_the_plain_t_interval() -> None:
    values = [1.0, 2.0, 4.0, 5.0]
    interval = mean_interval(values)
    assert interval is not None
    expected = scipy_stats.t.interval(
        0.95, 3, loc=3.0, scale=math.sqrt(sum((v - 3) ** 2 for v in values) / 3 / 4)
    )
    assert interval == pytest.approx(tuple(map(float, expected)))


@pytest.mark.parametrize(
    ("a", "b", "n"), [(1.0, 1.0, 20), (8.0, 1.0, 20), (0.5, 4.0, 40), (5.0, 0.2, 40)]
)
def test_intervals_hold_the_mean_about_as_often_as_they_say(a: float, b: float, n: int) -> None:
    chance = random.Random(f"{a} {b} {n}")
    true = a / (a + b)
    held = 0
    for _ in range(400):
        interval = mean_interval([chance.betavariate(a, b) for _ in range(n)])
        assert interval is not None
        held += interval[0] <= true <= interval[1]
    assert 0.9 <= held / 400 <= 0.99


def test_a_summary_counts_what_there_is() -> None:
    scores = [
        fraction([True, False]),
        fraction([True, True, True, True, True, None]),
        Score.undefined("nothing", 2),
        Score.failed("gone"),
        Score(0.0),
    ]
    summary = summarise(scores)
    assert summary.mean == pytest.approx((0.5 + 1.0 + 0.0) / 3)
    assert summary.micro == pytest.approx(6 / 7)
    assert (summary.n, summary.undefined, summary.failed) == (3, 1, 1)
    assert summary.unknown == 1 + 2
    assert summary.values == (0.5, 1.0, None, None, 0.0)
    assert summary.interval == mean_interval([0.5, 1.0, 0.0])


@pytest.mark.parametrize(
    "scores", [[], [Score.failed("gone")], [Score.undefined("nothing"), Score.failed("gone")]]
)
def test_a_summary_without_values_has_no_mean(scores: list[Score]) -> None:
    summary = summarise(scores)
    assert (summary.mean, summary.interval, summary.micro, summary.n) == (None, None, None, 0)
    assert summary.undefined + summary.failed == len(scores)


def test_micro_is_none_where_scores_do_not_add_up() -> None:
    assert summarise([Score(0.5), Score(0.25)]).micro is None
    assert summarise([Score(0.5), Score(0.25)]).mean == 0.375
