"""The result of an evaluation in ragas' shape, with the reasons that ragas drops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from assay.ragas.dataset_schema import EvaluationDataset
from assay.run import Run
from assay.score import Score
from assay.stats import Summary, summarise


class EvaluationResult:
    """A number for every sample and metric, NaN where there is none.

    ``scores`` has a dict a sample. ``reasons`` has one, too: for each metric that has no value
    or failed, why. ``runs`` are assay's own, one a judge: claims, verdicts, evidence, usage.
    """

    def __init__(
        self,
        dataset: EvaluationDataset,
        scores: Sequence[Mapping[str, float]],
        native: Mapping[str, Sequence[Score]],
        runs: Sequence[Run],
    ) -> None:
        self.dataset = dataset
        self.scores = [dict(row) for row in scores]
        self.runs = list(runs)
        self.reasons = [
            {name: each[n].reason for name, each in native.items() if each[n].status != "ok"}
            for n in range(len(self.scores))
        ]
        self._native = {name: list(each) for name, each in native.items()}

    def __getitem__(self, metric: str) -> list[float]:
        """One metric's number for every sample; raises KeyError."""
        if metric not in self._native:
            raise KeyError(f"{metric!r} was not scored; scored: {', '.join(self._native)}")
        return [row[metric] for row in self.scores]

    def summary(self, metric: str) -> Summary:
        """Mean with interval, and how many samples failed or had nothing to measure."""
        pairs = zip(self[metric], self._native[metric], strict=True)
        # Where ragas has a number for "nothing to measure", it counts as one.
        values = [s if s.value is not None or math.isnan(v) else Score(v) for v, s in pairs]
        return summarise(values)

    def __repr__(self) -> str:
        """The means, and over how many samples where some have no value."""
        return "{" + ", ".join(f"{name!r}: {self._mean(name)}" for name in self._native) + "}"

    def _mean(self, metric: str) -> str:
        found, rows = self.summary(metric), len(self.scores)
        mean = math.nan if found.mean is None else found.mean
        return f"{mean:.4f} (n={found.n} of {rows})"

    def to_pandas(self) -> Any:
        """A DataFrame: the fields of the samples and a column a metric."""
        frame = self.dataset.to_pandas()
        for name in self._native:
            frame[name] = self[name]
        return frame
