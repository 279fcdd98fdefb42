"""Reading samples: recognise the columns, then turn row after row into a Sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.readers.cells import kind
from assay.readers.columns import Plan, check_columns, check_map, id_plan, make_plan
from assay.readers.files import open_path, open_stdin
from assay.readers.objects import open_object
from assay.readers.rows import flatten, read_row
from assay.readers.source import Row, Source
from assay.sample import Sample

_PEEK = 100
_MOST_PLANS = 256


def read_samples(
    source: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> list[Sample]:
    """Every sample of a file or object, all checked.

    ``source`` is a path to JSONL, JSON, CSV, TSV (each also gzipped) or Parquet; "-" for standard
    input; a pandas or polars DataFrame, an Arrow table, a Hugging Face dataset; or an iterable of
    mappings or Samples. ``columns`` maps fields to columns where recognition by name does not do
    (an empty name switches a field off). ``format`` overrides the name's extension.

    Raises DataError with file, row, column, what was found and what to do; ConfigError for an
    unknown field or format; MissingExtra for Parquet without pyarrow.

    >>> read_samples([{"user_input": "Where?", "answer": "Here."}])[0].response
    'Here.'
    """
    return list(open_samples(source, columns=columns, format=format))


def iter_samples(
    source: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> Iterator[Sample]:
    """The samples one by one, in memory that does not grow with JSONL, CSV and Parquet files.

    As `read_samples`, but errors come with their rows, and equal ids are not looked for.
    """
    return iter(open_samples(source, columns=columns, format=format, unique_ids=False))


def open_samples(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    unique_ids: bool = True,
) -> Reading:
    """A `Reading` of a file or object: which columns became which fields, then the samples.

    The arguments are those of `read_samples`. Errors in the first rows are raised here, later ones
    while iterating. ``unique_ids`` remembers every id, so as to refuse a second one.
    """
    wanted = dict(columns or {})
    check_map(wanted)
    return Reading(_open(source, format), wanted, unique_ids)


class Reading:
    """Samples of one source, to iterate over; with what was recognised in it.

    >>> reading = open_samples([{"user_input": "Where?", "answer": "Here.", "topic": "geo"}])
    >>> reading.describe()
    'columns: user_input -> question, answer -> response; ignored: topic'
    >>> [sample.question for sample in reading]
    ['Where?']
    """

    def __init__(self, source: Source, columns: Mapping[str, str], unique_ids: bool) -> None:
        self._source = source
        self._columns = columns
        self._dotted = tuple(path for path in columns.values() if "." in path)
        self._unique_ids = unique_ids
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._pairs: dict[tuple[str, str], None] = {}
        self._rest: dict[str, None] = {}
        rows = source.rows()
        self._ahead: list[Row] = list(islice(rows, _PEEK))
        self._rows: Iterator[Row] | None = rows
        self._look_ahead()

    @property
    def name(self) -> str:
        """The file's name, "stdin", or the object's type."""
        return self._source.name

    @property
    def mapping(self) -> dict[str, str]:
        """Source column -> field, for the columns met so far (the first 100 rows at least)."""
        return dict(iter(self._pairs))

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that hold no field; their values are in the samples' metadata."""
        mapping = self.mapping
        return tuple(name for name in self._rest if name not in mapping)

    def describe(self) -> str:
        """One line for people: the columns, what they became, and which were ignored."""
        pairs = [f"{column} -> {field}" for column, field in self._pairs]
        ignored = f"; ignored: {', '.join(self.ignored)}" if self.ignored else ""
        return "columns: " + (", ".join(pairs) or "none") + ignored

    def __iter__(self) -> Iterator[Sample]:
        """The samples in order. Standard input and generators can be gone through once."""
        if self._rows is None:
            return self._samples(self._source.rows())
        rows, self._rows = chain(self._ahead, self._rows), None
        self._ahead = []
        return self._samples(rows)

    def _samples(self, rows: Iterable[Row]) -> Iterator[Sample]:
        seen: dict[str, int] = {}
        for number, (position, row) in enumerate(rows, 1):
            try:
                sample = self.sample(row, number)
            except DataError as error:
                raise DataError(f"{self._at(position)}: {error}") from None
            if self._unique_ids:
                first = seen.setdefault(str(sample.id), position)
                if first != position:
                    raise DataError(self._same_id(str(sample.id), first, position))
            yield sample

    def sample(self, row: Any, number: int) -> Sample:
        """One row of this source as a sample; ``number`` is its id where it has none.

        Raises DataError, which does not say where the row is.
        """
        sample, fault = self.attempt(row, number)
        if fault:
            raise DataError(fault)
        return sample

    def attempt(self, row: Any, number: int) -> tuple[Sample, str]:
        """What can be read of one row, and why the rest cannot ("" if all can).

        The row keeps its id and its good columns; the fault names the bad ones.

        >>> rows = [{"id": "q7", "question": "Who?", "contexts": 3}]
        >>> sample, fault = open_samples(rows).attempt(rows[0], 1)
        >>> sample.id, sample.question
        ('q7', 'Who?')
        >>> fault
        "column 'contexts': expected a text or a list of texts, found a number (3)"
        """
        if isinstance(row, Sample):
            return (row if row.id is not None else row.replace(id=str(number))), ""
        none = Sample(id=str(number))
        if not isinstance(row, Mapping):
            return none, f"a row must be an object with named columns, found {kind(row)}"
        try:
            flat = flatten(row, self._dotted)
            try:
                plan = self._plan(tuple(flat))
            except DataError as error:  # its columns cannot be told apart, but for the id's
                sample, _ = read_row(flat, id_plan(tuple(flat), self._columns), number, False)
                return sample, str(error)
            sample, faults = read_row(flat, plan, number, self._source.cells)
            return sample, "; ".join(faults)
        except RecursionError:
            return none, "the row is nested too deeply"

    def _plan(self, names: tuple[str, ...]) -> Plan:
        plan = self._plans.get(names)
        if plan is None:
            plan = make_plan(names, self._columns)
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[names] = plan
            self._pairs |= dict.fromkeys((take.column, take.field) for take in plan.takes)
            self._rest |= dict.fromkeys(plan.rest)
        return plan

    def _look_ahead(self) -> None:
        if not self._ahead and self._source.filled:
            raise DataError(f"{self.name} holds no rows")
        rows = [
            (n, flatten(row, self._dotted)) for n, row in self._ahead if isinstance(row, Mapping)
        ]
        where = self.name
        try:
            if rows:
                check_columns(self._columns, list(dict.fromkeys(chain(*(row for _, row in rows)))))
            for position, row in rows:
                where = self.name if self._source.cells else self._at(position)
                self._plan(tuple(row))
        except DataError as error:
            raise DataError(f"{where}: {error}") from None

    def _at(self, position: int) -> str:
        return f"{self.name}, {self._source.unit} {position}"

    def _same_id(self, id: str, first: int, second: int) -> str:
        return (
            f"{self.name}: the id {id!r} is on {self._source.unit}s {first} and {second}; take "
            "another column with --map id=COLUMN, or number the rows with --map id= "
            "(in Python: columns={'id': ''})"
        )


def _open(source: Any, format: str | None) -> Source:
    if isinstance(source, str) and source == "-":
        return open_stdin(format)
    if isinstance(source, str | Path):
        return open_path(Path(source), format)
    return open_object(source)
