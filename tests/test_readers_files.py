"""Reading samples: files of every format, standard input, bounded memory."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from assay.errors import AssayError, DataError, MissingExtra
from assay.readers import (
    iter_samples,
    open_samples,
    read_samples,
)
from assay.sample import Context, Sample

ROW: dict[str, Any] = {"question": "Where?", "response": "Here."}
LINE = json.dumps(ROW)


@pytest.fixture
def put(tmp_path: Path) -> Any:
    def write(name: str, data: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


def message(source: Any, **options: Any) -> str:
    with pytest.raises(AssayError) as caught:
        read_samples(source, **options)
    return str(caught.value)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", LINE + "\n\n  \n" + LINE + "\r\n"),
        ("a.NDJSON", LINE + "\n" + LINE),
        ("a.json", json.dumps([ROW, ROW])),
        ("b.json", json.dumps({"version": 1, "data": [ROW, ROW]})),
        ("c.json", json.dumps({"rows": [ROW, ROW]})),
        ("d.json", json.dumps({"samples": [ROW, ROW]}, indent=2)),
        ("a.csv", 'question,response\nWhere?,Here.\n,\n"Where?","Here."\n'),
        ("b.csv", "\nquestion;response\r\nWhere?;Here.\r\nWhere?;Here."),
        ("c.csv", "question,response\rWhere?,Here.\rWhere?,Here.\r"),
        ("a.tsv", "question\tresponse\nWhere?\tHere.\nWhere?\tHere.\n"),
    ],
)
def test_formats(put: Any, name: str, text: str, zipped: bool) -> None:
    data = b"\xef\xbb\xbf" + text.encode()
    path = put(name + ".gz", gzip.compress(data)) if zipped else put(name, data)
    assert read_samples(str(path)) == [Sample(**ROW, id="1"), Sample(**ROW, id="2")]


def test_format_overrides_the_name(put: Any) -> None:
    assert len(read_samples(put("a.txt", LINE), format="jsonl")) == 1
    assert message(put("a.txt", LINE), format="jsnl") == (
        "unknown format 'jsnl'; did you mean 'jsonl'?"
    )


def test_parquet(tmp_path: Path) -> None:
    table = pa.table(
        {
            "question": ["a", None],
            "contexts": [[{"text": "c", "relevant": True}], []],
            "ground_truth": ["['x', 'y']", ""],
            "year": [1987, None],
        }
    )
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path)
    first, second = read_samples(path)
    assert first == Sample(
        "a", None, [Context("c", None, True)], ["x", "y"], id="1", metadata={"year": 1987}
    )
    assert second == Sample(None, None, [], [""], id="2")


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"question": ["a"]}), path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra) as caught:
        read_samples(path)
    assert str(caught.value) == (
        "pyarrow, which reads Parquet, is not installed; run: pip install 'assay[parquet]'"
    )


def test_broken_parquet(put: Any) -> None:
    assert message(put("a.parquet", b"PAR1 nothing here PAR1")).startswith(
        "a.parquet: cannot be read as Parquet: "
    )
    assert message(put("a.parquet.gz", b"x")) == (
        "a.parquet.gz: Parquet is compressed inside; take it out of the gzip file"
    )


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, (LINE + "\n").encode() * 2)
    reading = open_samples("-")
    assert reading.name == "stdin"
    assert len(list(reading)) == 2
    with pytest.raises(DataError) as caught:
        list(reading)
    assert str(caught.value) == "standard input was read already; it can be read only once"


def test_standard_input_in_other_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"question,response\na,b\n")
    assert [s.question for s in read_samples("-", format="csv")] == ["a"]
    stdin(monkeypatch, b"")
    assert message("-") == "stdin holds no rows"
    assert message("-", format="parquet") == (
        "Parquet cannot be read from standard input; give a path"
    )
    stdin(monkeypatch, LINE.encode() + b"\nnope")
    assert message("-") == "stdin, line 2: not JSON: Expecting value at character 1, near 'nope'"


def test_errors_beyond_the_first_rows_name_their_line(put: Any) -> None:
    path = put("a.jsonl", (LINE + "\n") * 200 + '{"question": []}\n')
    samples = iter_samples(path)
    assert sum(1 for _, _ in zip(range(200), samples, strict=False)) == 200
    with pytest.raises(DataError, match=re.escape("a.jsonl, line 201: column 'question'")):
        next(samples)


def test_large_csv_fields_leave_the_global_limit_alone(put: Any) -> None:
    before = csv.field_size_limit()
    text = "x, " * 70_000
    path = put("a.csv", f'question,response\nq,"{text}"\n')
    assert [s.response for s in read_samples(path)] == [text]
    assert csv.field_size_limit() == before


def test_csv_from_pandas_with_its_index_and_lists(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"question": ["q"], "contexts": [["it's a", 'say "b"']], "answer": ["é\nr"]}
    )
    frame.to_csv(tmp_path / "a.csv")
    (sample,) = read_samples(tmp_path / "a.csv")
    assert sample.contexts == (Context("it's a"), Context('say "b"'))
    assert sample.response == "é\nr"
    assert sample.metadata == {"column 1": "0"}


def peak_bytes(path: Path) -> int:
    tracemalloc.start()
    try:
        for _ in iter_samples(path):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_streaming_memory_does_not_grow(tmp_path: Path, suffix: str) -> None:
    def write(name: str, count: int) -> Path:
        rows = [{"id": n, "question": "q" * 900, "contexts": f"d{n}"} for n in range(count)]
        path = tmp_path / f"{name}.{suffix}"
        if suffix == "jsonl":
            path.write_text("\n".join(map(json.dumps, rows)))
        elif suffix == "csv":
            pd.DataFrame(rows).to_csv(path, index=False)
        else:
            parquet.write_table(pa.Table.from_pylist(rows), path)
        return path

    peak_bytes(write("warm", 10))
    small, large = peak_bytes(write("small", 600)), peak_bytes(write("large", 2400))
    assert large < 1.5 * small
