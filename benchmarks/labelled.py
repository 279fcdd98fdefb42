"""Human-labelled sets in the form that ``assay score`` reads, with what people said."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Set:
    """A labelled set: how its rows become samples, and the label of a row or of its claims."""

    name: str
    file: str
    what: str
    metric: str
    sample: Callable[[Row], Row]
    labels: Callable[[Row], list[int]]
    """One label a claim or, for ``by_row``, one for the row."""
    by_row: bool = False


def rows(folder: Path, file: str) -> Iterator[Row]:
    """The rows of a gzipped JSONL file."""
    with gzip.open(folder / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _claim_against_context(row: Row) -> Row:
    return {
        "id": row["id"],
        "question": row.get("question"),
        "response": row["claims"][0],
        "response_claims": row["claims"],
        "contexts": row["contexts"],
    }


def _response_against_contexts(row: Row) -> Row:
    return {
        "id": row["id"],
        "question": row.get("question"),
        "response": row["response"],
        "contexts": row.get("contexts") or [],
    }


def _facts_against_response(row: Row) -> Row:
    return {"id": row["id"], "response": row["response"], "reference_claims": row["claims"]}


SETS = (
    Set(
        "factcheckgpt_stance",
        "factcheckgpt_stance",
        "a web passage completely supports the claim",
        "faithfulness",
        _claim_against_context,
        lambda row: [row["label"]],
    ),
    Set(
        "wice_claims",
        "wice_claims",
        "a web article supports the Wikipedia claim",
        "faithfulness",
        _claim_against_context,
        lambda row: [row["label"]],
    ),
    Set(
        "realsumm_scu",
        "realsumm_scu",
        "the summary states the fact",
        "recall",
        _facts_against_response,
        lambda row: list(row["claim_labels"]),
    ),
    Set(
        "clapnq_relevance",
        "clapnq_context_relevance",
        "the passage answers the question",
        "context_relevance",
        lambda row: {k: row[k] for k in ("id", "question", "contexts")},
        lambda row: [row["label"]],
    ),
    Set(
        "summedits",
        "summedits",
        "the edited summary is consistent with its document",
        "faithfulness",
        _response_against_contexts,
        lambda row: [row["label"]],
        by_row=True,
    ),
    Set(
        "mtrag_human",
        "mtrag_human",
        "mean faithfulness of the RAG answer is 3 of 4 or more",
        "faithfulness",
        _response_against_contexts,
        lambda row: [row["label"]],
        by_row=True,
    ),
    Set(
        "begin_wow",
        "begin_wow",
        "the reply is fully attributable to its knowledge",
        "faithfulness",
        _response_against_contexts,
        lambda row: [row["label"]],
        by_row=True,
    ),
)
