"""What ``assay validate`` and ``assay eval`` tell before anything is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.app import run
from suite_endpoint import Endpoint, evaluated, parts_of, rows_of, statuses, written

Capture = pytest.CaptureFixture[str]
CONTAINS = {"type": "contains", "value": "mill"}
RUBRIC = {"type": "llm-rubric", "value": "It speaks of a mill"}


def told(folder: Path, config: str, capsys: Capture, command: str = "validate") -> tuple[int, str]:
    """The exit code, and what is said of the config, without the folder."""
    code = run([command, str(written(folder, config))])
    return code, capsys.readouterr().err.replace(f"{folder}/", "")


def suite_of(provider: str, assertion: str = "{type: contains, value: x}") -> str:
    return (
        f"providers:\n  - {provider}\nprompts: ['{{{{q}}}}']\n"
        f"tests:\n  - vars: {{q: x}}\n    assert:\n      - {assertion}\n"
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint().in_thread() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        yield endpoint


ERRORS = {
    "an unknown provider": (
        suite_of("opnai:gpt-4o"),
        "2:5: error: unknown provider 'opnai:gpt-4o'",
    ),
    "no model": (suite_of("'openai:'"), "2:5: error: provider openai:: which model?"),
    "a key": (
        suite_of("{id: 'openai:x', config: {apiKey: sk-1234567890}}"),
        "2:5: error: provider openai:x: config.apiKey holds a key",
    ),
    "an unknown key of config": (
        suite_of("{id: 'openai:x', config: {temprature: 0}}"),
        "2:5: error: provider openai:x: config.temprature is not known; did you mean 'temper",
    ),
    "a replay that is missing": (suite_of("replay:none.jsonl"), "2:5: error: "),
    "a replay that is broken": (suite_of("replay:suite.json"), "2:5: error: "),
    "a program that is missing": (suite_of("python:none.py"), "2:5: error: provider python:none"),
    "a transform in JavaScript": (
        suite_of("{id: 'http://a.b', config: {transformResponse: 'json.a.map(x)'}}"),
        "2:5: error: provider http://a.b: config.transformResponse cannot be used",
    ),
    "an unknown filter of a body": (
        suite_of("{id: 'http://a.b', config: {body: {q: '{{q | upcase}}'}}}"),
        "there is no filter 'upcase'",
    ),
    "an unknown grader": (
        suite_of("echo", "{type: llm-rubric, value: x, provider: embeded}"),
        "7:9: error: unknown judge 'embeded'; did you mean 'embedded'?",
    ),
    "a bare model as grader": (
        suite_of("echo", "{type: llm-rubric, value: x, provider: gpt-4o}"),
        "7:9: error: unknown judge 'gpt-4o'; did you mean openai:gpt-4o?",
    ),
    "a grader without a model": (
        suite_of("echo", "{type: llm-rubric, value: x, provider: 'openai:'}"),
        "7:9: error: grader openai:: which model is the judge? write openai:MODEL",
    ),
    "a graders config": (
        suite_of("echo", "{type: is-json}")
        + "      - {type: llm-rubric, value: x, provider: {id: 'openai:x', config: {seeed: 1}}}\n",
        "8:9: error: grader openai:x: unknown option 'seeed'; did you mean 'seed'?",
    ),
    "a default grader": (
        "defaultTest: {options: {provider: embeded}}\n"
        + suite_of("echo", "{type: g-eval, value: x}"),
        "1:35: error: unknown judge 'embeded'",
    ),
    "an unknown filter of a prompt": (
        suite_of("echo").replace("{{q}}", "{{q | upcase}}"),
        "3:11: error: template '{{q | upcase}}', line 1: there is no filter 'upcase'",
    ),
    "an unknown filter of a value": (
        suite_of("echo", "{type: contains, value: '{{q | trimm}}'}"),
        "7:9: error: contains: template '{{q | trimm}}', line 1: there is no filter 'trimm'; did",
    ),
    "an unknown test of a config": (
        suite_of(
            "echo", "{type: context-recall, value: x, config: {contextChunks: '{{q is list}}'}}"
        ),
        "7:9: error: context-recall: template '{{q is list}}', line 1: there is no test 'list'",
    ),
    "a broken template of a metric": (
        suite_of("echo", "{type: contains, value: x, metric: '{{q'}"),
        "7:9: error: contains: template '{{q', line 1",
    ),
    "a transform of contexts": (
        suite_of("echo", "{type: context-faithfulness, contextTransform: 'output.map(x)'}"),
        "7:9: error: context-faithfulness: 'output.map(x)' is no path; JavaScript is not run",
    ),
    "a filter range": (
        suite_of("echo") + "evaluateOptions: {filterRange: 'a:b'}\n",
        "error: 'a:b' is no range",
    ),
    "a pass rate": (
        suite_of("echo") + "env: {PROMPTFOO_PASS_RATE_THRESHOLD: many}\n",
        "error: PROMPTFOO_PASS_RATE_THRESHOLD is 'many'",
    ),
    "an output file": (suite_of("echo") + "outputPath: x.pdf\n", "error: cannot write 'x.pdf'"),
    "no test that is taken": (
        suite_of("{id: echo, prompts: [other]}"),
        "5:3: error: there is no test to run",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_a_run_would_refuse_is_found_beforehand(
    tmp_path: Path, capsys: Capture, name: str
) -> None:
    config, said = ERRORS[name]
    (tmp_path / "suite.json").write_text('[{"a": 1}]', "utf-8")
    code, shown = told(tmp_path, config, capsys)
    assert code == 1
    assert said in shown
    assert "Traceback" not in shown
    assert "sk-1234567890" not in shown
    code, again = told(tmp_path, config, capsys, "eval")
    assert code == 1
    assert again


WARNINGS = {
    "a program": (
        suite_of("'exec: cat'"),
        "2:5: warning: provider exec: cat runs a program",
    ),
    "a python assertion": (
        suite_of("echo", "{type: python, value: 'True'}"),
        "7:9: warning: a python assertion runs code: allow it with --allow-code",
    ),
    "a grader that lacks a skill": (
        suite_of("echo", "{type: llm-rubric, value: x}"),
        "7:9: warning: llm-rubric needs a judge that does criteria, and embedded does not",
    ),
    "a variable that is not there": (
        suite_of("echo", "{type: contains, value: '{{query}}'}").replace("{q: x}", "{qurey: x}"),
        "7:9: warning: contains names the variable 'query', which the test does not have; did you",
    ),
    "an unset variable of a prompt": (
        suite_of("echo").replace("'{{q}}'", "'{{q}} {{env.NOPE_NO}}'"),
        "3:11: warning: prompt '{{q}} {{env.NOPE_NO}}': the environment variable NOPE_NO is not",
    ),
    "an unset variable of a value": (
        suite_of("echo", "{type: contains, value: '{{env.NOPE_NO}}'}"),
        "7:9: warning: contains: the environment variable NOPE_NO is not set",
    ),
    "an unset variable of a header": (
        suite_of("{id: 'http://a.b', config: {headers: {X: '{{env.NOPE_NO}}'}}}"),
        "2:5: warning: provider http://a.b: the environment variable NOPE_NO is not set",
    ),
    "an unset key": (
        suite_of("{id: 'openai:x', config: {apiKeyEnvar: NO_SUCH, apiBaseUrl: 'http://h/v1'}}"),
        "2:5: warning: provider openai:x: NO_SUCH is not set: no key is sent to http://h/v1",
    ),
    "an unset key of a grader": (
        suite_of(
            "echo",
            "{type: llm-rubric, value: x, provider: {id: 'openai:x', config: {apiKeyEnvar: NO_SUCH,"
            " apiBaseUrl: 'http://h/v1'}}}",
        ),
        "7:9: warning: grader openai:x: NO_SUCH is not set: no key is sent to http://h/v1",
    ),
    "no providers": (
        "tests: [{vars: {prompt: x}, assert: [{type: contains, value: x}]}]\n",
        "warning: no providers: eval needs -r or --model-outputs",
    ),
    "fewer answers than tests": (
        suite_of("replay:answers.jsonl").replace("{q: x}", "{q: [x, y, z]}"),
        "2:5: warning: replay:answers.jsonl has 2 answers, and there are 3 tests",
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_what_a_run_would_stumble_over_is_a_warning(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("NOPE_NO", raising=False)
    config, said = WARNINGS[name]
    (tmp_path / "answers.jsonl").write_text('"x"\n"y"\n', "utf-8")
    code, shown = told(tmp_path, config, capsys)
    assert said in shown
    assert shown.count(said) == 1
    assert code == 0


def test_what_is_in_order_gets_no_remark(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "a-key-of-length")
    (tmp_path / "answers.jsonl").write_text('{"vars": {"q": "x"}, "output": "x"}\n', "utf-8")
    own = "{id: 'openai:x', config: {apiKeyEnvar: SOME_KEY, apiBaseUrl: '{{env.BASE}}'}}"
    graded = f"{{type: llm-rubric, value: '{{{{q | trim}}}} {{{{env.BASE}}}}', provider: {own}}}"
    config = suite_of("replay:answers.jsonl", graded) + "env: {BASE: 'http://h/v1'}\n"
    config = config.replace("{q: x}", "{q: [x, y]}")
    assert told(tmp_path, config, capsys) == (0, "")


def test_each_test_that_lacks_a_variable_of_the_defaults_is_named(
    tmp_path: Path, capsys: Capture
) -> None:
    config = """\
providers: [echo]
prompts: [x]
defaultTest:
  assert:
    - {type: icontains, value: '{{right}}'}
    - {type: icontains, value: '{% if hint %}{{hint | lower}}{% endif %}'}
tests:
  - vars: {right: x, hint: y}
  - vars: {rihgt: x}
"""
    code, shown = told(tmp_path, config, capsys)
    assert code == 0
    why = "the test does not have the variable 'right', which icontains names"
    assert shown == f"suite.yaml:9:5: warning: {why}\n"


IRRELEVANT = {"type": "noise-sensitivity", "value": "x", "config": {"mode": "irrelevant"}}
IDLE = "no chunk is labelled relevant: false, so this mode cannot fail"


@pytest.mark.parametrize(
    ("changes", "warned"),
    [
        ({}, True),
        ({"vars": {"contextChunks": ["a", {"text": "b", "relevant": True}]}}, True),
        ({"vars": {"contextChunks": ["a", {"text": "b", "relevant": False}]}}, False),
        ({"vars": {"contextChunks": '[{"text": "b", "relevant": false}]'}}, False),
        ({"vars": {}}, True),
        ({"providerOutput": {"output": "o", "contexts": ["a"]}}, False),
        ({"config": {"mode": "relevant"}}, False),
        ({"config": {"mode": "{{mode}}"}, "vars": {"mode": "irrelevant"}}, True),
        ({"config": {"mode": "irrelevant", "dialect": "ragas"}}, False),
        ({"config": {"mode": "irrelevant", "contextChunks": "{{other}}"}}, False),
        ({"config": {"mode": "irrelevant", "contextChunks": "file://x.json"}}, False),
        ({"contextTransform": "$.docs[*]"}, False),
    ],
)
def test_a_mode_that_cannot_fail_is_told_where_it_can_be(
    tmp_path: Path, capsys: Capture, changes: dict[str, Any], warned: bool
) -> None:
    other = [{"text": "b", "relevant": False}]
    test = {
        "providerOutput": changes.get("providerOutput", "o"),
        "vars": {"context": "a", "other": other, **changes.get("vars", {})},
        "assert": [
            {
                **IRRELEVANT,
                **{k: v for k, v in changes.items() if k not in ("vars", "providerOutput")},
            }
        ],
    }
    code, shown = told(tmp_path, json.dumps({"tests": [test]}, indent=1), capsys)
    assert (code, f"warning: noise-sensitivity in mode irrelevant: {IDLE}" in shown) == (0, warned)


def test_the_assertion_says_so_too(tmp_path: Path) -> None:
    tests = [
        {"providerOutput": "It grinds salt.", "vars": {"context": "a"}, "assert": [one]}
        for one in (IRRELEVANT, {**IRRELEVANT, "type": "not-noise-sensitivity"})
    ]
    _, record = evaluated(tmp_path, json.dumps({"tests": tests}))
    reasons = [parts_of(record, n)[0]["reason"] for n in (0, 1)]
    assert [IDLE in reason for reason in reasons] == [True, True]
    labelled = {"contextChunks": [{"text": "a", "relevant": False}]}
    test = {"providerOutput": "It grinds salt.", "vars": labelled, "assert": [IRRELEVANT]}
    _, record = evaluated(tmp_path, json.dumps({"tests": [test]}))
    assert IDLE not in parts_of(record)[0]["reason"]


def test_what_the_grader_cannot_do_is_one_assertions_error(tmp_path: Path, capsys: Capture) -> None:
    tests = [
        {"providerOutput": "A mill.", "assert": [CONTAINS, RUBRIC]},
        {"providerOutput": "A mill.", "assert": [CONTAINS]},
    ]
    code, record = evaluated(tmp_path, json.dumps({"tests": tests}))
    assert (code, [row["status"] for row in rows_of(record)]) == (100, ["error", "pass"])
    assert statuses(parts_of(record)) == ["pass", "error"]
    assert (
        "needs a judge that does criteria, and embedded does not" in parts_of(record)[1]["reason"]
    )
    assert "warning: llm-rubric needs a judge that does criteria" in capsys.readouterr().err


def test_several_rubrics_on_one_answer_cost_one_call(tmp_path: Path, server: Endpoint) -> None:
    rubrics = [{**RUBRIC, "value": f"It speaks of {what}"} for what in ("a mill", "salt", "bread")]
    g_eval = {"type": "g-eval", "value": ["It is short", "It is kind"]}
    test = {"providerOutput": "A mill.", "assert": [*rubrics, g_eval]}
    _, record = evaluated(tmp_path, json.dumps({"tests": [test]}), "--grader", "openai:judge")
    assert server.calls == 1
    assert len(parts_of(record)) == 4
    assert "error" not in statuses(parts_of(record))


def test_a_grader_for_embeddings_is_no_chat_model(tmp_path: Path) -> None:
    config = """
providers: [echo]
prompts: ['mill']
defaultTest:
  options:
    provider:
      text: openai:chat:judge
      embedding: openai:embedding:vectors
tests:
  - assert: [{type: similar, value: mill}]
"""
    path = tmp_path / "suite.yaml"
    path.write_text(config, "utf-8")
    assert run(["validate", "-c", str(path)]) == 0
