"""BLEU against NLTK and sacrebleu, and the metric's edges."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest
from nltk.tokenize import RegexpTokenizer
from nltk.translate.bleu_score import sentence_bleu
from sacrebleu.metrics.bleu import BLEU

from assay import Sample, ScriptedJudge, evaluate
from assay.errors import ConfigError, MissingField
from assay.metrics.bleu import (
    BLEU_4,
    Bleu,
    Order,
    Smoothing,
    Tokenizer,
    bleu_corpus,
    bleu_stats,
    tokenize,
)
from assay.metrics.ngrams import clipped, ngrams, overlap
from assay.score import Score

# NLTK warns where an order shares nothing.
pytestmark = pytest.mark.filterwarnings(r"ignore:\s*The hypothesis contains 0 counts")

SPACED = ("end-\nof", "line-\n", "x\ny", "\u2028", "no\xa0break")
WORDS = re.findall(
    r"\S+",
    """
    the The a cat cats sat on mat, mat. $3.50 $20 1,000 3.5 well-known don't 1999-2001 <skipped>
    &quot;so&quot; &amp; &lt;p&gt; &amp;lt; &amp;quot; (yes) [no] {it} a/b c:d e;f g!? — … « naïve
    中文 Ärger .5 5. .. ., ,. 7-x -7 'q' "q" ~ ` @ # % ^ * _ + = | \\ a.b.c no.1
    """,
)
WORDS.extend(SPACED)


def random_text(rng: random.Random) -> str:
    """Words of a small or the whole vocabulary, with odd spaces at times; at times none."""
    words = rng.sample(WORDS, rng.choice((5, 12, len(WORDS))))
    return rng.choice((" ", " ", "  ")).join(
        rng.choice(words) for _ in range(rng.choice((0, 1, 3, 6, 12, 20, 30)))
    )


def random_samples(seed: int, count: int, references: int = 3) -> list[tuple[str, list[str]]]:
    """A prediction and some references; every other prediction is edited out of one of them."""
    rng = random.Random(seed)
    out = []
    for n in range(count):
        given = [random_text(rng) for _ in range(rng.randint(1, references))]
        prediction = random_text(rng)
        if n % 2:
            kept = (rng.choice(WORDS) if rng.random() < 0.1 else w for w in given[-1].split(" "))
            prediction = " ".join(word for word in kept if rng.random() < 0.95)
        out.append((prediction, given))
    return out


def scored(metric: Bleu, response: str, *references: str) -> Score:
    sample = Sample(response=response, references=references)
    return metric.score(sample, sample)


# --- equal to NLTK -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights", [BLEU_4, (1.0,), (0.5, 0.5), (0.1, 0.3, 0.5, 0.1), (0.2,) * 5, (0.7, 0.3, 0, 0)]
)
def test_random_samples_score_as_in_nltk(weights: Sequence[float]) -> None:
    words = RegexpTokenizer(r"\w+|\$[\d]+|[^\s\.]+").tokenize
    seen = 0
    for prediction, references in random_samples(round(100 * weights[0]), 900):
        expected = sentence_bleu([words(text) for text in references], words(prediction), weights)
        stats = bleu_stats(prediction, references, order=len(weights))
        got = bleu_corpus([stats], weights)
        assert got == pytest.approx(expected, abs=1e-9)
        assert got == 0 or got >= 1e-9
        seen += 0 < got < 1
    assert seen > 150


def test_a_small_weight_on_an_order_that_shares_nothing_scores_as_in_nltk() -> None:
    weights = (0.99, 0.01)
    expected = sentence_bleu([["a", "b"]], ["b", "a"], weights)
    assert expected > 1e-4
    assert bleu_corpus([bleu_stats("b a", ["a b"], order=2)], weights) == pytest.approx(expected)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_metric_scores_as_nltk_with_uniform_weights(order: Order) -> None:
    for prediction, references in random_samples(12, 300):
        split = [text.split() for text in references]
        expected = sentence_bleu(split, prediction.split(), (1 / order,) * order)
        metric = Bleu(order, tokenizer="whitespace")
        assert scored(metric, prediction, *references).value == pytest.approx(expected, abs=1e-9)


# --- equal to sacrebleu --------------------------------------------------------------------------


@pytest.mark.parametrize(("tokenizer", "theirs"), [("whitespace", "none"), ("13a", "13a")])
@pytest.mark.parametrize(
    ("smoothing", "method"), [("none", "none"), ("exp", "exp"), ("add-one", "add-k")]
)
def test_a_corpus_scores_as_in_sacrebleu(
    tokenizer: Tokenizer, theirs: str, smoothing: Smoothing, method: str
) -> None:
    oracle = BLEU(tokenize=theirs, smooth_method=method)
    metric = Bleu(smoothing=smoothing, tokenizer=tokenizer)
    samples = [(p, [*r, *r, *r][:3]) for p, r in random_samples(13, 400)]
    predictions = [prediction for prediction, _ in samples]
    streams = [[references[k] for _, references in samples] for k in range(3)]
    expected = oracle.corpus_score(predictions, streams)
    scores = [scored(metric, prediction, *references) for prediction, references in samples]
    assert metric.over(scores) == pytest.approx(expected.score / 100, abs=1e-9)
    extra = [0, *[smoothing == "add-one"] * 3]
    for n in range(1, 5):
        grams = sum(score.stats[f"grams_{n}"] for score in scores)
        assert grams + extra[n - 1] == expected.totals[n - 1]
    assert sum(score.stats["reference"] for score in scores) == expected.ref_len


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("tokenizer", "theirs"), [("whitespace", "none"), ("13a", "13a")])
@pytest.mark.parametrize(
    ("smoothing", "method"), [("none", "none"), ("exp", "exp"), ("add-one", "add-k")]
)
def test_sentences_score_as_in_sacrebleu(
    tokenizer: Tokenizer, theirs: str, smoothing: Smoothing, method: str
) -> None:
    oracle = BLEU(tokenize=theirs, smooth_method=method)
    metric = Bleu(smoothing=smoothing, tokenizer=tokenizer)
    smoothed = 0
    for prediction, references in random_samples(14, 300):
        # Their corpus score of one sentence is their sentence score, without the advice.
        expected = oracle.corpus_score([prediction], [[text] for text in references])
        got = scored(metric, prediction, *references)
        assert got.value is not None
        assert got.value == pytest.approx(expected.score / 100, abs=1e-9)
        smoothed += got.value > 0 and not got.stats["shared_4"]
    assert smoothing == "none" or smoothed > 10


def test_13a_tokens_are_those_of_sacrebleu() -> None:
    theirs = BLEU(tokenize="13a")
    rng = random.Random(15)
    for _ in range(2000):
        text = random_text(rng)
        assert " ".join(tokenize(text, "13a")) == theirs._preprocess_segment(text)


# --- the metric ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "references", "value"),
    [
        ("the cat sat on", ["the cat sat on the mat"], 0.6065306597126334),
        ("the cat sat on the mat", ["the cat sat on the mat"], 1.0),
        ("The dog doesn't like the cat.", ["The dog has never met a cat."], 0.0),
        ("the cat sat", ["the cat sat"], 0.0),  # no run of four tokens
        ("The cat sat on the mat.", ["the cat sat on the mat"], (4 / 5 * 3 / 4 * 2 / 3) ** 0.25),
        ("", ["a"], 0.0),
        ("a b c d", [""], 0.0),
        ("", [""], 0.0),
    ],
)
def test_examples(response: str, references: list[str], value: float) -> None:
    expected = value * (5 / 6) ** 0.25 if response.startswith("The cat") else value
    assert scored(Bleu(), response, *references).value == pytest.approx(expected, abs=1e-12)


def test_the_closest_reference_sets_the_length_and_the_shorter_of_two() -> None:
    stats = bleu_stats("a b c d", ["a b c d e f g", "a b c", "a b c d e"])
    assert (stats["predicted"], stats["reference"]) == (4, 3)


def test_an_n_gram_counts_as_often_as_in_the_reference_that_has_it_most_often() -> None:
    stats = bleu_stats("the the the the", ["the cat", "the the mat"], order=2)
    assert (stats["shared_1"], stats["grams_1"]) == (2, 4)
    assert (stats["shared_2"], stats["grams_2"]) == (1, 3)


def test_n_grams_shared_are_the_same_with_one_reference_given_twice() -> None:
    rng = random.Random(16)
    for _ in range(200):
        tokens, other = random_text(rng).split(), random_text(rng).split()
        for n in (1, 2, 3):
            assert clipped(tokens, [other], n) == clipped(tokens, [other, other], n)
            assert overlap(tokens, other, n) == overlap(other, tokens, n)


def test_there_are_no_n_grams_longer_than_the_text() -> None:
    assert list(ngrams(["a", "b"], 3)) == []
    assert bleu_stats("a b", ["a b"], order=3)["grams_3"] == 0


def test_smoothing_gives_short_answers_a_value() -> None:
    assert scored(Bleu(), "b a", "a b").value == 0.0
    assert scored(Bleu(2, "exp"), "b a", "a b").value == pytest.approx(0.5**0.5)
    assert scored(Bleu(2, "add-one"), "b a", "a b").value == pytest.approx(0.5**0.5)


def test_a_corpus_of_nothing_has_no_value_and_failures_are_left_out() -> None:
    good = scored(Bleu(), "a b c d", "a b c d")
    assert Bleu().over([]) is None
    assert Bleu().over([Score.failed("no references")]) is None
    assert Bleu().over([good, Score.failed("no references")]) == 1.0


def test_a_sample_without_a_text_fails_and_no_judge_is_asked() -> None:
    judge = ScriptedJudge()
    whole = {"response": "a b c d", "reference": "a b c d"}
    run = evaluate([whole, {"response": "a"}, {"reference": "a"}], Bleu(), judge)
    scores = [row.scores["bleu"] for row in run.rows]
    assert [score.status for score in scores] == ["ok", "failed", "failed"]
    assert "references" in scores[1].reason
    assert "response" in scores[2].reason
    assert run["bleu"].mean == 1.0
    assert judge.asked == []


def test_parameters_are_in_the_name_where_they_differ() -> None:
    assert str(Bleu()) == "bleu"
    assert str(Bleu(2, "add-one", "13a")) == "bleu(order=2, smoothing=add-one, tokenizer=13a)"


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(MissingField, match="no references"):
        bleu_stats("a", [])
    with pytest.raises(ConfigError, match="at least one weight"):
        bleu_corpus([bleu_stats("a", ["a"])], ())
    with pytest.raises(ConfigError, match="5 tokens"):
        bleu_corpus([bleu_stats("a", ["a"])], (0.2,) * 5)
