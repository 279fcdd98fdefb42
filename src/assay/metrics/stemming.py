"""English stems: Porter's algorithm with the changes that ROUGE scorers rely on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_IRREGULAR: Mapping[str, str] = MappingProxyType(
    {
        "skies": "sky",
        "sky": "sky",
        "dying": "die",
        "lying": "lie",
        "tying": "tie",
        "innings": "inning",
        "inning": "inning",
        "outings": "outing",
        "outing": "outing",
        "cannings": "canning",
        "canning": "canning",
    }
    | {word: word for word in ("news", "howe", "proceed", "exceed", "succeed")}
)


def _rules(text: str) -> Mapping[str, str]:
    """ "suffix>replacement" pairs as a mapping."""
    pairs = (rule.partition(">") for rule in text.split())
    return MappingProxyType({suffix: new for suffix, _, new in pairs})


_STEP_2 = _rules("""
    ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous
    ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive
    biliti>ble fulli>ful
""")
_STEP_3 = _rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4 = _rules(
    "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ou> ism> ate> iti> ous> ive> ize>"
)
_LONGEST = 7


def porter(word: str) -> str:
    """The stem of a lower-case English word.

    Porter's algorithm (1980) as NLTK has it by default, which is what rouge-score uses. It
    departs from the published one in these points: sixteen irregular forms; words of one or two
    letters stay; "dies" and "died" keep their e; final y becomes i after a consonant that is not
    the first letter, otherwise stays; "bli", "fulli" and "logi" are suffixes, "alli" may uncover
    another one; a stem of vowel and consonant counts as short.

    >>> [porter(word) for word in ("relational", "hopping", "enjoyment", "dies", "biology")]
    ['relat', 'hop', 'enjoy', 'die', 'biolog']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    word = _derived(word)
    word = _replaced(word, _STEP_3, 0)
    word = _residual(word)
    return _tidied(word)


def _shape(stem: str) -> str:
    """One letter a letter: v for a vowel, c for a consonant; y is a vowel after a consonant."""
    out = ""
    last = "v"
    for letter in stem:
        vowel = letter in "aeiou" or (letter == "y" and last == "c")
        last = "v" if vowel else "c"
        out += last
    return out


def _measure(stem: str) -> int:
    """How many times a vowel is followed by a consonant."""
    return _shape(stem).count("vc")


def _short(stem: str) -> bool:
    """Ends in consonant, vowel, consonant other than w, x, y; or is vowel and consonant."""
    shape = _shape(stem)
    return (shape.endswith("cvc") and stem[-1] not in "wxy") or shape == "vc"


def _replaced(word: str, rules: Mapping[str, str], above: int) -> str:
    """The word with its longest suffix in the rules replaced, if the rest is long enough."""
    for length in range(min(_LONGEST, len(word)), 1, -1):
        if (suffix := word[-length:]) in rules:
            stem = word[:-length]
            return stem + rules[suffix] if _measure(stem) > above else word
    return word


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _shape(stem := word[: -len(suffix)]):
            return _restored(stem)
    return word


def _restored(stem: str) -> str:
    """A stem that lost "ed" or "ing", with its e back or its double consonant single."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    shape = _shape(stem)
    if stem[-1:] == stem[-2:-1] and shape.endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if shape.count("vc") == 1 and _short(stem) else stem


def _derived(word: str) -> str:
    """Step 2."""
    if word.endswith("alli") and _measure(word[:-4]):
        return _derived(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _STEP_2, 0)


def _residual(word: str) -> str:
    """Step 4."""
    if word.endswith("ion"):
        stem = word[:-3]
        return stem if stem.endswith(("s", "t")) and _measure(stem) > 1 else word
    return _replaced(word, _STEP_4, 1)


def _tidied(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
