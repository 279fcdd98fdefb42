"""What ``assay eval`` asks of whom: at once, again, from the cache, of programs; troubles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.app import run
from mill_suites import CONTAINS, GRADED, RUBRIC, answering, asking, given
from servers import hang, status
from suite_endpoint import Endpoint, evaluated, parts_of, rows_of, statuses, written


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with answering(monkeypatch) as endpoint:
        yield endpoint


@pytest.mark.parametrize("jobs", [1, 3])
def test_so_many_answers_are_in_work_at_once(tmp_path: Path, server: Endpoint, jobs: int) -> None:
    server.latency = 0.03
    config = asking(*map(str, range(9)), assertion=CONTAINS, evaluateOptions={"maxConcurrency": 9})
    evaluated(tmp_path, config, "-j", str(jobs))
    assert (len(server.prompts), server.peak) == (9, jobs)


def test_results_keep_the_order_of_the_tests(tmp_path: Path, server: Endpoint) -> None:
    server.faults = [hang(0.1), hang(0.05)]
    _, record = evaluated(tmp_path, asking("a", "b", "c", "d", assertion=CONTAINS))
    assert [row["vars"]["query"] for row in rows_of(record)] == ["a", "b", "c", "d"]
    assert [row["response"]["output"] for row in rows_of(record)] == [
        "SAY A",
        "SAY B",
        "SAY C",
        "SAY D",
    ]


def test_a_repeat_asks_anew_and_a_second_run_asks_no_judge(
    tmp_path: Path, server: Endpoint
) -> None:
    config = asking("mill")
    evaluated(tmp_path, config, *GRADED)
    assert (len(server.prompts), server.judged) == (1, 1)
    server.bodies.clear()
    _, record = evaluated(tmp_path, config, *GRADED, "--repeat", "3")
    assert (len(server.prompts), server.judged) == (3, 2)  # the first is in the cache
    assert [row["repeat"] for row in rows_of(record)] == [0, 1, 2]
    server.bodies.clear()
    evaluated(tmp_path, config, *GRADED, "--repeat", "3")
    assert server.judged == 0
    evaluated(tmp_path, config, *GRADED, "--repeat", "3", "--no-cache")
    assert server.judged == 3


@pytest.mark.parametrize(("arguments", "calls"), [([], 2), (["--offline"], 0)])
def test_a_suite_may_be_without_the_cache(
    tmp_path: Path, server: Endpoint, arguments: list[str], calls: int
) -> None:
    config = json.loads(asking("mill"))
    config["tests"][0]["providerOutput"] = "A mill."
    evaluated(tmp_path, json.dumps(config), *GRADED)
    server.bodies.clear()
    config["evaluateOptions"] = {"cache": False}
    for _ in range(2):
        assert evaluated(tmp_path, json.dumps(config), *GRADED, *arguments)[0] == 0
    assert server.judged == calls


def test_offline_grades_from_the_cache_or_not_at_all(tmp_path: Path, server: Endpoint) -> None:
    config = json.dumps({"tests": [{"providerOutput": "A mill.", "assert": [RUBRIC, CONTAINS]}]})
    code, record = evaluated(tmp_path, config, *GRADED, "--offline")
    assert (code, statuses(parts_of(record))) == (100, ["error", "pass"])
    assert server.calls == 0
    assert evaluated(tmp_path, config, *GRADED)[0] == 0
    asked = server.calls
    assert evaluated(tmp_path, config, *GRADED, "--offline")[0] == 0
    assert server.calls == asked == 1


def test_other_instructions_are_other_questions_to_the_cache(
    tmp_path: Path, server: Endpoint
) -> None:
    for instructions in ("Grade the text.", "Grade the text.", "Grade the text strictly."):
        assertion = {**RUBRIC, "rubricPrompt": instructions}
        test = {"providerOutput": "A mill.", "assert": [assertion]}
        evaluated(tmp_path, json.dumps({"tests": [test]}), *GRADED)
    assert server.judged == 2
    assert "Grade the text strictly." in server.bodies[-1]["messages"][0]["content"]


def test_recorded_outputs_take_the_place_of_the_model(tmp_path: Path, server: Endpoint) -> None:
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps(["A mill.", {"output": "None.", "tags": ["x"]}]), "utf-8")
    options = ["--model-outputs", str(outputs)]
    code, record = evaluated(tmp_path, asking("a", "b", assertion=CONTAINS), *options)
    assert (code, [row["status"] for row in rows_of(record)]) == (100, ["pass", "fail"])
    assert rows_of(record)[1]["metadata"] == {"tags": ["x"]}
    assert server.calls == 0
    assert evaluated(tmp_path, asking("a"), *options)[0] == 1


def test_what_takes_too_long_is_an_error_and_the_rest_goes_on(
    tmp_path: Path, server: Endpoint
) -> None:
    server.faults = [hang(5)]
    config = asking("mill", "mills", assertion=CONTAINS, evaluateOptions={"timeoutMs": 300})
    code, record = evaluated(tmp_path, config, "-j", "1")
    assert (code, [row["status"] for row in rows_of(record)]) == (100, ["error", "fail"])
    assert "not done within timeoutMs (300)" in rows_of(record)[0]["reason"]


def test_a_models_error_leaves_the_other_rows(tmp_path: Path, server: Endpoint) -> None:
    server.faults = [status(400, "no such mill")]
    server.answer = lambda _: "mill"
    code, record = evaluated(tmp_path, asking("a", "b", assertion=CONTAINS), "-j", "1")
    first, second = rows_of(record)
    assert (code, first["status"], second["status"]) == (100, "error", "pass")
    assert "no such mill" in first["error"]
    assert statuses(parts_of(record)) == ["error"]


def test_an_assertions_error_leaves_its_siblings(tmp_path: Path, server: Endpoint) -> None:
    server.faults = [None, *[status(400)] * 9]
    server.answer = lambda _: "mill"
    config = json.loads(asking("a"))
    config["tests"][0]["assert"] = [CONTAINS, RUBRIC, {"type": "equals", "value": "x"}]
    _, record = evaluated(tmp_path, json.dumps(config), *GRADED)
    assert statuses(parts_of(record)) == ["pass", "error", "fail"]


CODE_FILE = """\
def get_assert(output, context):
    return {"pass": "mill" in output, "score": 0.5, "reason": context["vars"]["query"]}

def call_api(prompt, options, context):
    return {"output": prompt + ", said a program: mill"}
"""


def test_a_python_assertion_and_provider_run_where_code_is_allowed(tmp_path: Path) -> None:
    config = asking(
        "a", assertion={"type": "python", "value": "file://code.py"}, providers=["file://code.py"]
    )
    files = {"code.py": CODE_FILE}
    code, record = evaluated(tmp_path, config, "--allow-code", files=files)
    (part,) = parts_of(record)
    assert (code, part["status"], part["value"], part["reason"]) == (0, "pass", 0.5, "a")
    assert rows_of(record)[0]["response"]["output"] == "Say a, said a program: mill"


def test_without_leave_no_code_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marker = tmp_path / "ran"
    code = f"open({str(marker)!r}, 'w').close()\n{CODE_FILE}"
    config = asking("a", assertion=CONTAINS, providers=["file://code.py"])
    assert evaluated(tmp_path, config, files={"code.py": code}) == (1, {})
    assert "--allow-code" in capsys.readouterr().err
    inline = {"type": "python", "value": f"open({str(marker)!r}, 'w') and True"}
    asserts = [{"type": "python", "value": "file://code.py"}, inline, CONTAINS]
    test = {"providerOutput": "A mill.", "assert": asserts}
    config = json.dumps({"tests": [test]})
    assert evaluated(tmp_path, config, files={"code.py": code}) == (1, {})
    assert "python assertion runs code: allow it with --allow-code" in capsys.readouterr().err
    assert not marker.exists()


def test_the_screen_shows_a_table_and_quiet_shows_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(written(tmp_path, given("mill", "none", description="Mills [red]of[/] old")))
    run(["eval", "-c", config])
    shown = capsys.readouterr().out
    assert "Mills [red]of[/] old" in shown
    assert "the output does not have 'mill'" in " ".join(shown.split())
    assert "50" in shown
    run(["eval", "-c", config, "-q"])
    assert capsys.readouterr().out == ""
