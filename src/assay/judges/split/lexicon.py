"""English words by what they do in a sentence; one letter each, so that rules read as patterns."""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


AUX = word_set(
    """is are was were am has have had do does did will would can could may might must shall should
    isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't won't wouldn't can't
    cannot couldn't mightn't mustn't shouldn't"""
)
BE = word_set("is are was were am be been being isn't aren't wasn't weren't")
HAVE = word_set("has have had hasn't haven't hadn't")
MODAL = word_set(
    """will would can could may might must shall should do does did won't wouldn't can't cannot
    couldn't mightn't mustn't shouldn't don't doesn't didn't"""
)
PAST_AUX = word_set("was were had did wasn't weren't hadn't didn't")
# Past forms that are no participles, so that they need no auxiliary.
PAST = word_set(
    """became began broke chose came drove drank ate fell flew forgot forgave froze gave went grew
    hid knew ran rode rose saw shook sang sank spoke stole swam swore took tore threw woke wore
    wrote arose overcame undertook oversaw withdrew drew blew bit bore underwent rewrote overtook
    beat"""
)
PARTICIPLE = word_set(
    """born broken chosen driven drunk eaten fallen flown forgotten forgiven frozen given gone grown
    hidden known ridden risen seen shaken sung sunk spoken stolen sworn taken torn thrown woken
    worn written overseen undertaken withdrawn drawn blown beaten done shown been proven rewritten
    sewn swollen undergone"""
)
PAST_OR_PARTICIPLE = word_set(
    """made built held won found led left sold told kept met lost paid sent spent brought bought
    taught thought caught fought sought set put cut hit felt heard stood understood lived laid lay
    read rebuilt shot struck hung dealt meant fed fled bound bred spread split hurt cast broadcast
    died tied shut sat slept dug lent bent swept overheard upheld wed stuck spun won forecast"""
)
# Words in -ed that are no verbs, or are adjectives far more often.
NOT_PAST = word_set(
    """red bed need seed speed feed hundred sacred kindred naked indeed embed shed deed weed greed
    breed steed creed bleed exceed proceed succeed heed unaided unprecedented so-called talented
    gifted beloved advanced united wed wicked rugged ragged crooked aged medieval biased
    unlimited learned led"""
)
# Regular pasts that hardly ever stand before a noun as adjectives.
ACTIVE = word_set(
    """earned received served attended joined moved worked studied graduated appeared starred
    performed played married competed represented returned remained continued helped wanted
    started decided received enrolled relocated retired resigned collaborated contributed toured
    debuted ranked reached achieved gained obtained announced introduced launched directed produced
    portrayed voiced hosted coached managed taught won held led wrote made founded cofounded
    co-founded established signed finished scored recorded released published showcased featured
    explored pursued developed created developed garnered visited entered lived died passed
    focused included emerged happened occurred ended lasted arrived agreed refused tried used
    attacked defeated killed said told found left lost kept met brought bought spent sent stood
    became immigrated emigrated migrated settled grew trained travelled traveled lectured
    supported opposed advocated voted campaigned invested donated authored co-authored
    co-wrote cowrote composed covered sang danced acted modeled modelled formed merged acquired
    purchased replaced succeeded inherited converted raced hit allowed enabled caused"""
)
# Intransitives: after "was founded ... and", they are no passives.
INTRANSITIVE = word_set(
    """moved worked studied graduated appeared starred performed competed returned remained
    continued relocated retired resigned collaborated contributed toured debuted lived died passed
    served emerged happened occurred lasted arrived settled travelled traveled emigrated immigrated
    migrated married enrolled went came rose fell grew stood attended"""
)
_BASE = word_set(
    """include contain provide offer attract become begin belong consist cover describe serve depict
    feature produce convert allow enable help ensure prevent require involve reduce increase improve
    maintain promote remain seem appear continue give make take get keep find show live work play
    run hold write create develop receive use support protect avoid enhance contribute represent
    operate lead own teach learn consider believe contribute reside stand lie host perform star
    explore focus address publish release receive win earn teach generate store process measure
    absorb cause affect occur happen exist combine connect form grow spread treat cure follow
    encourage facilitate identify determine select choose click enter add remove delete configure
    install save open build apply replace define specify set discuss highlight emphasize suggest
    recommend celebrate honor recognize employ manufacture sell buy supply export import
    eliminate strengthen lower boost manage monitor control detect analyze evaluate explain
    understand obtain achieve reach meet join attend study travel move return
    carry bring send collect transport deliver move consume eat drink feed
    regulate govern establish extend range border flow house marry tell say claim argue
    state stretch span preside feature compete train coach specialize specialise"""
)
# Base forms that are as often nouns: a verb only where the grammar leaves no choice.
_NOUNISH = word_set(
    """work play run show help support use lead star focus address release store process measure
    cause form spread cure click build set honor supply export import boost control study travel
    move return range border flow house state stretch feature host treat cover reach span drink
    feed claim train coach project increase offer stand lower process answer transport address
    progress find hold exist apply open own live lie select save"""
)


def _third(base: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return base + "es"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ies"
    return base + "s"


BASE = _BASE - _NOUNISH
THIRD = frozenset(map(_third, _BASE - _NOUNISH)) | word_set("stands lives holds owns offers exists")
THIRD_NOUNISH = frozenset(map(_third, _NOUNISH)) - THIRD
SAY = word_set(
    """say says said claim claims claimed argue argues argued believe believes believed state states
    stated suggest suggests suggested report reports reported allege alleges alleged think thinks
    thought assert asserts asserted deny denies denied insist insists insisted warn warns warned
    note notes noted add adds added tell tells told write-that explain explains explained announce
    announces announced hope hopes hoped feel feels felt seem seems seemed appears-to doubt doubts
    doubted predict predicts predicted expect expects expected estimate estimates estimated
    recommend recommends recommended mean means meant"""
)
THINK = word_set(
    """say says said believe believes believed think thinks thought insist insists insisted admit
    admits admitted tells told suggests suggested argues argued knows deny denies denied"""
)
DETERMINER = word_set(
    "a an the this these those his her its their my our your each every some any no"
)
PRONOUN = word_set("he she it they we i you there this these")
PREPOSITION = word_set(
    """in on at by for from of with during until near into onto over under within without between
    among against through throughout across about around towards toward behind beyond despite
    inside outside via per upon alongside amid like unlike including following besides off out up
    down plus along above below beneath beside"""
)
SUBORDINATOR = word_set(
    """if because although though while when whenever whereas since unless as than that whether so
    where wherever how why what once lest after before till"""
)
RELATIVE = word_set("who which whom whose")
CONJUNCTION = word_set("and or but nor yet")
NEGATION = word_set(
    "not n't never neither nor no none nobody nothing without hardly rarely seldom few"
)
ADVERB = word_set(
    """also then later still now soon often always usually sometimes eventually never not even only
    just again already once thereafter afterwards afterward currently today instead therefore thus
    however moreover furthermore finally first ultimately consequently both all too either"""
)
QUANTITY = word_set("all both many several most various other different more two three four five")
# Third persons that are plurals as well.
PLURALS = word_set("lives stands holds offers means leaves")
MONTH = word_set(
    """january february march april may june july august september october november december jan
    feb mar apr jun jul aug sep sept oct nov dec"""
)
DAY = word_set("monday tuesday wednesday thursday friday saturday sunday")
ERA = word_set(
    "century centuries decade decades year years age month months week weeks summer winter"
)
SEASON = word_set("spring summer autumn fall winter early late mid")
ORGANISATION = word_set(
    """company corporation inc ltd university college school institute museum tower bridge party
    church band team club city county state states country river lake mountain mount war battle
    treaty act film series album song book novel magazine newspaper street park prize award cup
    bowl league league association organization organisation agency department ministry court
    council committee bank group union house hall hospital airport station theatre theater empire
    kingdom republic island islands ocean sea festival conference law bill program programme
    system project games game"""
)

_PAST_SUFFIX = re.compile(r"[a-z’'-]{2,}[a-z]ed$")
_NUMBER = re.compile(r"[$€£#]?\d[\d.,:/–-]*(?:st|nd|rd|th|s|%|bn|m|k)?$", re.IGNORECASE)
_CLOSED = {
    **dict.fromkeys(ADVERB, "J"),
    **dict.fromkeys(PREPOSITION, "I"),
    **dict.fromkeys(SUBORDINATOR, "S"),
    **dict.fromkeys(RELATIVE, "W"),
    **dict.fromkeys(DETERMINER, "D"),
    **dict.fromkeys(PRONOUN, "R"),
    **dict.fromkeys(CONJUNCTION, "C"),
    **dict.fromkeys(("this", "these", "each", "some", "any", "no"), "D"),
    "to": "T",
    **dict.fromkeys(AUX, "A"),
    "be": "b",
    "been": "b",
    "being": "b",
    "not": "X",
    "never": "X",
}
_OPEN = {
    **dict.fromkeys(THIRD_NOUNISH, "z"),
    **dict.fromkeys(THIRD, "Z"),
    **dict.fromkeys(BASE, "B"),
    **dict.fromkeys(PAST_OR_PARTICIPLE, "P"),
    **dict.fromkeys(PARTICIPLE, "N"),
    **dict.fromkeys(PAST, "V"),
}


def tag(word: str, *, starts: bool) -> str:
    """What a word may do: one letter.

    A auxiliary, V past, P past or participle, N participle, Z/z third person (z: or plural noun),
    B base form, b be/been, G -ing, D determiner, I preposition, T "to", R pronoun, C conjunction,
    S subordinator, W relative, J adverb, X not/never, M number, U name, O any other word.
    ``starts``: the word starts the sentence, so that a capital says nothing.
    """
    low = word.lower().replace("’", "'")
    if word[0].isupper() and not starts:
        return "R" if low == "i" and len(word) == 1 else "U"
    if closed := _CLOSED.get(low):
        return closed
    if found := _open(low):
        return found
    return "U" if word[0].isupper() else "O"


def _open(low: str) -> str | None:
    """The tag of a word of an open class, if its form shows one."""
    if low in _OPEN:
        return _OPEN[low]
    if _NUMBER.match(low):
        return "M"
    if low.endswith("ly") and len(low) > 4 and low not in ("family", "july", "italy", "assembly"):
        return "J"
    if low not in NOT_PAST and _PAST_SUFFIX.match(low):
        return "P"
    return "G" if low.endswith("ing") and len(low) > 5 else None
