"""Beginning a run, or going on with one: the plan is made once and then held to."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from assay.api import Metrics, Samples, check_skills, open_metrics
from assay.asks import Judge
from assay.errors import ConfigError, DataError, MissingExtra, MissingField
from assay.metrics import Metric
from assay.readers import open_samples
from assay.run import FORMAT as ROW_FORMAT
from assay.runner import closure
from assay.runs.differing import differences, known_of
from assay.runs.files import read_shard
from assay.runs.folder import Folder, locked
from assay.runs.inputs import Inputs
from assay.runs.journalled import open_rows
from assay.runs.places import Place, read_places, scan, write_places
from assay.runs.plan import SHARD_FORMATS, Plan, Source, described, identity, read_plan
from assay.runs.spool import put_by
from assay.runs.usage import read_usage
from assay.sample import Sample
from assay.version import __version__

SHARD_ROWS = 1000
"""Rows of a shard where nothing else is said."""

_INDEXED = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq")
_FIRST = 1000


@dataclass(frozen=True, slots=True)
class _Wishes:
    """How the input is read and divided."""

    columns: Mapping[str, str]
    format: str | None
    shard_rows: int
    shard_format: str


def start(
    data: Samples,
    metrics: Metrics,
    judge: Judge,
    folder: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    shard_rows: int | None = None,
    shard_format: str | None = None,
    resume: bool = False,
    judged_by: Mapping[str, str] | None = None,
) -> Plan:
    """The plan of a run, made and written; or, with ``resume``, that of the folder.

    ``data`` is what `assay.load` takes. JSONL, CSV, TSV and Parquet files are read in place;
    anything else is put by in the folder first. ``judged_by`` is what the options say of the judge;
    a refusal names those that differ. A run that has done nothing yet (`is_unused`) gives way to
    whatever is given now. Raises ConfigError if the folder holds any other run and ``resume`` is
    not given, or if its plan differs, saying in what; DataError for data that cannot be read,
    before anything is asked.
    """
    chosen = open_metrics(metrics)
    where = Folder(Path(folder))
    _check(shard_rows, shard_format)
    where.make()
    with where.planning():
        known = read_plan(where.plan) if where.plan.exists() else None
        unused = known is not None and is_unused(where, known) and not _is_spool(data, where)
        if known is not None and not (resume or unused):
            raise ConfigError(
                f"{folder} holds a run already (of {known.data.name}); go on with it by --resume, "
                "or give another folder"
            )
        wishes = _Wishes(
            dict(columns or {}),
            format,
            shard_rows or (known.shard_rows if known else SHARD_ROWS),
            shard_format or (known.shard_format if known else SHARD_FORMATS[0]),
        )
        before = known
        if unused:
            known = None
        source, places, read_as = _look(data, where, known, wishes)
        about = known_of(judge) | dict(judged_by or {})
        plan = _plan(chosen, judge, source, wishes)
        plan = replace(plan, read_as=read_as, judged_by=about)
        if known is None:
            _check_samples(chosen, judge, where, plan, places)
            if before is not None and before.id == plan.id:
                # Another process may have begun with it by now.
                write_places(where.index, places)
                return _moved(before, plan, where)
            if before is not None:
                where.clear()
            write_places(where.index, places)
            plan.save(where.plan)
            return plan
        if different := differences(known, plan):
            raise ConfigError(
                f"{folder} holds another run, begun with "
                + "; ".join(different)
                + " (to go on with it, give the same as then)"
            )
        if places:
            write_places(where.index, places)
        return _moved(known, plan, where)


def is_unused(where: Folder, plan: Plan) -> bool:
    """Whether a run may be begun anew: no score was had, no token paid for, and nobody is at it.

    Rows that failed for want of a field or of a judge are nothing that could be lost.
    """
    used = read_usage(where.usage).usage
    if used.prompt_tokens or used.completion_tokens:
        return False
    with locked(where.path / "lock") as alone:
        try:
            return alone and not any(_has_score(record) for record in _records(where, plan))
        except (
            DataError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
        ):  # of what is damaged, who knows
            return False


def _records(where: Folder, plan: Plan) -> Iterator[bytes]:
    """What is in shards and journals."""
    for number in range(plan.shards):
        path, span = where.shard(number, plan.shard_format), plan.span(number)
        if path.exists():
            yield from read_shard(path, len(span))
        yield from open_rows(where.journal(number), plan.id, span) or ()


def _has_score(record: bytes) -> bool:
    return any(score["status"] != "failed" for score in json.loads(record)["scores"].values())


def _is_spool(data: Samples, where: Folder) -> bool:
    """Whether the data are those that the folder has put by, and that must stay there."""
    path = Path(data) if isinstance(data, str | Path) else where.plan
    return path.is_file() and where.spool.exists() and path.samefile(where.spool)


def _check(shard_rows: int | None, shard_format: str | None) -> None:
    if shard_rows is not None and shard_rows < 1:
        raise ConfigError(f"a shard has at least 1 row, not {shard_rows}")
    if shard_format is not None and shard_format not in SHARD_FORMATS:
        raise ConfigError(f"shards cannot be {shard_format!r}; known: {', '.join(SHARD_FORMATS)}")
    if shard_format == "parquet":
        try:
            import pyarrow as pa  # noqa: F401 - whether it is there
        except ImportError:
            raise MissingExtra("pyarrow, which writes Parquet,", "parquet") from None


def _look(
    data: Samples, where: Folder, known: Plan | None, wishes: _Wishes
) -> tuple[Source, list[Place], str]:
    """The input's fingerprint and places; what cannot be gone to at will is put by."""
    path = Path(data) if isinstance(data, str | Path) and str(data) != "-" else None
    if known is not None and path is not None and _unchanged(path, where, known):
        return known.data, [], known.read_as
    reading = open_samples(data, columns=wishes.columns, format=wishes.format, unique_ids=False)
    if path is not None and (kind := indexed(path, wishes.format)):
        source, places = scan(path, kind, wishes.shard_rows)
    else:
        spooled = put_by(reading, None if known else where.spool, wishes.shard_rows)
        source, places = spooled.source(reading.name, path), spooled.places
    if not source.rows:
        raise DataError(f"{reading.name} holds no rows")
    return source, places, reading.describe()


def _unchanged(path: Path, where: Folder, known: Plan) -> bool:
    """Whether a file is, by its place, size and time, the one that was planned.

    The shards of text files and of samples put by have digests besides, which are always checked.
    """
    if not path.is_file() or not _has_index(where, known):
        return False
    if where.spool.exists() and path.samefile(where.spool):
        return True
    stat = path.stat()
    here = (str(path.absolute()), stat.st_size, stat.st_mtime_ns)
    return here == (known.data.path, known.data.size, known.data.modified)


def _has_index(where: Folder, known: Plan) -> bool:
    try:
        read_places(where.index, known.shards)
    except DataError:
        return False
    return True


def indexed(path: Path, format: str | None) -> str | None:
    """The kind of a file that is read in place: jsonl, csv, tsv or parquet; None for any other."""
    suffix = path.suffix.lower()
    if suffix == ".gz" or (format is None and suffix not in _INDEXED) or not path.is_file():
        return None
    kind = format or suffix.removeprefix(".")
    kind = {"ndjson": "jsonl", "pq": "parquet"}.get(kind, kind)
    return None if kind == "json" else kind


def _plan(metrics: Mapping[str, Metric], judge: Judge, source: Source, wishes: _Wishes) -> Plan:
    parts = {
        "metrics": list(described(metrics).items()),
        "judge": judge.fingerprint,
        "columns": dict(wishes.columns),
        "data": [source.kind, source.fingerprint],
        "shards": [wishes.shard_rows, wishes.shard_format],
        "rows": ROW_FORMAT,
    }
    return Plan(
        id=identity(parts),
        judge=judge.name,
        judge_fingerprint=judge.fingerprint,
        metrics=described(metrics),
        columns=wishes.columns,
        data=source,
        shard_rows=wishes.shard_rows,
        shard_format=wishes.shard_format,
        read_as="",
        assay=__version__,
        python=platform.python_version(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _moved(known: Plan, plan: Plan, where: Folder) -> Plan:
    """The plan of the folder; if the same data lie elsewhere now, it says so from here on."""
    if known.data == plan.data:
        return known
    moved = replace(known, data=plan.data)
    moved.save(where.plan)
    return moved


def _check_samples(
    metrics: Mapping[str, Metric], judge: Judge, where: Folder, plan: Plan, places: list[Place]
) -> None:
    """Raise ConfigError if no sample has what a metric needs, or the judge cannot do it."""
    check_skills(metrics, islice(_samples(where, plan, places), _FIRST), judge)
    missing: dict[str, Counter[str]] = {name: Counter() for name in metrics}
    for sample in _samples(where, plan, places):
        for name in list(missing):
            try:
                closure(metrics[name].needs, sample)
                del missing[name]
            except MissingField as error:
                missing[name][error.field] += 1
        if not missing:
            return
    for name, fields in missing.items():
        if fields:
            field = fields.most_common(1)[0][0]
            raise ConfigError(
                f"metric {name} needs {field}, and no sample has any ({plan.read_as}); name the "
                f"column with --map {field}=COLUMN"
            )


def _samples(where: Folder, plan: Plan, places: list[Place]) -> Iterator[Sample]:
    inputs = Inputs(where, plan)
    for number, place in enumerate(places):
        for _, sample, trouble in inputs.rows(number, place):
            if not trouble:
                yield sample
