"""Strict reading of a model's reply, and the search for its quotes in the source."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, cast

from assay.verdicts import LEVELS, Asked, Grading, Level, Mark, Rating, Span, Verdict

PARSER = 1
"""Version of the reading rules; part of every fingerprint."""
MAX_REASON = 300
MAX_GRADE_REASON = 600
_LONGEST_LOOSE_QUOTE = 4000
_VERDICTS: Mapping[str, Verdict] = {
    v.value: v for v in (Verdict.ENTAILED, Verdict.NEUTRAL, Verdict.CONTRADICTED)
}
_ALIKE = ("\"“”„‟«»″'‘’‚‛′`´", "-‐‑‒–—−")
_LABELS: Mapping[str, bool] = {"yes": True, "no": False}
S = TypeVar("S")
Key = tuple[str, str]
"""Ids of a claim and a premise ("" where a call has only one); of a text, and a trait; or of a
criterion, and ""."""


class UnreadableError(ValueError):
    """The reply as a whole cannot be used."""


class Said(NamedTuple):
    """One verdict as the model gave it."""

    verdict: Verdict
    quote: str
    reason: str


@dataclass(slots=True)
class Parts(Generic[S]):
    """What a reply says of the pairs that were asked for, and how many parts were no good."""

    said: dict[Key, S] = field(default_factory=dict)
    invalid: int = 0


def read_claims(text: str, nonce: str, name: str = "claims") -> list[tuple[str, str]]:
    """Claims (or opinions) and their quotes.

    Raises UnreadableError unless every part of that list is as asked.
    """
    out, key = [], name.removesuffix("s")
    for item in _items(text, nonce, name):
        claim = item.get(key) if isinstance(item, dict) else None
        if not isinstance(claim, str) or not claim.strip():
            raise UnreadableError(f"a part of the list of {name} has no {key}")
        quote = item.get("quote")
        out.append((claim.strip(), quote if isinstance(quote, str) else ""))
    return out


def read_verdicts(text: str, nonce: str, wanted: Collection[Key], *, packed: bool) -> Parts[Said]:
    """The verdicts on the wanted pairs, by id and never by position.

    A part with an unknown id, a verdict that is none, or a second and different verdict on a
    pair counts as invalid; a pair with two different verdicts has none. Raises UnreadableError
    unless the reply is one JSON object with the right nonce and a list of verdicts.
    """
    found = [_verdict(item, packed=packed) for item in _items(text, nonce, "verdicts")]
    return _by_id(found, wanted, lambda said: said.verdict)


def read_labels(text: str, nonce: str, wanted: Collection[Key]) -> Parts[Mark]:
    """The labels of the wanted (text, trait) pairs, by the rules of `read_verdicts`."""
    found = [_label(item) for item in _items(text, nonce, "labels")]
    return _by_id(found, wanted, lambda mark: mark.value)


def read_grades(text: str, nonce: str, wanted: Collection[Key]) -> Parts[Grading]:
    """The gradings by the wanted criteria, by the rules of `read_verdicts`."""
    found = [_grade(item) for item in _items(text, nonce, "grades")]
    return _by_id(found, wanted, lambda grading: grading.level)


def read_rating(text: str, nonce: str) -> Rating:
    """The rating, from 1 to 5; raises UnreadableError unless it is a JSON integer in that range."""
    data = _object(text, nonce)
    value = data.get("rating")
    # True is an int in Python, but no rating.
    if type(value) is not int or not 1 <= value <= 5:
        raise UnreadableError("the reply has no integer from 1 to 5 as its rating")
    return Rating(value, _reason(data))


def read_questions(text: str, nonce: str, n: int) -> Asked:
    """The questions that a text answers, and whether it is noncommittal.

    Raises UnreadableError unless there are one to ``n`` questions (none will do for what is
    noncommittal) and a JSON true or false.
    """
    noncommittal = _object(text, nonce).get("noncommittal")
    if not isinstance(noncommittal, bool):
        raise UnreadableError("the reply does not say whether the answer is noncommittal")
    items = _items(text, nonce, "questions")
    if not all(isinstance(item, str) and item.strip() for item in items):
        raise UnreadableError("a part of the list of questions is no question")
    if len(items) > n or not (items or noncommittal):
        raise UnreadableError(f"the reply has {len(items)} questions, where {n} were asked for")
    return Asked(tuple(item.strip() for item in items), noncommittal)


def _by_id(
    found: list[tuple[Key, S] | None], wanted: Collection[Key], value: Callable[[S], object]
) -> Parts[S]:
    out, disputed = Parts[S](), set()
    for read in found:
        if read is None or read[0] not in wanted:
            out.invalid += 1
            continue
        key, said = read
        if key in out.said:
            out.invalid += 1
            if value(out.said[key]) != value(said):
                disputed.add(key)
        else:
            out.said[key] = said
    for key in disputed:
        del out.said[key]
    return out


def _label(item: object) -> tuple[Key, Mark] | None:
    if not isinstance(item, dict):
        return None
    text, trait, word = item.get("text"), item.get("trait"), item.get("label")
    if not (isinstance(text, str) and isinstance(trait, str) and isinstance(word, str)):
        return None
    label = _LABELS.get(word.casefold())
    return None if label is None else ((text, trait), Mark(label, reason=_reason(item)))


def _grade(item: object) -> tuple[Key, Grading] | None:
    if not isinstance(item, dict):
        return None
    criterion, word = item.get("criterion"), item.get("level")
    if not (isinstance(criterion, str) and isinstance(word, str)) or word.casefold() not in LEVELS:
        return None
    level = cast("Level", word.casefold())
    return (criterion, ""), Grading(level, _reason(item, MAX_GRADE_REASON))


def _reason(item: Mapping[str, Any], longest: int = MAX_REASON) -> str:
    reason = item.get("reason")
    return reason[:longest] if isinstance(reason, str) else ""


def _verdict(item: object, *, packed: bool) -> tuple[Key, Said] | None:
    if not isinstance(item, dict):
        return None
    claim, word = item.get("claim"), item.get("verdict")
    premise = item.get("premise") if packed else ""
    if not (isinstance(claim, str) and isinstance(premise, str) and isinstance(word, str)):
        return None
    verdict = _VERDICTS.get(word.casefold())
    if verdict is None:
        return None
    quote = item.get("quote")
    said = Said(verdict, quote if isinstance(quote, str) else "", _reason(item))
    return (claim, premise), said


def _items(text: str, nonce: str, name: str) -> list[Any]:
    items = _object(text, nonce).get(name)
    if not isinstance(items, list):
        raise UnreadableError(f"the reply has no list of {name}")
    return items


def _object(text: str, nonce: str) -> dict[str, Any]:
    """The one JSON object that the reply must be, with the nonce of the call."""
    try:
        data = _DECODER.decode(_bare(text))
    except UnreadableError:
        raise
    except (ValueError, RecursionError):
        raise UnreadableError("the reply is not one JSON object") from None
    if not isinstance(data, dict):
        raise UnreadableError("the reply is not one JSON object")
    if data.get("nonce") != nonce:
        raise UnreadableError("the reply does not repeat the nonce")
    return data


def _bare(text: str) -> str:
    """The reply without the one code fence that may enclose all of it."""
    text = text.strip()
    if not text.startswith("```"):
        return text
    first, _, rest = text.partition("\n")
    if first.strip() not in ("```", "```json") or not rest.endswith("```"):
        raise UnreadableError("the reply is not one JSON object")
    return rest.removesuffix("```")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that comes twice could mean either."""
    out = dict(pairs)
    if len(out) != len(pairs):
        raise UnreadableError("an object of the reply has a key twice")
    return out


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def find_quote(source: str, quote: str) -> Span | None:
    """Where the source holds the quote, with the source's own characters; None if nowhere.

    Case, white space, and the shapes of quotation marks and dashes may differ.

    >>> find_quote("He said:  “Paris – now”.", "he said: 'paris - NOW'")
    Span(quote='He said:  “Paris – now”', start=0, end=23)
    >>> find_quote("Paris", "London") is None
    True
    """
    quote = quote.strip()
    if not quote:
        return None
    if (start := source.find(quote)) >= 0:
        return Span(quote, start, start + len(quote))
    if len(quote) > _LONGEST_LOOSE_QUOTE:
        return None
    match = re.search(r"\s+".join(map(_loosely, quote.split())), source, re.IGNORECASE)
    return Span(match.group(), match.start(), match.end()) if match else None


def _loosely(word: str) -> str:
    """A pattern for the word in which look-alike marks stand for each other."""
    return "".join(
        next((f"[{re.escape(marks)}]" for marks in _ALIKE if char in marks), re.escape(char))
        for char in word
    )
