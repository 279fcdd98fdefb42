"""``assay eval``: exit codes, files, filters, and what the command line puts over a suite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.app import run
from mill_suites import CODE, CONTAINS, RATE, RUBRIC, answering, asking, given
from suite_endpoint import Endpoint, evaluated, rows_of, written


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with answering(monkeypatch) as endpoint:
        yield endpoint


@pytest.mark.parametrize(
    ("outputs", "settings", "code"),
    [
        (["mill", "a mill"], {}, 0),
        (["mill", "none"], {}, 100),
        (["mill", "none"], {RATE: "50"}, 0),
        (["mill", "none"], {RATE: "50.1"}, 100),
        (["mill", "mill", "none"], {RATE: "66.6666666666"}, 0),
        (["none"], {RATE: "0"}, 0),
        (["mill", "none"], {CODE: "3"}, 3),
        (["mill", "none"], {CODE: "0"}, 0),
        (["mill", "none"], {RATE: "", CODE: ""}, 100),
        (["mill"], {CODE: "3"}, 0),
        (["mill"], {RATE: "many"}, 1),
        (["none"], {CODE: "many"}, 1),
        (["none"], {CODE: "nan"}, 1),
        (["none"], {CODE: "256"}, 1),  # a process would end with 0
        (["none"], {CODE: "-1"}, 1),
        (["none"], {CODE: "2.5"}, 1),
        (["mill"], {RATE: "101"}, 1),
        (["mill"], {RATE: "nan"}, 1),
    ],
)
def test_exit_codes(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    outputs: list[str],
    settings: dict[str, str],
    code: int,
) -> None:
    found, record = evaluated(tmp_path, given(*outputs, env=settings))
    assert found == code
    if code == 1:
        assert record == {}  # refused before anything is run
        assert "it must be a" in capsys.readouterr().err


def test_exit_codes_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CODE, "3")
    assert evaluated(tmp_path, given("mill", "none"))[0] == 3
    monkeypatch.setenv(RATE, "50")
    assert evaluated(tmp_path, given("mill", "none"))[0] == 0
    monkeypatch.setenv(RATE, "half")
    assert evaluated(tmp_path, given("mill", "none"))[0] == 1


def test_the_suites_env_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CODE, "7")
    assert evaluated(tmp_path, given("none", env={CODE: "8"}))[0] == 8


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-c", "missing.yaml"], "missing.yaml"),
        ([], "no promptfooconfig.yaml"),
        (["-c", "ok.yaml", "--var", "x"], "write NAME=VALUE"),
        (["-c", "ok.yaml", "-o", "x.pdf"], "known endings"),
        (["-c", "ok.yaml", "-o", "no/x.json"], "does not exist"),
        (["-c", "ok.yaml", "--filter-range", "a:b"], "is no range"),
        (["-c", "ok.yaml", "--filter-pattern", "("], "no regular expression"),
        (["-c", "ok.yaml", "--filter-pattern", "zzz"], "the filters keep none of 1"),
        (["-c", "ok.yaml", "--filter-failing", "none.json"], "none.json"),
        (["-c", "ok.yaml", "--filter-failing", "ok.yaml"], "holds no results"),
        (["-c", "ok.yaml", "--filter-metadata", "x"], "write KEY=VALUE"),
        (["-c", "ok.yaml", "--model-outputs", "none.json"], "none.json"),
        (["-c", "ok.yaml", "-a", "none.yaml"], "none.yaml"),
        (["-c", "ok.yaml", "--grader", "embeded"], "unknown judge"),
        (["-c", "ok.yaml", "--offline", "--no-cache"], "leave out --no-cache"),
        (["-c", "ok.yaml", "-j", "0"], "-j"),
    ],
)
def test_what_cannot_run_is_one_line_and_exit_code_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ok.yaml").write_text(
        json.dumps({"tests": [{"providerOutput": "mill", "assert": [RUBRIC]}]}), "utf-8"
    )
    assert run(["eval", *arguments, "-q"]) == 1
    shown = capsys.readouterr().err
    assert said in shown
    assert "Traceback" not in shown


def test_without_a_name_the_usual_file_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("promptfooconfig.yaml").write_text(given("mill"), "utf-8")
    assert run(["eval", "-q"]) == 0


def test_several_configs_have_a_file_each_and_one_pass_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, outputs in (("a", ["mill"]), ("b", ["mill", "none"])):
        (tmp_path / f"{name}.yaml").write_text(given(*outputs), "utf-8")
    command = ["eval", "-q", "-c", str(tmp_path / "a.yaml"), "-c", str(tmp_path / "b.yaml")]
    out = ["-o", str(tmp_path / "r.json"), "-o", str(tmp_path / "r.junit.xml")]
    assert run([*command, *out]) == 100
    rows = [rows_of(json.loads((tmp_path / f"r.{name}.json").read_text())) for name in "ab"]
    assert [len(one) for one in rows] == [1, 2]
    assert (tmp_path / "r.a.junit.xml").is_file()
    monkeypatch.setenv(RATE, "66")
    assert run(command) == 0


def test_suites_of_the_same_name_do_not_write_over_each_other(tmp_path: Path) -> None:
    for folder, outputs in (("a", ["mill"]), ("b", ["mill", "mill"])):
        written(tmp_path / folder, given(*outputs, outputPath="own.json"))
    command = ["eval", "-q", "-c", str(tmp_path / "a/suite.yaml")]
    command += ["-c", str(tmp_path / "b/suite.yaml")]
    assert run([*command, "-o", str(tmp_path / "r.json")]) == 0
    files = [tmp_path / "r.suite-1.json", tmp_path / "r.suite-2.json"]
    assert [len(rows_of(json.loads(file.read_text()))) for file in files] == [1, 2]
    assert run(command) == 0
    files = [tmp_path / "a/own.json", tmp_path / "b/own.json"]
    assert [len(rows_of(json.loads(file.read_text()))) for file in files] == [1, 2]


@pytest.mark.parametrize("env", [{"A=B": "x"}, {"": "x"}, {"A": "x\0y"}])
def test_an_env_that_there_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], env: dict[str, str]
) -> None:
    assert evaluated(tmp_path, given("mill", env=env))[0] == 1
    assert "cannot be the name or value of a variable" in capsys.readouterr().err


def test_a_broken_config_among_several_keeps_all_from_running(
    tmp_path: Path, server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(asking("mill"), "utf-8")
    (tmp_path / "b.yaml").write_text("tests:\n  - vrs: {}\n    assrt: []\n", "utf-8")
    assert run(["eval", "-c", str(tmp_path / "a.yaml"), "-c", str(tmp_path / "b.yaml")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("error: ")[2] for line in lines if "b.yaml" in line] == [
        "unknown key 'vrs'; did you mean 'vars'?",
        "unknown key 'assrt'; did you mean 'assert'?",
    ]
    assert server.calls == 0


def test_every_format_at_once_and_the_step_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    endings = ("json", "jsonl", "yaml", "csv", "html", "junit.xml", "md")
    paths = [tmp_path / f"out.{ending}" for ending in endings]
    config = written(tmp_path, given("mill", "a windmill-free text?", "none"))
    options = [part for path in paths for part in ("-o", str(path))]
    assert run(["eval", "-c", str(config), *options, "--no-table"]) == 100
    shown = capsys.readouterr().err
    for path in paths:
        assert "none" in path.read_text("utf-8")
        assert f"wrote {path}" in shown
    summary = (tmp_path / "summary").read_text("utf-8")
    assert summary == (tmp_path / "out.md").read_text("utf-8")


def test_the_configs_output_path_is_beside_it(tmp_path: Path) -> None:
    config = written(tmp_path, given("mill", outputPath="kept.json"))
    assert run(["eval", "-c", str(config), "-q"]) == 0
    assert len(rows_of(json.loads((tmp_path / "kept.json").read_text("utf-8")))) == 1


METADATA = [
    {"topic": "bread", "level": 1, "new": True},
    {"topic": ["salt", "sea"], "level": 2},
    {},
]


def filterable() -> str:
    config = json.loads(asking("one mill", "two mills", "three mills", assertion=CONTAINS))
    for test, metadata in zip(config["tests"], METADATA, strict=True):
        test["metadata"] = metadata
    config["providers"].append({"id": "echo", "label": "mirror"})
    config["prompts"].append({"raw": "Shout {{query}}", "label": "loud"})
    return json.dumps(config)


@pytest.mark.parametrize(
    ("filters", "tests"),
    [
        (["-n", "2"], [0, 1]),
        (["--filter-first-n", "1"], [0]),
        (["--filter-range", "1:3"], [1, 2]),
        (["--filter-range", "2:"], [2]),
        (["--filter-range", "1:", "-n", "1"], [1]),
        (["--filter-pattern", "two|three"], [1, 2]),
        (["--filter-metadata", "topic=bread"], [0]),
        (["--filter-metadata", "topic=sea"], [1]),
        (["--filter-metadata", "level=2"], [1]),
        (["--filter-metadata", "new=true"], [0]),
        (["--filter-metadata", "topic=bread", "--filter-metadata", "level=1"], [0]),
        (["--filter-sample", "9"], [0, 1, 2]),
    ],
)
def test_filters_of_tests(
    tmp_path: Path, server: Endpoint, filters: list[str], tests: list[int]
) -> None:
    _, record = evaluated(tmp_path, filterable(), *filters)
    assert [row["test"] for row in rows_of(record)] == [n for n in tests for _ in range(4)]


def test_what_lacks_the_metadata_is_not_kept(
    tmp_path: Path, server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = evaluated(tmp_path, filterable(), "--filter-metadata", "other=None")
    assert (code, server.calls) == (1, 0)
    assert "the filters keep none" in capsys.readouterr().err


def test_filters_of_prompts_and_providers(tmp_path: Path, server: Endpoint) -> None:
    options = ["--filter-providers", "^mirror$", "--filter-prompts", "loud"]
    _, record = evaluated(tmp_path, filterable(), *options)
    assert {row["response"]["output"] for row in rows_of(record)} == {
        "Shout one mill",
        "Shout two mills",
        "Shout three mills",
    }
    assert server.calls == 0


def test_a_sample_is_the_same_for_the_same_seed(tmp_path: Path, server: Endpoint) -> None:
    config = asking(*(f"{n} mills" for n in range(30)), assertion=CONTAINS)
    drawn = []
    for seed in ("1", "1", "2"):
        options = ["--filter-sample", "5", "--filter-sample-seed", seed]
        _, record = evaluated(tmp_path, config, *options)
        drawn.append([row["test"] for row in rows_of(record)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert [len(one) for one in drawn] == [5] * 3


def test_the_range_of_the_config_is_kept_to(tmp_path: Path, server: Endpoint) -> None:
    config = asking("a", "b", "c", assertion=CONTAINS, evaluateOptions={"filterRange": "1:2"})
    assert [row["test"] for row in rows_of(evaluated(tmp_path, config)[1])] == [1]
    wider = evaluated(tmp_path, config, "--filter-range", "1:3")[1]
    assert [row["test"] for row in rows_of(wider)] == [1, 2]


def test_only_what_failed_before_is_run_again(tmp_path: Path, server: Endpoint) -> None:
    """Also what failed in one repeat only."""
    good = {"type": "equals", "value": "A mill."}
    server.answer = lambda prompt: (
        prompt if "two" in prompt or server.prompts.count("Say three") == 2 else "A mill."
    )
    config = asking("one", "two", "three", assertion=good)
    code, record = evaluated(tmp_path, config, "--repeat", "2", "-j", "1")
    assert (code, len(rows_of(record))) == (100, 6)
    (tmp_path / "results.json").rename(tmp_path / "before.json")
    server.bodies.clear()
    _, again = evaluated(tmp_path, config, "--filter-failing", str(tmp_path / "before.json"))
    assert [row["test"] for row in rows_of(again)] == [1, 2]
    assert sorted(server.prompts) == ["Say three", "Say two"]


def test_variables_of_the_command_line_go_before_all_others(
    tmp_path: Path, server: Endpoint
) -> None:
    _, record = evaluated(
        tmp_path, asking("a", "b", assertion=CONTAINS), "--var", "query={{7*7}}=mill"
    )
    assert server.prompts == ["Say {{7*7}}=mill"] * 2
    assert {row["vars"]["query"] for row in rows_of(record)} == {"{{7*7}}=mill"}


def test_providers_and_prompts_of_the_command_line_replace_the_suites(
    tmp_path: Path, server: Endpoint
) -> None:
    options = ["-r", "openai:one", "-r", "openai:two", "-p", "Tell {{query}}"]
    _, record = evaluated(tmp_path, asking("mill", assertion=CONTAINS), *options)
    assert [row["provider"]["label"] for row in rows_of(record)] == ["openai:one", "openai:two"]
    assert server.prompts == ["Tell mill"] * 2
