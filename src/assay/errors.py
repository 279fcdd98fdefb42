"""Deliberate errors, one tree.

AssayError
├── ConfigError      a name, option or combination that cannot work; nothing was asked yet
├── DataError        a file, row or column that cannot be read as samples
├── MissingField     a sample lacks a field that a metric needs
├── MissingExtra     an optional package is not installed; the message holds the pip line
└── JudgeError       a judge did not answer one ask
    ├── JudgeUnavailable   no answer for now: connection, time-out, 429, 5xx (may be asked again)
    ├── JudgeRejected      the endpoint refuses this request for good (400, content filter)
    ├── MalformedAnswer    the reply could not be read, also after asking again
    └── JudgeUnusable      no ask can succeed: wrong key, unknown model; ends the run
        └── BudgetSpent    the next call could cost more than is left; answers so far are good
"""

from __future__ import annotations


class AssayError(Exception):
    """Base of every error that assay raises on purpose."""


class ConfigError(AssayError):
    """A name, option or combination of them that cannot work."""


class DataError(AssayError):
    """A file, row or column that cannot be read as samples."""


class MissingField(AssayError):
    """A sample lacks a field that a metric needs."""

    def __init__(self, field: str, why: str = "") -> None:
        self.field = field
        super().__init__(f"the sample has no {field}" + (f" ({why})" if why else ""))


class MissingExtra(AssayError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed; run: pip install 'assay[{extra}]'")


class JudgeError(AssayError):
    """A judge did not answer one ask."""


class JudgeUnavailable(JudgeError):
    """No answer for now: connection, time-out, rate limit or server error."""


class JudgeRejected(JudgeError):
    """The endpoint refuses this request for good."""


class MalformedAnswer(JudgeError):
    """The reply could not be read, also after asking again."""


class JudgeUnusable(JudgeError):
    """No ask can succeed: wrong key, unknown model, endpoint that is no endpoint."""


class BudgetSpent(JudgeUnusable):
    """The next call could cost more than is left of the budget; what was answered stays good."""


def did_you_mean(name: str, known: list[str]) -> str:
    """The clause that names the nearest known word, or lists them all.

    >>> did_you_mean("faithfullness", ["faithfulness", "recall"])
    "did you mean 'faithfulness'?"
    >>> did_you_mean("zzz", ["b", "a"])
    'known: a, b'
    """
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(sorted(known))
