"""Messages to a chat model: fixed instructions in one, fenced data in the other."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from assay.asks import Entail, Extract
from assay.errors import ConfigError, did_you_mean
from assay.judges.complete import Messages, Schema

Kind = Literal["extract", "entail"]
KINDS: tuple[Kind, ...] = ("extract", "entail")
_ENCODER = json.JSONEncoder(ensure_ascii=False)


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


@dataclass(frozen=True, slots=True)
class Form:
    """The instructions and the reply's shape for one kind of ask; made once a judge."""

    system: Mapping[str, str]
    schema: Schema


def extract_form(text: str) -> Form:
    """The form whose reply lists claims with their quotes."""
    return _form(text, "claims", {"quote": {"type": "string"}, "claim": {"type": "string"}})


def entail_form(text: str, *, packed: bool, reasons: bool) -> Form:
    """The form whose reply has a verdict a claim, or a (claim, premise) if ``packed``."""
    string = {"type": "string"}
    # The evidence comes before the verdict, so that a model that writes from left to right
    # decides on it.
    item: dict[str, Any] = {"claim": string}
    if packed:
        item["premise"] = string
    item["quote"] = string
    if reasons:
        item["reason"] = string
    item["verdict"] = {"type": "string", "enum": ["entailed", "neutral", "contradicted"]}
    return _form(text, "verdicts", item)


def _form(text: str, name: str, item: Mapping[str, Any]) -> Form:
    shape = {"nonce": "...", name: [{key: _example(name, key, item) for key in item}]}
    system = (
        _without_version(text)
        + "\n\nReply with exactly one JSON object of this shape, and nothing before or after it;"
        + ' "nonce" repeats the nonce of the user message:\n'
        + json.dumps(shape)
    )
    items = {"type": "array", "items": _closed(item)}
    schema = Schema(name, _closed({"nonce": {"type": "string"}, name: items}))
    return Form({"role": "system", "content": system}, schema)


def _example(name: str, key: str, item: Mapping[str, Any]) -> str:
    """What the shape shows as a value; a small model that sees no id copies the whole claim."""
    if name == "verdicts" and key in ("claim", "premise"):
        return f"{key[0]}1"
    return "|".join(item[key].get("enum", ["..."]))


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


def claim_id(i: int) -> str:
    """The id of the i-th claim of an ask."""
    return f"c{i + 1}"


def premise_id(c: int) -> str:
    """The id of the c-th premise of an ask."""
    return f"p{c + 1}"


def _messages(form: Form, data: Mapping[str, Any]) -> tuple[str, Messages]:
    text = _paired(_ENCODER.encode(data))
    nonce = secrets.token_hex(8)
    while nonce in text:
        nonce = secrets.token_hex(8)
    fenced = f"nonce {nonce}\n{text}\nnonce {nonce}"
    end = f'The data ends here. Reply as the system message says, with "nonce": "{nonce}".'
    return nonce, (form.system, {"role": "user", "content": fenced + "\n" + end})


def _paired(text: str) -> str:
    """The text as UTF-8 can carry it: a lone surrogate becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
