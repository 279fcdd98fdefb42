"""Scenarios out of files: configs by $values and $expand, and whole scenarios."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from assay.cli.app import run
from assay.suite.schema import config_schema
from expanded_suites import HOSTILE, cases, error, expanded

MATRIX = "- {vars: {language: Spanish}}\n- {description: F, vars: {language: French}}\n"
TESTS = "tests: [{vars: {input: Hi}}, {vars: {input: Bye}}]"


def scenario(config: str) -> str:
    return f"scenarios: [{{config: {config}, {TESTS}}}]"


@pytest.mark.parametrize(
    "config",
    [
        "[{$values: file://matrix.yaml}, {vars: {language: German}}]",
        "[{$expand: file://matrix.yaml}, {vars: {language: German}}]",
        "[file://matrix.yaml, {vars: {language: German}}]",
        "[{$values: 'file://mat*.yaml'}, {vars: {language: German}}]",
    ],
)
def test_configs_of_a_file_stand_among_the_others(tmp_path: Path, config: str) -> None:
    found = cases(tmp_path, scenario(config), {"matrix.yaml": MATRIX})
    assert [(case.vars["language"], case.vars["input"]) for case in found] == [
        (language, said) for language in ("Spanish", "French", "German") for said in ("Hi", "Bye")
    ]
    assert [case.description for case in found][2] == "F"


def test_a_file_of_one_config_counts_as_one_and_one_of_data_is_not_rendered(
    tmp_path: Path,
) -> None:
    files = {
        "one.yaml": "vars: {language: '{{upper}}', upper: A}\n",
        "data.json": json.dumps([{"vars": {"language": HOSTILE}}]),
    }
    config = "[{$values: file://one.yaml}, {$expand: file://data.json}]"
    found = cases(tmp_path, scenario(config), files)
    assert [case.vars["language"] for case in found] == ["A", "A", HOSTILE, HOSTILE]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("[{$values: file://none.yaml}]", "none.yaml"),
        ("[{$values: file://matrix.yaml, vars: {a: 1}}]", "stands alone; take out vars"),
        ("[{$values: file://bad.yaml}]", "unknown key 'varz'; did you mean 'vars'?"),
        ("[{$values: file://../matrix.yaml}]", ".."),
        ("[{$values: file://loop.yaml}]", "in a circle: loop.yaml -> loop.yaml"),
        ("[{$values: file://make.py}]", "not made by programs"),
    ],
)
def test_what_is_wrong_with_a_file_of_configs_is_said(
    tmp_path: Path, config: str, said: str
) -> None:
    files = {
        "matrix.yaml": MATRIX,
        "bad.yaml": "- {varz: {a: 1}}",
        "loop.yaml": "- file://loop.yaml",
    }
    assert said in error(tmp_path, scenario(config), files)


def test_scenarios_come_out_of_files_in_their_order(tmp_path: Path) -> None:
    files = {
        "s/a.yaml": f"description: A\nconfig: [{{vars: {{n: 1}}}}]\n{TESTS}\n",
        "s/b.yaml": "- {description: B1, config: [{$values: file://matrix.yaml}]}\n"
        "- file://s/deep/c.yaml\n",
        "s/deep/c.yaml": "{description: C, config: [{vars: {n: 3}}]}",
        "matrix.yaml": MATRIX,
    }
    config = """
scenarios:
- file://s/*.yaml
- {description: own, config: [{vars: {n: 4}}]}
"""
    found = cases(tmp_path, config, files)
    assert [case.description for case in found] == ["A", "A", "B1", "B1 / F", "C", "own"]
    alone = cases(tmp_path, "scenarios: file://s/deep/c.yaml", files)
    assert [dict(case.vars) for case in alone] == [{"n": 3}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {confg: []}", "s.yaml:1:4: error: unknown key 'confg'; did you mean 'config'?"),
        ("- 7", "s.yaml:1:3: error: it must be a mapping of keys, not a int"),
        ("- file://s.yaml", "in a circle: s.yaml -> s.yaml"),
        ("- {config: [{vars: {a: 1}, asert: []}]}", "s.yaml:1:28: error: unknown key 'asert'"),
        ("- {config: 7}", "config"),
    ],
)
def test_what_is_wrong_in_a_file_of_scenarios_is_said_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in error(tmp_path, "scenarios: [file://s.yaml]", {"s.yaml": text})


@pytest.mark.parametrize("name", ["s.json", "s.csv", "s.py"])
def test_scenarios_are_of_the_config_and_not_of_data(tmp_path: Path, name: str) -> None:
    files = {name: '[{"config": [{"vars": {"a": "1"}}]}]'}
    found, problems = expanded(tmp_path, f"scenarios: [file://{name}]", files)
    assert found == []
    assert [problem.severity for problem in problems] == ["error"]


def test_the_schema_knows_what_may_be_written() -> None:
    validator = jsonschema.Draft202012Validator(config_schema())
    for good in (
        {"scenarios": "file://s.yaml"},
        {"scenarios": ["file://s.yaml", {"config": [{"$values": "file://m.yaml"}]}]},
        {"scenarios": [{"config": [{"$expand": "file://m.yaml"}, "file://m.yaml"], "tests": []}]},
    ):
        assert list(validator.iter_errors(good)) == []
    for bad in ({"scenarios": [{"config": [{"$value": "file://m.yaml"}]}]}, {"scenarios": [1]}):
        assert list(validator.iter_errors(bad)) != []


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{$values: [1, 2]}", "$values names a file"),
        ("{$values: file://a.yaml, $expand: file://b.yaml}", "give one of $values, $expand"),
        ("{$expand: file://a.yaml, path: b.yaml}", "give one of $values, $expand"),
    ],
)
def test_a_file_of_configs_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], config: str, said: str
) -> None:
    suite = tmp_path / "suite.yaml"
    scenarios = f"scenarios: [{{config: [{config}], tests: []}}]"
    suite.write_text(f"prompts: [hi]\nproviders: [echo]\n{scenarios}\n", "utf-8")
    assert run(["validate", "-c", str(suite)]) == 1
    told = capsys.readouterr()
    assert f"scenarios.0.config.0: {said}" in told.out + told.err
