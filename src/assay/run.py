"""A run: samples with their claims and scores, and what produced them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.sample import Claim, Sample
from assay.score import Score
from assay.stats import Summary, summarise

FORMAT = 1
"""Version of the row format; raised when a field changes its meaning."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scored sample: the claims that were judged and a score for each metric."""

    sample: Sample
    scores: Mapping[str, Score]
    claims: Mapping[str, Sequence[Claim]] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether any score failed (an undefined score is no failure)."""
        return bool(self.failure)

    @property
    def failure(self) -> str:
        """The reason of the first failed score; empty if none failed."""
        return next((s.reason or "?" for s in self.scores.values() if s.status == "failed"), "")

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form, one line of the output file."""
        return {
            "format": FORMAT,
            **self.sample.as_dict(),
            "claims": {
                of: [claim.as_dict() for claim in claims] for of, claims in self.claims.items()
            },
            "scores": {name: score.as_dict() for name, score in self.scores.items()},
        }


@dataclass(frozen=True, repr=False)
class Run:
    """All rows of one evaluation, with provenance.

    ``run["faithfulness"]`` is the summary of one metric: mean, interval, counts.
    """

    rows: Sequence[Row]
    metrics: Sequence[str]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, metric: str) -> Summary:
        if metric not in self.metrics:
            raise KeyError(f"{metric!r} was not scored; scored: {', '.join(self.metrics)}")
        return summarise([row.scores[metric] for row in self.rows])

    @property
    def failed(self) -> int:
        """The number of samples with a failed score."""
        return sum(row.failed for row in self.rows)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {_shown(self[name].mean)}" for name in self.metrics)
        return f"<Run of {len(self)} samples: {means}>"

    def save(self, path: str | Path) -> None:
        """Write the rows to a .jsonl, .csv or .parquet file, as ``assay score -o`` does.

        Raises ConfigError for another ending and DataError when the disk refuses.
        """
        from assay.store import RowFile, write_provenance

        with RowFile(Path(path), self.metrics) as file:
            for row in self.rows:
                file.write(row)
        write_provenance(Path(path), self.provenance)

    def to_pandas(self) -> Any:
        """A DataFrame: id, question, response and a column a metric (missing: not scored)."""
        from assay.errors import MissingExtra

        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("pandas", "pandas") from None
        rows = [
            [
                row.sample.id,
                row.sample.question,
                row.sample.response,
                *(row.scores[name].value for name in self.metrics),
            ]
            for row in self.rows
        ]
        return pd.DataFrame(rows, columns=["id", "question", "response", *self.metrics])


def _shown(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:.3f}"
