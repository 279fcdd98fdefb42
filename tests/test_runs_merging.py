"""What `merge` says where it cannot write, or has nothing to merge."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from assay import ScriptedJudge
from assay.cli.app import run as command
from assay.errors import DataError
from assay.runs import merge, score_to, start
from scored_runs import METRICS, rows, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = write(tmp_path / "in.jsonl", rows(6))
    score_to(tmp_path / "run", data, METRICS, ScriptedJudge(), shard_rows=2)
    return tmp_path / "run"


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_full_disk_is_to_be_freed_and_the_merge_made_again(
    folder: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = folder.parent / f"out.{ending}"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(DataError) as refused:
            merge(folder, out)
    said = str(refused.value)
    assert said.startswith(f"cannot write {out}: No space left on device; free some room on the")
    assert said.endswith("merge again: the run is as it was")
    assert "--resume" not in said
    assert not out.exists()
    assert merge(folder, out).rows == 6


def test_provenance_that_does_not_fit_is_told_in_the_same_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(DataError, match="free some room"):
            merge(folder, folder.parent / "out.jsonl")


def test_damage_of_the_run_is_told_as_such(folder: Path) -> None:
    (folder / "shards/00001.jsonl").write_bytes(b"{}\n{}\n")
    with pytest.raises(DataError, match=r"00001\.jsonl is damaged; delete it and run the same"):
        merge(folder, folder.parent / "out.jsonl")


def test_a_file_is_no_folder_of_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["merge", str(folder.parent / "in.jsonl"), "-o", "a.jsonl"]) == 1
    said = capsys.readouterr().err
    assert "in.jsonl is a file; what is merged is a folder, that of score --run" in said


@pytest.mark.parametrize(
    ("shard_rows", "gone", "said"),
    [
        (6, [], "is not complete: its only shard is not whole yet; run"),
        (3, [1], "is not complete: 1 of 2 shards is missing (1); run"),
        (1, [0, 1, 5], "is not complete: 3 of 6 shards are missing (0-1, 5); run"),
    ],
)
def test_what_is_missing_is_told_in_proper_words(
    tmp_path: Path, folder: Path, shard_rows: int, gone: list[int], said: str
) -> None:
    part = tmp_path / "part"
    data = tmp_path / "in.jsonl"
    if gone:
        score_to(part, data, METRICS, ScriptedJudge(), shard_rows=shard_rows)
    else:
        start(data, METRICS, ScriptedJudge(), part)
    for number in gone:
        (part / f"shards/{number:05d}.jsonl").unlink()
    with pytest.raises(DataError) as missing:
        merge(part, tmp_path / "out.jsonl")
    assert said in str(missing.value)
