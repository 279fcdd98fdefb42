"""The names and shapes of ragas, scored by assay: change ``ragas`` to ``assay.ragas``.

A door: it translates names and shapes. The arithmetic is in `assay.metrics`, prompts and retries
are the judges'.
"""

from __future__ import annotations

from typing import Any

from assay.ragas.absent import absent
from assay.ragas.dataset_schema import EvaluationDataset, SingleTurnSample
from assay.ragas.evaluation import aevaluate, evaluate
from assay.ragas.result import EvaluationResult
from assay.ragas.run_config import RunConfig

__all__ = [
    "EvaluationDataset",
    "EvaluationResult",
    "RunConfig",
    "SingleTurnSample",
    "aevaluate",
    "evaluate",
]


def __getattr__(name: str) -> Any:
    raise absent(__name__, name, __all__)
