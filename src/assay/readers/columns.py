"""Which source column holds which field: the table of names, and the plan made from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from assay.errors import ConfigError, DataError, did_you_mean

COLUMN_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "question": (
            "question",
            "query",
            "user_input",
            "input",
            "prompt",
            "user_query",
            "user_question",
        ),
        "response": (
            "response",
            "answer",
            "output",
            "actual_output",
            "completion",
            "prediction",
            "generated_answer",
        ),
        "contexts": (
            "contexts",
            "context",
            "retrieved_contexts",
            "retrieved_context",
            "retrieval_context",
            "context_chunks",
            "passages",
            "documents",
            "chunks",
            "docs",
            "retrieved_documents",
            "retrieved_docs",
            "retrieved_passages",
            "retrieved_chunks",
        ),
        "references": (
            "references",
            "reference",
            "ground_truth",
            "ground_truths",
            "gt_answer",
            "expected",
            "expected_output",
            "expected_answer",
            "gold",
            "gold_answer",
            "gold_answers",
            "target",
            "reference_answer",
            "reference_answers",
            "correct_answer",
        ),
        "id": ("id", "query_id", "sample_id", "question_id"),
        "metadata": ("metadata",),
        "response_claims": ("response_claims", "claims"),
        "reference_claims": ("reference_claims", "gt_answer_claims"),
        "context_ids": ("context_ids", "retrieved_context_ids"),
        "context_relevance": ("context_relevance", "relevant"),
    }
)
"""Field -> names that are recognised for it, the native name first."""

_SIDE_FIELDS = frozenset({"id", "metadata", "context_ids", "context_relevance"})

# One alternative of a field that says less than another column of the same row: the plural
# holds the singular, labelled chunks beat the joined text, and DeepEval's `context` is the ideal
# context rather than the retrieved one. `prompt` is often the rendered template.
_GIVES_WAY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "reference": frozenset({"references"}),
        "groundtruth": frozenset({"groundtruths"}),
        "goldanswer": frozenset({"goldanswers"}),
        "referenceanswer": frozenset({"referenceanswers"}),
        "context": frozenset({"contextchunks", "retrievalcontext"}),
        "prompt": frozenset({"query", "userinput", "input", "userquery", "userquestion"}),
    }
)
_SINGULAR = frozenset({"reference", "groundtruth", "goldanswer", "referenceanswer"})

_NESTED = MappingProxyType(
    {"context.groundtruth": "references", "context.prediction": "contexts"},
)


@dataclass(frozen=True, slots=True)
class Take:
    """One field from one column; ``spare`` is the singular column that the plural one holds."""

    field: str
    column: str
    sure: bool
    spare: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to take from rows with these columns; ``rest`` goes to the metadata."""

    takes: tuple[Take, ...]
    rest: tuple[str, ...]


def parse_map(pairs: Iterable[str]) -> dict[str, str]:
    """``ours=theirs`` strings, as on the command line, as a dict.

    Raises ConfigError for a string without "=", an unknown field or a field given twice.

    >>> parse_map(["question=my col", "id="])
    {'question': 'my col', 'id': ''}
    """
    columns: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        field = field.strip()
        if not equals:
            raise ConfigError(f"--map takes FIELD=COLUMN, not {pair!r}")
        if field in columns:
            raise ConfigError(f"--map gives {field} twice: {columns[field]!r} and {column!r}")
        columns[field] = column.strip()
    check_map(columns)
    return columns


def check_map(columns: Mapping[str, str]) -> None:
    """Raises ConfigError when the left side of a mapping is no field."""
    for field in columns:
        if field not in COLUMN_NAMES:
            hint = did_you_mean(field, list(COLUMN_NAMES))
            raise ConfigError(f"there is no field {field!r} to map a column to; {hint}")


def make_plan(names: Sequence[str], columns: Mapping[str, str]) -> Plan:
    """The plan for rows that have these column names.

    ``columns`` maps fields to columns and overrides recognition; an empty column name switches a
    field off. Raises DataError when two columns could hold one field, or when no column holds a
    question, a response, contexts, references or claims.
    """
    mapped = set(columns.values())
    found: dict[str, list[str]] = {}
    for name in names:
        field = None if name in mapped else _field_of(name)
        if field is not None and field not in columns:
            found.setdefault(field, []).append(name)
    takes = [Take(f, column, True) for f, column in columns.items() if column in names and column]
    takes += [_choose(field, candidates) for field, candidates in found.items()]
    if all(take.field in _SIDE_FIELDS for take in takes):
        raise DataError(_nothing_known(names))
    used = {take.column for take in takes} | {take.spare for take in takes}
    return Plan(tuple(takes), tuple(name for name in names if name not in used))


def id_plan(names: Sequence[str], columns: Mapping[str, str]) -> Plan:
    """The plan that takes nothing but the id, from rows whose other columns are no use."""
    known = [columns["id"]] if "id" in columns else [n for n in names if _field_of(n) == "id"]
    known = [name for name in known if name in names]
    best = [name for name in known if name == "id"] or known
    return Plan((Take("id", best[0], False),) if len(best) == 1 else (), ())


def check_columns(columns: Mapping[str, str], names: Sequence[str]) -> None:
    """Raises DataError when a mapped column is not among the names."""
    for field, column in columns.items():
        if column and column not in names:
            near = did_you_mean(column, list(names))
            listed = "" if near.startswith("known") else f" ({near})"
            raise DataError(
                f"there is no column {column!r} to take {field} from{listed}; "
                f"columns: {_list(names)}"
            )


def _choose(field: str, candidates: list[str]) -> Take:
    if len(candidates) == 1:
        return Take(field, candidates[0], False)
    keys = {name: _key(name) for name in candidates}
    present = frozenset(keys.values())
    ahead = [name for name in candidates if not _GIVES_WAY.get(keys[name], frozenset()) & present]
    native = [n for n in ahead if n == field] or [n for n in ahead if keys[n] == _key(field)]
    best = native or ahead
    if len(best) == 1:
        return Take(field, best[0], False, _spare(best[0], candidates))
    raise DataError(
        f"the columns {_list(candidates)} could all hold {field}; "
        f"say which with --map {field}={best[0]!r} (in Python: columns={{{field!r}: {best[0]!r}}})"
    )


def _spare(chosen: str, candidates: list[str]) -> str | None:
    for name in candidates:
        key = _key(name)
        if key in _SINGULAR and _key(chosen) in _GIVES_WAY[key]:
            return name
    return None


def _field_of(name: str) -> str | None:
    if name in _NESTED:
        return _NESTED[name]
    if name.startswith("__"):  # promptfoo's directives, such as __expected, hold a mini-language
        return None
    key = _key(name)
    return next((field for field, known in _keys() if key in known), None)


def _keys() -> Iterator[tuple[str, frozenset[str]]]:
    for field, names in COLUMN_NAMES.items():
        yield field, frozenset(name.replace("_", "") for name in names)


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.removeprefix("vars.")).casefold()


def _nothing_known(names: Sequence[str]) -> str:
    known = "".join(
        f"\n  {field}: {', '.join(also)}"
        for field, also in COLUMN_NAMES.items()
        if field not in _SIDE_FIELDS
    )
    return (
        f"no known column among {_list(names)}. Map yours with --map question=COLUMN "
        f"(in Python: columns={{'question': 'COLUMN'}}). Known names:{known}"
    )


def _list(names: Sequence[str], most: int = 30) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    more = len(names) - most
    return (shown or "(none)") + (f" and {more} more" if more > 0 else "")
