"""ROUGE against rouge-score, stems against NLTK, and the metric's edges."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from assay import Sample, ScriptedJudge, evaluate
from assay.errors import ConfigError, MissingField
from assay.metrics import rouge
from assay.metrics.ngrams import Columns
from assay.metrics.rouge import TYPES, Measure, Overlap, Rouge, Stems, Type, rouge_scores
from assay.metrics.stemming import porter
from assay.score import Score
from assay.stats import summarise

MEASURES: tuple[Measure, ...] = ("fmeasure", "precision", "recall")
WORDS = re.findall(
    r"\S+",
    """
    the a of in run runs running ran study studies studied studying happily happiness relational
    national operationally hopefully biology skies dying agreed agreement The OF Running STUDIES
    don't it's well-known 3.5 1,000 $20 v2 naïve Ärger 中文 中文字 İstanbul Kelvin ﬁne ½ _x_ a.b.c
    – … « ? !! (so) "then" & <p> e\u0301clair yyy by yes I -- mother's 2nd x1 \ud800
    """,
)


def random_text(rng: random.Random) -> str:
    """Words of a small or the whole vocabulary, on one or several lines; at times none."""
    words = rng.sample(WORDS, rng.choice((4, 8, len(WORDS))))
    chosen = (rng.choice(words) for _ in range(rng.choice((0, 1, 3, 8, 15, 25))))
    gaps = [" ", " ", "  ", ". ", ",", "\t", "\n", "\r\n", "\n\n", "\u2028", "\x0b"]
    gaps = gaps if rng.random() < 0.7 else [" "]
    return "".join(word + rng.choice(gaps) for word in chosen)


def random_pairs(seed: int, count: int) -> list[tuple[str, str]]:
    """Two texts each, every third time one edited out of the other."""
    rng = random.Random(seed)
    out = []
    for n in range(count):
        one, other = random_text(rng), random_text(rng)
        if n % 3 == 0:
            words = one.split(" ")
            kept = (rng.choice(WORDS) if rng.random() < 0.2 else word for word in words)
            other = rng.choice((" ", "\n")).join(w for w in kept if rng.random() < 0.9)
        out.append((one, other))
    return out


# --- equal to rouge-score --------------------------------------------------------------------


@pytest.mark.parametrize("stemmer", [False, True])
def test_random_pairs_score_as_in_rouge_score(stemmer: bool) -> None:
    scorer, stems = RougeScorer(list(TYPES), use_stemmer=stemmer), stemmer and Stems()
    seen = 0
    for reference, prediction in random_pairs(5, 5000):
        expected = scorer.score(reference, prediction)
        got = rouge_scores(prediction, [reference], stemmer=stems)
        for kind in TYPES:
            for measure in MEASURES:
                value = getattr(got[kind], measure)
                assert value == pytest.approx(getattr(expected[kind], measure), abs=1e-9), (
                    kind,
                    measure,
                    reference,
                    prediction,
                )
                seen += 0 < value < 1
    assert seen > 15_000


def test_longer_n_grams_score_as_in_rouge_score() -> None:
    types = ["rouge3", "rouge4", "rouge9"]
    scorer = RougeScorer(types)
    for reference, prediction in random_pairs(6, 300):
        expected = scorer.score(reference, prediction)
        for kind, found in rouge_scores(prediction, [reference], types).items():
            assert found.fmeasure == pytest.approx(expected[kind].fmeasure, abs=1e-9)


def test_the_best_of_several_references_is_that_of_rouge_score() -> None:
    scorer = RougeScorer(list(TYPES))
    rng = random.Random(7)
    for _ in range(500):
        references = [random_text(rng) for _ in range(rng.randint(1, 4))]
        prediction = random_text(rng)
        expected = scorer.score_multi(references, prediction)
        for kind, found in rouge_scores(prediction, references).items():
            assert found.precision == pytest.approx(expected[kind].precision, abs=1e-9)
            assert found.fmeasure == pytest.approx(expected[kind].fmeasure, abs=1e-9)


def test_long_texts_score_as_in_rouge_score() -> None:
    rng = random.Random(8)
    texts = ["\n".join(" ".join(rng.choices("abcdefgh", k=25)) for _ in range(8)) for _ in "12"]
    expected = RougeScorer(list(TYPES)).score(*texts)
    for kind, found in rouge_scores(texts[1], [texts[0]]).items():
        assert found.recall == pytest.approx(expected[kind].recall, abs=1e-9)


@pytest.mark.parametrize(
    ("response", "reference"),
    [("", ""), ("", "a"), ("a", ""), ("...", "a"), ("中文", "中文"), ("\n\n", "a\nb"), ("a", "\n")],
)
@pytest.mark.parametrize("type", TYPES)
def test_texts_without_words_score_0_as_in_rouge_score(
    response: str, reference: str, type: Type
) -> None:
    assert RougeScorer([type]).score(reference, response)[type].fmeasure == 0
    for measure in MEASURES:
        assert scored(Rouge(type, measure), response, reference).value == 0.0


# --- the metric --------------------------------------------------------------------------------


def scored(metric: Rouge, response: str, *references: str) -> Score:
    sample = Sample(response=response, references=references)
    return metric.score(sample, sample)


@pytest.mark.parametrize(
    ("type", "value"),
    [("rouge1", 8 / 15), ("rouge2", 4 / 13), ("rougeL", 8 / 15), ("rougeLsum", 8 / 15)],
)
def test_the_example_of_two_references(type: Type, value: float) -> None:
    response = "The dog doesn't like the cat."
    references = ("The dog has never met a cat.", "The dog is happy to see the cat.")
    assert scored(Rouge(type), response, *references).value == pytest.approx(value, abs=1e-12)


def test_each_measure_takes_the_reference_that_is_best_for_it() -> None:
    response, references = "a b c d", ("a", "a b c x y z u v w")
    assert scored(Rouge("rouge1", "recall"), response, *references).value == 1.0
    assert scored(Rouge("rouge1", "precision"), response, *references).value == 0.75
    assert scored(Rouge("rouge1"), response, *references).value == pytest.approx(6 / 13)


def test_a_word_counts_only_as_often_as_both_have_it() -> None:
    found = rouge_scores("the the the", ["the cat the"])
    assert found["rouge1"] == Overlap(2, 3, 3)
    assert found["rouge2"] == Overlap(0, 2, 2)
    assert found["rougeL"] == Overlap(2, 3, 3)


def test_a_text_shorter_than_an_n_gram_has_none() -> None:
    assert rouge_scores("", ["a b"], ["rouge2", "rouge3"]) == {
        "rouge2": Overlap(0, 0, 1),
        "rouge3": Overlap(0, 0, 0),
    }


def test_lines_are_the_sentences_of_rougelsum_only() -> None:
    response, reference = "c d\na b", "a b\nc d"
    assert scored(Rouge("rougeL"), response, reference).value == 0.5
    assert scored(Rouge("rougeLsum"), response, reference).value == 1.0


def test_stems_let_inflected_words_match() -> None:
    response, reference = "He studied running", "he studies runs"
    assert scored(Rouge("rouge1"), response, reference).value == pytest.approx(1 / 3)
    assert scored(Rouge("rouge1", stemmer=True), response, reference).value == 1.0


def test_statistics_add_up_to_the_value_of_the_whole() -> None:
    pairs = random_pairs(9, 60)
    for metric in (Rouge("rouge2"), Rouge("rougeLsum", "recall"), Rouge("rouge1", "precision")):
        scores = [scored(metric, prediction, reference) for reference, prediction in pairs]
        sums = {key: sum(s.stats[key] for s in scores) for key in Overlap._fields}
        whole = Overlap(**{key: int(count) for key, count in sums.items()})
        assert metric.over(scores) == pytest.approx(getattr(whole, metric.measure), abs=1e-12)
        assert metric.over(scores) == summarise(scores).micro
        for score in scores:
            assert (score.hits or 0) == pytest.approx((score.value or 0) * (score.total or 0))


def test_nothing_together_has_no_value() -> None:
    assert Rouge().over([]) is None
    assert Rouge().over([scored(Rouge(), "", ""), Score.failed("no references")]) is None


def test_a_sample_without_a_text_fails_and_no_judge_is_asked() -> None:
    judge = ScriptedJudge()
    whole = {"response": "a b", "reference": "a c"}
    samples = [whole, {"response": "a b"}, {"reference": "a c"}]
    run = evaluate(samples, [Rouge("rouge1"), Rouge(stemmer=True)], judge)
    assert run.metrics == ["rouge(type=rouge1)", "rouge(stemmer=true)"]
    for row, reason in zip(run.rows, ["", "references", "response"], strict=True):
        for score in row.scores.values():
            assert score.status == ("failed" if reason else "ok")
            assert reason in score.reason
    assert run["rouge(type=rouge1)"].mean == 0.5
    assert judge.asked == []


def test_parameters_are_in_the_name_where_they_differ() -> None:
    assert str(Rouge()) == "rouge"
    assert str(Rouge("rouge2", "recall", stemmer=True)) == (
        "rouge(type=rouge2, measure=recall, stemmer=true)"
    )


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(MissingField, match="no references"):
        rouge_scores("a", [])
    with pytest.raises(ConfigError, match="did you mean 'rougeL'"):
        rouge_scores("a", ["a"], ["rougel"])
    with pytest.raises(ConfigError, match="rouge0"):
        rouge_scores("a", ["a"], ["rouge0"])


# --- common subsequences -----------------------------------------------------------------------


def test_the_union_takes_the_path_of_rouge_score_among_several() -> None:
    # Against "b c" the first b of the reference is taken, so that "b" adds the second.
    expected = RougeScorer(["rougeLsum"]).score("b b", "b c\nb")["rougeLsum"]
    found = rouge_scores("b c\nb", ["b b"], ["rougeLsum"])["rougeLsum"]
    assert found == Overlap(2, 3, 2)
    assert (found.precision, found.recall) == (expected.precision, expected.recall)


def test_columns_of_no_text_share_nothing() -> None:
    assert Columns([]).common(["a"]) == 0
    assert Columns([]).union([["a"]], {"a": 1}) == 0
    assert Columns([["a"]]).union([], {}) == 0
    assert Columns([["a"]]).shared({}) == 0


# --- stems -------------------------------------------------------------------------------------


def made_words() -> Iterator[str]:
    """Words of random letters and English endings."""
    rng = random.Random(10)
    text = """
        ational tional enci anci izer bli abli alli entli eli ousli ization ation ator alism iveness
        fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance
        ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize ed ing s y
        ies ied eed sses ss ll e at bl iz ally fully tt
    """
    endings = re.findall(r"\S+", text)
    for _ in range(20_000):
        stem = "".join(rng.choices("aeiouybcdfglstwxzp1", k=rng.randint(0, 6)))
        yield stem + "".join(rng.choices(endings, k=rng.randint(0, 3)))


def test_stems_are_those_of_nltk() -> None:
    stem = PorterStemmer().stem
    irregular = "skies sky dying lying tying news innings outings cannings howe proceed exceed"
    for word in (*irregular.split(), *WORDS, *made_words()):
        assert porter(word.lower()) == stem(word.lower())


def test_stems_are_remembered_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rouge, "_STEMS", 3)
    stems = Stems()
    assert [stems[word] for word in ("studies", "his", "hopping", "relations", "studies")] == [
        "studi",
        "his",
        "hop",
        "relat",
        "studi",
    ]
    assert stems == {"relations": "relat", "studies": "studi"}


def test_a_metric_remembers_its_stems_and_stays_equal() -> None:
    metric = Rouge(stemmer=True)
    scored(metric, "studies", "studied")
    assert metric._stems == {"studies": "studi", "studied": "studi"}
    assert metric == Rouge(stemmer=True)
    assert hash(metric) == hash(Rouge(stemmer=True))
