"""Files of rows: round trips, partial files, odd characters, full disks, broken lines."""

from __future__ import annotations

import csv
import errno
import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from assay import Sample, Score, ScriptedJudge, evaluate
from assay.errors import ConfigError, DataError
from assay.run import FORMAT, Row, Run
from assay.sample import Claim
from assay.store import FORMATS, RowFile, columns, flat, read_rows, to_json

METRICS = ("faithfulness", "noise_sensitivity(mode=irrelevant)")
ODD = "NUL \0, line\u2028end, tab\t, \r\n, quote \" ', emoji 🦊, bidi \u202e"


def run(*samples: Sample) -> Run:
    return evaluate(list(samples), list(METRICS), ScriptedJudge())


@pytest.fixture
def scored() -> Run:
    return run(
        Sample("q", "It is so. It is not.", ["It is so."], "It is so.", id="a"),
        Sample("=1+1", "", ["It is so."], "It is so.", id="-b", metadata={"k": [1, None]}),
        Sample(None, "It is so.", None, "It is so.", id="c"),
    )


def write(path: Path, rows: Run | list[Row], metrics: tuple[str, ...] = METRICS) -> Path:
    with RowFile(path, metrics) as file:
        for row in rows:
            file.write(row)
    return path


def one(sample: Sample, **scores: Score) -> list[Row]:
    return [Row(sample, scores or {"f": Score(0.5)})]


# --- round trips ---------------------------------------------------------------------------------


def test_jsonl_holds_every_row_whole(tmp_path: Path, scored: Run) -> None:
    path = write(tmp_path / "out.jsonl", scored)
    assert list(read_rows(path)) == [row.as_dict() for row in scored]
    first, second, third = read_rows(path)
    assert first["format"] == FORMAT
    assert first["scores"]["faithfulness"]["value"] == 0.5
    assert first["claims"]["response"][0] == {"text": "It is so.", "start": 0, "end": 9}
    assert second["scores"]["faithfulness"]["reason"] == "the response makes no claims"
    assert second["metadata"] == {"k": [1, None]}
    assert third["scores"]["faithfulness"]["status"] == "failed"
    assert path.read_text("utf-8").count("\n") == 3


def test_rows_can_be_scored_again_from_what_was_written(tmp_path: Path, scored: Run) -> None:
    path = write(tmp_path / "out.jsonl", scored)
    again = evaluate(path, list(METRICS), ScriptedJudge())
    for before, after in zip(scored, again, strict=True):
        assert after.sample.id == before.sample.id
        assert after.scores == before.scores


def test_csv_has_a_column_for_value_status_and_reason(tmp_path: Path, scored: Run) -> None:
    path = write(tmp_path / "out.csv", scored)
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == columns(METRICS)
    assert [row["faithfulness"] for row in table] == ["0.5", "", ""]
    assert [row["faithfulness.status"] for row in table] == ["ok", "undefined", "failed"]
    assert table[2]["faithfulness.reason"] == "the sample has no contexts"
    assert table[2]["question"] == ""


def test_parquet_has_the_same_columns_and_the_whole_row(tmp_path: Path, scored: Run) -> None:
    table = pq.read_table(write(tmp_path / "out.parquet", scored))
    assert table.column_names == [*columns(METRICS), "row"]
    rows = table.to_pylist()
    assert [row["faithfulness"] for row in rows] == [0.5, None, None]
    assert str(table.schema.field("faithfulness").type) == "double"
    assert [row["question"] for row in rows] == ["q", "=1+1", None]
    assert [json.loads(row["row"]) for row in rows] == [row.as_dict() for row in scored]


def test_a_long_parquet_file_is_written_in_groups(tmp_path: Path) -> None:
    rows = [row for n in range(2500) for row in one(Sample(response="r", id=str(n)))]
    path = write(tmp_path / "out.parquet", rows, ("f",))
    assert pq.ParquetFile(path).num_row_groups == 3
    assert pq.read_table(path).column("id").to_pylist() == [str(n) for n in range(2500)]


@pytest.mark.parametrize("ending", FORMATS)
def test_no_rows_make_a_file_all_the_same(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"out{ending}", [])
    assert path.is_file()
    if ending == ".jsonl":
        assert list(read_rows(path)) == []


def test_claims_of_later_references_keep_their_source() -> None:
    row = Row(Sample(), {}, {"reference": [Claim("a", 0, 1), Claim("b", None, None, 1)]})
    assert row.as_dict()["claims"]["reference"] == [
        {"text": "a", "start": 0, "end": 1},
        {"text": "b", "start": None, "end": None, "source": 1},
    ]


def test_flat_values_stand_in_the_order_of_the_columns(scored: Run) -> None:
    values = dict(zip(columns(METRICS), flat(scored.rows[0], METRICS), strict=True))
    assert values["id"] == "a"
    assert values["faithfulness"] == 0.5
    assert values["faithfulness.reason"] is None


# --- odd characters ------------------------------------------------------------------------------


def test_json_lines_keep_every_character(tmp_path: Path) -> None:
    for text in (ODD, "lone \ud800 surrogate \udfff"):
        path = write(tmp_path / "out.jsonl", one(Sample(text, text, id=text)), ("f",))
        (row,) = read_rows(path)
        assert (row["question"], row["response"], row["id"]) == (text, text, text)


def test_csv_keeps_every_character_but_nul_and_lone_surrogates(tmp_path: Path) -> None:
    for text in (ODD, "lone \ud800 surrogate"):
        path = write(tmp_path / "out.csv", one(Sample(text, "r", id="1")), ("f",))
        with path.open(encoding="utf-8", newline="") as file:
            (row,) = csv.DictReader(file)
        assert row["question"] == text.replace("\0", "").replace("\ud800", "?")


def test_parquet_keeps_every_character(tmp_path: Path) -> None:
    path = write(tmp_path / "out.parquet", one(Sample(ODD, "r", id="1")), ("f",))
    (row,) = pq.read_table(path).to_pylist()
    assert row["question"] == ODD
    assert json.loads(row["row"])["question"] == ODD


def test_parquet_takes_a_lone_surrogate(tmp_path: Path) -> None:
    # Arrow knows UTF-8 only: the flat cell may lose the character, the row of JSON may not.
    text = "lone \ud800 surrogate"
    path = write(tmp_path / "out.parquet", one(Sample(text, "r", id="1")), ("f",))
    (row,) = pq.read_table(path).to_pylist()
    assert row["question"].startswith("lone ")
    assert json.loads(row["row"])["question"] == text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_cells_that_look_like_formulas_are_text(tmp_path: Path, start: str) -> None:
    cell = f"{start}HYPERLINK(1)"
    scores = {"f": Score.failed(cell), "g": Score(0.5)}
    path = write(tmp_path / "out.csv", [Row(Sample(cell, cell, id=cell), scores)], ("f", "g"))
    with path.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    for name in ("id", "question", "response", "f.reason"):
        assert row[name] == f"'{cell}"
    assert row["g"] == "0.5"


def test_a_nul_in_front_hides_no_formula(tmp_path: Path) -> None:
    path = write(tmp_path / "out.csv", one(Sample("\0=1+1", id="1")), ("f",))
    assert "'=1+1" in path.read_text("utf-8")


def test_nan_is_never_written(tmp_path: Path) -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            to_json({"value": value})
    rows = [Row(Sample(id="1"), {"f": Score.undefined("nothing")})]
    for ending in FORMATS:
        path = write(tmp_path / f"out{ending}", rows, ("f",))
        assert b"nan" not in path.read_bytes().lower()


# --- partial files ---------------------------------------------------------------------------


@pytest.mark.parametrize("ending", FORMATS)
def test_an_error_leaves_the_rows_so_far_beside_the_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    path.write_bytes(b"from before")
    rows = one(Sample(response="r", id="1"))

    def interrupted() -> None:
        with RowFile(path, ("f",)) as file:
            assert file.partial.name == f"out{ending}.partial"
            file.write(rows[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"from before"
    partial = tmp_path / f"out{ending}.partial"
    if ending == ".parquet":
        assert pq.read_table(partial).num_rows == 1
    else:
        assert partial.read_text("utf-8").count("\n") == (2 if ending == ".csv" else 1)


@pytest.mark.parametrize("ending", FORMATS)
def test_success_renames_the_partial_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    path.write_bytes(b"from before")
    with RowFile(path, ("f",)) as file:
        file.write(one(Sample(id="1"))[0])
        assert path.read_bytes() == b"from before"
    assert path.read_bytes() != b"from before"
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208 - names are what counts


def test_writing_before_opening_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not open"):
        RowFile(tmp_path / "out.jsonl", ("f",)).write(one(Sample())[0])


# --- what cannot be written ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.xlsx", "out", "out.json", "out.jsonl.gz"])
def test_an_unknown_ending_is_refused_before_anything_is_asked(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as error:
        RowFile(tmp_path / name, METRICS)
    assert str(error.value) == f"cannot write {name!r}; known endings: .jsonl, .csv, .parquet"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the folder .*nowhere does not exist"):
        RowFile(tmp_path / "nowhere" / "out.csv", METRICS)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(ConfigError, match="it is a folder"):
        RowFile(tmp_path / "out.csv", METRICS)


class FullDisk:
    """A writer on a disk that is full from the ``room``-th row on, or at closing."""

    room = 1

    def __init__(self, path: Path, metrics: tuple[str, ...]) -> None:
        path.touch()
        self.rows = 0

    def write(self, row: Row) -> None:
        self.rows += 1
        if self.rows > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        if self.rows:
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("count", [1, 2])
def test_a_full_disk_is_a_data_error_that_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr("assay.store._Jsonl", FullDisk)
    path = tmp_path / "out.jsonl"
    with pytest.raises(DataError) as error:
        write(path, one(Sample(id="1")) * count, ("f",))
    assert str(error.value).startswith(f"cannot write {path}: No space left on device; ")
    assert "out.jsonl.partial" in str(error.value)
    assert not path.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("rows", [1, 4000])
def test_a_disk_that_is_really_full(tmp_path: Path, ending: str, rows: int) -> None:
    path = tmp_path / f"out{ending}"
    (tmp_path / f"out{ending}.partial").symlink_to("/dev/full")
    with pytest.raises(DataError, match="No space left on device"):
        write(path, one(Sample(response="r" * 100, id="1")) * rows, ("f",))
    assert not path.exists()


# --- what cannot be read -------------------------------------------------------------------------

GOOD = json.dumps({"format": FORMAT, "scores": {}})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"scores": ', "line 3: not JSON (Expecting value, column 12)"),
        ("[1]", "line 3: not a row that 'assay score' wrote"),
        ('{"id": "1"}', "line 3: not a row that 'assay score' wrote"),
        (
            json.dumps({"format": FORMAT + 1, "scores": {}}),
            f"line 3: written by a newer assay (format {FORMAT + 1})",
        ),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{GOOD}\n\n{line}\n{GOOD}\n", "utf-8")
    rows = read_rows(path)
    assert next(rows) == {"format": FORMAT, "scores": {}}
    with pytest.raises(DataError) as error:
        next(rows)
    assert str(error.value) == f"{path}, {message}"


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe{}",
        b'{"scores": {}, "format": "one"}',
        b'{"scores": {}, "format": null}',
        b"[" * 100_000,
    ],
    ids=["not UTF-8", "format is text", "format is null", "nested too deeply"],
)
def test_a_line_that_is_odder_still_is_a_data_error_too(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(GOOD.encode() + b"\n" + line + b"\n")
    with pytest.raises(DataError, match="line 2"):
        list(read_rows(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        list(read_rows(tmp_path / "none.jsonl"))
    assert str(error.value) == f"cannot read {tmp_path / 'none.jsonl'}: No such file or directory"


def test_rows_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{GOOD}\nbroken\n", "utf-8")
    rows: Any = read_rows(path)
    assert next(rows)["scores"] == {}
    rows.close()
