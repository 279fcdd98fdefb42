"""``assay validate`` and ``assay schema``: what is wrong with a suite, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from assay.cli.app import run
from suite_endpoint import written
from test_suite_seed import BASIC, DISTRACTION, LABELLED, LEGACY, ROBUSTNESS, WITH_CONFIG

Capture = pytest.CaptureFixture[str]


def told(folder: Path, config: str, capsys: Capture) -> tuple[int, list[str]]:
    """The exit code, and what is said of the config, without the folder."""
    path = written(folder, config)
    code = run(["validate", "-c", str(path)])
    return code, capsys.readouterr().err.replace(f"{folder}/", "").splitlines()


ASSERTION = "tests:\n  - providerOutput: x\n    assert:\n      - "

ERRORS = {
    "an unknown key": ("tsts: []\n", "1:1: error: unknown key 'tsts'; did you mean 'tests'?"),
    "an unknown key of a test": (
        "tests:\n  - vras: {}\n",
        "2:5: error: unknown key 'vras'; did you mean 'vars'?",
    ),
    "an unknown key of options": (
        "defaultTest:\n  options:\n    rubricPromt: x\n",
        "3:5: error: unknown key 'rubricPromt'; did you mean 'rubricPrompt'?",
    ),
    "an unknown key of an assertion": (
        ASSERTION + "{type: equals, vaule: x}\n",
        "4:24: error: unknown key 'vaule'; did you mean 'value'?",
    ),
    "an unknown key of an assertion in a set": (
        ASSERTION + "{type: assert-set, assert: [{type: equals, value: x, wieght: 1}]}\n",
        "4:62: error: unknown key 'wieght'; did you mean 'weight'?",
    ),
    "an unknown key of a provider": (
        "providers:\n  - id: echo\n    lable: x\n",
        "3:5: error: unknown key 'lable'; did you mean 'label'?",
    ),
    "an unknown key of evaluateOptions": (
        "evaluateOptions:\n  maxConcurency: 3\n",
        "2:3: error: unknown key 'maxConcurency'; did you mean 'maxConcurrency'?",
    ),
    "a key that is not done": (
        "redteam: {}\n",
        "1:1: error: 'redteam' is not done here: red teaming is not done here",
    ),
    "a misspelt type": (
        ASSERTION + "{type: noise-sensitvity, value: x}\n",
        "4:9: error: unknown assertion type 'noise-sensitvity'; did you mean 'noise-sensitivity'?",
    ),
    "a misspelt type with not-": (
        ASSERTION + "{type: not-containz, value: x}\n",
        "4:9: error: unknown assertion type 'containz'; did you mean 'contains'?",
    ),
    "a type that is elsewhere": (
        ASSERTION + "{type: javascript, value: x}\n",
        "4:9: error: assertion type 'javascript' is not done here: JavaScript is not run here",
    ),
    "a misspelt metric": (
        ASSERTION + "{type: 'assay:faithfullness', threshold: 1}\n",
        "4:9: error: unknown metric 'faithfullness'; did you mean 'faithfulness'?",
    ),
    "a set with not-": (
        ASSERTION + "{type: not-assert-set, assert: [{type: equals, value: x}]}\n",
        "4:9: error: not-assert-set is no assertion: write not- at those in the set",
    ),
    "a set in a set": (
        ASSERTION + "{type: assert-set, assert: [{type: assert-set, assert: []}]}\n",
        "4:9: error: assert-set within assert-set: sets have one level",
    ),
    "an empty set": (
        ASSERTION + "{type: assert-set}\n",
        "4:9: error: assert-set has no assertions",
    ),
    "assertions of what is no set": (
        ASSERTION + "{type: equals, value: x, assert: []}\n",
        "4:9: error: equals has no assertions of its own",
    ),
    "no value": (
        ASSERTION + "{type: noise-sensitivity}\n",
        "4:9: error: noise-sensitivity needs a value",
    ),
    "no threshold": (ASSERTION + "{type: latency}\n", "4:9: error: latency needs a threshold"),
    "a value of a wrong type": (
        ASSERTION + "{type: noise-sensitivity, value: {a: b}}\n",
        "4:9: error: noise-sensitivity: value must be a text or a list, not an object",
    ),
    "a value that cannot be": (
        ASSERTION + "{type: regex, value: '('}\n",
        "4:9: error: regex: ",
    ),
    "an unknown key of config": (
        ASSERTION + "{type: noise-sensitivity, value: x, config: {moed: relevant}}\n",
        "4:9: error: noise-sensitivity: unknown config key 'moed'; did you mean 'mode'?",
    ),
    "a misspelt mode": (
        ASSERTION + "{type: noise-sensitivity, value: x, config: {mode: irelevant}}\n",
        "4:9: error: noise-sensitivity: config.mode is 'irelevant'; did you mean 'irrelevant'?",
    ),
    "a misspelt policy": (
        ASSERTION + "{type: context-recall, value: x, config: {undefined: ignore}}\n",
        "4:9: error: context-recall: undefined must be one of pass, fail, skip, error",
    ),
    "an unknown slot": (
        ASSERTION + "{type: llm-rubric, value: x, rubricPrompt: {gradee: x}}\n",
        "4:9: error: rubricPrompt has no slot 'gradee'; did you mean 'grade'?",
    ),
    "an unknown slot of options": (
        "tests:\n  - providerOutput: x\n    options: {rubricPrompt: {gradee: x}}\n",
        "2:5: error: rubricPrompt has no slot 'gradee'; did you mean 'grade'?",
    ),
    "places for data in instructions": (
        ASSERTION + "{type: llm-rubric, value: x, rubricPrompt: 'Grade {{output}}'}\n",
        "4:9: error: rubricPrompt (grade) has places for data",
    ),
    "two providers of a name": (
        "providers:\n  - echo\n  - {id: echo, config: {}}\n",
        "3:5: error: two providers are called 'echo': give one a label of its own",
    ),
    "providers and targets": (
        "providers: [echo]\ntargets: [echo]\n",
        "2:10: error: providers and targets are the same: keep one",
    ),
    "a provider that is not there": (
        "providers: [{id: echo, label: mirror}]\ntests:\n  - {provider: miror}\n",
        "3:5: error: the test's provider 'miror' is not among the suite's; did you mean 'mirror'?",
    ),
    "a threshold that none reaches": (
        ASSERTION + "{type: context-faithfulness, threshold: 80}\n",
        "4:9: error: context-faithfulness: the threshold is 80, and scores go from 0 to 1",
    ),
    "a threshold below all": (
        ASSERTION + "{type: not-similar, value: x, threshold: -2}\n",
        "4:9: error: not-similar: the threshold is -2, and scores go from -1 to 1",
    ),
    "a tests threshold in percent": (
        "tests:\n  - {providerOutput: x, threshold: 80, assert: [{type: equals, value: x}]}\n",
        "2:5: error: the test's threshold is 80, and the mean of scores goes from 0 to 1",
    ),
    "a sets threshold in percent": (
        ASSERTION + "{type: assert-set, threshold: 80, assert: [{type: equals, value: x}]}\n",
        "4:9: error: the set's threshold is 80, and the mean",
    ),
    "tests that are a number": ("tests: 5\n", "1:8: error: tests"),
    "assertions that are no list": (
        "tests:\n  - assert: {type: equals}\n",
        "2:13: error: tests.0.assert: it must be a valid list",
    ),
    "a threshold that is a word": (
        ASSERTION + "{type: equals, value: x, threshold: high}\n",
        "4:45: error: tests.0.assert.0.threshold: it must be a valid number",
    ),
    "a weight below 0": (
        ASSERTION + "{type: equals, value: x, weight: -1}\n",
        "4:42: error: tests.0.assert.0.weight: it must be greater than or equal to 0",
    ),
    "a type that is missing": (
        ASSERTION + "{value: x}\n",
        "4:9: error: tests.0.assert.0.type: it is missing",
    ),
    "a list at the top": ("- a\n", "1:1: error: it must be a mapping of keys, not a list"),
    "an empty file": ("# nothing\n", "1:1: error: the file has no data"),
    "variables in a circle": (
        "tests:\n  - vars: {a: '{{b}}', b: '{{a}}'}\n",
        "2:15: error: variables name each other in a circle: a -> b -> a",
    ),
    "a template that cannot be read": (
        "prompts: ['{% for x in %}']\n",
        "1:",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_has_a_place_and_says_what_to_do(
    tmp_path: Path, capsys: Capture, name: str
) -> None:
    config, message = ERRORS[name]
    code, lines = told(tmp_path, config, capsys)
    assert code == 1
    assert any(line.startswith(f"suite.yaml:{message}") for line in lines), lines


ANSWERED = """\
providers: [echo]
prompts: ['{{query}}']
tests: [{vars: {query: x}, assert: [{type: equals, value: x}]}]
"""
SHARED = """\
assertionTemplates: {a: {type: equals, value: x}}
tests: [{assert: [{$ref: '#/assertionTemplates/a'}]}]
"""
WARNINGS = {
    "a test without assertions": (
        "tests:\n  - providerOutput: x\n",
        "2:5: warning: the test has no assertions: it passes whatever comes",
    ),
    "a threshold that all reach": (
        ASSERTION + "{type: context-faithfulness, threshold: 0}\n",
        "4:9: warning: context-faithfulness with threshold 0 always passes",
    ),
    "a threshold that none exceeds": (
        ASSERTION + "{type: noise-sensitivity, value: x, threshold: 1}\n",
        "4:9: warning: noise-sensitivity with threshold 1 always passes",
    ),
    "a threshold turned around": (
        ASSERTION + "{type: not-context-faithfulness, threshold: 0}\n",
        "4:9: warning: not-context-faithfulness with threshold 0 never passes",
    ),
    "a tests threshold of 0": (
        "tests:\n  - {providerOutput: x, threshold: 0, assert: [{type: equals, value: x}]}\n",
        "2:5: warning: the test's threshold 0 makes no difference",
    ),
    "a threshold of what has none": (
        ASSERTION + "{type: contains, value: x, threshold: 0.5}\n",
        "4:9: warning: contains takes no threshold; it holds or not",
    ),
    "a value of what takes none": (
        ASSERTION + "{type: context-faithfulness, value: x}\n",
        "4:9: warning: context-faithfulness takes no value; it would be passed over",
    ),
    "nothing with weight": (
        ASSERTION + "{type: equals, value: x, weight: 0}\n",
        "2:5: warning: all assertions have weight 0: the test cannot fail",
    ),
    "a key without effect": (
        "sharing: true\ntests: [{providerOutput: x, assert: [{type: equals, value: x}]}]\n",
        "1:1: warning: 'sharing' has no effect",
    ),
    "a variable that no test has": (
        ANSWERED.replace("query}}", "qeury}}"),
        "2:11: warning: no test has the variable 'qeury' that prompt '{{qeury}}' names; did you",
    ),
    "chunks in a list": (
        "tests:\n  - {providerOutput: x, vars: {context: [a, b]}, assert: [{type: is-json}]}\n",
        "2:41: warning: the list context is one test's chunks: it is kept whole",
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_a_warning_keeps_nothing_from_running(tmp_path: Path, capsys: Capture, name: str) -> None:
    config, message = WARNINGS[name]
    code, lines = told(tmp_path, config, capsys)
    assert code == 0
    assert [line for line in lines if line.startswith(f"suite.yaml:{message}")], lines


def test_a_good_suite_is_counted(tmp_path: Path, capsys: Capture) -> None:
    path = written(
        tmp_path,
        "providers: [echo]\nprompts: [a, '{{q}}']\n"
        "tests: [{vars: {q: [x, y, z]}, assert: [{type: contains, value: '{{q}}'}]}]\n",
    )
    assert run(["validate", "-c", str(path)]) == 0
    shown = capsys.readouterr()
    assert shown.out == f"{path}: 3 tests, 2 prompts, 1 providers: can run\n"
    assert shown.err == ""


def test_all_that_is_wrong_is_told_at_once_in_order(tmp_path: Path, capsys: Capture) -> None:
    config = "tests:\n" + "".join(
        f"  - providerOutput: x\n    assert: [{{type: equalz{n}, value: x}}]\n" for n in range(4)
    )
    code, lines = told(tmp_path, config, capsys)
    assert (code, [line.split(":")[1] for line in lines]) == (1, ["3", "5", "7", "9"])


def test_each_of_several_suites_is_checked(tmp_path: Path, capsys: Capture) -> None:
    for name, text in (("a", "tsts: []"), ("b", "providers: [echo]"), ("c", "promts: []")):
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    options = [part for name in "abc" for part in ("-c", str(tmp_path / f"{name}.yaml"))]
    assert run(["validate", *options]) == 1
    shown = capsys.readouterr()
    assert "a.yaml:1:1" in shown.err
    assert "c.yaml:1:1" in shown.err
    assert "b.yaml: 1 tests" in shown.out


def test_what_runs_says_the_same(tmp_path: Path, capsys: Capture) -> None:
    path = str(written(tmp_path, ERRORS["a misspelt type"][0]))
    said = []
    for command in ("validate", "eval"):
        assert run([command, "-c", path]) == 1
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]


@pytest.fixture(scope="module")
def schema() -> Any:
    from assay.suite.schema import config_schema

    return config_schema()


def test_the_schema_is_printed(capsys: Capture, schema: Any) -> None:
    assert run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "config",
    [
        WITH_CONFIG,
        LABELLED,
        LEGACY,
        ROBUSTNESS,
        DISTRACTION,
        f"defaultTest:\n  {BASIC}".replace("\n  -", "\n    -").replace("\n    v", "\n      v")
        .replace("\n    t", "\n      t"),
        "tests: file://tests.csv\nproviders: [{'openai:x': {config: {temperature: 0}}}]\n",
        SHARED,
        "tests: [{assert: [{type: assert-set, assert: [{type: not-equals, value: 1}]}]}]",
        "$schema: x\ntests: [{options: {provider: {text: 'openai:x', embedding: {id: y}}}}]",
        "tests: [{assert: [{type: 'assay:f1', threshold: 0.5}]}]",
    ],
)  # fmt: skip
def test_the_schema_takes_good_configs(schema: Any, config: str) -> None:
    jsonschema.validate(yaml.safe_load(config), schema)


@pytest.mark.parametrize(
    "config",
    [
        "tsts: []",
        WITH_CONFIG.replace("assert:", "asert:"),
        WITH_CONFIG.replace("threshold:", "treshold:"),
        WITH_CONFIG.replace("noise-sensitivity", "noise-sensitvity"),
        WITH_CONFIG.replace("0.1", "low"),
        "evaluateOptions: {repeat: 0}",
        "providers: [{label: x}]",
    ],
)
def test_the_schema_refuses_what_is_misspelt_or_does_not_fit(schema: Any, config: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(config), schema)
