"""Values that must never be shown: collected by name, and struck out of what is written."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

STRUCK = "***"
"""What stands in the place of a secret."""
_NAME = re.compile(
    r"KEY(?!BOARD|MAP)|TOKEN(?!IZ)|SECRET|PASSWORD|PASSWD|PASSPHRASE|AUTH(?!OR(?!IZ))|CREDENTIAL",
    re.IGNORECASE,
)
_GUESSED = 8
"""The least length of a value that is a secret for its variable's name alone."""
_LEAST = 4
"""Shorter values are no secrets, and would be struck out of ordinary words."""
_DEEPEST = 400


def looks_secret(name: str) -> bool:
    """Whether a variable or header of this name is likely to hold a secret.

    >>> [looks_secret(n) for n in ("OPENAI_API_KEY", "Authorization", "GIT_AUTHOR_NAME", "HOME")]
    [True, True, False, False]
    """
    return _NAME.search(name) is not None


class Secrets:
    """Secret values, and texts without them.

    A secret is struck out as it stands and as JSON, URLs, HTML, Python literals and base64
    (also inside a longer text, as in basic authentication) write it.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        for value in values:
            self.keep(value)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Secrets:
        """The values of variables whose names look secret, of at least 8 characters."""
        return cls(
            value
            for name, value in environment.items()
            if looks_secret(name) and len(value.strip()) >= _GUESSED
        )

    def keep(self, value: str) -> None:
        """Strike this value out from now on; one of fewer than 4 characters is not kept."""
        value = value.strip()
        if len(value) >= _LEAST and value not in self._values:
            self._values.add(value)
            self._pattern = None

    def scrub(self, text: str) -> str:
        """The text with *** in place of every secret."""
        if not self._values:
            return text
        if self._pattern is None:
            forms = {form for value in self._values for form in _forms(value)}
            self._pattern = re.compile(_tree(forms))
        return self._pattern.sub(STRUCK, text)

    def scrub_data(self, data: Any) -> Any:
        """JSON-able data with *** in place of every secret in its texts and keys.

        Sequences become lists; what lies more than 400 levels deep is left out.
        """
        return self._scrubbed(data, 0) if self._values else data

    def _scrubbed(self, data: Any, depth: int) -> Any:
        if isinstance(data, str):
            return self.scrub(data)
        if depth > _DEEPEST:
            return STRUCK
        if isinstance(data, Mapping):
            return {
                self.scrub(key) if isinstance(key, str) else key: self._scrubbed(value, depth + 1)
                for key, value in data.items()
            }
        if isinstance(data, list | tuple):
            return [self._scrubbed(value, depth + 1) for value in data]
        return data


def _forms(value: str) -> set[str]:
    """The ways in which a value may be written."""
    raw = value.encode("utf-8", "replace")
    escaped = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    escaped |= {json.dumps(form)[1:-1] for form in escaped}  # JSON inside JSON
    escaped |= {repr(value)[1:-1], html.escape(value), html.escape(value, quote=False)}
    urls = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    urls |= {re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), url) for url in urls}
    coded = _base64(raw) if len(raw) >= _GUESSED else set()
    return {value, *escaped, *urls, *coded}


def _base64(raw: bytes) -> set[str]:
    """What is the same in the base64 of every text that holds these bytes, by where they begin."""
    out = set()
    for before in range(3):
        code = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        # Characters that also hold bits of what goes before or after are not the secret's own.
        first = -(-before * 8 // 6)
        last = (before + len(raw)) * 8 // 6
        inner = code[first:last]
        out |= {inner, inner.translate(str.maketrans("+/", "-_"))}
    return out


def _tree(forms: Iterable[str]) -> str:
    """A regular expression for any of the texts, the longest first, branching by character.

    >>> _tree(["ab", "ac", "abd"])
    'a(?:b(?:d)?|c)'
    """
    branches: dict[str, list[str]] = {}
    optional = False
    for form in forms:
        if form:
            branches.setdefault(form[0], []).append(form[1:])
        else:
            optional = True
    parts = []
    for first, rest in sorted(branches.items()):
        parts.append(_branch(first, rest))
    if not parts:
        return ""
    joined = parts[0] if len(parts) == 1 and not optional else f"(?:{'|'.join(parts)})"
    return joined + ("?" if optional else "")


def _branch(first: str, rest: list[str]) -> str:
    """One branch; characters that all of it shares need no group of their own."""
    shared = first
    while rest and all(rest) and len({text[0] for text in rest}) == 1:
        shared += rest[0][0]
        rest = [text[1:] for text in rest]
    return re.escape(shared) + _tree(rest)
