"""The input of a run by shards: every format, wherever a shard begins."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import ScriptedJudge, load
from assay.errors import DataError
from assay.runs import score_to, start
from assay.runs.inputs import Inputs
from assay.runs.places import scan
from assay.runs.shards import open_job
from scored_runs import METRICS, rows, table

TEXTS = (
    "a, b",
    'say "x"',
    "two\nlines",
    "crlf\r\nhere",
    "tab\there",
    "é – 🦊",
    "\u2028 \u0085",
    "",
)


def read_back(folder: Path, order: list[int] | None = None) -> list[Any]:
    """The samples of a run, shard by shard."""
    job = open_job(folder)
    inputs = Inputs(job.folder, job.plan)
    out: dict[int, Any] = {}
    for shard in order or range(job.plan.shards):
        for number, sample, trouble in inputs.rows(shard, job.places[shard]):
            assert not trouble
            out[number] = sample
    assert sorted(out) == list(range(job.plan.rows))
    return [out[number] for number in sorted(out)]


def begun(tmp_path: Path, path: Path, shard_rows: int, **options: Any) -> Path:
    folder = tmp_path / f"run{shard_rows}"
    start(path, "faithfulness", ScriptedJudge(), folder, shard_rows=shard_rows, **options)
    return folder


def write_table(path: Path, end: str, head: str = "", delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(head)
        writer = csv.writer(file, lineterminator=end, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(["question", "response", "contexts"])
        for n in range(23):
            writer.writerow([TEXTS[n % len(TEXTS)] or "q", f"r{n} {TEXTS[-n % 8]}", '["c"]'])
            if n % 5 == 0:
                file.write(end)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("head", ["", "\ufeff"])
@pytest.mark.parametrize("shard_rows", [1, 3, 23, 50])
def test_tables_of_text(tmp_path: Path, end: str, head: str, shard_rows: int) -> None:
    path = write_table(tmp_path / "in.csv", end, head)
    folder = begun(tmp_path, path, shard_rows)
    assert read_back(folder) == load(path)
    count = -(-23 // shard_rows)
    assert read_back(folder, list(reversed(range(count)))) == load(path)


@pytest.mark.parametrize(("name", "delimiter"), [("in.tsv", "\t"), ("in.csv", ";")])
def test_other_delimiters(tmp_path: Path, name: str, delimiter: str) -> None:
    path = write_table(tmp_path / name, "\n", delimiter=delimiter)
    assert read_back(begun(tmp_path, path, 4)) == load(path)


@pytest.mark.parametrize("shard_rows", [1, 7, 10, 64])
@pytest.mark.parametrize("group", [1, 7, 25, 100])
def test_parquet_by_groups(tmp_path: Path, shard_rows: int, group: int) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(rows(64)), path, row_group_size=group)
    folder = begun(tmp_path, path, shard_rows)
    assert read_back(folder) == load(path)
    shards = list(range(-(-64 // shard_rows)))
    assert read_back(folder, [*shards[1::2], *shards[::2]]) == load(path)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\n\n", "\n \t\n"]), min_size=1, max_size=12),
    shard_rows=st.integers(1, 5),
    bom=st.booleans(),
)
def test_lines_of_json(tmp_path: Path, ends: list[str], shard_rows: int, bom: bool) -> None:
    path = tmp_path / "in.jsonl"
    text = "".join(
        json.dumps({"response": TEXTS[n % 8], "n": n}, ensure_ascii=False) + end
        for n, end in enumerate(ends)
    )
    path.write_bytes(("\ufeff" * bom + text).encode())
    source, places = scan(path, "jsonl", shard_rows)
    assert source.rows == len(ends)
    assert [place.rows for place in places] == [
        min(shard_rows, len(ends) - first) for first in range(0, len(ends), shard_rows)
    ]
    assert [place.start for place in places[1:]] == [place.end for place in places[:-1]]
    assert path.read_bytes()[places[-1].end :].strip() == b""


@pytest.mark.parametrize("name", ["in.json", "in.jsonl.gz", "in.csv.gz"])
def test_what_cannot_be_gone_to_at_will_is_put_by(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "in.json":
        path.write_text(json.dumps({"data": rows(9)}), "utf-8")
    elif name == "in.jsonl.gz":
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows(9))).encode()))
    else:
        plain = write_table(tmp_path / "in.csv", "\r\n")
        path.write_bytes(gzip.compress(plain.read_bytes()))
    folder = begun(tmp_path, path, 4)
    assert (folder / "input.jsonl").exists()
    assert read_back(folder) == load(path)


def test_standard_input_is_put_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "\n".join(map(json.dumps, rows(9))).encode()

    def piped() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    piped()
    score_to(tmp_path / "run", "-", METRICS, ScriptedJudge(), shard_rows=4)
    before = table(tmp_path / "run")
    assert len(before) == 9
    (tmp_path / "run/shards/00001.jsonl").unlink()
    # Piped once more, or from what was put by.
    piped()
    assert score_to(tmp_path / "run", "-", METRICS, ScriptedJudge(), resume=True).scored == 4
    (tmp_path / "run/shards/00002.jsonl").unlink()
    spool = tmp_path / "run" / "input.jsonl"
    assert score_to(tmp_path / "run", spool, METRICS, ScriptedJudge(), resume=True).scored == 1
    assert table(tmp_path / "run") == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('question,response\n"a,b\n', "line 2: a double quote opens here and is never closed"),
        ("question,response\na,b\nc\n", "line 3: 1 cells, but the header has 2"),
        ("question,response\n", "holds no rows"),
        ("q1,r1\na,b\n", "no known column"),
    ],
)
def test_a_broken_table_is_refused_before_anything_is_asked(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        begun(tmp_path, path, 4)
    assert not (tmp_path / "run4" / "plan.json").exists()


def test_ragged_rows_far_down_are_refused_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("question,response\n" + "a,b\n" * 500 + "c\n", "utf-8")
    with pytest.raises(DataError, match="line 502: 1 cells"):
        begun(tmp_path, path, 4)


def test_rows_without_an_id_are_numbered_through(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"response": "r", "contexts": []}\n' * 10, "utf-8")
    samples = read_back(begun(tmp_path, path, 3))
    assert [sample.id for sample in samples] == [str(n) for n in range(1, 11)]


def test_bytes_that_are_no_text_are_one_failed_row(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    good = b'{"response": "r.", "contexts": ["r."]}\n'
    path.write_bytes(good * 150 + b'{"response": "\xff"}\n' + b"[" * 100_000 + b"\n" + good)
    outcome = score_to(tmp_path / "run", path, "faithfulness", ScriptedJudge(), shard_rows=40)
    assert outcome.failed == 2
    made = table(tmp_path / "run")
    reasons = [row["scores"]["faithfulness"]["reason"] for row in made[150:152]]
    assert "in.jsonl, line 151: not UTF-8" in reasons[0]
    assert "in.jsonl, line 152: not JSON: it is nested too deeply" in reasons[1]
    assert made[152]["scores"]["faithfulness"]["value"] == 1
