"""Tables of runs that are not at their end: rows out of the journals of shards in work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay import ScriptedJudge
from assay.errors import ConfigError, DataError, JudgeUnusable
from assay.runs import merge, run, score_to, start
from assay.runs.journal import Journal
from assay.runs.merging import Merged
from assay.runs.plan import Plan
from assay.runs.shards import Job
from scored_runs import METRICS, Flaky, rows, table, write

Run = tuple[Path, Plan]


@pytest.fixture
def stopped(tmp_path: Path) -> Run:
    """25 rows in shards of 10: the first is whole, of the second 7 rows are in a journal."""
    data = write(tmp_path / "in.jsonl", rows(25))
    score_to(tmp_path / "whole", data, METRICS, ScriptedJudge(), shard_rows=10)
    folder = tmp_path / "run"
    plan = start(data, METRICS, ScriptedJudge(), folder, shard_rows=10)
    first = (tmp_path / "whole/shards/00000.jsonl").read_bytes()
    (folder / "shards/00000.jsonl").write_bytes(first)
    lines = (tmp_path / "whole/shards/00001.jsonl").read_bytes().splitlines()
    journal = Journal.open(folder / "shards/00001.partial.jsonl", plan.id, plan.span(1))
    assert journal is not None
    for row in (14, 11, 19, 12, 10, 17, 18):
        journal.keep(row, lines[row - 10])
    journal.close()
    return folder, plan


def expected(folder: Path, *numbers: int) -> list[bytes]:
    whole = folder.parent / "whole/shards"
    lines = b"".join(path.read_bytes() for path in sorted(whole.glob("0000?.jsonl"))).splitlines()
    return [lines[number] for number in numbers]


def merged(folder: Path) -> tuple[Merged, list[bytes]]:
    out = folder.parent / "out.jsonl"
    told = merge(folder, out, partial=True)
    return told, out.read_bytes().splitlines()


KEPT = (*range(10), 10, 11, 12, 14, 17, 18, 19)


def test_rows_of_shards_in_work_are_in_the_table_in_the_order_of_the_data(stopped: Run) -> None:
    folder, _ = stopped
    told, lines = merged(folder)
    assert lines == expected(folder, *KEPT)
    assert (told.rows, told.all_rows, told.missing) == (17, 25, (1, 2))
    assert str(told) == "17 of 25 rows"
    provenance = json.loads((folder.parent / "out.jsonl.run.json").read_text("utf-8"))
    assert (provenance["rows"], provenance["all_rows"]) == (17, 25)
    assert provenance["missing_shards"] == ["1-2"]
    assert provenance["summary"]["faithfulness"]["n"] == 17


def test_the_table_of_a_whole_run_says_so(stopped: Run) -> None:
    told = merge(stopped[0].parent / "whole", stopped[0].parent / "out.csv", partial=True)
    assert (str(told), told.missing, told.all_rows) == ("25 rows", (), 25)


def test_other_formats_have_the_same_rows(stopped: Run) -> None:
    out = stopped[0].parent / "out.csv"
    merge(stopped[0], out, partial=True)
    assert len(out.read_text("utf-8").splitlines()) == 1 + 17


def test_a_line_that_a_kill_cut_short_is_left_out_and_left_alone(stopped: Run) -> None:
    folder, _ = stopped
    journal = folder / "shards/00001.partial.jsonl"
    with journal.open("ab") as file:
        file.write(b'[13,"0123abcd",{"id": "14", "scor')
    before = journal.read_bytes()
    assert merged(folder)[1] == expected(folder, *KEPT)
    assert journal.read_bytes() == before
    assert run(folder, ScriptedJudge()).scored == 25 - 17  # the resume takes the same rows
    assert table(folder) == [json.loads(line) for line in expected(folder, *range(25))]


def test_a_row_that_is_there_twice_is_taken_once_and_lines_of_elsewhere_never(
    stopped: Run,
) -> None:
    folder, plan = stopped
    path = folder / "shards/00001.partial.jsonl"
    journal = Journal.open(path, plan.id, plan.span(1))
    assert journal is not None
    journal.keep(14, expected(folder, 14)[0].replace(b"Mill", b"Mull"))
    journal.keep(14, again := expected(folder, 14)[0].replace(b"Mill", b"Moll"))
    journal.close()
    other = Journal.open(path, "another run", plan.span(2))
    assert other is not None
    other.keep(20, expected(folder, 20)[0])
    other.close()
    with path.open("ab") as file:
        file.write(b'\n[99,"00000000",{}]\n\xff\xfe\n[15,"00000000",{"scores": {}}]\n')
    lines = merged(folder)[1]
    assert lines == [
        again if number == 14 else line
        for number, line in zip(KEPT, expected(folder, *KEPT), strict=True)
    ]


def test_a_merge_does_not_wait_for_whoever_is_at_work(stopped: Run) -> None:
    folder, plan = stopped
    held = Journal.open(folder / "shards/00001.partial.jsonl", plan.id, plan.span(1))
    assert held is not None
    held.keep(16, expected(folder, 16)[0])
    assert merged(folder)[0].rows == 18
    held.keep(15, expected(folder, 15)[0])  # it can go on
    held.close()
    assert merged(folder)[0].rows == 19


def test_a_shard_that_is_finished_meanwhile_is_taken_whole(stopped: Run) -> None:
    folder, _ = stopped
    out = folder.parent / "out.jsonl"
    finished = False

    def finish() -> None:
        nonlocal finished
        if not finished:
            finished = True
            run(folder, ScriptedJudge())

    told = merge(folder, out, partial=True, watch=finish)
    assert (told.rows, told.missing, str(told)) == (25, (), "25 rows")
    assert out.read_bytes().splitlines() == expected(folder, *range(25))


def test_a_shard_that_is_finished_and_looked_at_again_meanwhile_is_whole(
    stopped: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = stopped
    missing = Job.missing

    def finish(job: Job) -> list[int]:
        out = missing(job)
        run(folder, ScriptedJudge())  # and another process opens a journal before it sees that
        (folder / "shards/00001.partial.jsonl").touch()
        return out

    monkeypatch.setattr(Job, "missing", finish)
    told, lines = merged(folder)
    assert (told.rows, told.missing) == (25, ())
    assert lines == expected(folder, *range(25))


def test_what_a_run_that_gave_up_had_scored_is_merged(tmp_path: Path) -> None:
    data = write(tmp_path / "in.jsonl", rows(25))
    judge = Flaky()
    judge.unusable_after = 40
    with pytest.raises(JudgeUnusable):
        score_to(tmp_path / "run", data, METRICS, judge, shard_rows=25)
    kept = (tmp_path / "run/shards/00000.partial.jsonl").read_bytes().count(b"\n")
    assert 0 < kept < 25
    told = merge(tmp_path / "run", tmp_path / "out.jsonl", partial=True)
    assert str(told) == f"{kept} of 25 rows"
    with pytest.raises(DataError, match="--partial"):
        merge(tmp_path / "run", tmp_path / "out.jsonl")


def test_a_journal_that_cannot_be_read_is_named(stopped: Run) -> None:
    journal = stopped[0] / "shards/00001.partial.jsonl"
    journal.unlink()
    journal.mkdir()
    with pytest.raises(DataError, match=r"cannot read .*00001.partial.jsonl"):
        merged(stopped[0])


@pytest.mark.parametrize(
    "name", ["shards/00001.partial.jsonl", "totals.jsonl", "usage.jsonl", "plan.json"]
)
def test_the_table_is_not_put_in_the_place_of_what_belongs_to_the_run(
    stopped: Run, name: str
) -> None:
    folder, _ = stopped
    file = folder / name
    before = file.read_bytes() if file.exists() else None
    with pytest.raises(ConfigError, match=r"give another -o|known endings"):
        merge(folder, file, partial=True)
    assert (file.read_bytes() if file.exists() else None) == before
