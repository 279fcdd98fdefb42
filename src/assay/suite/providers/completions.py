"""Chat completions of a model under test: what was said, refused, or called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Told:
    """What a completion says."""

    raw: Any
    output: Any
    finish_reason: str
    refused: bool
    prompt_tokens: int
    completion_tokens: int


def told(data: Any) -> Told:
    """The output of a completion: its text, its refusal, or its calls of tools.

    Raises ValueError for JSON that is no completion.
    """
    try:
        choice = data["choices"][0]
        message = choice["message"]
        text, refusal = _text(message.get("content")), message.get("refusal")
        calls = message.get("tool_calls") or message.get("function_call")
    except (TypeError, KeyError, IndexError, AttributeError):
        raise ValueError("it sent no completion") from None
    refused = isinstance(refusal, str) and refusal != "" and not text
    output = refusal if refused else text or calls or ""
    if not output and message.get("content") is None and choice.get("finish_reason") == "stop":
        raise ValueError("it sent a completion without content")
    used = data.get("usage")
    return Told(
        data,
        output,
        str(choice.get("finish_reason") or "stop"),
        refused,
        _count(used, "prompt_tokens"),
        _count(used, "completion_tokens"),
    )


def _text(content: Any) -> str:
    """The text of a message; some endpoints send it in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _count(used: Any, name: str) -> int:
    value = used.get(name) if isinstance(used, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
