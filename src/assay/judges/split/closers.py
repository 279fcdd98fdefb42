"""Greetings, offers and closers: what a chat says around its answer."""

from __future__ import annotations

import re

_OPENER = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|(?:great|good) question|hello|hi"
    r"|hey|thanks|thank you|you(?:'re| are) welcome|good (?:morning|evening|afternoon)|no problem"
    r"|alright|my pleasure)"
)
_I_WILL = r"i(?:'d|'ll| would| will| can| could)"
_GLADLY = r"(?: (?:be|gladly|certainly|definitely|also|love|try|happy|glad|delighted|able|to))*"
_HELP = (
    r"(?:help|assist|answer|clarify|explain|elaborate|summari[sz]e|look|provide|share|offer|give"
    r"|walk|break|search|check|discuss|expand)"
)
# The words of an offer that says nothing about the world.
_VAGUELY = (
    r"(?: (?:you|me|with|about|on|for|to|at|into|in|down|out|up|through|by|if|any|some|more|further"
    r"|additional|other|another|general|the|this|that|these|it|them|your|a|an|all|as|best|i|can"
    r"|needed|need|like|want|have|would|possible|step|questions?|information|details?|help|topics?"
    r"|context|task|request|answers?|quer(?:y|ies)|explanation|summary|overview|clarification"
    r"|assistance|things?|anything|everything|whatever|whenever|below|here|now|today|again|so|also"
    r"|documents?|text|passages?|article))*\W*$"
)
# What is left of a closer: no number or address, and no second clause that could be a claim.
_REST = r"(?:(?!\d|www\.|https?:|[,;:] (?:which|who|where|but|because|and|since)\b)[^:;])*$"
_TO_ME = (
    r"(?:(?:ask|tell|contact|message|email|call|ping) (?:me|us)|let (?:me|us) know"
    r"|(?:reach out|write|get back|come back|get in touch)(?: (?:to|with) (?:me|us))?"
    r"|ask(?: away)?)"
)
_FOR = (
    r"(?:\W*$|,? (?:if|with|about|again|any|any ?time|when|whenever|at any time|more|further"
    rf"|another|additional|follow-?up|questions?|for (?:more|further|any|help)|directly)\b{_REST})"
)
_PAPER = (
    r"(?:contexts?|details?|information|documents?|texts?|questions?|passages?|clarification"
    r"|specifics|quer(?:y|ies)|sources?|articles?)"
)
_GIVE = (
    r"(?:provide|share|specify|clarify|give|supply|send|upload|paste|rephrase)"
    r"(?: (?:me|us)(?: with)?)? (?:"
    rf"(?:some )?(?:more|additional|further) (?:\w+ )?{_PAPER}"
    r"(?:\W*$| (?:about|on|regarding|for|so|and i|if|or|to help|to answer)\b)"
    rf"|(?:(?:the|your|a|any) )?(?:\w+ )?{_PAPER}(?:\W*$|,? (?:so|for me|and i|you)\b)){_REST}"
)
_CLOSER = (
    rf"(?:{_I_WILL}{_GLADLY} {_HELP}{_VAGUELY}"
    rf"|i(?:'m| am) (?:always |more than )?(?:happy|glad|here|able|ready) to {_HELP}{_VAGUELY}"
    r"|i(?:'m| am) here(?: for you)?\W*$"
    rf"|(?:(?:feel free|(?:do not|don't|never) hesitate) to|you can(?: always)?|just|always)"
    rf" (?:{_TO_ME}{_FOR}|{_GIVE})"
    r"|feel free\W*$"
    rf"|let (?:me|us) know\b{_REST}|let (?:me|us) know if you\b[^:;]*$"
    rf"|{_TO_ME}{_FOR}|{_GIVE})"
)
_HERE = (
    r"here ?(?:(?:'s|is|are) (?:(?:\w+ ){0,3}(?:answers?|summary|information|list|explanation"
    r"|overview|details?|breakdown|response|steps?|points?|outline)"
    r"(?: (?:of|to|for|on|about) (?:\w+ ){0,4}?\w+)?\W*$|what i found\W*$|.*:\W*$)"
    r"|(?:you (?:go|are)|it is)\W*$|.*:\W*$)"
)
_LET_US = (
    r"let(?:'s| me) (?:see|explain|think|check|look|help|clarify|summari[sz]e|break|go|start|begin"
    r"|dive|take|find|walk|answer)(?!.*\b(?:is|are|was|were)\b)(?: [\w']+){0,6}\W*$"
)
_AFTER_OPENER = (
    rf"(?:\W*$|\W* (?:{_CLOSER}|{_I_WILL}\b.*:\W*$|{_HERE}|{_LET_US}|there\W*$"
    rf"|happy to {_HELP}{_VAGUELY}"
    r"|(?:so much )?for (?:asking|reaching out|your (?:question|patience|message|interest|inquiry"
    r"|understanding|time|query|feedback|help))\W*$))"
)
_HOPE = (
    r"(?:i (?:really |sincerely )?)?hope (?:this|that|it|these|you) (?:\w+ ){0,2}?"
    r"(?:helps?|answers?|clarif\w+|clears?|makes sense|helpful|useful|works for you|find this)\b"
    rf"(?:{_REST}|[^,;:]*,? and (?:please )?{_CLOSER})"
)
_SPEAKS = re.compile(
    rf"\W*(?:{_OPENER}(?:\W+{_OPENER})?{_AFTER_OPENER}"
    rf"|(?:if (?:you|there|anything|something)\b[^:;?]{{0,160}}?,? )?(?:please,? )?{_CLOSER}"
    rf"|{_HOPE}"
    r"|(?:could|can|would) you (?:please )?(?:provide|clarify|specify|share|rephrase|tell me"
    r"|give me)\b.*$"
    r"|is there anything else\b.*$"
    r"|have a (?:great|nice|good|wonderful|lovely) (?:day|evening|week|weekend|one)"
    r"(?: ahead)?\W*$)",
    re.IGNORECASE,
)


def speaks(sentence: str) -> bool:
    """Whether a sentence with single spaces only greets, offers help or asks for more.

    >>> speaks("Feel free to ask!"), speaks("Feel free to swim in the lake.")
    (True, False)
    """
    return _SPEAKS.match(sentence) is not None
