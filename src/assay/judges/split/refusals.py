"""Refusals: sentences that say only that there is no answer."""

from __future__ import annotations

import re

_SORRY = (
    r"(?:(?:unfortunately|however|but|sorry|i(?:'m| am) (?:very |so |really )?(?:sorry|afraid)"
    r"|i apologi[sz]e|(?:my )?apologies)\b[\s,.:]*(?:that )?+)*+"
)
_PAPER = (
    r"(?:documents?|contexts?|passages?|texts?|information|sources?|articles?|excerpts?|results?"
    r"|snippets?|paragraphs?|materials?|knowledge base)"
)
# "The provided context" is what the model was given; "the results" may be anybody's.
_GIVEN = (
    r"(?:(?:provided|given|retrieved|supplied|above|search|input|following|available|reference"
    r"|source|context|knowledge) )"
)
_SURELY_OURS = (
    rf"(?:(?:the|this|these|your|any of the|none of the) (?:"
    rf"{_GIVEN}{{0,2}}(?:provided|given|retrieved|supplied|search) {_GIVEN}?{_PAPER}"
    rf"|{_GIVEN}?{_PAPER} (?:(?:you(?: have|'ve)? )?(?:provided|given|supplied|shared)"
    r"|(?:that )?(?:was|were|is|are) (?:provided|given|supplied)|above)))"
)
_MAYBE_OURS = rf"(?:(?:the|this|these|your|any of the|none of the) {_GIVEN}{{0,3}}{_PAPER})"
_NOT = r"(?:(?:do|does|did|is|are|was|were|has|have|can|could)(?: not|n't)|cannot)"
_SAY = (
    r"(?:contain|mention|provide|include|specify|state|say|give|address|discuss|answer|indicate"
    r"|offer|have|cover|tell|explain|reveal|describe|appear to \w+|seem to \w+)"
)
_ANY = (
    r"(?:(?:any|the|an?|enough|sufficient|specific|direct|explicit|relevant|clear|such|further|more"
    r"|that|this|your|complete|definitive|exact|useful|\w+ly) )"
)
_INFORMATION = r"(?:information|info|answers?|details?|question)"
_OBJECT = (
    rf"(?:{_ANY}{{0,4}}{_INFORMATION}\b|(?:it|this|that|so|them)\W*(?:$|but\b|however\b|in\b)"
    r"|(?:us |me )?(?:who|whom|whose|what|when|where|why|how|which|whether|if)\b)"
)
_TO_ANSWER = (
    r"to (?:answer|determine|say|tell|know|respond|identify|confirm|provide|give|conclude)\b"
)
_DONE = (
    r"(?:mentioned|stated|specified|provided|given|addressed|discussed|covered|included|found"
    r"|available|present|listed|contained|answered|disclosed)"
)
_KNOW = (
    r"(?:know|have|find|answer|provide|help|assist|see|determine|locate|give|tell|say|recall"
    r"|remember|access|comment|offer|idea|information|confirm|verify|browse|fulfil+)"
)
_I_DO_NOT = (
    r"i(?: really| simply| still| currently)? (?:do not|don't|cannot|can't|could not|couldn't"
    r"|have no|am not able|am unable|was unable|was not able|did not|didn't)\b ?"
)
_IN_PAPERS = (
    rf"(?:in|from|within|by|on|using|with) (?:any of )?(?:{_SURELY_OURS}|{_MAYBE_OURS})\W*$"
)
_REFUSES = re.compile(
    rf"\W*{_SORRY}(?:"
    r"(?:as|being) an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    r"[^.,]*,? (?:i|my)\b"
    r"(?=.*(?:not\b|n't\b|\bno\b|\bunable\b|\black|\blimited\b|\bwithout\b))"
    r"|i(?:'m| am) (?:just |only )?an? (?:ai|assistant|(?:large )?language model)\b"
    rf"|{_I_DO_NOT}(?:to |currently |actually |be able )*{_KNOW}\b"
    r"|i(?:'m| am) (?:not (?:sure|certain|able|aware)|unable|unsure)\b"
    # An apology alone; with a clause of its own it is news: "I'm afraid the store is closed."
    r"|(?<=sorry )(?:for (?:the|any|that|this)|to hear|about (?:that|this|the))\b[^,;:]*$"
    r"|(?<=afraid )(?:not|so)\W*$"
    r"|(?:that|this|it)(?:'s| is| falls) (?:outside|beyond) (?:of )?(?:my|the scope)\b[^,;:]*$"
    rf"|(?:based on )?{_SURELY_OURS},? (?:{_NOT} (?:\w+ly )?{_SAY}\b|(?:{_SAY}s?|has|lacks?) no\b)"
    rf"|(?:based on )?{_MAYBE_OURS} (?:(?:that )?.{{0,30}} )??(?:"
    rf"{_NOT} (?:\w+ly )?{_SAY}(?: {_OBJECT}|\W*$)"
    rf"|(?:(?:{_SAY}s?|has) no|lacks?) {_ANY}{{0,3}}(?:mention|{_INFORMATION})\b"
    rf"|{_NOT} (?:\w+ly )?(?:clear|enough|sufficient|available|{_DONE})"
    rf"(?:\W*$| (?:on|about|as to|whether|who|what|when|{_TO_ANSWER}|{_IN_PAPERS})))"
    rf"|(?:the|this|that|such)(?: \w+)? {_INFORMATION}(?: to (?:this|that|the|your) question)?"
    rf" {_NOT} (?:\w+ly )?{_DONE}(?:\W*$| {_IN_PAPERS})"
    rf"|(?:it|this|that)(?:'s| is| was) not (?:\w+ly )?{_DONE} {_IN_PAPERS}"
    r"|there (?:is|was|are) (?:no|not (?:any|enough|sufficient)) (?:\w+ ){0,2}(?:"
    r"(?:information|info|details?)\b[^,;:]{0,100}$"
    r"|(?:mention|answers?|context)\b(?:"
    r"(?: (?:of|about|to|for) (?:it|this|that|(?:this|that|the|your) question))?\W*$"
    rf"|(?: (?:of|about|to|for|on) .{{1,60}}?)?? {_IN_PAPERS}))"
    r"|(?:no|insufficient|not enough) (?:\w+ ){0,2}(?:information|answer|context)\b"
    rf"(?:\W*$|.{{0,60}}\b(?:available|provided|found)\W*$|.{{0,60}} {_IN_PAPERS})"
    r"|(?:it is|it's) not (?:possible|clear) (?:"
    rf"{_TO_ANSWER} (?:this|that|it|(?:the|this|your|that) (?:question|answer))\b"
    rf"|to .{{1,80}}? (?:based on|given) {_MAYBE_OURS}\W*$|(?:to .{{1,80}}? )?{_IN_PAPERS})"
    r"|(?:unknown|unanswerable|n/?a|not (?:available|mentioned|specified|provided|found)"
    r"|no answer|idk|sorry)\W*$"
    r")",
    re.IGNORECASE,
)
_APOLOGY = re.compile(
    r"\W*(?:i(?:'m| am) (?:\w+ )?(?:sorry|afraid)|i apologi[sz]e|unfortunately)\W*", re.IGNORECASE
)
_GOES_ON = re.compile(r"(?:[,;]? (?:but|however|though|although)|;)[ ,]+", re.IGNORECASE)


def refusal_end(sentence: str) -> int | None:
    """Where a refusal that a sentence (with single spaces) begins with gives way to more.

    The length of the sentence where nothing follows; None where it begins with no refusal.

    >>> refusal_end("I don't know."), refusal_end("I do, but he left.")
    (13, None)
    """
    if _APOLOGY.fullmatch(sentence):
        return len(sentence)
    found = _REFUSES.match(sentence)
    if found is None:
        return None
    more = _GOES_ON.search(sentence, max(0, found.end() - 6))
    return len(sentence) if more is None else more.end()
