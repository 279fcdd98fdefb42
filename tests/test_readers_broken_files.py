"""Reading samples: what is said about files that cannot be read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError
from assay.readers import (
    read_samples,
)

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


def test_file_not_found(put: Any, tmp_path: Path) -> None:
    put("data.jsonl", LINE)
    assert message(tmp_path / "data.jsnl") == (
        f"{tmp_path}/data.jsnl: no such file; did you mean 'data.jsonl'?"
    )
    assert message(tmp_path / "zzz") == f"{tmp_path}/zzz: no such file"
    assert message(tmp_path / "no" / "a.csv") == (
        f"{tmp_path}/no/a.csv: no such file; the directory {tmp_path}/no does not exist"
    )
    assert message("https://host/a.csv").endswith("no such file; only local files are read")


def test_directory(put: Any, tmp_path: Path) -> None:
    put("data.jsonl", LINE)
    put("data.csv.gz", "x")
    assert message(tmp_path) == (
        f"{tmp_path} is a directory; name a file in it, such as data.csv.gz, data.jsonl"
    )


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.jsonl", "", "a.jsonl is empty"),
        ("a.jsonl", "\n \n", "a.jsonl holds no rows"),
        ("a.csv", "question,response\n", "a.csv holds no rows"),
        ("a.csv", "\n\n", "a.csv holds no rows"),
        ("a.json", "[]", "a.json holds no rows"),
        ("a.jsonl.gz", gzip.compress(b"", mtime=0), "a.jsonl.gz holds no rows"),
        (
            "a.jsonl",
            (LINE + "\n") * 6 + '{"question": "q" "response": 1}',
            (
                "a.jsonl, line 7: not JSON: Expecting ',' delimiter at character 18, near "
                "'\"response\": 1}'"
            ),
        ),
        (
            "a.jsonl",
            json.dumps([ROW], indent=1),
            (
                "a.jsonl, line 1: not JSON: Expecting value at character 2; if the file is one "
                "JSON document, say format 'json'"
            ),
        ),
        (
            "a.jsonl",
            json.dumps([ROW]),
            (
                "a.jsonl, line 1: a row must be an object with named columns, found a list; if the "
                "file is one JSON document, say format 'json'"
            ),
        ),
        (
            "a.jsonl",
            LINE + '\n"text"',
            "a.jsonl, line 2: a row must be an object with named columns, found the text 'text'",
        ),
        (
            "a.jsonl",
            '{"x": ' + "[" * 100_000,
            "a.jsonl, line 1: not JSON: it is nested too deeply",
        ),
        (
            "a.jsonl",
            '{"question": "q", "x": ' + "[" * 900 + "]" * 900 + "}",
            "a.jsonl, line 1: the row is nested too deeply",
        ),
        (
            "a.jsonl",
            '{"question": ' + "9" * 5000 + "}",
            (
                "a.jsonl, line 1: not JSON: Exceeds the limit (4300 digits) for integer string "
                "conversion: value has 5000 digits"
            ),
        ),
        (
            "a.json",
            LINE + "\n" + LINE,
            (
                "a.json: not JSON: Extra data at line 2, character 1; if it is one object per "
                "line, say format 'jsonl'"
            ),
        ),
        (
            "a.json",
            '[\n{"question": "q",}]',
            (
                "a.json: not JSON: Expecting property name enclosed in double quotes at line 2, "
                "character 18"
            ),
        ),
        (
            "a.json",
            '{"foo": 1}',
            (
                "a.json: expected a list of objects, or an object with such a list under one of "
                "'results', 'samples', 'data', 'rows'; found an object with the keys 'foo'"
            ),
        ),
        (
            "a.json",
            "[3]",
            "a.json, row 1: a row must be an object with named columns, found a number (3)",
        ),
        (
            "a.jsonl",
            LINE.encode() + b"\n" + b'{"question": "caf\xe9"}',
            "a.jsonl, line 2: not UTF-8 (byte 0xe9 at offset 61); save it as UTF-8",
        ),
        (
            "a.csv",
            "question,response\n".encode("utf-16"),
            "a.csv, line 1: not UTF-8 (byte 0xff at offset 0); it is UTF-16; save it as UTF-8",
        ),
        (
            "a.jsonl",
            gzip.compress(LINE.encode(), mtime=0),
            (
                "a.jsonl, line 1: not UTF-8 (byte 0x8b at offset 1); it is gzip data; give the "
                "file a name that ends in .gz"
            ),
        ),
        (
            "a.csv",
            'question,response\n"two\nlines",b\na,b,c\n',
            (
                "a.csv, line 4: 3 cells, but the header has 2; a text that holds the delimiter or "
                "a line break must be in double quotes"
            ),
        ),
        (
            "a.csv",
            'question,response\na,b\nc,"d\ne,f\n',
            "a.csv, line 3: a double quote opens here and is never closed",
        ),
        (
            "a.csv",
            'question,response\na,"he said "hi" twice"\n',
            (
                'a.csv, line 2: a double quote stands inside a quoted text; write it twice ("") as '
                "CSV asks, or use JSONL"
            ),
        ),
        (
            "a.csv",
            "question,question\na,b\n",
            "a.csv, line 1: the column name 'question' occurs more than once; rename one",
        ),
        (
            "a.xlsx",
            "x",
            (
                "a.xlsx: the name does not tell the format; known: .jsonl, .ndjson, .json, .csv, "
                ".tsv, .parquet, .pq (all but Parquet also with .gz), or say which with --format "
                "(in Python: format=)"
            ),
        ),
        (
            "a.jsonl.gz",
            gzip.compress((LINE * 1000).encode(), mtime=0)[:-12],
            (
                "a.jsonl.gz: the gzip data is broken or cut short: Compressed file ended before "
                "the end-of-stream marker was reached"
            ),
        ),
        (
            "a.jsonl.gz",
            LINE,
            "a.jsonl.gz: the gzip data is broken or cut short: Not a gzipped file (b'{\"')",
        ),
    ],
)
def test_broken_files(put: Any, name: str, data: str | bytes, text: str) -> None:
    assert message(put(name, data)) == text


def test_corrupt_gzip_body(put: Any) -> None:
    data = bytearray(gzip.compress(LINE.encode() * 50))
    data[20] ^= 0xFF
    assert message(put("a.jsonl.gz", bytes(data))).startswith(
        "a.jsonl.gz: the gzip data is broken or cut short: "
    )
