"""Asks and answers as bytes: exact both ways, or not at all."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from assay.asks import Ask
from assay.judges.memory.kinds import KINDS, complete
from assay.judges.memory.plain import Form

FORMAT = 2
"""Raised when the same ask or answer is written differently; part of every key."""
LARGEST = 64 * 2**20
"""Bytes of an answer; what unpacks to more is not read."""
_CHECK = 8
# An answer is a few kilobytes: a smaller table and window cost half of the time, and 6 % more room.
_LEVEL, _WINDOW, _TABLE = 1, 14, 6


@dataclass(frozen=True, slots=True)
class Entry:
    """An ask of one judge: ``key`` is the digest of ``identity``, which says all of it."""

    kind: str
    identity: bytes
    key: bytes


def entry(ask: Ask[Any], fingerprint: str, repeat: int = 0) -> Entry | None:
    """The place of an ask's answer; None for an ask of a kind that is not remembered.

    Two asks, judges or repeats share a key only if they are equal.
    """
    kind = type(ask).__name__
    known = KINDS.get(kind)
    if known is None or known.ask is not type(ask):
        return None
    try:
        asked = _asks(kind).write(ask)
    except (TypeError, ValueError):
        return None
    judged = _judged(FORMAT, fingerprint, repeat, kind)
    identity = b"%s,%s]" % (judged[:-1], asked)
    return Entry(kind, identity, hashlib.sha256(identity).digest())


def pack(place: Entry, ask: Ask[Any], answer: object) -> bytes | None:
    """The ask and its answer, compressed; None unless it is whole and would be read back equal."""
    try:
        if not complete(answer):
            return None
        text = _answers(place.kind).write(answer)
        fits = KINDS[place.kind].fits(ask, answer)
    except (TypeError, ValueError):
        return None
    if not fits or len(text) > LARGEST:
        return None
    zipper = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _TABLE)
    body = zipper.compress(place.identity + b"\n" + text) + zipper.flush()
    return _check(place.key, body) + body


def unpack(place: Entry, ask: Ask[Any], blob: object) -> Any:
    """The answer that `pack` packed for this very ask; raises ValueError for anything else."""
    identity, text = opened(place.key, blob, len(place.identity) + LARGEST)
    if identity != place.identity:
        raise ValueError("this is the answer to another ask")
    return read_answer(ask, text)


def opened(key: bytes, blob: object, limit: int) -> tuple[bytes, bytes]:
    """The identity and the answer's JSON; raises ValueError if a bit is not as it was written."""
    if not isinstance(blob, bytes) or blob[:_CHECK] != _check(key, blob[_CHECK:]):
        raise ValueError("damaged")
    unzip = zlib.decompressobj()
    try:
        raw = unzip.decompress(blob[_CHECK:], limit)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    identity, line, text = raw.partition(b"\n")
    if not unzip.eof or not line:
        raise ValueError("cut off, or too long")
    return identity, text


def read_answer(ask: Ask[Any], text: bytes) -> Any:
    """The answer from its JSON; raises ValueError unless type and shape are those of the ask's."""
    kind = type(ask).__name__
    answer = _answers(kind).read(text)
    if not KINDS[kind].fits(ask, answer):
        raise ValueError("the answer does not fit the ask")
    return answer


def _check(key: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK, key=key).digest()


@lru_cache(maxsize=64)
def _judged(form: int, fingerprint: str, repeat: int, kind: str) -> bytes:
    """The part of an identity that many asks share, as a JSON list."""
    return Form(tuple[int, str, int, str]).write((form, fingerprint, repeat, kind))


@cache
def _asks(kind: str) -> Form:
    return Form(KINDS[kind].ask)


@cache
def _answers(kind: str) -> Form:
    return Form(KINDS[kind].answer)
