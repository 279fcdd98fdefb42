"""rouge-n, bleu and gleu: the numbers of promptfoo 0.123.1, measured."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suite.assertions.overlap import bleu_4, gleu, rouge_1
from assay.suite.assertions.table import VALIDATORS
from assay.suite.assertions.treebank import words
from suite_checks import found, reason, refused

MEASURED = [
    ("The cat sat on the mat.", "the cat sat on the mat", 12 / 13, 0.7598356856515925, 1.0),
    (
        "the cat",
        "The cat sat on the mat, didn't it?",
        0.3076923076923077,
        0.049787068367863944,
        0.11538461538461539,
    ),
    ('He said "no", (maybe).', "He said no", 0.46153846153846145, 0.0002020515504676623, 0.3),
    (
        "it's 3,000 dogs' toys...",
        "It is 3000 dogs' toys",
        0.6153846153846153,
        3.096787331587728e-06,
        0.21428571428571427,
    ),
    ("cannot", "can not", 1.0, 3.6787944117144214e-08, 0.0),
    ("北京 是", "北京 是 首都", 0.8, 0.6065306597126334, 0.5),
    ("", "x", 0.0, 0.0, 0.0),
    ("a b c d e", "a b c d f", 0.8, 0.668740304976422, 0.7142857142857143),
    ("the the the the", "the cat sat", 0.2857142857142857, 3.976353643835251e-06, 0.1),
    ("a b c d e f g", "a b c x e f g", 6 / 7, 0.012295763059025288, 0.5454545454545454),
]
texts = st.lists(st.sampled_from(["a", "b", "c", "the", "cat.", "(sat)", "it's"]), max_size=12).map(
    " ".join
)


@pytest.mark.parametrize(("output", "reference", "rouge", "bleu", "google"), MEASURED)
def test_scores(output: str, reference: str, rouge: float, bleu: float, google: float) -> None:
    assert rouge_1(output, reference) == pytest.approx(rouge, abs=1e-12)
    assert bleu_4(output, [reference]) == pytest.approx(bleu, rel=1e-12)
    assert gleu(output, [reference]) == pytest.approx(google, abs=1e-12)


def test_several_references() -> None:
    both = ["a b c d x", "a b q d e f"]
    assert gleu("a b c d e", both) == pytest.approx(0.7142857142857143)
    assert gleu("a b c d e", both[::-1]) == pytest.approx(0.7142857142857143)
    # Each n-gram counts as in the reference that has it most often: all four tokens are shared,
    # and two of three pairs. One reference for a whole order would leave two and one.
    clipped = (1.0 * (2 / 3) * 1e-7 * 1e-7) ** 0.25
    assert bleu_4("a b c d", ["a b", "c d"]) == pytest.approx(clipped)


@given(texts, texts)
def test_scores_are_shares(output: str, reference: str) -> None:
    for score in (
        rouge_1(output, reference),
        bleu_4(output, [reference]),
        gleu(output, [reference]),
    ):
        assert 0 <= score <= 1
    if output:
        assert rouge_1(output, output) == 1
        assert bleu_4(output, [output]) == pytest.approx(1)
        assert gleu(output, [output]) == 1


@given(texts, texts)
def test_words_are_counted_chunk_by_chunk(left: str, right: str) -> None:
    body = Counter(words(f"{left} {right} x"))
    assert body == words(f"{left} x") + words(f"{right} x") - Counter("x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("it isn't so.", "it is n't so ."),
        ("the u.s.", "the u.s."),
        ("end. ok.)", "end. ok . )"),
        ("well... no -- yes", "well ... no -- yes"),
        ("3,000 at 12:30, a:b", "3,000 at 12:30 , a : b"),
        ("dogs' toys, we'll, i'd've", "dogs ' toys , we 'll , i'd 've"),
        ("'tis gonna", "'t is gon na"),
        ('say "yes" ("no")', "say `` yes '' ( `` no '' )"),
        ("50% of $5 & #1", "50 % of $ 5 & # 1"),
    ],
)
def test_treebank_words(text: str, expected: str) -> None:
    assert words(text) == Counter(expected.split())


@pytest.mark.parametrize("kind", ["rouge-n", "bleu", "gleu"])
def test_a_score_has_to_reach_the_threshold(kind: str) -> None:
    got = found(kind, "a b c d e", "a b c d f", 0.5)
    assert got.holds
    assert got.value == got.goodness
    assert got.value is not None
    assert found(kind, "a b c d e", "a b c d f", got.value).holds
    assert not found(kind, "a b c d e", "a b c d f", got.value + 0.001).holds
    assert not found(kind, "", "a b c d f").holds


def test_the_reason_shows_score_and_threshold() -> None:
    text = reason("rouge-n", "a b c d e", "a b c d f", 0.9)
    assert "ROUGE-1 F1 is 0.8 (at least 0.9 wanted)" in text


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("rouge-n", ["a"], "one reference"),
        ("rouge-n", " ", "empty"),
        ("bleu", [], "no reference"),
        ("bleu", ["a", ""], "empty"),
        ("gleu", [5], "as text"),
    ],
)
def test_references_are_checked_beforehand(kind: str, value: Any, why: str) -> None:
    assert why in (VALIDATORS[kind](value) or "")
    assert why in refused(kind, "an output", value)
