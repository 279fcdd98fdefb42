"""Messages to a chat model: fixed instructions in one, fenced data in the other."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, get_args

import msgspec

from assay.asks import Entail, Extract, Grade, Questions, Rate, Trait
from assay.errors import ConfigError, did_you_mean
from assay.judges.complete import Messages, Schema
from assay.verdicts import Level

Kind = Literal["extract", "opinions", "entail", "label", "rate", "grade", "questions"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Listed = Literal["claims", "opinions"]
"""What a text can be searched for."""
Nonce = Callable[[str, str], str]
"""From the instructions and the data of one call to its nonce: hexadecimal digits that nobody
can guess who knows only these, and another at every call."""
RATINGS = (1, 2, 3, 4, 5)
DATA = 2
"""Version of how the data of a call are written; part of every fingerprint."""
_STRING: Mapping[str, Any] = {"type": "string"}
_IDS: Mapping[str, Mapping[str, str]] = {
    "verdicts": {"claim": "c1", "premise": "p1"},
    "labels": {"text": "t1"},
    "grades": {"criterion": "k1"},
}
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def prompt_texts(own: Mapping[str, str] | None) -> dict[Kind, str]:
    """The instructions by kind of ask: assay's, or the user's own.

    Raises ConfigError for a kind that does not exist.
    """
    for kind in own or {}:
        if kind not in KINDS:
            raise ConfigError(f"there is no prompt {kind!r}: {did_you_mean(kind, list(KINDS))}")
    return {kind: (own or {}).get(kind) or _stored(kind) for kind in KINDS}


def _stored(kind: Kind) -> str:
    folder = resources.files("assay.judges") / "prompts"
    return (folder / f"{kind}.txt").read_text(encoding="utf-8")


def random_nonce(instructions: str, data: str) -> str:
    """16 hexadecimal digits drawn at random, whatever the call is."""
    return os.urandom(8).hex()


@dataclass(frozen=True, slots=True)
class Form:
    """The instructions and the reply's shape for one kind of ask; made once a judge."""

    system: Mapping[str, str]
    schema: Schema
    nonce: Nonce = random_nonce


def extract_form(text: str) -> Form:
    """The form whose reply lists claims with their quotes."""
    return _lists_form(text, {"claims": _quoted("claim")})


def opinions_form(extract: str, opinions: str, *lists: Listed) -> Form:
    """The form whose reply has the lists, each with quotes, by both instructions."""
    text = _without_version(extract) + "\n\n" + _without_version(opinions)
    return _lists_form(text, {name: _quoted(name.removesuffix("s")) for name in lists})


def _quoted(key: str) -> dict[str, Any]:
    return {"quote": _STRING, key: _STRING}


def entail_form(text: str, *, packed: bool, reasons: bool) -> Form:
    """The form whose reply has a verdict a claim, or a (claim, premise) if ``packed``."""
    # The evidence comes before the verdict, so that a model that writes from left to right
    # decides on it.
    item: dict[str, Any] = {"claim": _STRING}
    if packed:
        item["premise"] = _STRING
    item["quote"] = _STRING
    if reasons:
        item["reason"] = _STRING
    item["verdict"] = {"type": "string", "enum": ["entailed", "neutral", "contradicted"]}
    return _lists_form(text, {"verdicts": item})


def label_form(text: str, *, reasons: bool) -> Form:
    """The form whose reply has a label a (text, trait)."""
    item: dict[str, Any] = {"text": _STRING, "trait": {**_STRING, "enum": list(get_args(Trait))}}
    if reasons:
        item["reason"] = _STRING
    item["label"] = {**_STRING, "enum": ["yes", "no"]}
    return _lists_form(text, {"labels": item})


def rate_form(text: str, *, reasons: bool) -> Form:
    """The form whose reply has one rating."""
    reason = {"reason": _STRING} if reasons else {}
    wanted = {**reason, "rating": {"type": "integer", "enum": list(RATINGS)}}
    shape = json.dumps({"nonce": "...", **dict.fromkeys(reason, "..."), "rating": "?"})
    # Alternatives in quotation marks would ask for a string.
    shape = shape.replace('"?"', "|".join(map(str, RATINGS)))
    return _form(text, shape, Schema("rating", _closed({"nonce": _STRING, **wanted})))


def grade_form(text: str, *, reasons: bool) -> Form:
    """The form whose reply has a level a criterion."""
    reason = {"reason": _STRING} if reasons else {}
    level = {**_STRING, "enum": list(get_args(Level))}
    return _lists_form(text, {"grades": {"criterion": _STRING, **reason, "level": level}})


def questions_form(text: str) -> Form:
    """The form whose reply has questions, and whether the answer is noncommittal."""
    wanted = {
        "noncommittal": {"type": "boolean"},
        "questions": {"type": "array", "items": _STRING},
    }
    shape = '{"nonce": "...", "noncommittal": true|false, "questions": ["..."]}'
    return _form(text, shape, Schema("questions", _closed({"nonce": _STRING, **wanted})))


def _lists_form(text: str, lists: Mapping[str, Mapping[str, Any]]) -> Form:
    """The form whose reply has a list of items of the given properties by each name."""
    shape: dict[str, Any] = {"nonce": "..."}
    properties: dict[str, Any] = {"nonce": _STRING}
    for name, item in lists.items():
        shape[name] = [{key: _example(name, key, item) for key in item}]
        properties[name] = {"type": "array", "items": _closed(item)}
    return _form(text, json.dumps(shape), Schema("_and_".join(lists), _closed(properties)))


def _form(text: str, shape: str, schema: Schema) -> Form:
    system = (
        _without_version(text)
        + "\n\nReply with exactly one JSON object of this shape, and nothing before or after it;"
        + ' "nonce" repeats the nonce of the user message:\n'
        + shape
    )
    return Form({"role": "system", "content": system}, schema)


def _example(name: str, key: str, item: Mapping[str, Any]) -> str:
    """What the shape shows as a value; a small model that sees no id copies the whole claim."""
    return _IDS.get(name, {}).get(key) or "|".join(item[key].get("enum", ["..."]))


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _without_version(text: str) -> str:
    first, _, rest = text.partition("\n")
    return (rest if first.startswith("version:") else text).strip()


def extract_messages(form: Form, ask: Extract) -> tuple[str, Messages]:
    """The nonce of this call, and its messages."""
    return _messages(form, {"question": ask.question, "text": ask.text})


def entail_messages(
    form: Form, ask: Entail, claims: Sequence[int], premises: Sequence[int], *, packed: bool
) -> tuple[str, Messages]:
    """The nonce of this call, and its messages; claims and premises by their index in the ask."""
    data: dict[str, Any] = {
        "question": ask.question,
        "premise_kind": ask.against,
        "claims": {claim_id(i): ask.claims[i] for i in claims},
    }
    if packed:
        data["premises"] = {premise_id(c): ask.premises[c] for c in premises}
    else:
        data["premise"] = ask.premises[premises[0]]
    return _messages(form, data)


def label_messages(
    form: Form, question: str | None, pairs: Sequence[tuple[Trait, str]], ids: Mapping[str, str]
) -> tuple[str, Messages]:
    """The nonce of this call, and its messages; a text comes once with all its traits."""
    texts: dict[str, dict[str, Any]] = {}
    for trait, text in pairs:
        texts.setdefault(ids[text], {"text": text, "traits": []})["traits"].append(trait)
    return _messages(form, {"question": question, "texts": texts})


def rate_messages(form: Form, ask: Rate) -> tuple[str, Messages]:
    """The nonce of this call, and its messages."""
    return _messages(form, {"source": ask.source, "summary": ask.text})


def grade_messages(form: Form, ask: Grade, criteria: Mapping[str, str]) -> tuple[str, Messages]:
    """The nonce of this call, and its messages; ``criteria`` by id."""
    data = {"question": ask.question, "reference": ask.reference}
    return _messages(form, {**data, "criteria": dict(criteria), "text": ask.text})


def questions_messages(form: Form, ask: Questions) -> tuple[str, Messages]:
    """The nonce of this call, and its messages."""
    return _messages(form, {"answer": ask.text, "count": ask.n})


def claim_id(i: int) -> str:
    """The id of the i-th claim of an ask."""
    return f"c{i + 1}"


def premise_id(c: int) -> str:
    """The id of the c-th premise of an ask."""
    return f"p{c + 1}"


def text_id(n: int) -> str:
    """The id of the n-th text to label."""
    return f"t{n + 1}"


def criterion_id(k: int) -> str:
    """The id of the k-th criterion of an ask."""
    return f"k{k + 1}"


def _messages(form: Form, data: Mapping[str, Any]) -> tuple[str, Messages]:
    text = _written(data)
    instructions = form.system["content"]
    nonce = form.nonce(instructions, text)
    while nonce in text:
        nonce = form.nonce(instructions, text)
    fenced = f"nonce {nonce}\n{text}\nnonce {nonce}"
    end = f'The data ends here. Reply as the system message says, with "nonce": "{nonce}".'
    return nonce, (form.system, {"role": "user", "content": fenced + "\n" + end})


def _written(data: Mapping[str, Any]) -> str:
    try:
        return msgspec.json.encode(data).decode()
    except (TypeError, UnicodeEncodeError):  # strings of other classes, lone surrogates
        return paired(_ENCODER.encode(data))


def paired(text: str) -> str:
    """The text as UTF-8 can carry it: a lone surrogate becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
