"""How tests of checks without a judge ask one."""

from __future__ import annotations

from typing import Any

from assay.suite.assertions.base import CannotCheckError, Found, Given
from assay.suite.assertions.table import CHECKS
from assay.suite.providers.base import Answer


def found(kind: str, output: Any, value: Any = None, threshold: float | None = None) -> Found:
    """What a kind finds in an output; without threshold its default."""
    check = CHECKS[kind]
    threshold = check.default if threshold is None else threshold
    return check.check(Given(Answer(output=output), value=value, threshold=threshold))


def holds(kind: str, output: Any, value: Any = None, threshold: float | None = None) -> bool:
    return found(kind, output, value, threshold).holds


def reason(kind: str, output: Any, value: Any = None, threshold: float | None = None) -> str:
    return found(kind, output, value, threshold).reason


def refused(kind: str, output: Any, value: Any = None, threshold: float | None = None) -> str:
    """Why a kind cannot decide; the check must refuse."""
    try:
        got = found(kind, output, value, threshold)
    except CannotCheckError as error:
        return str(error)
    raise AssertionError(f"{kind} decided: {got.reason}")
