"""Data of other systems as assay's JSONL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from assay.migrate.outcome import Migration
from assay.readers import Reading, open_samples
from assay.sample import Sample

_LABELS = ("answer2response", "response2answer", "retrieved2response", "retrieved2answer")
_SIGNS = (
    ("RAGChecker", {"gt_answer", "gt_answer_claims", "retrieved_context", "query_id"}),
    ("Valor", {"context.groundtruth", "context.prediction"}),
    ("promptfoo", {"vars.query", "vars.context", "vars.contextChunks"}),
    ("ragas", {"user_input", "retrieved_contexts", "ground_truth", "ground_truths"}),
)


def migrate_data(path: Path) -> Migration:
    """The rows under assay's field names; claims and labels of contexts are kept.

    Columns that hold no field are in ``metadata``. Raises DataError where the reader does.
    """
    reading = open_samples(path)
    samples = list(reading)
    done = Migration(f"data of {_system(reading)}, {len(samples)} samples", as_jsonl(samples))
    done.converted = [f"{column} -> {field}" for column, field in reading.mapping.items()]
    for name in reading.ignored:
        if name in _LABELS:
            done.left.append(
                f"{name}: kept in metadata, where no metric reads it; assay.ragchecker reads "
                "these labels from the original file"
            )
        elif name == "assert":
            done.left.append("assert: kept in metadata; migrate the config that has the tests")
        else:
            done.notes.append(f"{name}: kept in metadata")
    return done


def as_jsonl(samples: Iterable[Sample]) -> str:
    """A line a sample, with the fields that are present."""
    return "".join(json.dumps(s.as_dict(), ensure_ascii=False) + "\n" for s in samples)


def _system(reading: Reading) -> str:
    columns = set(reading.mapping)
    return next((name for name, signs in _SIGNS if columns & signs), "no particular system")
