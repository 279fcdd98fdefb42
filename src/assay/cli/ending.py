"""What is said at the end of a run in a folder: means, use, failures, and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.asks import Usage
from assay.cli.tables import console, plain, summary_table, to_stderr
from assay.cli.wording import counted, lacking
from assay.metrics import Metric
from assay.run import Run
from assay.runs.engine import Outcome
from assay.runs.failures import failures
from assay.runs.means import summaries
from assay.runs.shards import Job
from assay.runs.usage import read_usage
from assay.stats import Summary

Cost = Callable[[Usage], float | None]
"""Dollars for what was used; None where the price is not known."""

_KINDS = 4
"""Kinds of failures that are shown."""


@dataclass(frozen=True, repr=False)
class Means(Run):
    """A run of which only the summaries are known."""

    shown: Mapping[str, Summary] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Summary:
        return self.shown[metric]


@dataclass(frozen=True, slots=True)
class Ending:
    """A run, or a part of it, at its end; ``seconds`` are those of this process."""

    job: Job
    shards: Sequence[int]
    metrics: Mapping[str, Metric]
    outcome: Outcome
    seconds: float
    cost: Cost = lambda _: None

    def report(self) -> None:
        """Print the means of all rows that are whole, what was used, and how to make a table."""
        screen = console()
        whole = self._whole()
        if whole:
            means = Means((), list(self.metrics), shown=summaries(self.job, whole))
            screen.print(summary_table(means, self.metrics))
        lines = [self._now(whole), *self._in_all()]
        lines += [f"note: {note}" for note in self.outcome.usage.notes]
        if self.outcome.elsewhere:
            lines.append(
                f"{counted(len(self.outcome.elsewhere), 'shard')} in work by other processes"
            )
        if not self.job.missing():
            folder = shlex.quote(str(self.job.folder.path))
            lines.append(f"one table: assay merge {folder} -o FILE.jsonl")
        for line in lines:
            screen.print(plain(line), soft_wrap=True)

    def complain(self) -> bool:
        """Say which scores failed, why, and what to do; whether any did."""
        whole = self._whole()
        found = failures(self.job.folder.errors(shard) for shard in whole)
        rows = sum(len(self.job.plan.span(shard)) for shard in whole)
        for (metric, error), count in found.kinds.most_common(_KINDS):
            example = found.examples[metric, error]
            to_stderr(f"failed: {count} of {counted(rows, 'row')} ({metric}), e.g. {example}")
        if len(found.kinds) > _KINDS:
            to_stderr(f"failed: {counted(len(found.kinds) - _KINDS, 'other kind')}, not shown")
        if found.lacking:
            to_stderr(
                f"{lacking(found.lacking, rows, 'row')}, e.g. {found.lack}; the same command with"
                " --retry-errors asks again"
            )
        if found.rows:
            to_stderr(self._advice(found.rows, found.retryable))
        return bool(found.rows)

    def _whole(self) -> list[int]:
        return [shard for shard in self.shards if self.job.path(shard).exists()]

    def _now(self, whole: Sequence[int]) -> str:
        rows = sum(len(self.job.plan.span(shard)) for shard in whole)
        scored, seconds = self.outcome.scored, self.seconds
        if not scored:
            return f"{counted(rows, 'row')}, none of them scored now"
        head = counted(rows, "row") + (f", {scored} scored now" if scored != rows else "")
        rate = scored / seconds if seconds else 0.0
        return f"{head} in {seconds:.1f} s ({rate:.1f}/s), {self._used(self.outcome.usage)}"

    def _in_all(self) -> list[str]:
        """What all processes used, where there were others."""
        spent = read_usage(self.job.folder.usage)
        if spent.usage.calls == self.outcome.usage.calls:
            return []
        return [f"in all runs of this folder: {spent.seconds:.1f} s, {self._used(spent.usage)}"]

    def _used(self, usage: Usage) -> str:
        said = counted(usage.calls, "pair" if self.job.plan.judge == "embedded" else "call")
        if tokens := usage.prompt_tokens + usage.completion_tokens:
            said += f", {counted(tokens, 'token')}"
        if (usd := self.cost(usage)) is not None:
            said += f", ${usd:.4f}"
        if usage.cached:
            said += f", {counted(usage.cached, 'answer')} known already"
        return said

    def _advice(self, rows: int, retryable: int) -> str:
        folder = shlex.quote(str(self.job.folder.path))
        where = f"all reasons are in {folder}/shards/*.errors.jsonl"
        if retryable == rows:
            return f"{where}; the same command with --retry-errors scores them again"
        if retryable:
            return (
                f"{where}; the same command with --retry-errors may help with {retryable} of "
                f"{counted(rows, 'row')}, for the others the data or the request must change"
            )
        return f"{where}; trying again would not help: the data or the request must change"
