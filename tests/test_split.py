"""Claims by rule: what is cut, what stays whole, what claims nothing."""

import itertools
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.errors import MissingExtra
from assay.judges.split import split_claims
from assay.judges.split.nonclaims import claims_nothing
from assay.judges.split_spacy import SpacySplitter, split_claims_spacy
from assay.sample import Claim
from assay.text import content_words


def made(text: str) -> list[str]:
    return [claim.text for claim in split_claims(text)]


# The worked examples of the noise sensitivity and faithfulness definitions.
WORKED = {
    "Leonardo da Vinci painted the Mona Lisa, and it was painted in the 15th century.": [
        "Leonardo da Vinci painted the Mona Lisa.",
        "The Mona Lisa was painted in the 15th century.",
    ],
    "Leonardo da Vinci painted the Mona Lisa in the 16th century.": [
        "Leonardo da Vinci painted the Mona Lisa in the 16th century."
    ],
    "Charlotte Brontë wrote 'Pride and Prejudice,' and she is famous for 'Jane Eyre.'": [
        "Charlotte Brontë wrote 'Pride and Prejudice'.",
        "Charlotte Brontë is famous for 'Jane Eyre.'",
    ],
    "Jane Austen wrote 'Pride and Prejudice.'": ["Jane Austen wrote 'Pride and Prejudice.'"],
    "Eating fruits and vegetables daily, drinking enough water, and avoiding processed foods can "
    "improve your diet.": [
        "Eating fruits and vegetables daily can improve your diet.",
        "Drinking enough water can improve your diet.",
        "Avoiding processed foods can improve your diet.",
    ],
    "The first Super Bowl was held on January 15, 1967, in Florida.": [
        "The first Super Bowl was held on January 15, 1967.",
        "The first Super Bowl was held in Florida.",
    ],
    "The first superbowl was held on Jan 15, 1967": [
        "The first superbowl was held on Jan 15, 1967"
    ],
    "Einstein was born in Germany on 14th March 1879.": [
        "Einstein was born in Germany.",
        "Einstein was born on 14th March 1879.",
    ],
    "Einstein was born in Germany on 20th March 1879.": [
        "Einstein was born in Germany.",
        "Einstein was born on 20th March 1879.",
    ],
}
CUT = {
    "Apple was founded by Steve Jobs and moved to Cupertino.": [
        "Apple was founded by Steve Jobs.",
        "Apple moved to Cupertino.",
    ],
    "The bridge was designed by Ann Lee and built by her firm.": [
        "The bridge was designed by Ann Lee.",
        "The bridge was built by her firm.",
    ],
    "The drug can lower blood pressure and reduce the risk of stroke.": [
        "The drug can lower blood pressure.",
        "The drug can reduce the risk of stroke.",
    ],
    "Marie Curie, a Polish physicist, won the Nobel Prize. She died in 1934.": [
        "Marie Curie won the Nobel Prize.",
        "Marie Curie was a Polish physicist.",
        "Marie Curie died in 1934.",
    ],
    "The Eiffel Tower, which was built in 1889, is located in Paris and stands 330 metres tall.": [
        "The Eiffel Tower is located in Paris.",
        "The Eiffel Tower was built in 1889.",
        "The Eiffel Tower stands 330 metres tall.",
    ],
    "She met Omar Said, who wrote two novels and resides in Oslo.": [
        "She met Omar Said.",
        "Omar Said wrote two novels.",
        "Omar Said resides in Oslo.",
    ],
    "Ana Ruiz (born 3 May 1960) is a Chilean singer and actress best known for her fado albums.": [
        "Ana Ruiz is a Chilean singer.",
        "Ana Ruiz is an actress.",
        "Ana Ruiz was born 3 May 1960.",
        "Ana Ruiz is best known for her fado albums.",
    ],
    "Born in Ohio, Jane Doe moved to Peru, wrote three books, and won a prize.": [
        "Jane Doe moved to Peru.",
        "Jane Doe was born in Ohio.",
        "Jane Doe wrote three books.",
        "Jane Doe won a prize.",
    ],
    'He acted in "Red Sky" (1990), "Low Tide," and "You and I".': [
        'He acted in "Red Sky" (1990).',
        'He acted in "Low Tide".',
        'He acted in "You and I".',
    ],
    "In Spain, the law is strict and covers all firms.": [
        "In Spain, the law is strict.",
        "In Spain, the law covers all firms.",
    ],
    "In 1990, he moved to Paris and died in 2001.": [
        "In 1990, he moved to Paris.",
        "He died in 2001.",
    ],
    "They moved to Rome and have two children.": [
        "They moved to Rome.",
        "They have two children.",
    ],
    "Lima is the capital; Cusco was its seat before.": [
        "Lima is the capital",
        "Cusco was its seat before.",
    ],
    "The correct answers are: 1987; 1988.": [
        "The correct answers are: 1987.",
        "The correct answers are: 1988.",
    ],
    "Bob Hill died in 1962 at the age of 91.": [
        "Bob Hill died in 1962.",
        "Bob Hill died at the age of 91.",
    ],
    "the whale swam nearly 14,000 miles and was tagged in mexico .": [
        "the whale swam nearly 14,000 miles.",
        "the whale was tagged in mexico.",
    ],
    "The documents do not mention it, but he was born in 1950.": ["He was born in 1950."],
    "This method does not use labels and is effective.": [
        "This method does not use labels.",
        "This method is effective.",
    ],
}
WHOLE = [
    "Bonnie and Clyde were outlaws.",
    "The war lasted between 1914 and 1918.",
    "The firm cut research and development costs.",
    "She read 'War and Peace' twice.",
    "Salt and pepper are spices.",
    "You can either stay here or leave and walk home.",
    "Johnson & Johnson, Inc. is a company.",
    "On the one hand, it is cheap and works well.",
    "If it rains and the ground freezes, the road closes and the bus stops.",
    "He said that the mayor resigned and left the city.",
    "Police say the man was shot and died at the scene.",
    "According to the mayor, the road was closed and reopened in May.",
    "When the valve opens, the pump starts and the tank fills.",
    "No company makes the engine and sells it in Europe.",
    "Ann Lee wrote and directed the film.",
    "She was the only winner in Spain in 1990.",
    "He did not win the race in Rome in 1960.",
    "Both the cat and the dog were fed.",
    "The company is a mix of old and new teams.",
    "It is a black and white film.",
    "The law bans fruit, vegetables, and processed foods.",
    "The plan failed because costs rose and sales fell.",
    "The merger between Alpha and Beta was approved.",
    "The city is located in Spain.",
    "He was responsible for children being found ill and sent to clinics.",
    "An editor would need to read it and have the time.",
    "He is known for a history of the Roman Empire, which has not survived.",
    "Rather than leave, he stayed and fought the case.",
]
NOTHING = [
    "I don't know.",
    "I don't know the answer to that question.",
    "I'm sorry, but the documents do not contain the answer.",
    "I’m sorry, I cannot help with that.",
    "As an AI language model, I have no opinions.",
    "The provided context does not mention his birthday.",
    "There is no information about this in the passages.",
    "Unfortunately, I am unable to find it.",
    "Based on the provided documents, there is no answer.",
    "Who wrote it?",
    "谁写的？",
    "Sure, I'd be happy to help!",
    "Hello!",
    "Let me know if you have any other questions.",
    "If you have more questions, feel free to ask!",
    "Hope this helps!",
    "I hope this helps.",
    "## Title",
    "**Summary**",
    "```py\nx = 1\n```",
    "Based on the provided documents, follow these steps:",
    "Here are the main points:",
    "...",
    "",
]
SOMETHING = [
    "Yes",
    "Paris.",
    "July 10, 2017",
    "The treaty was not signed.",
    "There is no evidence that tea cures colds.",
    "The original text of the law did not mention fish.",
    "Sure Start is a British programme.",
    "Hello Kitty is a Japanese character.",
    "No answer was given by the king.",
]


@pytest.mark.parametrize(("text", "expected"), [*WORKED.items(), *CUT.items()])
def test_cut(text: str, expected: list[str]) -> None:
    assert made(text) == expected


@pytest.mark.parametrize("text", WHOLE)
def test_stays_whole(text: str) -> None:
    assert made(text) == [text]


@pytest.mark.parametrize("text", NOTHING)
def test_claims_nothing(text: str) -> None:
    assert made(text) == []


@pytest.mark.parametrize("text", SOMETHING)
def test_claims_something(text: str) -> None:
    assert made(text) == [text]
    assert not claims_nothing(text)


def test_sentences_with_quoted_questions_are_one_claim_each() -> None:
    one = 'The answer to the question "What year was X and Y released?" is 1995.'
    two = 'The answer to the question "Who was first?" is Ann and Bob.'
    assert made(f"{one} {two}") == [one, two]


def test_the_words_that_name_the_source_are_no_part_of_the_claim() -> None:
    (claim,) = split_claims("Based on the provided documents, the fee is 5 euros.")
    assert claim == Claim("The fee is 5 euros.", 33, 52)


def test_list_items_take_their_lead_in_only_where_they_are_fragments() -> None:
    text = "The benefits include:\n- lower cost\n- It runs fast.\n- Speed: it is quick."
    assert made(text) == ["The benefits include lower cost", "It runs fast.", "Speed: it is quick."]
    steps = "To save, follow these steps:\n1. Click Save.\n2. Wait."
    assert made(steps) == ["Click Save.", "Wait."]


def test_a_whole_sentence_before_a_list_is_a_claim_unless_the_items_take_it_up() -> None:
    assert made("The plan has two parts:\n- It saves water.\n- It saves power.") == [
        "The plan has two parts.",
        "It saves water.",
        "It saves power.",
    ]


def test_pronouns_take_the_last_subject_only_where_it_is_certain() -> None:
    assert made("Ann Lee is a poet. She lives in Oslo. Her poems are short.") == [
        "Ann Lee is a poet.",
        "Ann Lee lives in Oslo.",
        "Ann Lee's poems are short.",
    ]
    assert made("The tower is old. It is clear that it leans.")[1] == "It is clear that it leans."
    assert made("Ann Lee met Jane Roe. She was a poet.")[1] == "She was a poet."
    assert made("Ann Lee is a poet. She sings. He dances too.")[2] == "He dances too."


@pytest.mark.parametrize(
    "text",
    [
        "Einstein wurde in Ulm geboren und starb in Princeton. Er war Physiker.",
        "Einstein nació en Ulm y murió en Princeton. Fue físico.",
        "爱因斯坦出生于德国。他于1955年去世。",
        "ولد أينشتاين في ألمانيا. وتوفي عام 1955.",
    ],
)
def test_other_languages_are_cut_into_sentences_only(text: str) -> None:
    claims = split_claims(text)
    assert len(claims) == 2
    assert all(claim.text == text[claim.start : claim.end] for claim in claims)


def test_spans_hold_the_clause() -> None:
    text = "Yes. Apple was founded by Jobs and moved to Cupertino."
    assert [text[c.start : c.end] for c in split_claims(text)] == [
        "Yes.",
        "Apple was founded by Jobs",
        "moved to Cupertino.",
    ]


SUBJECTS = [
    "The company",
    "Ann Lee",
    "She",
    "Ann Lee, a poet,",
    "The tower, which was old,",
    "Dogs",
]
VERBS = [
    "was founded by Bob Ray",
    "moved to Paris",
    "is a singer",
    "won a prize",
    "includes two parts",
]
JOINTS = [
    " and ",
    ", and ",
    ", and it ",
    "; ",
    ", who ",
    " or ",
    " because she ",
    ", ",
    " in 1990 in Rome and ",
]
ENDS = ["", " in Spain on 3 May 1999", ", born in Rome", ' in "A and B" and "C"', " (about 5%)"]


@given(
    st.lists(
        st.tuples(*map(st.sampled_from, (SUBJECTS, VERBS, JOINTS, VERBS, ENDS))),
        min_size=1,
        max_size=4,
    )
)
def test_no_content_word_is_lost(parts: list[tuple[str, str, str, str, str]]) -> None:
    text = " ".join("".join([s, " ", *rest, "."]) for s, *rest in parts)
    claims = split_claims(text)
    said = set(itertools.chain.from_iterable(content_words(claim.text) for claim in claims))
    assert set(content_words(text)) <= said
    assert_valid(text, claims)


def assert_valid(text: str, claims: list[Claim]) -> None:
    for claim in claims:
        assert claim.start is not None
        assert claim.end is not None
        assert 0 <= claim.start < claim.end <= len(text)
        assert claim.text.strip()


@given(st.text(max_size=200))
@example('"\'` ( and was, which" and')
@example("He was, who and.\x00")
def test_any_text_gives_valid_claims(text: str) -> None:
    assert_valid(text, split_claims(text))


WORDS = """
    the a he was is and , ; : ( ) " ' which who born in 1990 May Rome won won't not by to that if
    singing wrote can be - . ? “ ” ’s singer Anna 5% ** ` or but
"""
FRAGMENTS = [*WORDS.split(), "\n-", ":\n -"]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25))
def test_any_order_of_words_gives_valid_claims(parts: list[str]) -> None:
    text = " ".join(parts)
    claims = split_claims(text)
    assert_valid(text, claims)
    assert claims == split_claims(text)


@pytest.mark.parametrize(
    "unit",
    [
        "The bowl was held in Rome in 1967 and it was nice. ",
        "and he was ",
        "'a ",
        '"a" and ',
        "- a:\n",
        "今天。",
    ],
)
def test_long_texts_take_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit) // (10 if unit == "- a:\n" else 1))
    began = time.perf_counter()
    split_claims(text)
    assert time.perf_counter() - began < 4


def test_spacy_is_an_extra() -> None:
    try:
        import spacy
    except ImportError:
        with pytest.raises(MissingExtra, match=r"assay\[spacy\]"):
            split_claims_spacy("Ann Lee is a poet.")
    else:
        assert spacy.__version__


def test_spacy_cuts_the_worked_examples() -> None:
    pytest.importorskip("spacy")
    splitter = SpacySplitter()
    for text, expected in WORKED.items():
        claims = splitter(text)
        assert len(claims) == len(expected)
        assert_valid(text, claims)
    assert splitter("I don't know. Who was he?") == []
