"""What an endpoint does wrong, and how often; the same requests meet the same faults."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fake_endpoint import Answer

HANG = 3600.0
"""Seconds after which a hung call would be answered."""
KINDS = (
    "429",
    "500",
    "reset",
    "half",
    "html",
    "no_choices",
    "malformed",
    "missing_id",
    "doubled_id",
    "hang",
)
"""Refused with Retry-After; refused; the connection closed unanswered, or in the middle of the
answer; a page instead of JSON; a completion without choices; a reply cut after two thirds, without
its last verdict, with a second and different one; no answer at all."""
_OTHER = {"entailed": "neutral", "neutral": "entailed", "yes": "no", "no": "yes"}


@dataclass(frozen=True, slots=True)
class Programme:
    """The share of calls that meet each kind of fault.

    Drawn from a hash of the seed, the request and how often it was sent: the order in which
    requests arrive makes no difference, and a repeat is a new draw.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 1
    retry_after: float = 1.0

    def __post_init__(self) -> None:
        if unknown := set(self.shares) - set(KINDS):
            raise SystemExit(f"no such fault: {', '.join(sorted(unknown))}; {', '.join(KINDS)}")
        if sum(self.shares.values()) > 1:
            raise SystemExit("the shares of faults add up to more than 1")

    def drawn(self, request: bytes, sent: int) -> str:
        """The fault of this sending of a request, "" for none."""
        if not self.shares:
            return ""
        salt = b"%d/%d/" % (self.seed, sent)
        digest = hashlib.blake2b(salt + request, digest_size=8).digest()
        chance = int.from_bytes(digest, "big") / 2**64
        for kind, share in self.shares.items():
            if chance < share:
                return kind
            chance -= share
        return ""

    def refusal(self, kind: str, delay: float) -> Answer | None:
        """The answer of a fault that needs no right answer, or None."""
        if kind == "429":
            headers = {"Retry-After": f"{self.retry_after:g}"}
            return Answer(_error("Rate limit reached"), 429, headers, delay)
        if kind == "500":
            return Answer(_error("The server had an error"), 500, delay=delay)
        if kind == "reset":
            return Unanswered(b"", delay=delay, cut=True)
        if kind == "hang":
            return Answer(b"{}", 504, delay=HANG)
        bodies = {"html": b"<html><h1>502 Bad Gateway</h1></html>", "no_choices": b'{"choices":[]}'}
        return Answer(bodies[kind], delay=delay) if kind in bodies else None


class Unanswered(Answer):
    """The connection is closed without a byte."""

    __slots__ = ()

    def raw(self) -> bytes:
        """Nothing."""
        return b""


def spoilt(kind: str, reply: dict[str, Any]) -> str:
    """The text of a reply with a fault in it; a list of claims has no ids to get wrong."""
    name = next((name for name in ("verdicts", "labels") if reply.get(name)), None)
    if name and kind == "missing_id":
        reply = {**reply, name: reply[name][:-1]}
    if name and kind == "doubled_id":
        reply = {**reply, name: [*reply[name], _contrary(reply[name][0])]}
    text = json.dumps(reply, ensure_ascii=False)
    return text[: len(text) * 2 // 3] if kind == "malformed" else text


def _contrary(item: dict[str, str]) -> dict[str, str]:
    key = "verdict" if "verdict" in item else "label"
    return {**item, key: _OTHER.get(item[key], "neutral")}


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "fault"}}).encode()
