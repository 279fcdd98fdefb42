"""RAGChecker's records and their JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.errors import DataError
from assay.ragchecker.metrics import (
    generator_metrics,
    overall_metrics,
    retriever_metrics,
)

Claims = list[list[str] | str]
"""Claims as (subject, predicate, object) triplets or as sentences."""
Labels = list[Any]
"""A label a claim ("Entailment", ["Entailment"]), or a list of labels: one a chunk."""


@dataclass
class RetrievedDoc:
    """One retrieved chunk."""

    doc_id: str | None = None
    text: str = ""


@dataclass
class RAGResult:
    """One answer of a RAG system.

    Claims and labels that are there are used, and no judge is asked for them; evaluation fills in
    those that are not. ``retrieved2response`` and ``retrieved2answer`` have a row a claim and a
    label a chunk. ``metrics`` are from 0 to 1, None where a judge failed; ``errors`` say why.
    """

    query_id: str
    query: str | None = None
    gt_answer: str | None = None
    response: str | None = None
    retrieved_context: list[RetrievedDoc] | None = None
    response_claims: Claims | None = None
    gt_answer_claims: Claims | None = None
    answer2response: Labels | None = None
    response2answer: Labels | None = None
    retrieved2response: Labels | None = None
    retrieved2answer: Labels | None = None
    metrics: dict[str, float | None] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RAGResult:
        """A record from its JSON object; unknown keys are left out. Raises DataError."""
        if not isinstance(data, Mapping):
            raise DataError(f"expected an object with 'query_id', found {type(data).__name__}")
        if data.get("query_id") is None:
            raise DataError(f"there is no 'query_id'; the keys are {sorted(map(str, data))}")
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        if (chunks := known.get("retrieved_context")) is not None:
            known["retrieved_context"] = [_chunk(n, chunk) for n, chunk in enumerate(_list(chunks))]
        for name in ("metrics", "errors"):
            known[name] = dict(known.get(name) or {})
        return cls(**known)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object; ``errors`` only where there are any."""
        out = asdict(self)
        if not self.errors:
            del out["errors"]
        return out


@dataclass
class RAGResults:
    """Many answers, with the metrics of each group in percent, rounded to one decimal."""

    results: list[RAGResult] = field(default_factory=list)
    metrics: dict[str, dict[str, float | None]] = field(
        default_factory=lambda: {overall_metrics: {}, retriever_metrics: {}, generator_metrics: {}}
    )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RAGResults:
        """Records from ``{"results": [...]}``. Raises DataError naming the record."""
        rows = data.get("results") if isinstance(data, Mapping) else None
        if not isinstance(rows, list):
            raise DataError("expected an object with a list 'results'")
        made = cls()
        for n, row in enumerate(rows):
            try:
                made.results.append(RAGResult.from_dict(row))
            except DataError as error:
                raise DataError(f"results[{n}]: {error}") from None
        for group, values in (data.get("metrics") or {}).items():
            made.metrics[group] = dict(values)
        return made

    @classmethod
    def from_json(cls, text: str | bytes) -> RAGResults:
        """Records from JSON text, as RAGChecker reads and writes it. Raises DataError."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise DataError(f"this is no JSON: {error}") from None
        return cls.from_dict(data)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object."""
        return {"results": [row.to_dict() for row in self.results], "metrics": dict(self.metrics)}

    def to_json(self, *, indent: int | None = None) -> str:
        """JSON text; it can be read again, and evaluated again without asking a judge."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def update(self, results: RAGResult | Iterable[RAGResult]) -> None:
        """Add records; the metrics of the groups no longer hold and are dropped."""
        self.results.extend([results] if isinstance(results, RAGResult) else results)
        for values in self.metrics.values():
            values.clear()

    def __repr__(self) -> str:
        metrics = json.dumps(self.metrics, indent=2).replace("\n", "\n  ")
        return f"RAGResults(\n  {len(self.results):,} RAG results,\n  Metrics:\n  {metrics}\n)"


def _list(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    raise DataError(f"retrieved_context must be a list, not {type(value).__name__}")


def _chunk(n: int, value: Any) -> RetrievedDoc:
    if isinstance(value, RetrievedDoc):
        return value
    if isinstance(value, str):
        return RetrievedDoc(text=value)
    if isinstance(value, Mapping) and isinstance(text := value.get("text") or "", str):
        return RetrievedDoc(value.get("doc_id"), text)
    raise DataError(f"retrieved_context[{n}] must be an object with 'doc_id' and 'text'")
