"""The lines of batch files: requests as they go out, answers as they come back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from assay.judges.chat import Reply
from assay.judges.prompting import paired
from assay.judges.retrying import passes

LINE_URL = "/v1/chat/completions"
"""What a line of a batch file says it is for."""
LONGEST = 16 * 2**20
"""Bytes of an answer's line, beyond which it is passed over."""
_BREAKS = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}
"""What some readers take for the end of a line."""
_REFUSALS = frozenset({400, 413, 422})
"""Statuses that mean the request itself, so that it is not worth sending again."""


def encoded(body: Mapping[str, Any]) -> bytes:
    """The one way to write a request's body: JSON on one line, with sorted keys."""
    text = paired(json.dumps(body, ensure_ascii=False, sort_keys=True))
    for mark, escape in _BREAKS.items():
        text = text.replace(mark, escape)
    return text.encode()


def custom_id(body: bytes) -> str:
    """The identity of a request, from all that it sends: 32 hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()[:32]


def request_line(id: str, url: str, body: bytes) -> bytes:
    """One line of an input file."""
    head = json.dumps({"custom_id": id, "method": "POST", "url": url})
    return head[:-1].encode() + b', "body": ' + body + b"}\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a request: an HTTP answer, or why there was none."""

    id: str
    reply: Reply | None
    why: str = ""

    @property
    def final(self) -> bool:
        """Whether the request is settled: it has a completion, or is refused as it stands."""
        reply = self.reply
        if reply is None or passes(reply.status):
            return False
        return reply.status in _REFUSALS or (reply.status < 300 and _speaks(reply.data))


def answers(path: Path) -> Iterator[Answer | str]:
    """The answers in a file, in order; the beginning of a line that is none.

    At most one line is held at a time. Raises OSError.
    """
    with path.open("rb") as file:
        for line in _lines(file):
            answer = _answer(line)
            if answer is not None:
                yield answer
            elif line.strip():
                yield line[:80].decode("utf-8", "replace")


def count_lines(path: Path) -> int:
    """How many lines of a file look like whole JSON objects; raises OSError."""
    with path.open("rb") as file:
        stripped = (line.strip() for line in _lines(file))
        return sum(line.startswith(b"{") and line.endswith(b"}") for line in stripped)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines, of one that is too long only its beginning."""
    while line := file.readline(LONGEST):
        yield line
        while len(line) == LONGEST and not line.endswith(b"\n"):
            line = file.readline(LONGEST)


def _answer(line: bytes) -> Answer | None:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return None
    key = item.get("custom_id") if isinstance(item, dict) else None
    if not isinstance(key, str):
        return None
    response = item.get("response")
    if isinstance(response, dict) and (status := _status(response.get("status_code"))):
        body = response.get("body")
        return Answer(key, Reply(status, {}, body, "" if isinstance(body, dict) else str(body)))
    error = item.get("error")
    if not isinstance(error, dict):
        return Answer(key, None, "no answer in the file of answers")
    said = [str(error[key]) for key in ("code", "message") if error.get(key)]
    return Answer(key, None, ": ".join(said) or "an error without a word")


def _status(value: object) -> int:
    """An HTTP status, or 0."""
    try:
        number = int(value) if isinstance(value, int | str) else 0
    except ValueError:
        return 0
    return number if 100 <= number < 600 else 0


def _speaks(data: Any) -> bool:
    """Whether a body has a completion that says something, be it that it was cut off."""
    try:
        choice = data["choices"][0]
        message = choice["message"]
        said = message.get("content") or message.get("refusal")
        return bool(said) or choice.get("finish_reason") in ("length", "content_filter")
    except (TypeError, KeyError, IndexError, AttributeError):
        return False
