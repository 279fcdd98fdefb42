"""The commands: what they print, write and return."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.cli.app import run

GOOD = {
    "id": "a",
    "question": "When did the mill open?",
    "response": "The mill opened in 1820.",
    "contexts": ["The mill opened in 1820 beside the river.", "Bread is baked at night."],
    "reference": "The mill opened in 1820.",
}


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_score_writes_the_documented_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.jsonl"
    assert run(["score", data, "-m", "faithfulness, precision,f1", "-o", str(out)]) == 0
    (row,) = read(out)
    assert row["format"] == 1
    assert row["id"] == "a"
    assert row["claims"]["response"] == [
        {"text": "The mill opened in 1820.", "start": 0, "end": 24}
    ]
    assert list(row["scores"]) == ["faithfulness", "precision", "f1"]
    score = row["scores"]["faithfulness"]
    assert set(score) == {"value", "status", "reason", "hits", "total", "unknown", "items"}
    assert (score["value"], score["status"], score["hits"], score["total"]) == (1.0, "ok", 1, 1)
    (item,) = score["items"]
    assert item["claim"] == "The mill opened in 1820."
    assert item["verdict"] == "entailed"
    assert 0.5 < item["probability"] <= 1
    evidence = item["evidence"]
    assert evidence["context"] == 0
    text = GOOD["contexts"][0]
    assert text[evidence["start"] : evidence["end"]] == evidence["quote"]
    assert row["scores"]["precision"]["items"][0]["evidence"]["reference"] == 0
    shown = capsys.readouterr()
    assert "faithfulness" in shown.out
    assert "question -> question" in shown.err
    assert json.loads((tmp_path / "out.jsonl.run.json").read_text())["judge"] == "embedded"
    assert not list(tmp_path.glob("*.partial"))


def test_scores_are_kept_under_the_names_asked_for(tmp_path: Path) -> None:
    data, out = write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.jsonl"
    names = "noise_sensitivity,noise_sensitivity(mode=relevant)"
    assert run(["score", data, "-m", names, "-o", str(out), "-q"]) == 0
    (row,) = read(out)
    assert list(row["scores"]) == names.split(",")
    assert row["scores"]["noise_sensitivity"] == row["scores"]["noise_sensitivity(mode=relevant)"]


def test_rows_on_stdout_leave_the_table_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(tmp_path / "in.jsonl", GOOD)
    assert run(["score", data, "-m", "faithfulness", "-o", "-"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["id"] == "a"
    assert "95 % interval" in shown.err


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_flat_formats(tmp_path: Path, ending: str) -> None:
    import pandas as pd

    data, out = write(tmp_path / "in.jsonl", GOOD), tmp_path / f"out{ending}"
    assert run(["score", data, "-m", "faithfulness", "-o", str(out), "-q"]) == 0
    frame = pd.read_csv(out) if ending == ".csv" else pd.read_parquet(out)
    assert frame["faithfulness"].tolist() == [1.0]
    assert frame["faithfulness.status"].tolist() == ["ok"]


def test_a_sample_that_fails_gives_exit_code_2_and_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = {"id": "b", "response": "Yes.", "contexts": ["It is so."]}
    data, out = write(tmp_path / "in.jsonl", GOOD, bare), tmp_path / "out.jsonl"
    assert run(["score", data, "-m", "faithfulness,precision", "-o", str(out)]) == 2
    first, second = read(out)
    assert first["scores"]["precision"]["status"] == "ok"
    assert second["scores"]["precision"] == {
        "value": None,
        "status": "failed",
        "reason": "the sample has no references",
        "hits": None,
        "total": None,
        "unknown": 0,
        "items": [],
    }
    assert second["scores"]["faithfulness"]["value"] is not None
    said = capsys.readouterr().err
    assert "first failure: the sample has no references" in said
    assert "failed: 1 of 2 samples, e.g. b: the sample has no references" in said


def test_written_rows_can_be_scored_again(tmp_path: Path) -> None:
    data, out = write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.jsonl"
    again = tmp_path / "again.jsonl"
    assert run(["score", data, "-m", "faithfulness", "-o", str(out), "-q"]) == 0
    assert run(["score", str(out), "-m", "faithfulness", "-o", str(again), "-q"]) == 0
    assert read(again)[0]["scores"] == read(out)[0]["scores"]


def test_explain_shows_claims_verdicts_and_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = write(tmp_path / "in.jsonl", GOOD), tmp_path / "out.jsonl"
    run(["score", data, "-m", "faithfulness,recall", "-o", str(out), "-q"])
    assert run(["explain", str(out), "--id", "a"]) == 0
    said = capsys.readouterr().out
    assert "response claims against the contexts; counts for a faithfulness" in said
    assert "reference claims against the response; counts for a recall" in said
    assert "entailed" in said
    assert "context 0: " in said


def test_explain_says_which_ids_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [GOOD | {"id": name} for name in ("mill-1", "mill-2")]
    data, out = write(tmp_path / "in.jsonl", *rows), tmp_path / "out.jsonl"
    run(["score", data, "-m", "faithfulness", "-o", str(out), "-q"])
    assert run(["explain", str(out), "--id", "mil-2"]) == 1
    assert "out.jsonl has no sample 'mil-2'; did you mean 'mill-2'?" in capsys.readouterr().err
    assert run(["explain", str(out), "--id", "zzz"]) == 1
    assert "it holds 2 rows, e.g. mill-1, mill-2" in capsys.readouterr().err


def test_explain_is_not_fooled_by_markup_and_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "The mill [red]opened[/] in 1820 \x1b[2J\u202e."
    row = GOOD | {"response": hostile, "id": "[bold]x[/]"}
    data, out = write(tmp_path / "in.jsonl", row), tmp_path / "out.jsonl"
    run(["score", data, "-m", "faithfulness", "-o", str(out), "-q"])
    assert run(["explain", str(out)]) == 0
    said = capsys.readouterr().out
    assert "[red]opened[/]" in said
    assert "[bold]x[/]" in said
    assert "\x1b[2J" not in said
    assert "\u202e" not in said


def test_metrics_lists_every_metric_with_its_parameters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from assay.metrics import CATALOGUE

    assert run(["metrics"]) == 0
    said = capsys.readouterr().out
    assert all(f"{name} " in said for name in CATALOGUE)
    assert "faithfulness ↑  needs contexts, response" in said
    assert "mode=relevant | irrelevant" in said


def test_judges_prints_measured_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judges"]) == 0
    said = capsys.readouterr().out
    assert "factcheckgpt_stance" in said
    assert "AUROC of word" in said


def test_demo_scores_explains_and_compares_with_gold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["demo"]) == 0
    said = capsys.readouterr().out
    assert "95 % interval" in said
    assert "gold" in said
    assert "one sample explained" in said
    assert "of 552 gold verdicts" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["score", "{data}", "-m", "faithfullness"],
            "unknown metric 'faithfullness'; did you mean",
        ),
        (
            ["score", "{data}", "-m", "noise_sensitivity(mode=irelevant)"],
            "noise_sensitivity(mode=irelevant): did you mean 'irrelevant'?",
        ),
        (
            ["score", "{data}", "-m", "f1(beta=2)"],
            "f1 has no parameter 'beta'; it has no parameters",
        ),
        (["score", "{data}", "-m", ","], "no metrics given; 'assay metrics' lists them"),
        (["score", "{data}", "-m", "f1,f1"], "metric 'f1' is given twice"),
        (
            ["score", "{data}", "-m", "f1", "-j", "embeded"],
            "unknown judge 'embeded'; did you mean 'embedded'?",
        ),
        (["score", "{data}", "-m", "f1", "-j", "openai"], "which model? write openai:MODEL"),
        (
            ["score", "{data}", "-m", "f1", "-j", "langchain"],
            "judge 'langchain' needs an object",
        ),
        (["score", "{data}", "-m", "f1", "-o", "out.txt"], "known endings: .jsonl, .csv, .parquet"),
        (
            ["score", "{data}", "-m", "f1", "-o", "no/such/out.jsonl"],
            "the folder no/such does not exist",
        ),
        (["score", "{data}x", "-m", "f1"], "in.jsonlx"),
        (["explain", "{data}"], "line 1: not a row that 'assay score' wrote"),
        (["explain", "missing.jsonl"], "cannot read missing.jsonl"),
        (["score", "{data}"], "Missing option"),
        (["scores"], "No such command"),
    ],
)
def test_usage_errors_are_one_line_and_exit_code_1(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    data = write(tmp_path / "in.jsonl", GOOD)
    assert run([part.replace("{data}", data) for part in arguments]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_a_column_that_no_sample_has_stops_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(tmp_path / "in.jsonl", {"answer": "Yes.", "contexts": ["So."], "truth": "Yes."})
    assert run(["score", data, "-m", "faithfulness,precision"]) == 1
    said = capsys.readouterr().err
    assert "metric precision needs references, and no sample has any" in said
    assert "ignored: truth" in said
    assert "--map references=COLUMN" in said
    assert run(["score", data, "-m", "precision", "--map", "references=truth", "-q"]) == 0


def test_an_interrupt_keeps_what_was_written_and_the_exit_code_says_so(tmp_path: Path) -> None:
    code = (
        "import sys, assay.cli.score as s\n"
        "from assay.cli.app import run\n"
        "from assay.cli.progress import Progress\n"
        "def stop(self, *, failure):\n"
        "    raise KeyboardInterrupt\n"
        "Progress.step = stop\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    data, out = write(tmp_path / "in.jsonl", GOOD, GOOD | {"id": "b"}), tmp_path / "out.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", code, "score", data, "-m", "faithfulness", "-o", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "rows so far are in" in done.stderr
    assert not out.exists()
    assert read(tmp_path / "out.jsonl.partial")[0]["id"] == "a"
