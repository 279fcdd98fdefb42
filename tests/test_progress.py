"""The bar of a run on a terminal: what it shows while calls wait."""

from __future__ import annotations

import io
import sys
import time

import pytest

from assay.cli.progress import Progress
from assay.judges.limiting import Limiter
from assay.judges.limits.circuit import FAILURES, Circuit
from assay.judges.reaching import Reach


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(text: str, monkeypatch: pytest.MonkeyPatch, *, columns: int = 120) -> str:
    """What a bar writes in a fifth of a second in which no row is done."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    with Progress(10, waiting=lambda: text) as progress:
        progress.step()
        time.sleep(0.2)
    return screen.getvalue()


def test_a_bar_says_what_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    said = shown("waiting for http://h/v1: [bold]HTTP 503\x1b[31m", monkeypatch, columns=200)
    assert "waiting for http://h/v1: [bold]HTTP 503 [31m" in said
    assert "/s" in said
    assert "/s" in shown("", monkeypatch)


def test_what_does_not_fit_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    said = shown("waiting for " + "x" * 500, monkeypatch, columns=60)
    assert "waiting" in said
    assert "x" * 60 not in said


def test_a_circuit_tells_what_is_waited_for() -> None:
    circuit = Circuit()
    circuit.served(0)
    for _ in range(FAILURES - 1):
        circuit.failed(1, "http://h/v1: HTTP 503", limited=False, probe=False)
    assert circuit.reach(1).waiting == ""  # calls are still sent
    circuit.failed(1, "http://h/v1: HTTP 503", limited=False, probe=False)
    assert circuit.reach(2).waiting == "waiting for the endpoint: http://h/v1: HTTP 503"
    assert circuit.reach(31).waiting == ""  # given up
    circuit.served(31)
    assert circuit.reach(31).waiting == ""


def test_a_limiter_tells_how_long_a_rate_limit_holds() -> None:
    now = [0.0]
    limiter = Limiter(clock=lambda: now[0])
    assert limiter.reach.waiting == ""
    limiter.hold(40)
    assert limiter.reach.waiting == "rate limited: waiting 40 s"
    now[0] = 25
    assert limiter.reach.waiting == "rate limited: waiting 15 s"
    now[0] = 39.5
    assert limiter.reach.waiting == ""


def test_of_two_endpoints_either_may_be_waited_for() -> None:
    one, other = Reach(waiting="a"), Reach(waiting="b")
    assert (Reach() | other).waiting == "b"
    assert (one | other).waiting == "a"
