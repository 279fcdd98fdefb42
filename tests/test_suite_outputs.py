"""Files of a suite's results: formats, hostile texts, redaction, refusals of the disk."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from assay.errors import ConfigError, DataError
from assay.suite.outcome import SuiteRun
from assay.suite.outputs.record import as_record
from assay.suite.outputs.table import LONGEST, cell
from assay.suite.outputs.writers import RENDERERS, append_step_summary, check_outputs, write_outputs
from assay.suite.providers.base import Answer
from suite_runs import CONTAINS, FAITHFUL, WRONG, every_status, repeated, result

ODD = "NUL \0, line\u2028end, tab\t, \r\n, quote \" ', 🦊, bidi \u202e, lone \ud800, ESC \x1b[31m"


def as_it_is(value: Any) -> Any:
    return value


def written(run: SuiteRun, folder: Path, ending: str) -> bytes:
    path = folder / f"out{ending}"
    write_outputs(run, [path], scrub=as_it_is)
    return path.read_bytes()


def text_of(run: SuiteRun, folder: Path, ending: str) -> str:
    return written(run, folder, ending).decode("utf-8")


def sheet(run: SuiteRun, folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(run, folder, ".csv"), newline="")))


# --- formats -------------------------------------------------------------------------------------


def test_json_and_yaml_hold_the_record(tmp_path: Path) -> None:
    run = every_status()
    assert json.loads(written(run, tmp_path, ".json")) == as_record(run)
    assert yaml.safe_load(written(run, tmp_path, ".yaml")) == as_record(run)
    assert yaml.safe_load(written(run, tmp_path, ".yml")) == as_record(run)


def test_jsonl_has_a_row_a_line(tmp_path: Path) -> None:
    lines = written(every_status(), tmp_path, ".jsonl").splitlines()
    assert [json.loads(line) for line in lines] == as_record(every_status())["results"]["results"]


@pytest.mark.parametrize("ending", [".json", ".yaml", ".jsonl"])
def test_odd_characters_survive(tmp_path: Path, ending: str) -> None:
    raw = written(SuiteRun([result(0, vars={"q": ODD}, answer=Answer(ODD))]), tmp_path, ending)
    read = json.loads(raw) if ending != ".yaml" else yaml.safe_load(raw)
    row = read if ending == ".jsonl" else read["results"]["results"][0]
    assert row["response"]["output"] == ODD


def test_csv_has_a_column_for_each_variable_and_metric(tmp_path: Path) -> None:
    rows = sheet(every_status(), tmp_path)
    assert list(rows[0]) == [
        *("Test", "Repeat", "Description", "query", "context", "Provider", "Prompt", "Output"),
        *("Status", "Score", "grounded", "Reason"),
    ]
    assert [row["Status"] for row in rows] == ["pass", "fail", "fail", "error", "error", "skipped"]
    assert [row["Score"] for row in rows] == ["1.0", "0.7", "0.5", "", "", ""]
    assert rows[2]["Output"] == '{"height": 22646}'
    assert rows[1]["grounded"] == "0.5"
    assert [row["Test"] for row in rows] == ["1", "1", "2", "2", "3", "3"]
    assert rows[1]["Reason"] == (
        "grounded (context-faithfulness): score 0.5, wanted at least 0.8: 1 of 2 claims is"
        " supported; “It took off from Chile.” contradicted by context 1; and 1 more assertion"
    )
    assert rows[3]["Reason"] == "HTTP 429: slow down"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_no_cell_is_a_formula(tmp_path: Path, sign: str) -> None:
    bad = f"{sign}HYPERLINK(1)"
    row = result(0, description=bad, vars={bad: bad}, answer=Answer(bad), reason=bad)
    (read,) = sheet(SuiteRun([row]), tmp_path)
    cells = [*read.keys(), *read.values()]
    assert sum(one.startswith("'") for one in cells) == 5
    assert not any(one.startswith(sign) for one in cells)


@pytest.mark.parametrize("number", ["-5", "+1.5", "-1e-3"])
def test_numbers_are_no_formulas(number: str) -> None:
    assert cell(number) == number


@pytest.mark.parametrize("text", ["-1+1", "+inf", "-1_0", "-5 ", "-٣"])
def test_what_only_looks_like_a_number_is_quoted(text: str) -> None:
    assert cell(text) == f"'{text}"


def test_long_cells_are_cut_and_say_so(tmp_path: Path) -> None:
    (row,) = sheet(SuiteRun([result(0, answer=Answer("x" * 5_000_000))]), tmp_path)
    assert row["Output"].endswith(f"… ({LONGEST} of 5000000 characters)")
    assert len(row["Output"]) < 32_767


def test_junit_has_a_suite_for_each_provider_and_prompt(tmp_path: Path) -> None:
    root = ET.fromstring(written(every_status(), tmp_path, ".junit.xml"))
    counts = [root.get(name) for name in ("tests", "failures", "errors", "skipped", "time")]
    assert counts == ["6", "2", "2", "1", "2.589"]
    first, second = root.findall("testsuite")
    assert first.get("name") == "echo · short"
    assert [case.get("name") for case in second] == [
        "test 1: number 0",
        "test 2: number 1",
        "test 3: number 2",
    ]
    # An answer from the cache took no time that is known.
    assert [case.get("time") for case in first] == ["1.234", None, "0.120"]
    assert [[child.tag for child in case] for case in second] == [
        ["failure", "system-out"],
        ["error"],
        ["skipped"],
    ]


def test_junit_says_why_with_claims_and_evidence(tmp_path: Path) -> None:
    root = ET.fromstring(written(every_status(), tmp_path, ".xml"))
    failure = root.find("testsuite[2]/testcase/failure")
    assert failure is not None
    assert failure.get("type") == "assertion"
    assert failure.text is not None
    assert "grounded (context-faithfulness) – fail – score 0.5, wanted at least 0.8" in failure.text
    assert "1 of 2 claims is supported\n  claim: It took off from Chile.\n" in failure.text
    assert "contradicted by context 1\n    why: the context names Argentina" in failure.text
    # The claim that noise sensitivity counts is the wrong one, although it is a "hit".
    noise = failure.text[failure.text.index("noise-sensitivity") :]
    assert "wanted at most 0.2" in noise
    assert "The glider climbed" not in noise
    error = root.find("testsuite[1]/testcase[3]/error")
    assert error is not None
    assert error.get("message") == (
        "llm-rubric: the judge answered 503; “It carried oxygen.” unknown"
    )


def test_junit_has_the_time_of_the_run_where_answers_have_none(tmp_path: Path) -> None:
    recorded = result(0, answer=Answer("said before"))
    for seconds, time in (({"seconds": 3.5}, "3.500"), ({}, None)):
        run = SuiteRun([recorded], provenance=seconds)
        root = ET.fromstring(written(run, tmp_path, ".xml"))
        assert [one.get("time") for one in root.iter()] == [time, None, None]


def test_junit_suites_have_short_names_of_their_own(tmp_path: Path) -> None:
    rows = [result(0, prompt_index=n, prompt="word " * 60 + str(n)) for n in range(2)]
    root = ET.fromstring(written(SuiteRun(rows), tmp_path, ".xml"))
    first, second = (str(suite.get("name")) for suite in root)
    assert first == "echo · " + ("word " * 8).rstrip() + "…"
    assert second == f"{first} (2)"
    assert [case.get("classname") for case in root.iter("testcase")] == [first, second]


def test_junit_tells_an_answers_error_once_and_a_tests_threshold(tmp_path: Path) -> None:
    lost = result(
        0,
        "error",
        answer=Answer(error="HTTP 429"),
        outcomes=(replace(FAITHFUL, status="error", reason="echo: HTTP 429"),) * 3,
        reason="echo: HTTP 429",
    )
    low = result(1, "fail", outcomes=(FAITHFUL,), threshold=0.9, reason="score 0.5, threshold 0.9")
    root = ET.fromstring(written(SuiteRun([lost, low]), tmp_path, ".xml"))
    error, failure = root.find(".//error"), root.find(".//failure")
    assert error is not None
    assert error.text == "HTTP 429" == error.get("message")
    assert failure is not None
    assert str(failure.text).startswith("score 0.5, threshold 0.9\n\ngrou")


def test_junit_lists_so_many_claims(tmp_path: Path) -> None:
    many = replace(FAITHFUL, items=(WRONG,) * 30)
    run = SuiteRun([result(0, "fail", outcomes=(many,))])
    assert "and 10 more claims" in text_of(run, tmp_path, ".xml")


def test_junit_is_xml_whatever_the_text(tmp_path: Path) -> None:
    bad = replace(FAITHFUL, reason=ODD, items=(replace(WRONG, claim=f"]]>{ODD}\ufffe"),))
    row = result(0, "fail", description=ODD, provider=ODD, prompt=ODD, outcomes=(bad,), reason=ODD)
    root = ET.fromstring(written(SuiteRun([row]), tmp_path, ".xml"))
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.text is not None
    assert "]]>NUL , line" in failure.text


def test_repeats_have_names_of_their_own(tmp_path: Path) -> None:
    root = ET.fromstring(
        written(SuiteRun([result(0), result(0, repeat=1, description="")]), tmp_path, ".xml")
    )
    names = [case.get("name") for case in root.iter("testcase")]
    assert names == ["test 1: number 0", "test 1: How high did it climb? (repeat 2)"]


@pytest.mark.parametrize(
    ("described", "variables", "name"),
    [
        ("", {"a": "first", "question": "Which one?", "query": " "}, "test 1: Which one?"),
        ("", {"list": [1], "n": 7}, "test 1: 7"),
        ("", {"q": "one two three four five six seven eight nine"},
         "test 1: one two three four five six seven eight…"),
        ("", {"list": ["x"]}, "test 1"),
        ("", {}, "test 1"),
        ("Row #3", {"query": "How high?"}, "test 1: Row #3: How high?"),
        ("Row #3", {}, "test 1: Row #3"),
        ("Row #3 of mine", {"query": "How high?"}, "test 1: Row #3 of mine"),
    ],
)  # fmt: skip
def test_a_test_without_description_is_named_by_its_question(
    tmp_path: Path, described: str, variables: dict[str, Any], name: str
) -> None:
    run = SuiteRun([result(0, description=described, vars=variables)])
    (case,) = ET.fromstring(written(run, tmp_path, ".xml")).iter("testcase")
    assert case.get("name") == name


def test_the_page_of_markdown_is_short(tmp_path: Path) -> None:
    text = text_of(every_status(), tmp_path, ".md")
    assert text.startswith("## Gliders\n\n**20.0\xa0% passed**: ✅ 1 passed, ❌ 2 failed, ")
    assert "| openai:chat:gpt-4o-mini | short | 0 | 1 | 1 |" in text
    assert "↳ It took off from Chile. – contradicted by context 1" in text
    assert "| – | HTTP 429: slow down |" in text
    many = text_of(repeated(400, failing=390), tmp_path, ".md")
    assert "365 more did not pass" in many
    assert len(many) < 20_000


def test_nothing_in_markdown_acts(tmp_path: Path) -> None:
    bad = "a|b\n# h <img src=x> `c` ![i](http://evil) [l](www.evil.example) @team $x$ *b* \x1b[1m"
    row = result(
        0,
        "fail",
        description=bad,
        outcomes=(replace(FAITHFUL, reason=bad, items=(replace(WRONG, claim=bad),)),),
    )
    text = text_of(SuiteRun([row], description=bad), tmp_path, ".md")
    for acting in ("<img", "![i]", "](", "http://", "www.", "@team", "\x1b", "`c`", "a|b", "$x"):
        assert acting not in text.replace("\\" + acting[0], ""), acting
    assert "\n# h" not in text


@pytest.mark.parametrize("ending", RENDERERS)
def test_an_empty_run_is_written(tmp_path: Path, ending: str) -> None:
    raw = written(SuiteRun([]), tmp_path, ending)
    assert (len(raw) > 0) == (ending != ".jsonl")


@pytest.mark.parametrize("ending", RENDERERS)
def test_a_huge_output_is_written(tmp_path: Path, ending: str) -> None:
    run = SuiteRun([result(0, "fail", outcomes=(FAITHFUL,), answer=Answer("ab " * 1_700_000))])
    size = len(written(run, tmp_path, ending))
    whole = ending in (".json", ".jsonl", ".yaml", ".yml")
    assert size > 5_000_000 if whole else size < 80_000


# --- redaction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", RENDERERS)
def test_everything_is_scrubbed_before_it_is_rendered(tmp_path: Path, ending: str) -> None:
    # A key with a character that every format escapes in its own way.
    key = 'sk-"<&|é'

    def scrub(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(key, "[redacted]")
        if isinstance(value, dict):
            return {scrub(name): scrub(one) for name, one in value.items()}
        return [scrub(one) for one in value] if isinstance(value, list) else value

    outcome = replace(FAITHFUL, reason=key, items=(replace(WRONG, claim=key, reason=key),))
    row = result(0, "fail", description=key, vars={"q": key}, answer=Answer(key), reason=key)
    run = SuiteRun([replace(row, outcomes=(outcome, CONTAINS))], key, {}, {"env": {"K": key}})
    path = tmp_path / f"out{ending}"
    write_outputs(run, [path], scrub=scrub)
    text = path.read_text("utf-8")
    assert "redacted" in text
    assert "sk-" not in text
    assert run.results[0].vars == {"q": key}


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.txt", "out", "json", "out.json.gz"])
def test_unknown_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"known endings: \.json, \.jsonl, \.yaml"):
        check_outputs([tmp_path / name])


def test_capital_endings_are_known(tmp_path: Path) -> None:
    write_outputs(every_status(), [tmp_path / "OUT.JUnit.XML"], scrub=as_it_is)
    assert ET.fromstring((tmp_path / "OUT.JUnit.XML").read_bytes()).tag == "testsuites"


def test_paths_that_cannot_be_written_are_refused_early(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        check_outputs([tmp_path / "no" / "out.json"])
    (tmp_path / "dir.json").mkdir()
    with pytest.raises(ConfigError, match="it is a folder"):
        check_outputs([tmp_path / "dir.json"])
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ConfigError, match="not a plain file"):
        check_outputs([tmp_path / "pipe.json"])
    with pytest.raises(ConfigError, match="twice"):
        check_outputs([tmp_path / "a.json", tmp_path / "a.json"])


def test_a_folder_without_the_right_to_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ConfigError, match="not writable"):
        check_outputs([tmp_path / "a.json"])


def test_a_file_is_replaced_whole_and_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real.json")
    write_outputs(every_status(), [link], scrub=as_it_is)
    assert link.is_symlink()
    assert json.loads((tmp_path / "real.json").read_text("utf-8"))["results"]["version"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_a_full_disk_leaves_the_old_file_and_the_other_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.suffix == ".json":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, target)

    (tmp_path / "a.json").write_text("old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DataError, match=r"a\.json: No space left on device; make room or give"):
        write_outputs(every_status(), [tmp_path / "a.json", tmp_path / "b.md"], scrub=as_it_is)
    assert (tmp_path / "a.json").read_text() == "old"
    assert (tmp_path / "b.md").read_text("utf-8").startswith("## Gliders")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.md"]


def test_the_step_summary_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "step_summary_1"
    path.write_text("before")
    append_step_summary(every_status(), path, as_it_is)
    append_step_summary(every_status(), path, lambda record: record | {"config": {}})
    text = path.read_text("utf-8")
    assert text.startswith("before\n## Gliders\n")
    assert text.count("## assay\n") == 1
    with pytest.raises(DataError, match="cannot write"):
        append_step_summary(every_status(), tmp_path / "no" / "file", as_it_is)
