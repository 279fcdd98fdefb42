"""Which sentences claim nothing, and which only look like it."""

from __future__ import annotations

import time

import pytest

from assay.judges.split import split_claims
from assay.judges.split.nonclaims import claims_nothing

CLAIMS = [
    # conditions and advice that begin as an offer does
    "If you have a fever above 39 C, contact a doctor within 24 hours.",
    "If you need a visa, you must contact the embassy 30 days before travel.",
    "If you have questions about taxes, the IRS helpline is open until 9 pm and staff will help.",
    "If you want to vote, you need to register, and the clerk will help you.",
    "If you require insulin, ask the pharmacist for a cool bag.",
    "If you need assistance, call the front desk, which is staffed all night.",
    "If you have a reservation, you can ask the driver for a discount.",
    "Feel free to swim in the lake, which is open all year.",
    "Do not hesitate to call the fire service if you smell gas.",
    "Please provide a passport at the border.",
    "Please provide additional documents at the border.",
    "Please contact us at 555-0199, open from 9 am to 5 pm.",
    "Just ask the guard at the gate.",
    # an opener before an answer
    "Sure, I can confirm the capital is Paris.",
    "Certainly, I will tell you that the bridge opened in May.",
    "Of course I can help: the capital is Paris.",
    "Sure, here is the answer: the capital is Paris.",
    "Okay, here in Paris the shops close at nine.",
    "Hello, I'm happy to report that the store closes at nine.",
    "Thank you for your service was the title of the film.",
    "Sure, let me say the capital is Paris.",
    "I hope that the war ends in May.",
    "I am here to study glaciers.",
    # apologies with news
    "I'm afraid the store closes at 9 pm.",
    "I'm sorry the museum is closed on Mondays.",
    "Unfortunately, the ship sank in 1912.",
    "Sorry, but the last train leaves at nine.",
    "I'm not sure, but the store is not open on Sundays.",
    "I don't know the date; the treaty was signed in Paris.",
    # negations about the world
    "The results did not include children under five.",
    "There is no mention of women in the 1791 constitution.",
    "This passage is not clear evidence of guilt.",
    "The documents were not available to the defence.",
    "The article does not mention the king by name.",
    "The information was not disclosed by the company.",
    "The results do not provide evidence that tea cures colds.",
    "These texts have no known author.",
    "There is no answer in the Bible.",
    "It is not possible to determine the mass of a photon.",
    "The source does not contain lead.",
    "As an AI language model, GPT-2 was trained on web pages.",
    "No context was needed.",
]
NOTHING = [
    # refusals
    "I'm sorry, but I don't have enough information to answer that.",
    "I am afraid I cannot help with this request.",
    "I'm afraid not.",
    "I'm sorry for the confusion.",
    "Sorry, I couldn't find anything about her in the documents.",
    "Unfortunately, the provided passages do not specify the year.",
    "The context does not provide enough information to answer the question.",
    "The passage doesn't say who won.",
    "The text does not mention this.",
    "The documents do not explicitly state when it was signed.",
    "These sources contain no information about his family.",
    "The search results do not mention a second edition.",
    "The documents you provided do not discuss taxes.",
    "The provided context is not sufficient to determine the cause.",
    "This information is not provided in the context.",
    "This is not mentioned in the given documents.",
    "The answer is not available in the text.",
    "There is no mention of this in the provided context.",
    "There is not enough information to say.",
    "There is no information about her birth.",
    "No relevant information was found.",
    "It is not possible to determine this from the given passages.",
    "It's not possible to answer the question based on the provided documents.",
    "As an AI, I cannot browse the internet.",
    "I don't know, but I'd be happy to help with other questions.",
    "I do not know; the documents do not say.",
    "I was unable to find the answer, however, feel free to ask another question.",
    "That is beyond my knowledge.",
    # greetings, offers, closers
    "Sure!",
    "Sure, I can help with that!",
    "Certainly! Here is the answer to your question:",
    "Of course, I will explain how it works:",
    "Okay, let's take a look.",
    "Hi there!",
    "Thanks for asking!",
    "Thank you for your question.",
    "No problem, happy to help!",
    "I'd be happy to provide more details if needed.",
    "I'm here to help.",
    "Please let me know if you need anything else.",
    "Let me know if you would like more on the war of 1812.",
    "Feel free to ask me about other topics.",
    "Feel free to reach out if you have more questions.",
    "Don't hesitate to ask any further questions!",
    "Please provide more context so I can help.",
    "Please provide the text.",
    "Could you please clarify what you mean.",
    "If you have more questions about taxes, let me know.",
    "If you need further help, please don't hesitate to contact me.",
    "If you provide more context, I can help you.",
    "If you'd like, I can explain it further.",
    "If there is anything else, just ask.",
    "I hope this information is useful.",
    "Hope that helps, and let me know if you have questions!",
    "Is there anything else you would like to know",
    "Have a great day!",
]


@pytest.mark.parametrize("text", CLAIMS)
def test_what_may_be_a_claim_is_kept(text: str) -> None:
    assert not claims_nothing(text)
    assert split_claims(text) != []


@pytest.mark.parametrize("text", NOTHING)
def test_what_says_nothing_of_the_world_is_no_claim(text: str) -> None:
    assert claims_nothing(text)
    assert split_claims(text) == []


@pytest.mark.parametrize("text", NOTHING)
def test_typographic_quotes_and_line_breaks_change_nothing(text: str) -> None:
    assert claims_nothing(text.replace("'", "’").replace(" ", "\n", 1))


@pytest.mark.parametrize(
    "unit",
    [
        "if you need ", "the provided ", "sorry but ", "sure, sure ", "feel free to ask ",
        "there is no information about ", "i do not know; ", "the context does not ",
        "please provide more information ", "i can help you with ", "to answer this from the text ",
    ],
)  # fmt: skip
def test_the_patterns_are_quick_on_any_sentence(unit: str) -> None:
    text = (unit * 60)[:499]
    start = time.perf_counter()
    claims_nothing(text)
    claims_nothing("I can " + text[6:])
    assert time.perf_counter() - start < 0.5
