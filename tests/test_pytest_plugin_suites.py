"""Suites in YAML as pytest files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

import assay.pytest_plugin.collecting
from assay import ScriptedJudge
from assay.asks import Judge
from assay.pytest_plugin.lines import columns
from assay.suite import graders
from assay.verdicts import Cell, Span, Verdict
from servers import FakeOpenAI, status

pytest_plugins = ["pytester"]
# Imported here, so that pytest runs inside of tests share them instead of importing them again.
assert assay.pytest_plugin.collecting
assert jinja2
assert yaml

CONTEXT = "Perlan 2 climbed to 22,646 m."
WRONG = "It took off from Chile."
SUITE = f"""
prompts: ["{{{{query}}}}"]
providers: [echo]
tests:
- description: height
  vars: {{query: "{CONTEXT} {WRONG}", context: ["Nothing here.", "{CONTEXT} From Argentina."]}}
  assert:
  - {{type: contains, value: Perlan}}
  - {{type: context-faithfulness, threshold: 0.8, config: {{joined: false}}}}
- vars: {{query: "{CONTEXT}", context: ["{CONTEXT}"]}}
  assert: [{{type: context-faithfulness, threshold: 0.8}}]
- description: silence
  vars: {{query: "?", context: ["{CONTEXT}"]}}
  assert: [{{type: context-faithfulness, config: {{undefined: skip}}}}]
"""


def verdict(claim: str, premise: str) -> Cell:
    """Entailed as it stands, and contradicted by a sentence that names another country."""
    if claim in premise:
        return Cell(Verdict.ENTAILED, 0.9)
    if (start := premise.find("From Argentina.")) < 0:
        return Cell(Verdict.NEUTRAL)
    quote = Span("From Argentina.", start, start + 15)
    return Cell(Verdict.CONTRADICTED, 0.02, "another country", quote)


class Counting(ScriptedJudge):
    """Counts its closings, and can do all but grade by criteria."""

    closed = 0

    def can(self, skill: Any) -> bool:
        return bool(skill != "criteria")

    async def aclose(self) -> None:
        self.closed += 1


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with nothing in it but warnings as errors."""
    pytester.makeini(
        "[pytest]\nfilterwarnings = error\naddopts = -p no:asyncio -p no:cacheprovider"
    )
    return pytester


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Counting]:
    """The judges that suites opened."""
    out: list[Counting] = []

    def open_one(judge: str | Judge | None = None, *, packed: bool = False) -> Judge:
        claims = {"?": ()}
        out.append(Counting(claims=claims, verdicts=verdict, name=f"{judge} {packed}"))
        return out[-1]

    monkeypatch.setattr(graders, "open_judge", open_one)
    return out


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI().in_thread() as one:
        yield one


def write(inner: pytest.Pytester, text: str = SUITE, name: str = "rag.assay.yaml") -> Path:
    path = inner.path / name
    path.write_text(text, "utf-8")
    return path


def test_every_test_is_an_item(inner: pytest.Pytester, opened: list[Counting]) -> None:
    write(inner)
    result = inner.runpytest_inprocess("-v", "-rs")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "rag.assay.yaml::test 1: height [[]echo[]] FAILED*",
            "rag.assay.yaml::test 2 [[]echo[]] PASSED*",
            "rag.assay.yaml::test 3: silence [[]echo[]] SKIPPED*",
            "SKIPPED * rag.assay.yaml:12:3: context-faithfulness: nothing to measure: *no claims*",
        ]
    )
    assert len(opened) == 1
    assert opened[0].closed == 1


def test_a_failure_shows_every_assertion_with_claims(
    inner: pytest.Pytester, opened: list[Counting]
) -> None:
    write(inner)
    result = inner.runpytest_inprocess("-rf")
    assert opened
    lines = result.outlines
    first = next(n for n, line in enumerate(lines) if "test 1: height [echo] _" in line)
    reason, *others = lines[first + 1 : first + 14]
    assert reason.startswith("context-faithfulness (joined=false): ")
    assert others[1] == "at rag.assay.yaml:5:3"
    text = "\n".join(others)
    assert f"query: {CONTEXT} {WRONG}\n" in text
    assert "output: Perlan 2" in text
    assert "[pass] contains" in text
    assert "[fail] context-faithfulness (joined=false): score 0.5, wanted at least 0.8\n" in text
    assert f"  - “{WRONG}”\n    contradicted by context 1: “From Argentina.” (p 0.02)\n" in text
    assert "    another country" in text
    assert max(map(columns, [reason, *others])) <= 100
    result.stdout.fnmatch_lines(["FAILED rag.assay.yaml::test 1: height [[]echo[]] - *faithful*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*.py:*")


def test_tests_can_be_chosen(inner: pytest.Pytester, opened: list[Counting]) -> None:
    write(inner)
    write(inner, name="other.yaml")
    result = inner.runpytest_inprocess("rag.assay.yaml::test 1: height [echo]")
    result.assert_outcomes(failed=1)
    inner.runpytest_inprocess("-k", "silence").assert_outcomes(skipped=1, deselected=2)
    assert len(opened) == 2
    chosen = inner.runpytest_inprocess(
        "-o", "assay_files=other.yaml nothing.yaml", "--collect-only"
    )
    assert [line for line in chosen.outlines if "SuiteFile" in line] == ["  <SuiteFile other.yaml>"]
    assert len(opened) == 2


NAMES = f"""
prompts: [{{raw: "{{{{q}}}}", label: {"a" * 120}}}, {{raw: "{{{{q}}}}!", label: {"a" * 121}}}]
providers: [echo]
evaluateOptions: {{repeat: 2}}
tests:
- {{description: "  who::::is\\n[this] \\e[31m\\u202E ??: ", vars: {{q: x}}}}
"""


def test_names_are_distinct_and_on_one_line(inner: pytest.Pytester) -> None:
    write(inner, NAMES)
    result = inner.runpytest_inprocess("--collect-only", "-q")
    names = [line.removeprefix("rag.assay.yaml::") for line in result.outlines if "::" in line]
    stem = f"test 1: who:is [this] [31m ??: [echo, {'a' * 80}…"
    assert names == [f"{stem}{end}]" for end in ("", ", repeat 2", " #2", ", repeat 2 #2")]
    inner.runpytest_inprocess(f"rag.assay.yaml::{stem} #2]").assert_outcomes(passed=1)


BROKEN = [
    ("tests: [{asert: []}]", "rag.assay.yaml:1:*: error: unknown key 'asert'; did you mean*"),
    (
        "prompts: [x]\nproviders: [echo]\ntests:\n- assert: [{type: containz, value: x}]",
        "rag.assay.yaml:4:*: error: *containz*",
    ),
    ("tests: [", "rag.assay.yaml:*"),
    ("", "rag.assay.yaml:1:1: error: *empty"),
    ("a: &x [*x]\nb: !!python/object:os.system {}", "rag.assay.yaml:*"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_config_that_cannot_run_is_a_collection_error(
    inner: pytest.Pytester, text: str, said: str
) -> None:
    write(inner, text)
    result = inner.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR collecting rag.assay.yaml*", said])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*collecting.py*")


def test_warnings_about_a_suite_are_printed_and_no_errors(inner: pytest.Pytester) -> None:
    write(inner, "sharing: true\nprompts: [x]\nproviders: [echo]\ntests: [{}]")
    result = inner.runpytest_inprocess("-W", "error")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*= assay =*", "rag.assay.yaml:1:*: warning: 'sharing' *"])


CODE = """
prompts: ["{{q}}"]
providers: ["python:answer.py", echo]
tests:
- vars: {q: a}
  assert: [{type: contains, value: a}]
- vars: {q: b}
  assert: [{type: contains, value: b}]
"""


def test_programs_run_with_leave_only(inner: pytest.Pytester) -> None:
    write(inner, CODE)
    program = "open('pids', 'a').write('started ')\ndef call_api(p, o, c): return {'output': p}\n"
    write(inner, program, "answer.py")
    result = inner.runpytest_inprocess("-p", "no:warnings")
    result.assert_outcomes(passed=2, failed=2)
    assert not (inner.path / "pids").exists()
    told = [line for line in result.outlines if line.startswith("error: ")]
    assert len(told) == 2
    assert "allow that with --assay-allow-code" in told[0]
    inner.runpytest_inprocess("--assay-allow-code").assert_outcomes(passed=4)
    assert (inner.path / "pids").read_text() == "started "


def test_an_assertion_that_cannot_be_decided_leaves_its_siblings(
    inner: pytest.Pytester, opened: list[Counting]
) -> None:
    text = SUITE + "- vars: {query: a}\n  assert:\n  - {type: llm-rubric, value: kind}\n"
    write(inner, text + "  - {type: contains, value: a}\n")
    result = inner.runpytest_inprocess(
        "rag.assay.yaml::test 4 [echo]", "--assay-judge", "some", "--assay-packed"
    )
    result.assert_outcomes(failed=1)
    assert opened[0].name == "some True"
    result.stdout.fnmatch_lines(
        [
            "error: llm-rubric: llm-rubric needs a judge that does criteria, and some*",
            "[[]error[]] llm-rubric",
            "  *--assay-judge*",
            "[[]pass[]] contains*",
        ]
    )


def test_an_endpoint_judges_and_answers(
    inner: pytest.Pytester, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    server.key = "another key"
    write(inner)
    result = inner.runpytest_inprocess("--assay-judge", "openai:fake")
    result.assert_outcomes(failed=3)
    assert "sk-very-secret-key" not in result.stdout.str()
    result.stdout.fnmatch_lines(
        ["error: context-faithfulness (joined=false): *", "[[]pass[]] contains*"]
    )
    server.key = None
    server.faults = [status(400)]
    result = inner.runpytest_inprocess("--assay-judge", "openai:fake", "-k", "not silence")
    result.assert_outcomes(failed=1, passed=1, deselected=1)


def test_secrets_are_struck_out(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "tok-12345678")
    body = "vars: {q: 'it is tok-12345678'}\n  assert: [{type: contains, value: none}]"
    suite = "prompts: ['{{q}}']\nproviders: [{id: echo, label: 'x tok-12345678'}]\ntests:\n- "
    write(inner, suite + body)
    result = inner.runpytest_inprocess("-v")
    result.assert_outcomes(failed=1)
    assert "tok-12345678" not in result.stdout.str()
    assert "output: it is ***" in result.stdout.str()
    write(inner, "tok-12345678: 1")
    result = inner.runpytest_inprocess("-v")
    result.assert_outcomes(errors=1)
    assert "tok-12345678" not in result.stdout.str()


def test_each_file_closes_its_own(inner: pytest.Pytester, opened: list[Counting]) -> None:
    write(inner, name="a.assay.yaml")
    write(inner, name="b.assay.yml")
    inner.makepyfile("def test_it(): pass")
    inner.runpytest_inprocess().assert_outcomes(passed=3, failed=2, skipped=2)
    assert [judge.closed for judge in opened] == [1, 1]


def test_workers_of_xdist_agree_on_names_and_tell_remarks_once(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    plugins = ["-p", "xdist", "-p", "assay.pytest_plugin.plugin"]
    tests = "".join(f"- vars: {{q: 'n{n}'}}\n  assert: [{{type: contains, value: n{n}}}]\n" for n in
                    range(6))  # fmt: skip
    text = f"sharing: true\nprompts: ['{{{{q}}}}']\nproviders: [echo]\ntests:\n{tests}"
    write(inner, text + "- vars: {q: no}\n  assert: [{type: contains, value: 'yes'}]\n")
    inner.makepyfile(
        """
from assay.pytest_plugin import assert_scores
SAMPLE = {"response": "It rains.", "contexts": ["It rains."]}
def test_one(judge):
    assert judge.name == "embedded"
    assert_scores(SAMPLE, {"faithfulness": 1}, judge)
def test_two(): assert_scores(SAMPLE, {"faithfulness": 1})
"""
    )
    result = inner.runpytest_subprocess(*plugins, "-n", "2", "--assay-judge", "embedded")
    result.assert_outcomes(passed=8, failed=1)
    assert len(re.findall("warning: 'sharing'", result.stdout.str())) == 1
    result.stdout.fnmatch_lines(["*[[]fail[]] contains*", "*= assay =*"])
