"""What ``assay eval`` says and writes: where nothing failed, nobody reads, no config is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.app import run
from mill_suites import CONTAINS, RUBRIC, answering, asking, given
from suite_endpoint import Endpoint, evaluated, rows_of, written


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with answering(monkeypatch) as endpoint:
        yield endpoint


def test_suites_may_be_named_without_an_option(tmp_path: Path) -> None:
    for name, outputs in (("a", ["mill"]), ("b", ["none"])):
        (tmp_path / f"{name}.yaml").write_text(given(*outputs), "utf-8")
    first, second = str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")
    assert run(["eval", first, "-q"]) == 0
    assert run(["eval", "-q", "-c", first, second]) == 100
    assert run(["validate", first, second]) == 0


def test_answers_and_assertions_need_no_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is said of prompts and tests that nobody has written."""
    (tmp_path / "answers.json").write_text('["a mill", "mills"]', "utf-8")
    (tmp_path / "asserts.yaml").write_text(json.dumps([CONTAINS]), "utf-8")
    out = tmp_path / "results.json"
    options = ["-a", str(tmp_path / "asserts.yaml"), "-o", str(out), "-q"]
    assert run(["eval", *options, "--model-outputs", str(tmp_path / "answers.json")]) == 0
    assert len(rows_of(json.loads(out.read_text("utf-8")))) == 2
    assert capsys.readouterr().err == f"wrote {out}\n"


def test_nothing_is_run_again_where_nothing_failed(
    tmp_path: Path, server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    config = asking("mill", assertion={"type": "contains", "value": "MILL"})
    assert evaluated(tmp_path, config)[0] == 0
    before = tmp_path / "before.json"
    (tmp_path / "results.json").rename(before)
    capsys.readouterr()
    assert evaluated(tmp_path, config, "--filter-failing", str(before)) == (0, {})
    assert capsys.readouterr().err == f"nothing failed in {before}\n"
    assert server.calls == 1


def test_a_reader_who_goes_takes_no_file_along(tmp_path: Path) -> None:
    config, out = written(tmp_path, given("mill", "none")), tmp_path / "results.json"
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "assay", "eval", str(config), "-o", str(out)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, len(rows_of(json.loads(out.read_text("utf-8"))))) == (100, 2)
    assert "Traceback" not in done.stderr
    assert f"wrote {out}" in done.stderr


@pytest.mark.parametrize(
    ("grader", "said"),
    [
        ("gpt-4o", "did you mean openai:gpt-4o?"),
        ("openai:", "grader openai:: which model is the judge? write openai:MODEL"),
        ("embeded", "did you mean 'embedded'?"),
    ],
)
def test_a_grader_that_there_is_none_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], grader: str, said: str
) -> None:
    config = json.dumps({"tests": [{"providerOutput": "mill", "assert": [RUBRIC]}]})
    assert evaluated(tmp_path, config, "--grader", grader) == (1, {})
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("--grader: error: ")
    assert said in line
