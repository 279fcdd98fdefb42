"""Blocks, sentences and words of a text."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import blocks, content_words, sentences, words


def cut(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        (
            "It cost 3.5 million. See https://x.org/a.b?c=d. Ok.",
            ["It cost 3.5 million.", "See https://x.org/a.b?c=d.", "Ok."],
        ),
        (
            "Dr. Who met Mr. J. Smith in the U.S. and left.",
            ["Dr. Who met Mr. J. Smith in the U.S. and left."],
        ),
        (
            "Call foo.bar() now. Version 1.2.3 is out.",
            ["Call foo.bar() now.", "Version 1.2.3 is out."],
        ),
        ('She said "Stop. Now!" and left. Fine.', ['She said "Stop. Now!" and left.', "Fine."]),
        ("police shot him . he died .", ["police shot him .", "he died ."]),
        ("今天很好。明天呢？", ["今天很好。", "明天呢？"]),
        ("नमस्ते। कैसे हो।", ["नमस्ते।", "कैसे हो।"]),
        ("مرحبا بالعالم. كيف حالك؟ جيد۔", ["مرحبا بالعالم.", "كيف حالك؟", "جيد۔"]),
        ("One\nTwo\n\nThree", ["One", "Two", "Three"]),
        ("- one\n* two\n1. three\n(2) four", ["one", "two", "three", "four"]),
        ("## Title\nText.", ["Title", "Text."]),
        ("First one. 2. Second one.", ["First one.", "2. Second one."]),
        ("😀 Great. 🎉 Done.", ["😀 Great.", "🎉 Done."]),
        ("", []),
        (" \n\t ", []),
        ("\x00", ["\x00"]),
        ("---\nText\n***", ["Text"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_a_question_in_quotes_does_not_end_the_sentence() -> None:
    one = 'The answer to the question "What year was it released?" is 1995.'
    assert cut(f"{one} {one}") == [one, one]


def test_fenced_code_is_one_piece_even_without_its_end() -> None:
    assert cut("See:\n```py\nx = 1. \ny()\n```\nDone.") == [
        "See:",
        "```py\nx = 1. \ny()\n```",
        "Done.",
    ]
    assert cut("```\na. b\n\nc. d") == ["```\na. b\n\nc. d"]


def test_a_wrapped_line_goes_on_but_a_new_item_does_not() -> None:
    long = "The quick brown fox jumps over the lazy dog and afterwards goes"
    assert cut(f"{long}\nhome to sleep.") == [f"{long}\nhome to sleep."]
    assert cut(f"{long}\n- home") == [long, "home"]
    assert cut(f"{long}\n\nhome") == [long, "home"]


def test_blocks_know_their_kind_and_indent() -> None:
    found = blocks("# A\n\n- b\n  - c\nd\n~~~\ne\n~~~")
    assert [(b.kind, b.indent) for b in found] == [
        ("heading", 0),
        ("item", 0),
        ("item", 2),
        ("text", 0),
        ("code", 0),
    ]


def test_a_sentence_longer_than_the_window_stays_whole() -> None:
    long = "word " * 2000 + "end."
    assert cut(f"Before. {long} After.") == ["Before.", long, "After."]


@given(st.text(max_size=300))
def test_spans_are_ordered_trimmed_and_cover_every_word(text: str) -> None:
    spans = sentences(text)
    assert all(a < b for a, b in spans)
    assert all(x[1] <= y[0] for x, y in itertools.pairwise(spans))
    assert all(text[a:b] == text[a:b].strip() for a, b in spans)


@given(
    st.lists(
        st.sampled_from(["He left", "3.5 apples", "汉字", "Dr. No", '"A. B"', "कैसे"]), max_size=60
    )
)
def test_no_letter_is_lost_between_sentences(parts: list[str]) -> None:
    text = ". ".join(parts)
    kept = "".join(cut(text))
    assert [c for c in kept if c.isalnum()] == [c for c in text if c.isalnum()]


def test_words_fold_case_and_keep_numbers_marks_and_cjk_apart() -> None:
    assert words("Don’t pay 1,234.50 ÉCLAIRS") == ["don't", "pay", "1,234.50", "éclairs"]
    assert words("汉字 and हिन्दी x_y") == ["汉", "字", "and", "हिन्दी", "x", "y"]
    assert words("re\u0301sume\u0301") == words("résumé")


def test_content_words_drop_function_words_but_not_negations() -> None:
    assert content_words("The cat's toys were never in the box") == ["cat", "toys", "never", "box"]


@pytest.mark.parametrize(
    "unit", ["The Super Bowl was held in 1967. ", "今天很好。", "a. ", "word ", "a\n", '"', "( "]
)
def test_long_texts_take_linear_time(unit: str) -> None:
    text = unit * (250_000 // len(unit))
    began = time.perf_counter()
    sentences(text)
    words(text)
    assert time.perf_counter() - began < 2.5
