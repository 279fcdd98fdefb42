"""Assertions on the scores of samples, in pytest and in plain Python."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import AssayError, ConfigError
from assay.pytest_plugin.session import CURRENT, Session

if TYPE_CHECKING:
    from assay.asks import Judge
    from assay.metrics import Metric
    from assay.pytest_plugin.bounds import Bound
    from assay.run import Run
    from assay.sample import Sample

    One = Sample | Mapping[str, Any]
    Expectations = Mapping[Any, str | float]  # keys: names or Metric objects, also mixed
Undefined = Literal["fail", "skip"]


def assert_scores(
    sample: One | Iterable[One],
    expectations: Expectations,
    judge: str | Judge | None = None,
    *,
    undefined: Undefined = "fail",
) -> Run:
    """Assert that the scores of a sample, or of each of several, are as expected.

    ``expectations`` gives each metric, by name or as an object, a bound: ``">= 0.8"`` (also >,
    ==, <=, <), or a number, which is the least a score may be or, for metrics where lower is
    better, the most. All metrics are scored together, from the same verdicts. ``judge`` is a name
    or an object; without one it is the judge of the pytest session or, outside of pytest, that of
    `assay.evaluate`.

    A score that failed does not pass, whatever is expected, and neither does one that is
    undefined. With ``undefined="skip"`` undefined scores are left out; where they are all, the
    test is skipped.

    Returns the scores. Raises AssertionError with the claims and evidence behind each score that
    is not as expected; ConfigError for expectations that cannot work; DataError, JudgeUnusable.

    >>> import assay
    >>> judge = assay.ScriptedJudge()
    >>> sample = {"response": "It rains.", "contexts": ["It rains. It pours."]}
    >>> assert_scores(sample, {"faithfulness": ">= 0.8"}, judge)
    <Run of 1 samples: faithfulness 1.000>
    """
    __tracebackhide__ = True
    from assay.api import evaluate, evaluate_async

    try:
        samples, asked, bounds = _read(sample, expectations, undefined)
        session, chosen = _answerer(judge)
        if session is None:
            run = evaluate(samples, asked, chosen)
        else:
            run = session.run(evaluate_async(samples, asked, chosen))
    except AssayError as error:
        # The way through the runner tells the reader of a test nothing.
        raise error.with_traceback(None) from None
    _decide(run, bounds, undefined)
    return run


async def assert_scores_async(
    sample: One | Iterable[One],
    expectations: Expectations,
    judge: str | Judge | None = None,
    *,
    undefined: Undefined = "fail",
) -> Run:
    """Assert as `assert_scores` does, for code that runs in an event loop."""
    __tracebackhide__ = True
    from assay.api import evaluate_async

    try:
        samples, asked, bounds = _read(sample, expectations, undefined)
        session, chosen = _answerer(judge)
        work = evaluate_async(samples, asked, chosen)
        run = await (work if session is None else session.join(work))
    except AssayError as error:
        raise error.with_traceback(None) from None
    _decide(run, bounds, undefined)
    return run


def _read(
    sample: One | Iterable[One], expectations: Expectations, undefined: str
) -> tuple[list[Sample], list[str | Metric], dict[str, Bound]]:
    """Samples, metrics, and bounds by the metrics' names; raises ConfigError, DataError."""
    from assay.api import load, open_metrics
    from assay.pytest_plugin.bounds import EXAMPLE, bounds_of
    from assay.sample import Sample

    if undefined not in ("fail", "skip"):
        raise ConfigError(f"undefined is {undefined!r}; it must be 'fail' or 'skip'")
    if not isinstance(expectations, Mapping) or not expectations:
        raise ConfigError(f"no expectations; give bounds by metric, e.g. {EXAMPLE}")
    asked: list[str | Metric] = [*expectations]
    bounds = bounds_of(open_metrics(asked), expectations)
    samples = load([sample] if isinstance(sample, Sample | Mapping) else sample)
    if not samples:
        raise ConfigError("no samples: nothing would be asserted")
    return samples, asked, bounds


def _answerer(judge: str | Judge | None) -> tuple[Session | None, str | Judge | None]:
    """The judge, and the session where it is the session's and to be asked in its loop."""
    session = CURRENT.get()
    if session is None:
        if judge is None and _is_lost():
            raise ConfigError("in a thread of its own a test has no judge: give judge=...")
        return None, judge
    if judge is None or isinstance(judge, str):
        return session, session.open(judge)
    return (session if session.owns(judge) else None), judge


def _is_lost() -> bool:
    """Whether this is a thread that a test started, which does not know the session."""
    aside = threading.current_thread() is not threading.main_thread()
    return aside and "PYTEST_CURRENT_TEST" in os.environ


def _decide(run: Run, bounds: Mapping[str, Bound], undefined: str) -> None:
    """Raise AssertionError for scores that are not as expected; skip where there are none."""
    __tracebackhide__ = True
    broken: list[list[str]] = []
    left_out = ""
    for row in run:
        wrong = []
        for name, bound in bounds.items():
            score = row.scores[name]
            if score.status == "undefined" and undefined == "skip":
                left_out = left_out or f"{name} is undefined: {score.reason}"
            elif score.value is None or not bound.holds(score.value):
                wrong.append(name)
        broken.append(wrong)
    if any(broken):
        from assay.pytest_plugin.showing import scores_shown

        raise AssertionError(scores_shown(run, bounds, broken))
    if left_out and all(s.value is None for row in run for s in row.scores.values()):
        _skip(f"nothing to measure: {left_out}")


def _skip(reason: str) -> None:
    """Skip the test; in plain Python, raise the exception that unittest skips for."""
    __tracebackhide__ = True
    if CURRENT.get() is not None:
        import pytest

        pytest.skip(reason)
    from unittest import SkipTest

    raise SkipTest(reason)
