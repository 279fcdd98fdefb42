"""Tests of a suite in data files: CSV with its special columns, JSONL, JSON, YAML."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.errors import ConfigError
from assay.suite.case import TestCase
from assay.suite.expanding import Types
from assay.suite.remarks import Remarks
from assay.suite.shorthand import assertion_of
from assay.suite.tables import table_tests
from expanded_suites import HOSTILE, cases, error, expanded

KNOWN = frozenset(
    {"contains", "contains-any", "equals", "is-json", "latency", "llm-rubric", "python", "regex"}
    | {"similar", "similar:cosine", "context-recall", "assay:rouge(type=rougeL)"}
)


def table(folder: Path, text: str, name: str = "t.csv", **options: Any) -> list[TestCase]:
    found: list[TestCase] = cases(folder, f"tests: {name}", {name: text}, **options)
    return found


def wrong(folder: Path, text: str, name: str = "t.csv", **options: Any) -> str:
    return error(folder, f"tests: {name}", {name: text}, **options)


# --- the short form of assertions ------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "made"),
    [
        ("Paris", {"type": "equals", "value": "Paris"}),
        ("The answer: Paris", {"type": "equals", "value": "The answer: Paris"}),
        ("contains:a:b", {"type": "contains", "value": "a:b"}),
        ("contains: https://x.y ", {"type": "contains", "value": "https://x.y"}),
        ("not-contains:x", {"type": "not-contains", "value": "x"}),
        ("similar:cat", {"type": "similar", "value": "cat", "threshold": 0.8}),
        ("not-similar(0.95):cat", {"type": "not-similar", "value": "cat", "threshold": 0.95}),
        ("similar:cosine(0.5):c", {"type": "similar:cosine", "value": "c", "threshold": 0.5}),
        ("similar:cosine", {"type": "similar", "value": "cosine", "threshold": 0.8}),
        ("context-recall:x", {"type": "context-recall", "value": "x", "threshold": 0.75}),
        ("latency(1000)", {"type": "latency", "value": None, "threshold": 1000.0}),
        ("is-json", {"type": "is-json", "value": None}),
        ("is-json:", {"type": "is-json", "value": None}),
        ("grade:polite", {"type": "llm-rubric", "value": "polite"}),
        ("python: len(output) > 3", {"type": "python", "value": "len(output) > 3"}),
        ("file://check.py:fn", {"type": "python", "value": "file://check.py:fn"}),
        ("file://rubric.txt", {"type": "equals", "value": "file://rubric.txt"}),
        ('contains-any:a, "b, ""c""" ,d', {"type": "contains-any", "value": ["a", 'b, "c"', "d"]}),
        ("regex:^(a):b$", {"type": "regex", "value": "^(a):b$"}),
        ("contains(x):y", {"type": "equals", "value": "contains(x):y"}),
        ("line\none", {"type": "equals", "value": "line\none"}),
        (
            "assay:rouge(type=rougeL):ref",
            {"type": "assay:rouge(type=rougeL)", "value": "ref"},
        ),
    ],
)
def test_a_cell_as_an_assertion(cell: str, made: dict[str, Any]) -> None:
    assert assertion_of(cell, KNOWN) == made


@pytest.mark.parametrize(
    "cell", ["javascript:output", "fn:x", "eval:1", "file://a.js", "file://b/a.mjs:fn"]
)
def test_javascript_in_a_cell_is_refused(cell: str) -> None:
    with pytest.raises(ConfigError, match="JavaScript"):
        assertion_of(cell, KNOWN)


def test_quotes_in_a_list_must_close() -> None:
    with pytest.raises(ConfigError, match="does not close"):
        assertion_of('contains-any:a, "b', KNOWN)


# --- CSV -------------------------------------------------------------------------------------


def test_special_columns(tmp_path: Path) -> None:
    text = (
        "question,__expected,__expected2,__description,__metric,__threshold,__prefix,__suffix,"
        "__providerOutput,__metadata:lang,__metadata:tags[],__config:__expected2:threshold\n"
        'Who?,contains:Ada,similar:x,first,M,0.5,"a ", b,Ada.,en,"x, y\\,z",0.9\n'
        "What?,,,,,,,,,,,\n"
    )
    one, two = table(tmp_path, text)
    assert one.vars == {"question": "Who?"}
    assert [p.spec.type for p in one.assertions] == ["contains", "similar"]
    assert [p.spec.threshold for p in one.assertions] == [None, 0.9]
    assert {p.spec.metric for p in one.assertions} == {"M"}
    assert all(p.data and p.place.line == 2 for p in one.assertions)
    assert (one.description, one.threshold, one.provider_output) == ("first", 0.5, "Ada.")
    assert (one.options.prefix, one.options.suffix) == ("a ", " b")
    assert one.metadata == {"lang": "en", "tags": ["x", "y,z"]}
    assert (two.description, two.threshold, two.has_output) == ("Row #2", None, False)
    assert (two.assertions, two.metadata) == ((), {})
    assert two.place.line == 3


def test_a_threshold_column_of_the_only_assertion(tmp_path: Path) -> None:
    text = "q,__expected,__config:__expected1:threshold\na,similar:x,0.3\n"
    assert table(tmp_path, text)[0].assertions[0].spec.threshold == 0.3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1\n", "t.csv:2:1: error: 1 cells"),
        ("a,b\n1,2\n1,2,3\n", "t.csv:3:1: error: 3 cells"),
        ("a,a\n1,2\n", "occurs more than once"),
        ("a,__expcted\n1,2\n", "t.csv:1:1: error: unknown column '__expcted'; did you mean"),
        ("a,__metadata\n1,2\n", "unknown column '__metadata'"),
        ("a,__threshold\n1,high\n", "t.csv:2:1: error: __threshold: 'high' is not a number"),
        ("a,__threshold\n1,nan\n", "not a number"),
        ("a,__config:__expected:threshold\n1,2\n", "which the table does not have"),
        ("a,__expected,__config:__expected:weight\n1,x,2\n", "must be written as"),
        ("a,__expected\n1,javascript:x\n", "t.csv:2:1: error: __expected: JavaScript"),
        ('a\n"open\n', "t.csv:2:1: error"),
    ],
)
def test_what_is_wrong_with_a_table(tmp_path: Path, text: str, message: str) -> None:
    assert message in wrong(tmp_path, text)


def test_cells_are_never_rendered_read_or_computed(tmp_path: Path) -> None:
    cells = [HOSTILE, "file://suite.yaml", "=1+1", "@SUM(A1)", "  spaced ", '["a","b"]', "naïve 😀"]
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["v"], *[[cell] for cell in cells]])
    found = cases(tmp_path, "tests: t.csv")
    assert [case.vars["v"] for case in found] == cells


def test_marks_line_ends_and_quoted_breaks(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(
        b'\xef\xbb\xbfq,__expected\r\n"two\r\nlines","say ""hi"""\r\n\r\nx,y\r\n'
    )
    one, two = cases(tmp_path, "tests: t.csv")
    assert one.vars == {"q": "two\r\nlines"}
    assert one.assertions[0].spec.value == 'say "hi"'
    assert (one.place.line, two.place.line) == (2, 5)


@pytest.mark.parametrize("text", ["", "\n\n", "a,b\n", "a,b"])
def test_a_table_without_rows_is_a_warning(tmp_path: Path, text: str) -> None:
    found, (problem,) = expanded(tmp_path, "tests: t.csv", {"t.csv": text})
    assert found == []
    assert problem.severity == "warning"
    assert "no tests" in problem.message


def test_other_delimiters(tmp_path: Path) -> None:
    assert table(tmp_path, "a\tb,c\n1\t2\n", "t.tsv")[0].vars == {"a": "1", "b,c": "2"}
    assert table(tmp_path, "a;b\n1;2,5\n")[0].vars == {"a": "1", "b": "2,5"}
    env = {"PROMPTFOO_CSV_DELIMITER": "|"}
    assert table(tmp_path, "a,x|b\n1|2\n", env=env)[0].vars == {"a,x": "1", "b": "2"}
    assert "one character" in wrong(tmp_path, "a\n1\n", env={"PROMPTFOO_CSV_DELIMITER": "||"})


def test_long_cells_do_not_change_the_process(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    (one,) = table(tmp_path, "a\n" + "x" * 500_000 + "\n")
    assert len(one.vars["a"]) == 500_000
    assert csv.field_size_limit() == before


def test_slips_are_told(tmp_path: Path) -> None:
    text = "_expected,__expected\nx,contians:a\n"
    _, problems = expanded(tmp_path, "tests: t.csv", {"t.csv": text})
    assert [p.severity for p in problems] == ["warning", "warning"]
    assert "did you mean '__expected'?" in problems[0].message
    assert "did you mean 'contains'?" in problems[1].message


def test_many_problems_are_counted(tmp_path: Path) -> None:
    text = "a,__threshold\n" + "x,bad\n" * 1000
    _, problems = expanded(tmp_path, "tests: t.csv", {"t.csv": text})
    assert len(problems) == 51
    assert "950 more" in problems[-1].message


def test_defaults_reach_tables(tmp_path: Path) -> None:
    config = "defaultTest: {vars: {s: 'About {{q}}'}, assert: [{type: is-json}]}\ntests: [t.csv]"
    (one,) = cases(tmp_path, config, {"t.csv": "q,__expected\n{{s}},x\n"})
    assert one.vars == {"s": "About {{s}}", "q": "{{s}}"}
    assert [(p.spec.type, p.data) for p in one.assertions] == [("is-json", False), ("equals", True)]


# --- JSONL, JSON, YAML -----------------------------------------------------------------------


def lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_json_lines_are_whole_tests(tmp_path: Path) -> None:
    row = {"vars": {"q": ["a", "b"]}, "assert": [{"type": "equals", "value": "x"}], "threshold": 1}
    found = table(tmp_path, "\n" + lines(row, {"description": "own"}), "t.jsonl")
    assert [case.description for case in found] == ["Row #1", "Row #1", "own"]
    assert [case.vars.get("q") for case in found] == ["a", "b", None]
    assert [case.place.line for case in found] == [2, 2, 3]
    assert found[0].assertions[0].data


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"vars": ', "not JSON"),
        ("[1]", "must be a mapping"),
        ("null", "must be a mapping"),
        ('{"vars": {"a": NaN}}', "NaN is no number"),
        ('{"vars": {}, "vars": {}}', "'vars' occurs twice"),
        ('{"vars": {"a": "\\ud800"}}', "surrogate"),
        ('{"vars": {"a": ' + "[" * 100_000, "not JSON"),
        ('{"var": {}}', "unknown key 'var'; did you mean 'vars'?"),
        ('{"assert": [{"value": 1}]}', "assert.0.type: it is missing"),
        ('{"path": "suite.yaml"}', "data files name none"),
        ('{"vars": "suite.yaml"}', "data files name none"),
        ('{"threshold": "high"}', "threshold: it must be"),
        ('{"options": {"transform": "x"}}', "'transform' is not done here"),
    ],
)
def test_a_broken_line_is_told_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    text = lines({"vars": {"a": 1}}) + line + "\n" + lines({"vars": {"a": 3}})
    found, problems = expanded(tmp_path, "tests: t.jsonl", {"t.jsonl": text})
    (problem,) = problems
    assert (found[0].vars, found[-1].vars) == ({"a": 1}, {"a": 3})
    assert problem.place.line == 2
    assert message in problem.message


def test_templates_in_data_assertions_are_warned_of_once(tmp_path: Path) -> None:
    row = {"assert": [{"type": "contains", "value": "{{q}}"}]}
    found, (problem,) = expanded(tmp_path, "tests: t.jsonl", {"t.jsonl": lines(row, row)})
    assert problem.severity == "warning"
    assert found[0].assertions[0].spec.value == "{{q}}"


def test_a_json_file_is_data(tmp_path: Path) -> None:
    text = '[{"vars": {"a": {"$ref": "#/1"}}},\n {"vars": {"b": "{{a}}"}}]'
    one, two = table(tmp_path, text, "t.json")
    assert one.vars == {"a": {"$ref": "#/1"}}
    assert two.vars == {"b": "{{a}}"}
    assert two.place.line == 2


def test_a_yaml_file_is_part_of_the_config(tmp_path: Path) -> None:
    files = {
        "sub/t.yaml": "- vars: {a: 1, b: 'B {{a}}'}\n- file://sub/more.csv\n",
        "sub/more.csv": "c\n{{a}}\n",
        "one.yml": "vars: {d: 4}\nassert:\n- type: contains\n  value: '{{d}}'\n",
    }
    found = cases(tmp_path, "tests: ['file://sub/t.yaml', 'on*.yml']", files)
    assert [dict(case.vars) for case in found] == [{"a": 1, "b": "B 1"}, {"c": "{{a}}"}, {"d": 4}]
    assert [case.description for case in found] == ["", "Row #1", ""]
    assert str(found[2].assertions[0].place) == f"{tmp_path}/one.yml:3:3"
    assert not found[2].assertions[0].data


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.yaml": "- file://b.yaml\n", "b.yaml": "- file://a.yaml\n"}, "a.yaml -> b.yaml"),
        ({"a.yaml": "- file://a.yaml\n"}, "a.yaml -> a.yaml"),
        ({"a.yaml": "- ../x.yaml\n"}, "leads out"),
        ({"a.yaml": "- make.py:tests\n"}, "not made by programs"),
        ({"a.yaml": "- sheet.xlsx#one\n"}, "save it as CSV"),
        ({"a.yaml": "- https://x.y/t.csv\n"}, "nothing is downloaded"),
        (
            {"a.yaml": "- {path: b.yaml, vars: {a: 1}}\n", "b.yaml": "[]"},
            "stands alone; take out vars",
        ),
        ({"a.yaml": "- 7\n"}, "must be a mapping"),
        ({"a.yaml": "- vars: {a: 1\n"}, "a.yaml:"),
        ({"a.yaml": "- {vras: {a: 1}}\n"}, "did you mean 'vars'?"),
        ({}, "does not exist"),
    ],
)
def test_what_is_wrong_with_files(tmp_path: Path, files: dict[str, str], message: str) -> None:
    assert message in error(tmp_path, "tests: a.yaml", files)


def test_a_file_named_twice_gives_its_tests_twice(tmp_path: Path) -> None:
    found = cases(tmp_path, "tests: [t.csv, t.csv]", {"t.csv": "a\n1\n"})
    assert [case.index for case in found] == [0, 1]


@pytest.mark.parametrize(
    ("cell", "near"),
    [
        ("contians:z", "contains"),
        ("context-faithfulness(abc)", "context-faithfulness"),
        ("contains(x", "contains"),
        ("not-similar(high):x", "similar"),
        ("assay:rouge(type=rougeL", "assay:rouge"),
        ("similar(0.8):x", None),
        ("assay:rouge(type=rougeL):x", None),
        ("equals(x)", None),
        ("f(x) = 3", None),
        ("The mill (1820): open", None),
    ],
)
def test_a_cell_that_is_nearly_an_assertion(tmp_path: Path, cell: str, near: str | None) -> None:
    (tmp_path / "t.csv").write_text(f'q,__expected\nx,"{cell}"\n', "utf-8")
    remarks = Remarks()
    list(table_tests(tmp_path / "t.csv", "t.csv", Types(), None, remarks))
    said = [problem.message for problem in remarks.listed()]
    assert len(said) == (near is not None)
    assert near is None or f"is compared as a text; did you mean {near!r}?" in said[0]
