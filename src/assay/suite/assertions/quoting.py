"""How reasons quote texts and data: on one line, shortened, everything visible."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

LONGEST = 80
"""Characters of a quotation unless told."""


def quoted(text: str, longest: int = LONGEST) -> str:
    """A text in quotation marks on one line; what cannot be printed is escaped.

    At most ``longest`` characters and a few more for marks.

    >>> quoted("one\\ntwo")
    "'one\\\\ntwo'"
    >>> quoted("a long story", 6)
    "'a long'…"
    """
    shown = repr(text[:longest])
    if len(shown) > longest + 2:  # escapes made it longer
        return shown[: longest + 1] + "…"
    return shown if len(text) <= longest else shown + "…"


def shown(value: Any, longest: int = LONGEST) -> str:
    """A value as JSON on one line, at most ``longest`` characters and a few more.

    >>> shown({"city": "Paris", "n": [1, True]})
    '{"city": "Paris", "n": [1, true]}'
    """
    if isinstance(value, str):
        return quoted(value, longest)
    if isinstance(value, dict | list | tuple) and len(value) > longest:
        kind = "an object" if isinstance(value, dict) else "a list"
        return f"{kind} of {len(value)}"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):
        text = f"a {type(value).__name__}"
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: longest + 1])
    return text if len(text) <= longest else text[:longest] + "…"


def counted(number: float) -> str:
    """A number for people: up to four decimals, none where it is whole.

    >>> counted(3.0), counted(0.51234), counted(0.00000123)
    ('3', '0.5123', '1.23e-06')
    """
    if number and abs(number) < 0.0005:
        return f"{number:.3g}"
    return f"{number:.4f}".rstrip("0").rstrip(".")


def plain(value: Any) -> str:
    """A text as it is, another scalar as JSON writes it.

    So as JavaScript does: 5.0 is 5, True is true.

    >>> plain(5.0), plain(True), plain(1e-5), plain("x"), plain(1e21)
    ('5', 'true', '0.00001', 'x', '1e+21')
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f")
    return repr(value).replace("e-0", "e-")
