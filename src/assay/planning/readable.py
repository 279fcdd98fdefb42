"""The samples of a file that can be read, as a run in a folder reads it: a bad row ends nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import DataError
from assay.readers import open_samples
from assay.runs.folder import Folder
from assay.runs.inputs import Inputs
from assay.runs.places import scan
from assay.runs.plan import Plan
from assay.runs.starting import indexed
from assay.sample import Sample


@dataclass(frozen=True, slots=True)
class Readable:
    """Samples, what columns became, how many rows cannot be read, and why the first cannot."""

    name: str
    columns: str
    samples: list[Sample] = field(default_factory=list)
    unread: int = 0
    why: str = ""


def read_what_can_be(
    data: str, *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> Readable:
    """What can be read of a file, or of standard input ("-").

    Raises DataError for a file without rows, one of the first hundred of which cannot be read, and
    for bad rows of what is not read line by line, such as a JSON document.
    """
    wanted, path = dict(columns or {}), Path(data)
    reading = open_samples(data, columns=wanted, format=format, unique_ids=False)
    kind = indexed(path, format) if data != "-" else None
    if kind is None:
        return Readable(reading.name, reading.describe(), list(reading))
    source, places = scan(path, kind, sys.maxsize)
    if not source.rows:
        raise DataError(f"{reading.name} holds no rows")
    whole = Plan("", "", "", {}, wanted, source, sys.maxsize, "jsonl", "", "", "", "")
    samples, troubles = [], []
    for number, place in enumerate(places):
        for _, sample, trouble in Inputs(Folder(path.parent), whole).rows(number, place):
            if trouble:
                troubles.append(trouble)
            else:
                samples.append(sample)
    why = troubles[0] if troubles else ""
    return Readable(reading.name, reading.describe(), samples, len(troubles), why)
