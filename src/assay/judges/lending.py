"""What a question may lend to a short premise that is read after it: its sense, not its claims."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from assay.judges.split.grammar import find_main
from assay.judges.split.lexicon import AUX
from assay.judges.split.tokens import tokens
from assay.text import content_words, words

MARGIN = 1.5
"""Log-odds by which a premise must raise what the question alone makes of a claim."""
_LONGEST = 500
"""Characters of a claim whose subject is looked for."""
_AFFIRMS = re.compile(
    r"""\W*(?:(?:yes|yeah|yep)\b(?!\ and\ no\b)
        |(?:correct|right|true|indeed|certainly|exactly|absolutely|definitely|of\ course
            |(?:that|this|it)(?:\ is|'s|\ was)\ (?:right|correct|true|so)
            |(?:it|he|she|they|that|this|these|those|there|we|you|i)
             \ (?:is|are|was|were|am|has|have|had|do|does|did|can|could|will|would|may|might
                |must|should))
         (?:\W*$|\ ?[,.;:!–—-]))""",
    re.VERBOSE | re.IGNORECASE,
)
_DENIES = frozenset(["no", "never", "false", "untrue", "incorrect", "wrong"])
_ASKS = frozenset(["who", "whom", "whose", "what", "which", "when", "where", "why", "how"])
_PIECE = re.compile(r"[/;,\n]|\b(?:and|or)\b")
_PRONOUN = re.compile(
    r"\W*\b(it|he|she|they|this|these|those)\b(?!['’])(?:\s+(\w+))?", re.IGNORECASE
)


def answers(question: str, premise: str, claim: str) -> bool:
    """Whether a premise says of a claim what only the question makes whole: its reading stands.

    So does a "yes" to a yes-or-no question, and a part of the claim that the question asks for.

    >>> answers("Is it red?", "Yes.", "It is red."), answers("Why is it red?", "Yes.", "It is red.")
    (True, False)
    >>> answers("Which city?", "Rome", "The city is Rome."), answers("Is it Rome?", "Oslo", "Rome")
    (True, False)
    """
    plain = " ".join(premise.replace("’", "'").split())
    if _AFFIRMS.match(plain):
        return _is_affirmed(words(question), claim)
    claimed = frozenset(content_words(claim))
    known = _known(words(question))
    parts = (frozenset(content_words(part)) for part in _PIECE.split(premise))
    return any(part <= claimed and not part <= known for part in parts if part)


def alone(question: str, premise: str, claim: str) -> str:
    """The premise without the question; a pronoun that opens it gives way to the claim's subject.

    Only where the question names that subject.

    >>> alone("Why has the pump legs?", "It has five.", "The pump has five legs.")
    'The pump has five.'
    """
    found = _PRONOUN.match(premise)
    subject = _subject(claim, found[2] or "") if found else ""
    named = frozenset(content_words(subject))
    if found is None or not named or not named <= frozenset(content_words(question)):
        return premise
    return premise[: found.start(1)] + subject + premise[found.end(1) :]


def _is_affirmed(asked: list[str], claim: str) -> bool:
    """Whether a "yes" to the question affirms the claim as far as "not" and the like go."""
    if not asked or not (asked[0] in AUX or _ASKS.isdisjoint(asked)):
        return False
    # "Isn't it?" asks what "Is it?" asks, and "or not" changes nothing.
    denials = _denials(asked[1:])
    denials["not"] -= sum(pair == ("or", "not") for pair in pairwise(asked))
    return +denials == _denials(words(claim))


def _denials(said: Iterable[str]) -> Counter[str]:
    return Counter(
        "not" if word in ("not", "cannot") or word.endswith("n't") else word
        for word in said
        if word in _DENIES or word in ("not", "cannot") or word.endswith("n't")
    )


def _known(asked: list[str]) -> frozenset[str]:
    """The content words that the question does not ask for: all but those about an "or"."""
    choice = {k + step for k, word in enumerate(asked) if word == "or" for step in (-1, 1, 2)}
    return frozenset(content_words(" ".join(w for k, w in enumerate(asked) if k not in choice)))


def _subject(claim: str, verb: str) -> str:
    """The words of a claim before the verb, if it is there, or before what the rules take for one.

    "" where they cannot tell.
    """
    found = tokens(claim, 0, len(claim)) if len(claim) <= _LONGEST else []
    for token in found[1:]:
        if token.low == verb.lower():
            return claim[found[0].start : token.start].rstrip()
    main = find_main(found) if found else None
    return claim[found[main.start].start : found[main.head - 1].end] if main else ""
