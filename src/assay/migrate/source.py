"""What kind of file a source is, and which migration it takes."""

from __future__ import annotations

import json
from pathlib import Path

from assay.errors import DataError
from assay.migrate.data import migrate_data
from assay.migrate.outcome import Migration
from assay.migrate.promptfoo import migrate_suite
from assay.migrate.scripts import migrate_script
from assay.migrate.suites import is_suite, load_yaml

MOST_BYTES = 20_000_000
"""Longest script or suite in JSON, in bytes; data have no limit."""

_DATA = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".pq", ".gz"})
_KINDS = (
    "it takes a Python script (.py) that imports ragas, ragchecker or valor_lite.text_generation; "
    "their data (.jsonl, .json, .csv, .tsv, .parquet); or a promptfoo config (.yaml, .yml, .json)"
)


def migrate_file(path: Path) -> Migration:
    """The migration of a script, a data set or a promptfoo config; the file is only read.

    Raises DataError for a file that is none of these or cannot be read, MissingExtra for YAML
    without PyYAML.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    suffix = path.suffix.lower()
    if suffix == ".py":
        return migrate_script(_text(path), path.name)
    if suffix in {".yaml", ".yml"}:
        suite = load_yaml(path)
        if not is_suite(suite):
            raise DataError(f"{path.name}: no promptfoo config: it has neither tests nor prompts")
        return migrate_suite(suite, path.name)
    if suffix == ".json" and (suite := _json_suite(path)) is not None:
        return migrate_suite(suite, path.name)
    if suffix in _DATA:
        return migrate_data(path)
    if suffix in {".js", ".ts", ".mjs", ".cjs", ".mts", ".cts"}:
        raise DataError(f"{path.name}: a program is not run; write the config as YAML or JSON")
    if suffix == ".ipynb":
        raise DataError(f"{path.name}: export the notebook as a script (.py) first")
    raise DataError(f"{path.name}: assay migrate does not know this kind of file; {_KINDS}")


def _json_suite(path: Path) -> object | None:
    try:
        value = json.loads(_text(path))
    except (ValueError, RecursionError, DataError):
        return None  # the reader of data says what is wrong
    return value if is_suite(value) else None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{path.name}: over {MOST_BYTES:,} bytes; split it")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise DataError(f"{path.name}: cannot be read: {error.strerror or error}") from None
