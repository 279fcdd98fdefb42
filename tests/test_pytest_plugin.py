"""The pytest plugin: the session's judge, failures of `assert_scores`, what it costs."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

import assay.pytest_plugin.showing
from assay import ScriptedJudge
from assay.asks import Judge
from assay.judges import named
from assay.pytest_plugin.lines import columns
from gliders import HEAD, VERDICTS

pytest_plugins = ["pytester"]
assert assay.pytest_plugin.showing  # imported here, so that runs inside of tests share it


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with nothing in it but warnings as errors."""
    pytester.makeini(
        "[pytest]\nfilterwarnings = error\naddopts = -p no:asyncio -p no:cacheprovider"
    )
    return pytester


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Judges that were opened by name, with what they were opened as; each counts its closings."""
    out: list[Any] = []

    class Counting(ScriptedJudge):
        closed = 0

        async def aclose(self) -> None:
            self.closed += 1

    def open_one(judge: str | Judge | None = None, *, packed: bool = False) -> Judge:
        if judge is not None and not isinstance(judge, str):
            return judge
        out.append((judge, packed, Counting(verdicts=VERDICTS, name=str(judge))))
        one: Judge = out[-1][2]
        return one

    monkeypatch.setattr(named, "open_judge", open_one)
    return out


def test_the_session_opens_its_judge_once_and_closes_it(
    inner: pytest.Pytester, opened: list[Any]
) -> None:
    inner.makepyfile(
        test_one=HEAD
        + """
def test_without(): assert_scores(SAMPLE, {"faithfulness": 0.5})
def test_with(judge):
    assert judge.name == "openai:m"
    assert judge.closed == 0
    assert_scores(SAMPLE, {"faithfulness": 0.5}, judge)
    assert judge.closed == 0
def test_other(): assert_scores(SAMPLE, {"faithfulness": 0.5}, "other")
""",
        test_two=HEAD
        + """
import asyncio
def test_again(judge): assert assay.evaluate([SAMPLE], "faithfulness", judge)
def test_async(): asyncio.run(assert_scores_async(SAMPLE, {"faithfulness": 0.5}))
""",
    )
    result = inner.runpytest_inprocess("--assay-judge", "openai:m", "--assay-packed")
    result.assert_outcomes(passed=5)
    assert [(name, packed) for name, packed, _ in opened] == [("openai:m", True), ("other", True)]
    assert [judge.closed for _, _, judge in opened] == [2, 1]  # one by `evaluate` itself
    assert not [thread for thread in threading.enumerate() if thread.name == "assay"]


@pytest.mark.parametrize(
    ("option", "variable", "setting", "name"),
    [
        ("a", "b", "c", "a"),
        ("", "b", "c", "b"),
        ("", "", "c", "c"),
        ("", "", "", None),
    ],
)
def test_where_the_judge_is_named(  # noqa: PLR0917
    inner: pytest.Pytester,
    opened: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    variable: str,
    setting: str,
    name: str | None,
) -> None:
    monkeypatch.setenv("ASSAY_JUDGE", variable)
    inner.makepyfile("def test_it(judge): pass")
    options = ["--assay-judge", option] if option else []
    ini = [f"-oassay_judge={setting}", "-oassay_packed=true"] if setting else []
    inner.runpytest_inprocess(*options, *ini).assert_outcomes(passed=1)
    assert [(one, packed) for one, packed, _ in opened] == [(name, bool(setting))]


def test_nothing_is_opened_that_is_not_used(inner: pytest.Pytester, opened: list[Any]) -> None:
    inner.makepyfile("def test_it(): pass")
    inner.runpytest_inprocess("--assay-judge", "openai:m").assert_outcomes(passed=1)
    assert opened == []


@pytest.mark.parametrize("rewriting", ["rewrite", "plain"])
def test_a_failure_is_a_message_and_no_traceback(inner: pytest.Pytester, rewriting: str) -> None:
    inner.makepyfile(
        HEAD
        + """
@pytest.fixture
def judge(): return assay.ScriptedJudge()
def test_it(judge):
    assert_scores(SAMPLE, {"faithfulness": ">= 0.8"}, judge)
def test_bad(judge):
    assert_scores(SAMPLE, {"faithfulness": "high"}, judge)
def test_empty(judge):
    assert_scores({**SAMPLE, "response": ""}, {"faithfulness": 1}, judge, undefined="skip")
"""
    )
    result = inner.runpytest_inprocess(f"--assert={rewriting}", "-rsf")
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines(
        [
            ">*assert_scores(SAMPLE, *",
            "E       AssertionError: faithfulness 0.5, expected >= 0.8",
            "E       question: How high?",
            "E         - “It took off from Chile.”",
            "E           neutral to every context",
            "E       assay.errors.ConfigError: faithfulness: 'high' is no bound; *",
            "SKIPPED * test_a_failure_is_a_message_and_no_traceback.py:*: nothing to measure: *",
            "FAILED *::test_it - AssertionEr*",
        ]
    )
    result.stdout.no_fnmatch_line("*asserting.py*")
    assert max(columns(line) for line in result.outlines if line.startswith("E ")) <= 100


def test_a_judge_that_cannot_be_had_is_told_in_a_line(inner: pytest.Pytester) -> None:
    inner.makepyfile(HEAD + "def test_it(judge): pass\n")
    result = inner.runpytest_inprocess("--assay-judge", "openia:m")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["unknown judge 'openia:m'; did you mean 'openai'?"])
    result.stdout.no_fnmatch_line("*Error*plugin.py*")


def test_the_plugin_imports_little_and_the_package_nothing_of_it() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import assay.pytest_plugin.plugin;"
        "print(*sorted(m for m in set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert set(done.stdout.split()) <= {
        "_contextvars",
        "assay",
        "assay.pytest_plugin",
        "assay.pytest_plugin.plugin",
        "assay.pytest_plugin.session",
        "assay.version",
        "contextvars",
        "importlib",
    }
