"""Sentences that claim nothing: questions, refusals, greetings, closers, lead-ins.

A sentence that may be a claim counts as one: a lost claim is worse than an empty one.
"""

from __future__ import annotations

import re

from assay.judges.split.closers import speaks
from assay.judges.split.refusals import refusal_end

# Longer sentences say something; the cap also bounds the time of the patterns.
_LONGEST = 500
_FLAGS = re.VERBOSE | re.IGNORECASE | re.DOTALL
_QUESTION = re.compile(r"[?？؟][\s\"'”’)*_]*$")
_LEAD_IN = re.compile(
    r"""\W*(?:(?:based\ on|according\ to|from|given|using|per)
            \ (?:the|this|these|your|my|what)\b[^.:!?]*
        |here(?:'s|\ is|\ are|\ were)\b.*|(?:the\ )?following\b.*
        |(?:these|they|this|it)\ (?:are|include|is)|(?:the\ )?answer(?:\ is)?
        |in\ (?:summary|short|conclusion|brief)|to\ (?:summari[sz]e|conclude)
        |for\ (?:example|instance)|note|summary|conclusion|steps|sources?|references?|example
        |(?:please\ )?(?:follow|see|consider|try|check|do|use|take|you\ (?:can|should|need\ to|must
            |may)|to)\b.*\b(?:steps?|following|below|these)\b.*
        |.*\b(?:as\ follows|(?:the|these)\ (?:following|steps?)(?:\ \w+){0,2}))\W*[:：]\W*$""",
    _FLAGS,
)


def claims_nothing(sentence: str) -> bool:
    """Whether a sentence makes no claim about the world.

    >>> [claims_nothing(s) for s in ("I don't know.", "Who was he?", "Hope this helps!", "Yes.")]
    [True, True, True, False]
    """
    if not any(ch.isalnum() for ch in sentence):
        return True
    if _QUESTION.search(sentence[-12:]):
        return True
    return len(sentence) <= _LONGEST and (speaks(_plain(sentence)) or refuses(sentence))


def refuses(sentence: str) -> bool:
    """Whether a sentence declines to answer and says nothing else.

    >>> refuses("The documents do not mention it."), refuses("The treaty was not signed.")
    (True, False)
    """
    if len(sentence) > _LONGEST:
        return False
    plain = _plain(sentence)
    end = refusal_end(plain)
    # What comes after "but" may be an offer or the next refusal.
    return end is not None and (end == len(plain) or claims_nothing(plain[end:]))


def leads_in(sentence: str) -> bool:
    """Whether a sentence only announces what comes after its colon.

    >>> leads_in("To do so, follow these steps:"), leads_in("It has three parts:")
    (True, False)
    """
    if len(sentence) > _LONGEST or not sentence.rstrip().endswith((":", "：", ":*", ":**")):
        return False
    return _LEAD_IN.match(sentence.replace("’", "'")) is not None


def _plain(sentence: str) -> str:
    return " ".join(sentence.replace("’", "'").split())
