"""The rows of a shard that failed: why, and whether scoring them again may help."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from assay.errors import DataError
from assay.runs.disk import write_whole, writing
from assay.store import to_json

_MARK = b'"status": "failed"'
_OF_DATA = frozenset({"MissingField", "DataError"})
_FOR_GOOD = _OF_DATA | {"JudgeRejected"}
_KNOWN = frozenset({"JudgeUnavailable", "MalformedAnswer", "JudgeError", *_FOR_GOOD})


def failed_scores(record: bytes) -> dict[str, Mapping[str, Any]]:
    """The scores of a row that failed, by metric."""
    if _MARK not in record:
        return {}
    scores = json.loads(record)["scores"]
    return {name: score for name, score in scores.items() if score["status"] == "failed"}


def worth_another_try(record: bytes) -> bool:
    """Whether a score failed for anything but the data itself."""
    return any(error_class(score) not in _OF_DATA for score in failed_scores(record).values())


def is_for_good(score: Mapping[str, Any]) -> bool:
    """Whether a failed score will fail again, unless the data or the request are others."""
    return error_class(score) in _FOR_GOOD


def error_class(score: Mapping[str, Any]) -> str:
    """What kind of trouble a failed score had: an error's name, "Unanswered" or "Failed"."""
    reason = str(score.get("reason") or "")
    name = reason.partition(":")[0]
    if name in _KNOWN:
        return name
    if reason.startswith("the sample has no "):
        return "MissingField"
    return "Unanswered" if score.get("unknown") else "Failed"


def write_errors(path: Path, first: int, records: Iterable[bytes]) -> int:
    """Write one line a failed score of a shard's rows; the number of rows that have any.

    Without any, there is no file.
    """
    lines = []
    rows = 0
    for row, record in enumerate(records, first):
        failed = failed_scores(record)
        rows += bool(failed)
        lines += [_line(row, record, name, score) for name, score in failed.items()]

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
    """How many rows the errors files tell of."""
    return sum(len({line["row"] for line in read_errors(path)}) for path in paths)


@dataclass
class Failures:
    """Failed scores of a run: how many of each metric and kind, with an example of each."""

    rows: int = 0
    retryable: int = 0
    """Rows with a score that may be had by trying again as it is."""
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], str] = field(default_factory=dict)


def failures(paths: Iterable[Path]) -> Failures:
    """What the errors files tell of; raises DataError for one that cannot be read."""
    found = Failures()
    for path in paths:
        rows: dict[int, bool] = {}
        for line in read_errors(path):
            kind = line["metric"], line["error"]
            found.kinds[kind] += 1
            found.examples.setdefault(kind, f"{line['id']}: {line['reason']}")
            rows[line["row"]] = rows.get(line["row"], False) or line["retryable"]
        found.rows += len(rows)
        found.retryable += sum(rows.values())
    return found


def _line(row: int, record: bytes, name: str, score: Mapping[str, Any]) -> bytes:
    kind = error_class(score)
    told = {
        "row": row + 1,
        "id": json.loads(record).get("id"),
        "metric": name,
        "reason": score.get("reason"),
        "error": kind,
        "retryable": kind not in _FOR_GOOD,
    }
    return to_json(told).encode() + b"\n"
