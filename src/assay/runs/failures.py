"""The rows of a shard that failed or lack verdicts: why, and whether another try may help."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from assay.errors import DataError
from assay.runs.disk import write_whole, writing
from assay.store import to_json

_FAILED = b'"status": "failed"'
_LACKS = re.compile(rb'"unknown": [1-9]')
_OF_DATA = frozenset({"MissingField", "DataError"})
_FOR_GOOD = _OF_DATA | {"JudgeRejected"}
_KNOWN = frozenset({"JudgeUnavailable", "MalformedAnswer", "JudgeError", *_FOR_GOOD})


def troubles(record: bytes) -> dict[str, Mapping[str, Any]]:
    """The scores of a row that failed, or are made without verdicts that were not given."""
    if _FAILED not in record and not _LACKS.search(record):
        return {}
    scores = json.loads(record)["scores"]
    return {name: score for name, score in scores.items() if has_failed(score) or score["unknown"]}


def has_failed(told: Mapping[str, Any]) -> bool:
    """Whether a score, or what an errors file tells of one, is that of a failure."""
    return bool(told.get("status", "failed") == "failed")


def worth_another_try(record: bytes) -> bool:
    """Whether a score failed for anything but the data itself, or lacks verdicts."""
    return any(error_class(score) not in _OF_DATA for score in troubles(record).values())


def is_for_good(score: Mapping[str, Any]) -> bool:
    """Whether a failed score will fail again, unless the data or the request are others."""
    return error_class(score) in _FOR_GOOD


def error_class(score: Mapping[str, Any]) -> str:
    """What kind of trouble a score had: an error's name, "Unanswered" or "Failed"."""
    reason = str(score.get("reason") or "")
    name = reason.partition(":")[0]
    if name in _KNOWN:
        return name
    if reason.startswith("the sample has no "):
        return "MissingField"
    return "Unanswered" if score.get("unknown") else "Failed"


def write_errors(path: Path, first: int, records: Iterable[bytes]) -> int:
    """Write one line a score that failed or lacks verdicts; the number of rows that failed.

    Without any line, there is no file.
    """
    lines = []
    rows = 0
    for row, record in enumerate(records, first):
        found = troubles(record)
        rows += any(map(has_failed, found.values()))
        lines += [_line(row, record, name, score) for name, score in found.items()]

    def fill(file: BinaryIO) -> None:
        file.writelines(lines)

    if lines:
        write_whole(path, fill)
    else:
        with writing(path):
            path.unlink(missing_ok=True)
    return rows


def read_errors(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of an errors file; none if there is no file."""
    try:
        with path.open("rb") as file:
            for line in file:
                yield json.loads(line)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}") from None


def is_tried_again(line: Mapping[str, Any]) -> bool:
    """Whether a line of an errors file is of a score that is scored again when that is asked for.

    So is what was refused for good: the request may be another by then.
    """
    return line["error"] not in _OF_DATA


def failed_rows(paths: Sequence[Path]) -> int:
    """How many rows failed, as the errors files tell."""
    rows = [{line["row"] for line in read_errors(path) if has_failed(line)} for path in paths]
    return sum(map(len, rows))


@dataclass
class Failures:
    """Troubles of a run: failed scores by metric and kind, with an example; missing verdicts."""

    rows: int = 0
    retryable: int = 0
    """Rows with a score that may be had by trying again as it is."""
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], str] = field(default_factory=dict)
    lacking: int = 0
    """Rows with scores that are made without verdicts that were not given."""
    lack: str = ""
    """An example of these, and why."""


def failures(paths: Iterable[Path]) -> Failures:
    """What the errors files tell of; raises DataError for one that cannot be read."""
    found = Failures()
    for path in paths:
        rows: dict[int, bool] = {}
        lacking: set[int] = set()
        for line in read_errors(path):
            example = f"{line['id']}: {line['reason']}"
            if not has_failed(line):
                lacking.add(line["row"])
                found.lack = found.lack or example
                continue
            kind = line["metric"], line["error"]
            found.kinds[kind] += 1
            found.examples.setdefault(kind, example)
            rows[line["row"]] = rows.get(line["row"], False) or line["retryable"]
        found.lacking += len(lacking)
        found.rows += len(rows)
        found.retryable += sum(rows.values())
    return found


def _line(row: int, record: bytes, name: str, score: Mapping[str, Any]) -> bytes:
    kind = error_class(score)
    told = {
        "row": row + 1,
        "id": json.loads(record).get("id"),
        "metric": name,
        "status": score["status"],
        "reason": score.get("reason") or _missing(score),
        "error": kind,
        "retryable": kind not in _FOR_GOOD,
    }
    return to_json(told).encode() + b"\n"


def _missing(score: Mapping[str, Any]) -> str:
    """Why a score lacks verdicts, by the first that is missing."""
    whys = (item.get("reason") for item in score["items"] if item["verdict"] in (None, "unknown"))
    return next((why for why in whys if why), "the judge gave no verdict")
