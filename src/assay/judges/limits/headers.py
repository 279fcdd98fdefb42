"""What the headers of a reply say about when to send the next request."""

from __future__ import annotations

import re
from collections.abc import Mapping

_UNITS: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(ms|[smhd])")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_LIMITS = tuple(
    (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}")
    for kind in ("requests", "tokens")
)
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,9})?")


def until_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until the endpoint takes requests again, if it says that none remain.

    Of ``x-ratelimit-remaining-requests`` and ``-tokens`` each that is 0 counts, with its
    ``x-ratelimit-reset-``. Header names are expected in lower case.

    >>> until_reset({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"})
    360.0
    >>> until_reset({"x-ratelimit-remaining-tokens": "1"}) is None
    True
    """
    waits = [
        duration(headers.get(reset))
        for remaining, reset in _LIMITS
        if _is_none_left(headers.get(remaining))
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def duration(value: str | None) -> float | None:
    """Seconds, from a number of them or from parts such as "1h2m3.5s" and "250ms".

    >>> [duration(text) for text in ("1s", "6m0s", "250ms", "1.5", "soon", None)]
    [1.0, 360.0, 0.25, 1.5, None, None]
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    if len(text) > 64 or not _DURATION.fullmatch(text):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def _is_none_left(value: str | None) -> bool:
    if value is None:
        return False
    try:
        return float(value) <= 0
    except ValueError:
        return False
