"""ragas' samples and datasets, and the way from them to `assay.Sample`."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, overload

from assay.errors import MissingExtra
from assay.ragas.absent import absent
from assay.readers import read_samples
from assay.sample import Sample

__all__ = ["EvaluationDataset", "SingleTurnSample"]

NATIVE: Mapping[str, str] = MappingProxyType(
    {
        "user_input": "question",
        "response": "response",
        "retrieved_contexts": "contexts",
        "reference": "references",
    }
)
"""ragas' name of a field -> ours."""
_V1 = MappingProxyType(
    {
        "question": "user_input",
        "answer": "response",
        "contexts": "retrieved_contexts",
        "ground_truth": "reference",
    }
)
_TEXTS = ("user_input", "response", "persona_name", "query_style", "query_length")
_LISTS = ("retrieved_contexts", "reference_contexts", "multi_responses")


@dataclass
class SingleTurnSample:
    """One question with what was retrieved and answered; every field may be absent.

    ``reference`` may also be a list of alternative right answers, which ragas does not take.
    Raises ValueError for a field of the wrong type.

    >>> SingleTurnSample(user_input="Who?", response="Me.").to_dict()
    {'user_input': 'Who?', 'response': 'Me.'}
    """

    user_input: str | None = None
    retrieved_contexts: Sequence[str] | None = None
    reference_contexts: Sequence[str] | None = None
    retrieved_context_ids: Sequence[str | int] | None = None
    reference_context_ids: Sequence[str | int] | None = None
    response: str | None = None
    multi_responses: Sequence[str] | None = None
    reference: str | Sequence[str] | None = None
    rubrics: Mapping[str, str] | None = None
    persona_name: str | None = None
    query_style: str | None = None
    query_length: str | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            _check(name, isinstance(getattr(self, name), str | None), "text")
        for name in _LISTS:
            value = getattr(self, name)
            _check(name, value is None or _is_texts(value), "a list of texts")
        right = isinstance(self.reference, str | None) or _is_texts(self.reference)
        _check("reference", right, "text")

    def to_dict(self) -> dict[str, Any]:
        """The fields that are present."""
        return self.model_dump(exclude_none=True)

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """All fields, or those that are present."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v for k, v in every.items() if not exclude_none or v is not None}

    def get_features(self) -> list[str]:
        """The names of the fields that are present."""
        return list(self.to_dict())

    def native(self, id: str | None = None) -> Sample:
        """The same as an `assay.Sample`; fields that it does not have are left out."""
        contexts: list[dict[str, Any]] | None = None
        if self.retrieved_contexts is not None:
            ids: list[Any] = list(self.retrieved_context_ids or ())
            ids += [None] * (len(self.retrieved_contexts) - len(ids))
            pairs = zip(self.retrieved_contexts, ids, strict=False)
            contexts = [{"text": text, "id": ident} for text, ident in pairs]
        return Sample(self.user_input, self.response, contexts, self.reference, id=id)


def _is_texts(value: object) -> bool:
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        return False
    return all(isinstance(item, str) for item in value)


def _check(name: str, right: bool, expected: str) -> None:
    if not right:
        raise ValueError(f"SingleTurnSample.{name} must be {expected}")


_FIELDS = frozenset(field.name for field in fields(SingleTurnSample))


class EvaluationDataset:
    """Single-turn samples in order. ``backend`` and ``name`` are kept and have no effect.

    >>> EvaluationDataset.from_list([{"question": "Who?", "answer": "Me."}]).features()
    ['user_input', 'response']
    """

    def __init__(
        self, samples: Iterable[SingleTurnSample], backend: Any = None, name: str | None = None
    ) -> None:
        self.samples = list(samples)
        self.backend, self.name = backend, name
        for n, sample in enumerate(self.samples):
            if not isinstance(sample, SingleTurnSample):
                raise TypeError(f"sample {n} is a {type(sample).__name__}, no SingleTurnSample")

    @classmethod
    def from_list(cls, data: Iterable[Mapping[str, Any]]) -> EvaluationDataset:
        """Rows with ragas' names, or those of its first version; other keys are left out."""
        return cls(map(_from_row, data))

    @classmethod
    def from_dict(
        cls, data: Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
    ) -> EvaluationDataset:
        """Rows as in `from_list`, or an object of equally long columns."""
        if isinstance(data, Mapping):
            columns = zip(*data.values(), strict=True)
            data = [dict(zip(data, row, strict=True)) for row in columns]
        return cls.from_list(data)

    @classmethod
    def from_pandas(cls, dataframe: Any) -> EvaluationDataset:
        """The rows of a DataFrame; empty cells are absent fields."""
        return cls.read(dataframe)

    @classmethod
    def from_hf_dataset(cls, dataset: Any, name: str | None = None) -> EvaluationDataset:
        """The rows of one split of a Hugging Face dataset."""
        made = cls.read(dataset)
        made.name = name
        return made

    @classmethod
    def from_jsonl(cls, path: str | Path) -> EvaluationDataset:
        """One object a line; blank lines are skipped."""
        lines = Path(path).read_text("utf-8").split("\n")
        return cls.from_list(json.loads(line) for line in lines if line.strip())

    @classmethod
    def read(cls, source: Any, column_map: Mapping[str, str] | None = None) -> EvaluationDataset:
        """Whatever `assay.load` reads. ``column_map`` is ragas' name -> column of the source."""
        columns = {"id": ""}  # ragas has no ids, and a column of that name may hold anything
        for name, column in (column_map or {}).items():
            field = NATIVE.get(_V1.get(name, name), name)
            if field not in _FIELDS - set(NATIVE):
                columns[field] = column
        rows = read_samples(source, columns=columns)
        return cls(map(_from_native, rows))

    def to_list(self) -> list[dict[str, Any]]:
        """The present fields of every sample."""
        return [sample.to_dict() for sample in self.samples]

    def to_pandas(self) -> Any:
        """A DataFrame with a column for every field that a sample has."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("pandas", "pandas") from None
        return pd.DataFrame(self.to_list(), columns=self.features())

    def to_jsonl(self, path: str | Path) -> None:
        """Write one object a line."""
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in self.to_list()]
        Path(path).write_text("".join(lines), "utf-8")

    def to_csv(self, path: str | Path) -> None:
        """Write a table; lists are written as JSON."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.features())
            writer.writeheader()
            for row in self.to_list():
                writer.writerow(
                    {
                        k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
                        for k, v in row.items()
                    }
                )

    def features(self) -> list[str]:
        """The fields that some sample has, in ragas' order."""
        present = {name for sample in self.samples for name in sample.get_features()}
        return [field.name for field in fields(SingleTurnSample) if field.name in present]

    def get_sample_type(self) -> type[SingleTurnSample]:
        """The class of the samples."""
        return SingleTurnSample

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[SingleTurnSample]:
        return iter(self.samples)

    @overload
    def __getitem__(self, index: int) -> SingleTurnSample: ...
    @overload
    def __getitem__(self, index: slice) -> EvaluationDataset: ...
    def __getitem__(self, index: int | slice) -> SingleTurnSample | EvaluationDataset:
        """One sample, or a dataset of a slice."""
        if isinstance(index, slice):
            return EvaluationDataset(self.samples[index], self.backend, self.name)
        return self.samples[index]

    def __repr__(self) -> str:
        return f"EvaluationDataset(features={self.features()}, len={len(self)})"


def _from_row(row: Mapping[str, Any]) -> SingleTurnSample:
    named = {_V1.get(name, name): value for name, value in row.items()}
    named |= {name: row[name] for name in row if name in _FIELDS}
    return SingleTurnSample(**{name: named[name] for name in named if name in _FIELDS})


def _uncelled(name: str, value: Any) -> Any:
    """The list or object that a cell of a table holds as JSON."""
    if name in _TEXTS or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return [value]


def _from_native(sample: Sample) -> SingleTurnSample:
    rest = {n: _uncelled(n, sample.metadata[n]) for n in _FIELDS & set(sample.metadata)}
    references: Any = sample.references
    if references is not None and len(references) == 1:
        (references,) = references
    texts = ids = None
    if sample.contexts is not None:
        texts = [context.text for context in sample.contexts]
        ids = [context.id for context in sample.contexts]
    known = {
        "user_input": sample.question,
        "response": sample.response,
        "retrieved_contexts": texts,
        "reference": references,
        "retrieved_context_ids": ids if any(ids or ()) else None,
    }
    return SingleTurnSample(**{**rest, **{k: v for k, v in known.items() if v is not None}})


def __getattr__(name: str) -> Any:
    raise absent(__name__, name, __all__)
