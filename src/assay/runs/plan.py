"""The plan of a run: what is scored, by what, in which shards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.metrics import Metric
from assay.run import FORMAT as ROW_FORMAT
from assay.runs.disk import write_whole

FORMAT = 1
"""Version of the folder's format."""

SHARD_FORMATS = ("jsonl", "parquet")


@dataclass(frozen=True, slots=True)
class Source:
    """The input: a file with its content's fingerprint, or the samples that were put by.

    ``kind`` is jsonl, csv, tsv, parquet or samples; for samples, ``path`` is where they came from
    and may be empty. ``head`` bytes in ``head_lines`` lines are the header of a table of text.
    """

    name: str
    path: str
    kind: str
    fingerprint: str
    rows: int
    size: int
    modified: int
    head: int = 0
    head_lines: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run scores. ``id`` tells it from every run that could give another table.

    ``judged_by`` is what is known of the judge besides, so that a refusal can say what differs.
    """

    id: str
    judge: str
    judge_fingerprint: str
    metrics: Mapping[str, str]
    columns: Mapping[str, str]
    data: Source
    shard_rows: int
    shard_format: str
    read_as: str
    assay: str
    python: str
    created: str
    format: int = FORMAT
    row_format: int = ROW_FORMAT
    judged_by: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows of the input."""
        return self.data.rows

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return -(-self.data.rows // self.shard_rows)

    def span(self, shard: int) -> range:
        """The rows of a shard, counted from 0."""
        first = shard * self.shard_rows
        return range(first, min(first + self.shard_rows, self.data.rows))

    def save(self, path: Path) -> None:
        """Write the plan, whole or not at all."""
        text = json.dumps(asdict(self), ensure_ascii=True, indent=2) + "\n"
        write_whole(path, lambda file: _put(file, text))


def _put(file: Any, text: str) -> None:
    file.write(text.encode())


def described(metrics: Mapping[str, Metric]) -> dict[str, str]:
    """The metrics by name, with their parameters and versions."""
    return {name: f"{metric} v{metric.version}" for name, metric in metrics.items()}


def identity(parts: Mapping[str, Any]) -> str:
    """The digest of JSON-able values, whatever the order of their keys."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_plan(path: Path) -> Plan:
    """The plan in a file; raises DataError if there is none, or none that can be read."""
    try:
        raw = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{path.parent} is not the folder of a run: it has no plan.json") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path} is damaged; begin again in another folder") from None
    known = {one.name for one in fields(Plan)}
    if isinstance(raw, dict) and isinstance(raw.get("format"), int) and raw["format"] > FORMAT:
        raise DataError(f"{path} is of a newer assay (format {raw['format']})")
    try:
        raw["data"] = Source(**raw["data"])
        plan = Plan(**{name: value for name, value in raw.items() if name in known})
        usable = plan.shard_rows > 0 and plan.rows >= 0 and plan.shard_format in SHARD_FORMATS
    except (TypeError, KeyError, AttributeError):
        usable = False
    if not usable:
        raise DataError(f"{path} is damaged; begin again in another folder")
    return plan
