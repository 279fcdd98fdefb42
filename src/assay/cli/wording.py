"""What commands have in common to say."""

from __future__ import annotations

from assay.errors import AssayError


class StoppedError(AssayError):
    """A command was stopped by a signal; the message says what is kept, and how to go on."""


def counted(count: int, noun: str) -> str:
    """A number and what there are so many of.

    >>> counted(1, "row"), counted(0, "row"), counted(1_200_000, "row")
    ('1 row', '0 rows', '1200000 rows')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def lacking(some: int, count: int, noun: str) -> str:
    """That some scores are made without verdicts that the judge did not give.

    >>> lacking(1, 500, "row")
    'unknown: 1 of 500 rows was scored without some verdicts, which the judge did not give'
    """
    was = "was" if some == 1 else "were"
    return (
        f"unknown: {some} of {counted(count, noun)} {was} scored without some verdicts, which the"
        " judge did not give"
    )
