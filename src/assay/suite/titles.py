"""What assertions are called wherever they are told of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST = 24
"""Characters that a key or value of a config may have to be part of a title."""
MOST = 4
"""Keys of a config in a title."""
_SAID_ALONE = frozenset({"mode", "dialect"})
_UNSAID = frozenset({"undefined"})
"""Keys that do not change what is measured."""


def settings(config: Mapping[str, Any]) -> list[str]:
    """The short values of an assertion's config: what tells it from others of its type.

    >>> settings({"mode": "irrelevant", "inferRelevance": False, "factuality": {"agree": 1}})
    ['irrelevant', 'inferRelevance=false']
    """
    said = []
    for name, value in config.items():
        if isinstance(value, str | int | float):
            word = str(value).lower() if isinstance(value, bool) else str(value)
            if name not in _UNSAID and _short(word) and _short(name):
                said.append(word if name in _SAID_ALONE else f"{name}={word}")
    return said[:MOST]


def _short(word: str) -> bool:
    return 0 < len(word) <= LONGEST and word.isprintable()


def titled(type: str, config: Mapping[str, Any], name: str | None = None) -> str:
    """What people call an assertion: its type and settings, after the name of its metric if any.

    >>> titled("noise-sensitivity", {"mode": "irrelevant", "dialect": "ragas"})
    'noise-sensitivity (irrelevant, ragas)'
    >>> titled("noise-sensitivity", {"mode": "irrelevant"}, "noise")
    'noise (noise-sensitivity, irrelevant)'
    """
    said = settings(config)
    if name:
        return f"{name} ({', '.join([type, *said])})"
    return f"{type} ({', '.join(said)})" if said else type


def and_more(count: int, what: str = "assertion") -> str:
    """How many things are not shown, "" for none.

    >>> and_more(2), and_more(1, "claim"), and_more(0)
    ('and 2 more assertions', 'and 1 more claim', '')
    """
    return f"and {count} more {what}{'s' if count > 1 else ''}" if count > 0 else ""
