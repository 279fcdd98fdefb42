"""Sentences that claim nothing: questions, refusals, greetings, closers, lead-ins."""

from __future__ import annotations

import re

# Longer sentences say something; the cap also bounds the time of the patterns.
_LONGEST = 500
_FLAGS = re.VERBOSE | re.IGNORECASE | re.DOTALL
_QUESTION = re.compile(r"[?？؟][\s\"'”’)*_]*$")
_SPEAKS = re.compile(
    r"""
    \W*(?:sure|certainly|of\ course|absolutely|okay|ok|great\ question|hello|hi|hey|thanks
        |thank\ you|you(?:'re|\ are)\ welcome|good\ (?:morning|evening|afternoon)|no\ problem
        |alright)
        (?:\W*$|[!,.]?\s+(?:i(?:'d|'ll|\ would|\ will|\ can)\b.*|there\W*|here\b.*[:!.]
            |happy\ to.*|for\ (?:asking|your).*|let(?:'s|\ me)\b.*)$)
    | \W*(?:i(?:'d|\ would)\ be\ (?:happy|glad|delighted)\ to
        |i(?:'m|\ am)\ (?:happy|glad|here)\ to
        |i\ hope\ (?:this|that|it)|(?:i\ )?hope\ (?:this|that|it)\ helps
        |(?:please\ )?(?:let\ me\ know|feel\ free|don't\ hesitate|do\ not\ hesitate)\b
        |(?:please\ )?(?:could|can|would)\ you\ (?:please\ )?(?:provide|clarify|specify|share)\b
        |if\ you\ (?:have|need|want|would\ like|require|'d\ like)\b.*
            \b(?:let\ me\ know|feel\ free|ask|help|assist|contact|reach\ out)\b
        |is\ there\ anything\ else|have\ a\ (?:great|nice|good)\ day|please\ provide\b).*$
    """,
    _FLAGS,
)
_SOURCE = (
    r"(?:documents?|contexts?|passages?|texts?|information|sources?|articles?|excerpts?|results?)"
)
_WHICH = r"""(?:(?:provided|given|retrieved|supplied|available|above|search|context|following|source
    |reference|knowledge|input)\ )*"""
_NOT = r"(?:(?:do|does|did|is|are|was|were|has|have|can|could)(?:\ not|n't)|cannot)"
_NONE = r"(?:(?:contain|provide|mention|give|offer)s?|has|have)\ no|lacks?"
_TELLS = r"""(?:contain|mention|provide|include|specify|state|say|available|give|address|discuss
    |clear|enough|sufficient|explicitly|directly|specifically|actually|appear)"""
_REFUSES = re.compile(
    rf"""
    \W*(?:(?:unfortunately|however|but|sorry|i(?:'m|\ am)\ (?:very\ |so\ )?(?:sorry|afraid)
        |i\ apologi[sz]e|apologies|my\ apologies)\b[\s,.]*(?:but\s+|that\s+)?)*
    (?:
      (?:as|being)\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)\b
    | i(?:'m|\ am)\ (?:just\ )?an?\ (?:ai|assistant|language\ model)\b
    | i\ (?:really\ |simply\ |still\ )?
        (?:do\ not|don't|cannot|can't|could\ not|couldn't|have\ no|am\ not\ able|am\ unable
            |was\ unable|was\ not\ able)\b\ ?
        (?:to\ |currently\ |actually\ )*
        (?:know|have|find|answer|provide|help|assist|see|determine|locate|give|tell|say|recall
            |remember|access|comment|offer|idea|information|confirm|verify|browse)\b
    | i(?:'m|\ am)\ (?:not\ (?:sure|certain|able|aware)|unable|unsure|sorry|afraid)\b
    | (?:based\ on\ )?(?:the|this|these|any\ of\ the|none\ of\ the|your)\ {_WHICH}{_SOURCE}
        \ (?:(?:you\ )?(?:provided|given|supplied|above|available|retrieved)\ )?
        (?:(?:that\ .{{0,30}}\ )?(?:{_NOT}\b\ (?:\w+\ ){{0,3}}?{_TELLS}\b
            |(?:{_NONE})\ (?:\w+\ )?(?:information|answer|mention|details?|data)\b))
    | there\ (?:is|was|are)\ (?:no|not\ (?:any|enough|sufficient))\ (?:\w+\ ){{0,2}}
        (?:information|mention|answer|details?|context)\b.{{0,80}}?
        (?:\W*$|\b(?:in|from|within)\ the\ |\b(?:available|provided)\b)
    | (?:no|insufficient|not\ enough)\ (?:\w+\ ){{0,2}}(?:information|answer|context)\b
        (?:\W*$|.{{0,60}}\b(?:available|provided|found)\W*$|.{{0,60}}\bthe\ {_WHICH}{_SOURCE}\b)
    | (?:it\ is|it's)\ not\ (?:possible|clear)\ (?:to\ |from\ the\ )
        .{{0,40}}(?:determine|answer|{_SOURCE})
    | (?:unknown|unanswerable|n/?a|not\ (?:available|mentioned|specified|provided|found)
        |no\ answer|idk|sorry)\W*$
    )
    """,
    _FLAGS,
)
# A refusal that goes on to say something is no refusal.
_GOES_ON = re.compile(
    r"[,;]?\s(?:but|however|though|although)\s+(?!i\b|the\b.*\bnot\b|this\b)", re.IGNORECASE
)
_APOLOGY = re.compile(
    r"\W*(?:i(?:'m|\s+am)\s+(?:\w+\s)?(?:sorry|afraid)|i\s+apologi[sz]e|unfortunately)\W*",
    re.IGNORECASE,
)
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
    plain = sentence.replace("’", "'")
    if not any(ch.isalnum() for ch in plain):
        return True
    if _QUESTION.search(plain[-12:]):
        return True
    return len(plain) <= _LONGEST and (_SPEAKS.match(plain) is not None or refuses(plain))


def refuses(sentence: str) -> bool:
    """Whether a sentence declines to answer and says nothing else.

    >>> refuses("The documents do not mention it."), refuses("The treaty was not signed.")
    (True, False)
    """
    plain = sentence.replace("’", "'")
    if re.fullmatch(_APOLOGY, plain):
        return True
    found = _REFUSES.match(plain)
    return found is not None and not _GOES_ON.search(plain, found.end())


def leads_in(sentence: str) -> bool:
    """Whether a sentence only announces what comes after its colon.

    >>> leads_in("To do so, follow these steps:"), leads_in("It has three parts:")
    (True, False)
    """
    if len(sentence) > _LONGEST or not sentence.rstrip().endswith((":", "：", ":*", ":**")):
        return False
    return _LEAD_IN.match(sentence.replace("’", "'")) is not None
