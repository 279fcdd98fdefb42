"""Rows whose scores lack some verdicts: they count as scored, are told of, and are asked again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from assay import ScriptedJudge, evaluate
from assay.asks import Ask, Entail, T
from assay.cli.runs import score_run
from assay.cli.score import failures as said_of
from assay.runs import merge
from assay.runs.failures import failures, read_errors
from assay.runs.shards import open_job
from assay.runs.standing import standing
from assay.verdicts import Cell, Verdict
from scored_runs import write

CLAIMS = ". ".join(f"Mill {word} stands" for word in ("one", "two", "three", "four", "five")) + "."
ROWS = [{"id": f"r{n}", "response": CLAIMS, "contexts": [f"Mill {n} burnt."]} for n in range(4)]


class Gappy(ScriptedJudge):
    """Gives no verdict on the first claim where a premise is of ``bad``."""

    bad: frozenset[str] = frozenset({"Mill 1 burnt.", "Mill 3 burnt."})

    async def answer(self, ask: Ask[T]) -> T:
        answer = await super().answer(ask)
        if not isinstance(ask, Entail) or not self.bad & set(ask.premises):
            return answer
        first, *others = cast("tuple[tuple[Cell, ...], ...]", answer)
        lost = tuple(replace(cell, verdict=Verdict.UNKNOWN, reason="HTTP 500") for cell in first)
        return cast("T", (lost, *others))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", ROWS)


def score(data: Path, judge: ScriptedJudge, **options: Any) -> int:
    return score_run(str(data), "faithfulness", data.parent / "run", judge, shard_rows=3, **options)


def test_gaps_are_told_at_the_end_and_are_no_failures(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(data, Gappy()) == 0
    said = capsys.readouterr().err
    assert (
        "unknown: 2 of 4 rows were scored without some verdicts, which the judge did not give, e.g."
        " r1: HTTP 500; the same command with --retry-errors asks again"
    ) in said
    assert "failed" not in said
    job = open_job(data.parent / "run")
    found = failures(job.folder.errors(shard) for shard in range(2))
    assert (found.rows, found.retryable, found.lacking, dict(found.kinds)) == (0, 0, 2, {})
    assert job.failed(range(2)) == 0
    (line,) = read_errors(job.folder.errors(0))
    assert (line["id"], line["status"], line["error"]) == ("r1", "ok", "Unanswered")


def test_gaps_are_asked_again_and_then_the_table_is_that_of_a_whole_run(
    data: Path, tmp_path: Path
) -> None:
    assert score(data, Gappy()) == 0
    job = open_job(tmp_path / "run")
    assert standing(job, range(2), retry_errors=True).left == 2
    assert standing(job, range(2)).left == 0
    again = ScriptedJudge()
    assert score(data, again, retry_errors=True) == 0
    assert again.usage.calls == 2 * 2
    assert not job.folder.errors(0).exists()
    merge(tmp_path / "run", tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert [row["scores"]["faithfulness"]["unknown"] for row in rows] == [0] * 4
    assert [row["id"] for row in rows] == ["r0", "r1", "r2", "r3"]


def test_gaps_that_stay_are_kept_as_they_are(data: Path) -> None:
    assert score(data, Gappy()) == 0
    before = (data.parent / "run/shards/00000.jsonl").read_bytes()
    assert score(data, Gappy(), retry_errors=True) == 0
    assert (data.parent / "run/shards/00000.jsonl").read_bytes() == before
    assert standing(open_job(data.parent / "run"), range(2), retry_errors=True).left == 2


def test_words_of_the_data_are_no_gaps(tmp_path: Path) -> None:
    odd = {"id": 'a "unknown": 1', "response": 'It says "unknown": 2.', "contexts": ["A mill."]}
    data = write(tmp_path / "in.jsonl", [odd])
    assert score(data, ScriptedJudge()) == 0
    assert not (tmp_path / "run/shards/00000.errors.jsonl").exists()


def test_a_run_in_memory_tells_of_gaps() -> None:
    (said,) = said_of(evaluate(ROWS, "faithfulness", Gappy()))
    assert said.startswith("unknown: 2 of 4 samples were scored without some verdicts")
    assert said.endswith("e.g. r1: HTTP 500")
