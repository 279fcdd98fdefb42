"""Which sentences of a premise bear on a claim: short enough, in order, verbatim, quickly."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judges.evidence import PIECE, Passage, overlap
from assay.text import content_words

WORDS = ["rain", "snow", "wind", "Paris", "the", "of", "not", "3.5", "ice", "London"]
sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(
    lambda words: " ".join(words).capitalize() + "."
)
premise = st.lists(sentence, min_size=1, max_size=30).map(" ".join)
claim = st.frozensets(st.sampled_from(["rain", "snow", "paris", "ice", "absent"]), max_size=4)


def claim_of(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


# --- cutting up ----------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.text(max_size=300))
def test_pieces_lie_in_the_text_in_order_and_apart(text: str) -> None:
    passage = Passage.of(text)
    assert passage.text == text
    at = 0
    for start, end in passage.spans:
        assert at <= start <= end <= len(text)
        at = end
    assert len(passage.spans) == len(passage.contents) == len(passage.lengths) >= 1
    for (start, end), length in zip(passage.spans, passage.lengths, strict=True):
        assert length == len(text[start:end].split()) <= PIECE


@settings(max_examples=100)
@given(st.text(max_size=300), claim)
def test_a_quote_is_verbatim(text: str, words: frozenset[str]) -> None:
    passage = Passage.of(text)
    span = passage.quote(range(len(passage.spans)), words)
    if span is not None:
        assert span.quote == text[span.start : span.end] != ""


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2003"])
def test_a_blank_premise_has_no_quote(text: str) -> None:
    passage = Passage.of(text)
    assert passage.words == 0
    assert passage.quote(passage.select(frozenset(), 100), frozenset()) is None


def test_long_text_without_sentences_is_cut_in_pieces() -> None:
    text = " ".join(f"cell{n}" for n in range(1000))
    passage = Passage.of(text)
    assert passage.lengths == (PIECE,) * 12 + (1000 - 12 * PIECE,)
    assert " ".join(text[a:b] for a, b in passage.spans) == text
    chosen = passage.select(frozenset({"cell700"}), 2 * PIECE)
    assert 700 // PIECE in chosen
    quote = passage.quote(chosen, frozenset({"cell700"}))
    assert quote is not None
    assert "cell700" in quote.quote.split()


def test_one_endless_word_is_one_piece() -> None:
    passage = Passage.of("x" * 10_000)
    assert (passage.spans, passage.words) == (((0, 10_000),), 1)


# --- choosing --------------------------------------------------------------------------------


@settings(max_examples=50)
@given(premise, claim, st.integers(PIECE, 200))
def test_what_is_chosen_is_in_order_and_short_enough(
    text: str, words: frozenset[str], most: int
) -> None:
    passage = Passage.of(text)
    chosen = passage.select(words, most)
    assert chosen == sorted(set(chosen))
    assert chosen
    assert sum(passage.lengths[i] for i in chosen) <= most
    if passage.words <= most:
        assert chosen == list(range(len(passage.spans)))
    cut = passage.cut(chosen, most)
    assert len(cut.split()) <= most
    assert cut == text or cut.split() == [
        word for i in chosen for word in text[slice(*passage.spans[i])].split()
    ]


@settings(max_examples=50)
@given(premise, claim, st.integers(1, PIECE))
def test_cut_keeps_to_any_limit(text: str, words: frozenset[str], most: int) -> None:
    passage = Passage.of(text)
    cut = passage.cut(passage.select(words, most), most)
    assert 1 <= len(cut.split()) <= most


@settings(max_examples=50)
@given(premise, claim, st.integers(PIECE, 200))
def test_a_sentence_with_the_most_of_the_claim_is_chosen(
    text: str, words: frozenset[str], most: int
) -> None:
    passage = Passage.of(text)
    chosen = passage.select(words, most)
    covered = {word for i in chosen for word in passage.contents[i] & words}
    anywhere = {word for content in passage.contents for word in content & words}
    assert bool(covered) == bool(anywhere)


FILLER = "Nothing much was said about the weather that day by anyone. " * 30


def test_the_sentences_that_hold_the_claim_s_words_are_chosen_wherever_they_are() -> None:
    text = f"{FILLER}Curie was born in Warsaw. {FILLER}She won the Nobel Prize in 1903. {FILLER}"
    passage = Passage.of(text)
    words = claim_of("Curie, born in Warsaw, won the Nobel Prize in 1903.")
    cut = passage.cut(passage.select(words, 100), 100)
    assert "Curie was born in Warsaw." in cut
    assert "She won the Nobel Prize in 1903." in cut
    assert cut.index("Curie") < cut.index("Nobel")
    quote = passage.quote(passage.select(words, 100), claim_of("Curie was born in Warsaw."))
    assert quote is not None
    assert quote.quote == "Curie was born in Warsaw."


def test_a_premise_without_a_word_of_the_claim_is_read_from_its_start() -> None:
    passage = Passage.of(" ".join(f"Sentence {n} goes here today." for n in range(100)))
    chosen = passage.select(frozenset({"zebra"}), 50)
    assert chosen == list(range(10))
    assert passage.quote(chosen, frozenset({"zebra"})) is not None
    assert passage.select(frozenset(), 50) == chosen


def test_a_premise_that_fits_is_left_as_it_is() -> None:
    text = "  One line.\n\n- an item\n"
    passage = Passage.of(text)
    assert passage.cut(passage.select(frozenset({"item"}), 100), 100) == text


def test_of_sentences_that_hold_as_much_the_shortest_is_quoted_then_the_first() -> None:
    text = "Rain fell on us all day long. Rain fell there. Rain fell here."
    quote = Passage.of(text).quote([0, 1, 2], frozenset({"rain"}))
    assert quote is not None
    assert quote.quote == "Rain fell there."


# --- overlap -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "premise", "share"),
    [
        ("Paris has three airports.", "The airports of Paris", 2 / 3),
        ("Paris.", "", 0.0),
        ("", "anything", 1.0),
        ("It was the one of those", "anything", 0.0),
        ("Einstein's theory", "the theory of einstein", 1.0),
        ("rain rain sun", "rain", 2 / 3),
        ("相对论", "论", 1 / 3),
    ],
)
def test_overlap_is_the_share_of_content_words(claim: str, premise: str, share: float) -> None:
    assert overlap(claim, premise) == pytest.approx(share)


@given(st.text(max_size=100), st.text(max_size=100))
def test_overlap_is_a_share_and_whole_with_itself(claim: str, premise: str) -> None:
    assert 0 <= overlap(claim, premise) <= 1
    assert overlap(claim, f"{claim} {premise}"[: len(claim)]) == 1.0


# --- time ----------------------------------------------------------------------------------------

PROSE = "Sentence number {n} tells of {m} things seen in town {k}. "


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("".join(PROSE.format(n=n, m=n % 97, k=n % 31) for n in range(3600)), 1),
        ("town " * 40_000, 1),
        ("x" * 200_000, 1),
        (("town and country " * 9 + "end. ") * 1200, 1),
        ("town\n" * 40_000, 3),
        ("Town. " * 33_000, 3),
    ],
    ids=["prose", "no sentence ends", "one word", "long", "lines of a word", "one-word sentences"],
)
def test_200_kb_take_no_long_time(text: str, seconds: float) -> None:
    assert len(text) > 180_000
    words = frozenset({"town", "things", "97", "3598", "country"})
    start = time.process_time()
    passage = Passage.of(text)
    chosen = passage.select(words, 165)
    passage.quote(chosen, words)
    assert time.process_time() - start < seconds
