"""Files of scored rows: written as they come, renamed when they are whole."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

from assay.errors import ConfigError, DataError, MissingExtra
from assay.run import FORMAT, Row

FORMATS = (".jsonl", ".csv", ".parquet")


Record = Mapping[str, Any]
"""A row as `Row.as_dict` gives it."""


class Writer(Protocol):
    """Takes rows one by one."""

    def write(self, row: Record) -> None: ...

    def close(self) -> None: ...


class RowFile:
    """An output file for rows; the format follows the ending (.jsonl, .csv, .parquet).

    Rows go to a neighbour named ``*.partial``, which takes the file's name on a clean exit; after
    an error it stays, with all rows so far. Raises ConfigError for an unknown ending and
    DataError when the disk refuses.
    """

    def __init__(self, path: Path, metrics: Sequence[str]) -> None:
        if path.suffix not in FORMATS:
            raise ConfigError(f"cannot write {path.name!r}; known endings: {', '.join(FORMATS)}")
        if not path.parent.is_dir():
            raise ConfigError(f"cannot write {path}: the folder {path.parent} does not exist")
        if path.is_dir():
            raise ConfigError(f"cannot write {path}: it is a folder")
        self.path = path
        self.partial = path.with_name(path.name + ".partial")
        self.metrics = tuple(metrics)
        self.rows = 0
        self._writer: Writer | None = None

    def __enter__(self) -> RowFile:
        kinds: Mapping[str, type[_Jsonl] | type[_Csv] | type[_Parquet]]
        kinds = {".jsonl": _Jsonl, ".csv": _Csv, ".parquet": _Parquet}
        try:
            self._writer = kinds[self.path.suffix](self.partial, self.metrics)
        except OSError as error:
            raise self._refused(error) from error
        return self

    def write(self, row: Row | Record) -> None:
        """Append one row, or its JSON-able form."""
        if self._writer is None:
            raise ConfigError("the output file is not open")
        try:
            self._writer.write(row.as_dict() if isinstance(row, Row) else row)
            self.rows += 1
        except OSError as error:
            raise self._refused(error) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writer is None:
            return
        try:
            self._writer.close()
            if kind is None:
                self.partial.replace(self.path)
            elif not self.rows:
                self.partial.unlink(missing_ok=True)
        except OSError as refused:
            if kind is None:
                raise self._refused(refused) from refused

    def _refused(self, error: OSError) -> DataError:
        kept = f"{self.rows} rows are in {self.partial.name}; " if self.rows else ""
        return DataError(
            f"cannot write {self.path}: {error.strerror or error}; {kept}make room or give "
            "another -o, and run again"
        )


class _Jsonl:
    def __init__(self, path: Path, metrics: Sequence[str]) -> None:
        # A line at a time: what was paid for survives a kill.
        self._file: IO[str] = path.open("w", encoding="utf-8", buffering=1)

    def write(self, row: Record) -> None:
        self._file.write(to_json(row) + "\n")

    def close(self) -> None:
        self._file.close()


class _Csv:
    def __init__(self, path: Path, metrics: Sequence[str]) -> None:
        self._file = path.open("w", encoding="utf-8", errors="replace", newline="")
        self._csv = csv.writer(self._file)
        self._metrics = metrics
        self._csv.writerow(columns(metrics))

    def write(self, row: Record) -> None:
        self._csv.writerow([_safe_cell(value) for value in flat(row, self._metrics)])

    def close(self) -> None:
        self._file.close()


class _Parquet:
    """Row groups of 1,000; each row also holds its whole JSON form."""

    def __init__(self, path: Path, metrics: Sequence[str]) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra("pyarrow", "parquet") from None
        number = {name: pa.float64() for name in metrics}
        fields = [(name, number.get(name, pa.string())) for name in columns(metrics)]
        self._schema = pa.schema([*fields, ("row", pa.string())])
        self._writer = pq.ParquetWriter(path, self._schema)
        self._metrics = metrics
        self._rows: list[list[Any]] = []

    def write(self, row: Record) -> None:
        values = [_utf8(v) if isinstance(v, str) else v for v in flat(row, self._metrics)]
        self._rows.append([*values, to_json(row)])
        if len(self._rows) == 1000:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            arrays = [
                pa.array(list(values), field.type)
                for values, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)
            ]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
            self._rows = []

    def close(self) -> None:
        self._flush()
        self._writer.close()


def _utf8(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode("utf-8")


def to_json(value: Any) -> str:
    """One line of JSON that UTF-8 can hold; never NaN."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8; escaped it survives
        return json.dumps(value, allow_nan=False)
    return text


def columns(metrics: Sequence[str]) -> list[str]:
    """Column names of the flat formats."""
    names = ["id", "question", "response"]
    for metric in metrics:
        names += [metric, f"{metric}.status", f"{metric}.reason"]
    return names


def flat(row: Row | Record, metrics: Sequence[str]) -> list[Any]:
    """The values of one row in the flat formats."""
    record = row.as_dict() if isinstance(row, Row) else row
    values: list[Any] = [record.get(name) for name in ("id", "question", "response")]
    for metric in metrics:
        score = record["scores"][metric]
        values += [score["value"], score["status"], score["reason"]]
    return values


def _safe_cell(value: Any) -> Any:
    # A spreadsheet runs a cell that starts like a formula; a quote in front makes it text.
    if isinstance(value, str):
        value = value.replace("\0", "")
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    return value


def provenance_path(path: Path) -> Path:
    """Where the provenance of an output file is: beside it."""
    return path.with_name(path.name + ".run.json")


def write_provenance(path: Path, provenance: Mapping[str, Any]) -> None:
    """Write what produced an output file beside it; raises DataError when the disk refuses."""
    beside = provenance_path(path)
    try:
        beside.write_text(to_json(dict(provenance)) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {beside}: {error.strerror or error}") from error


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a .jsonl output file, as written; raises DataError naming the bad line."""
    try:
        with path.open("rb") as file:
            for n, line in enumerate(file, 1):
                if line.strip():
                    yield _row(path, n, line.rstrip(b"\r\n"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error


def _row(path: Path, n: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {n}: not JSON ({error.msg}, column {error.colno})") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, line {n}: not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise DataError(f"{path}, line {n}: nested too deeply") from None
    if not isinstance(row, dict) or "scores" not in row:
        raise DataError(f"{path}, line {n}: not a row that 'assay score' wrote")
    if not isinstance(row.get("format"), int):
        raise DataError(f"{path}, line {n}: no format number; {row.get('format')!r} is none")
    if row["format"] > FORMAT:
        raise DataError(f"{path}, line {n}: written by a newer assay (format {row['format']})")
    return row
