"""README's examples run, and say what they say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def fences(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_python_example_prints_what_its_comment_says(tmp_path: Path) -> None:
    (code,) = fences("python")
    script = tmp_path / "example.py"
    script.write_text(code, "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "0.5"
    assert lines[1].startswith("entailed The bridge was opened in 1932")
    assert "The bridge was opened in March 1932." in lines[1]
    assert len(lines) == 3


def test_commands_run_one_after_the_other(tmp_path: Path) -> None:
    scoring, suites, runs = [block for block in fences("sh") if block.startswith("assay ")]
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    assay = shutil.which("assay", path=str(Path(sys.executable).parent))
    assert assay is not None
    lines = [line for block in (scoring, suites, runs) for line in block.splitlines()]
    assert len(lines) == 10
    for line in lines:
        done = subprocess.run(
            ["bash", "-c", line.replace("assay ", f"{assay} ", 1)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout or "--run" in line
    assert (tmp_path / "out.jsonl").is_file()
    assert (tmp_path / "report.html").is_file()
    assert (tmp_path / "june.jsonl").is_file()
    assert (tmp_path / "out.jsonl.run.json").is_file()


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_metric_table_names_every_metric() -> None:
    from assay.metrics import CATALOGUE

    for name in CATALOGUE:
        assert f"`{name}" in README


def test_agreement_table_is_the_measured_one() -> None:
    from assay.judges.embedded import EmbeddedJudge

    measured = EmbeddedJudge().edition.measured
    assert measured
    for row in measured:
        figures = [f"{row[k]:.2f}" for k in ("balanced_accuracy", "auroc", "overlap_auroc")]
        assert " | ".join([row["set"], row["what"], str(row["n"]), *figures]) in README
