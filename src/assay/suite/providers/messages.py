"""A prompt as one text, or as chat messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assay.errors import DataError
from assay.suite.providers.base import Message


def as_text(prompt: str | Sequence[Message]) -> str:
    """The prompt as one text; chat messages as JSON.

    >>> as_text([{"role": "user", "content": "Grüezi"}])
    '[{"role": "user", "content": "Grüezi"}]'
    """
    if isinstance(prompt, str):
        return prompt
    return json.dumps(list(prompt), ensure_ascii=False, default=str)


def as_json(data: Any) -> str:
    """Data as JSON, what has no form there as text; raises DataError for what cannot be written."""
    try:
        return json.dumps(data, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"a variable or setting cannot be passed on as JSON: {error}") from None


def as_messages(prompt: str | Sequence[Message]) -> list[dict[str, Any]]:
    """The prompt as chat messages; a text is what the user says."""
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    return [dict(message) for message in prompt]
