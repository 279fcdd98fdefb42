"""Tests of a suite: files, defaults, scenarios, lists taken apart, references filled in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from expanded_suites import HOSTILE, cases, error, expanded

# --- defaults --------------------------------------------------------------------------------


def test_a_test_goes_before_the_defaults_and_its_assertions_behind_theirs(tmp_path: Path) -> None:
    config = """
defaultTest:
  vars: {a: 1, b: 2}
  options: {prefix: P, repeat: 3}
  metadata: {k: default, kept: true}
  threshold: 0.5
  assert: [{type: is-json}]
tests:
- vars: {b: 3}
  options: {suffix: S, repeat: 4}
  metadata: {k: own}
  assert: [{type: contains, value: x}]
- threshold: 0
  options: {disableDefaultAsserts: true}
"""
    first, second = cases(tmp_path, config)
    assert first.vars == {"a": 1, "b": 3}
    assert (first.options.prefix, first.options.suffix, first.options.repeat) == ("P", "S", 4)
    assert first.metadata == {"k": "own", "kept": True}
    assert [placed.spec.type for placed in first.assertions] == ["is-json", "contains"]
    assert [placed.place.line for placed in first.assertions] == [7, 12]
    assert [placed.data for placed in first.assertions] == [False, False]
    assert (first.threshold, second.threshold) == (0.5, 0.0)
    assert second.assertions == ()
    assert second.vars == {"a": 1, "b": 2}
    assert (first.index, second.index) == (0, 1)


def test_the_defaults_may_be_in_a_file(tmp_path: Path) -> None:
    files = {"base.yaml": "vars: {a: 1}\nassert:\n- type: is-json\n"}
    (one,) = cases(tmp_path, "defaultTest: file://base.yaml\ntests: [{vars: {b: 2}}]", files)
    assert one.vars == {"a": 1, "b": 2}
    assert str(one.assertions[0].place) == f"{tmp_path}/base.yaml:3:3"


def test_recorded_outputs_may_be_null_and_come_from_the_defaults(tmp_path: Path) -> None:
    config = "defaultTest: {providerOutput: x}\ntests: [{providerOutput: null}, {vars: {a: 1}}]"
    own, inherited = cases(tmp_path, config)
    assert (own.has_output, own.provider_output) == (True, None)
    assert (inherited.has_output, inherited.provider_output) == (True, "x")
    (none,) = cases(tmp_path, "tests: [{vars: {a: 1}}]")
    assert not none.has_output


def test_providers_of_a_test_are_those_of_the_suite(tmp_path: Path) -> None:
    suite = "providers: [{id: 'openai:a', label: A}, 'openai:b']\n"
    config = suite + "defaultTest: {providers: ['openai:*']}\ntests: [{provider: A}, {vars: {}}]"
    own, inherited = cases(tmp_path, config)
    assert (own.providers, inherited.providers) == (("A",), ("openai:*",))
    message = error(tmp_path, suite + "tests: [{provider: 'openai:c'}]")
    assert "'openai:c' is not among the suite's; did you mean" in message
    other = error(tmp_path, suite + "tests: [{provider: {id: A, config: {temperature: 1}}}]")
    assert "put config of 'A' under providers" in other
    assert "the suite has no providers" in error(tmp_path, "tests: [{provider: x}]")


def test_without_tests_the_prompts_run_once(tmp_path: Path) -> None:
    (one,), (problem,) = expanded(tmp_path, "prompts: [Hello]\ndefaultTest: {vars: {a: 1}}")
    assert (one.vars, one.assertions) == ({"a": 1}, ())
    assert problem.severity == "warning"
    assert "no tests" in problem.message


# --- scenarios -------------------------------------------------------------------------------


def test_a_scenario_runs_its_tests_with_each_config(tmp_path: Path) -> None:
    config = """
defaultTest: {vars: {z: 0}, assert: [{type: is-json}]}
tests: [{description: plain, vars: {a: 9}}]
scenarios:
- description: S
  config:
  - {vars: {a: 1, b: 1}, assert: [{type: contains, value: c1}]}
  - {description: second, vars: {a: 2}}
  tests:
  - {vars: {b: 5}, assert: [{type: contains, value: t}]}
  - {description: last}
"""
    found = cases(tmp_path, config)
    assert [case.description for case in found] == [
        "plain",
        "S",
        "S / last",
        "S / second",
        "S / second / last",
    ]
    assert [dict(case.vars) for case in found[1:]] == [
        {"z": 0, "a": 1, "b": 5},
        {"z": 0, "a": 1, "b": 1},
        {"z": 0, "a": 2, "b": 5},
        {"z": 0, "a": 2},
    ]
    values = [placed.spec.value for placed in found[1].assertions]
    assert values == [None, "c1", "t"]


# --- lists -----------------------------------------------------------------------------------


def test_lists_of_texts_make_every_combination(tmp_path: Path) -> None:
    config = "tests: [{vars: {a: [x, y], b: '1', c: [p, q, 3], d: [], e: [1, x], f: [{t: 1}]}}]"
    found = cases(tmp_path, config)
    assert [(case.vars["a"], case.vars["c"]) for case in found] == [
        ("x", "p"),
        ("x", "q"),
        ("x", 3),
        ("y", "p"),
        ("y", "q"),
        ("y", 3),
    ]
    assert all(case.vars["d"] == [] and case.vars["e"] == [1, "x"] for case in found)
    assert list(found[0].vars) == ["a", "b", "c", "d", "e", "f"]
    assert [case.index for case in found] == list(range(6))


@pytest.mark.parametrize(
    ("options", "env"),
    [("{disableVarExpansion: true}", {}), ("{}", {"PROMPTFOO_DISABLE_VAR_EXPANSION": "true"})],
)
def test_lists_stay_whole_where_that_is_said(
    tmp_path: Path, options: str, env: dict[str, str]
) -> None:
    config = f"tests: [{{vars: {{a: [x, y], context: [c, d]}}, options: {options}}}]"
    (one,) = cases(tmp_path, config, env=env)
    assert one.vars == {"a": ["x", "y"], "context": ["c", "d"]}


@pytest.mark.parametrize("name", ["context", "contexts", "contextChunks"])
def test_chunks_are_never_taken_apart_and_one_warning_says_so(tmp_path: Path, name: str) -> None:
    config = f"tests: [{{vars: {{{name}: [c, d]}}}}, {{vars: {{{name}: [e, f]}}}}]"
    found, (problem,) = expanded(tmp_path, config)
    assert [case.vars[name] for case in found] == [["c", "d"], ["e", "f"]]
    assert problem.severity == "warning"
    assert f"list {name}" in problem.message


def test_too_many_combinations_are_told_before_they_are_made(tmp_path: Path) -> None:
    lists = {f"v{n}": [str(k) for k in range(60)] for n in range(9)}
    config = json.dumps({"tests": [{"vars": {"a": ["x", "y"]}}, {"vars": lists}]})
    found, (problem,) = expanded(tmp_path, config)
    assert len(found) == 2
    assert "10,077,696,000,000,000 tests" in problem.message


# --- variables that name each other -------------------------------------------------------------


def test_variables_are_filled_in_whatever_their_order(tmp_path: Path) -> None:
    config = """
tests:
- vars:
    a: 'A {{b}}'
    b: 'B {{c}}'
    c: C
    chunks: [{text: 'see {{c}}', n: 1}]
    each: ['{{c}} one', '{{b}} two']
"""
    first, second = cases(tmp_path, config)
    assert first.vars["a"] == "A B C"
    assert first.vars["chunks"] == [{"text": "see C", "n": 1}]
    assert (first.vars["each"], second.vars["each"]) == ("C one", "B C two")


def test_prefixes_are_rendered_and_name_no_file(tmp_path: Path) -> None:
    options = "{prefix: 'On {{a}}: ', suffix: 'file://suite.yaml'}"
    (one,) = cases(tmp_path, f"tests: [{{vars: {{a: '{{{{b}}}}', b: x}}, options: {options}}}]")
    assert (one.options.prefix, one.options.suffix) == ("On x: ", "file://suite.yaml")


@pytest.mark.parametrize(
    ("variables", "circle"),
    [("a: '{{a}}'", "a -> a"), ("a: '{{b}}', b: '{{c}}', c: '{{b}}'", "b -> c -> b")],
)
def test_circles_are_told(tmp_path: Path, variables: str, circle: str) -> None:
    message = error(tmp_path, f"tests: [{{vars: {{{variables}}}}}]")
    assert message.startswith("suite.yaml:1:")
    assert message.endswith(f"circle: {circle}")


def test_a_long_chain_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    chain = {f"v{n}": f"{{{{v{n + 1}}}}}" for n in range(3000)}
    message = error(tmp_path, json.dumps({"tests": [{"vars": chain}]}))
    assert "more than 50 deep" in message


def test_a_broken_template_is_told_with_its_place(tmp_path: Path) -> None:
    message = error(tmp_path, "tests:\n- vars:\n    a: '{{ b'\n    c: '{% if %}'\n")
    assert message.startswith("suite.yaml:")


@pytest.mark.parametrize("name", ["tests.jsonl", "tests.json"])
def test_data_is_put_in_and_never_rendered_again(tmp_path: Path, name: str) -> None:
    row = {"vars": {"doc": HOSTILE, "file": "file://suite.yaml", "l": [{"t": HOSTILE}]}}
    config = """
defaultTest:
  vars: {about: 'On {{doc}}', more: '{{about}}!'}
  options: {prefix: '[{{doc}}] '}
tests: file://NAME
""".replace("NAME", name)
    text = json.dumps(row if name.endswith("l") else [row])
    (one,) = cases(tmp_path, config, {name: text})
    assert one.vars["doc"] == HOSTILE
    assert one.vars["file"] == "file://suite.yaml"
    assert one.vars["l"] == [{"t": HOSTILE}]
    assert one.vars["about"] == f"On {HOSTILE}"
    assert one.vars["more"] == f"On {HOSTILE}!"
    assert one.options.prefix == f"[{HOSTILE}] "


def test_overrides_go_first_and_are_taken_as_they_are(tmp_path: Path) -> None:
    config = "defaultTest: {vars: {b: 1}}\ntests: [{vars: {a: x, c: 'C {{a}}'}}]"
    found, (problem,) = expanded(tmp_path, config, overrides={"a": "{{b}}", "b": ["p", "q"]})
    assert [dict(case.vars) for case in found] == [
        {"b": "p", "a": "{{b}}", "c": "C {{b}}"},
        {"b": "q", "a": "{{b}}", "c": "C {{b}}"},
    ]
    assert problem.severity == "warning"


# --- values in files -------------------------------------------------------------------------


def test_files_are_read_as_values_and_their_content_is_data(tmp_path: Path) -> None:
    files = {
        "a.txt": f" {HOSTILE} \n",
        "d.json": '["{{7*7}}", "file://a.txt"]',
        "y.yaml": "{n: 010, t: '{{a}}'}",
        "docs/2.txt": "two",
        "docs/1.txt": "one",
    }
    variables = {
        "a": "file://a.txt",
        "d": "file://d.json",
        "y": "file://y.yaml",
        "use": "<{{a}}>",
        "doc": "file://docs/*.txt",
        "context": "file://docs/*.txt",
        "contexts": [{"text": "file://docs/1.txt"}],
    }
    first, second = cases(tmp_path, json.dumps({"tests": [{"vars": variables}]}), files)
    assert first.vars["a"] == HOSTILE
    assert first.vars["d"] == ["{{7*7}}", "file://a.txt"]
    assert first.vars["y"] == {"n": 10, "t": "{{a}}"}
    assert first.vars["use"] == f"<{HOSTILE}>"
    assert (first.vars["doc"], second.vars["doc"]) == ("one", "two")
    assert first.vars["context"] == ["one", "two"]
    assert first.vars["contexts"] == [{"text": "one"}]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("file://../x.txt", "leads out"),
        ("file:///etc/passwd", "leads out"),
        ("file://none.txt", "does not exist"),
        ("file://no/*.txt", "no file"),
        ("file://{{b}}.txt", "cannot hold a template"),
        ("file://run.py", "allowed"),
        ("file://broken.json", "broken.json:1:"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, value: str, message: str) -> None:
    config = json.dumps({"tests": [{"vars": {"a": value, "b": "x"}}]})
    files = {"run.py": "", "broken.json": "{"}
    found = error(tmp_path, config, files)
    assert message in found
    assert found.startswith("suite.yaml:1:")


def test_vars_may_be_a_file(tmp_path: Path) -> None:
    files = {"v.yaml": "a: 1\nb: 'B {{a}}'\n", "w.json": '{"c": "{{a}}", "a": 2}'}
    (one,) = cases(tmp_path, "tests: [{vars: [file://v.yaml, w.json]}]", files)
    assert one.vars == {"a": 2, "b": "B 2", "c": "{{a}}"}
