"""Scoring a dataset by several metrics, all of them over the same claims and verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any

from assay.api import evaluate_async, run_sync
from assay.errors import JudgeError
from assay.metrics import Metric
from assay.ragas.dataset_schema import EvaluationDataset, SingleTurnSample
from assay.ragas.llms import BaseRagasLLM
from assay.ragas.metrics.door import DoorMetric
from assay.ragas.metrics.legacy import ContextPrecision, ContextRecall, Faithfulness
from assay.ragas.result import EvaluationResult
from assay.ragas.run_config import RunConfig
from assay.run import Row, Run
from assay.score import Score

_NO_EFFECT = ("experiment_name", "callbacks", "token_usage_parser", "return_executor")


async def aevaluate(
    dataset: Any,
    metrics: Sequence[DoorMetric] | None = None,
    llm: Any = None,
    embeddings: Any = None,
    *,
    run_config: RunConfig | None = None,
    raise_exceptions: bool = False,
    column_map: Mapping[str, str] | None = None,
    show_progress: bool = True,
    batch_size: int | None = None,
    **others: Any,
) -> EvaluationResult:
    """Score every sample by every metric; metrics of one judge share claims and verdicts.

    ``dataset``: an `EvaluationDataset`, samples, or whatever `assay.load` reads; ``column_map``
    is ragas' field -> column. ``metrics``: None for context precision, faithfulness and context
    recall. ``llm``: the model of metrics that have none. ``run_config``: its ``max_workers``
    samples are in work at once, and its ``timeout`` limits one call.

    A sample without a value gets NaN, and the reason is in the result; ``raise_exceptions``
    raises ValueError for a missing field and JudgeError where the judge did not answer. Other
    parameters of ragas have no effect.

    Raises ValueError if no sample has a field that a metric needs or two metrics have one name,
    TypeError for what is no metric, JudgeUnusable if no sample can be scored at all.
    """
    _check_others(others)
    samples = _dataset(dataset, column_map)
    chosen = _named(metrics)
    _check_columns(chosen, samples, every=raise_exceptions)
    rows: dict[str, Sequence[Row]] = {}
    groups = _by_judge(chosen, llm)
    concurrency = run_config.max_workers if run_config else 32
    if run_config:
        for judge in groups:
            judge.set_run_config(run_config)
    runs = await _all(_score(samples, judge, group, concurrency) for judge, group in groups.items())
    for group, run in zip(groups.values(), runs, strict=True):
        rows |= dict.fromkeys(group, run.rows)
    native = {
        name: [row.scores[str(metric.metric())] for row in rows[name]]
        for name, metric in chosen.items()
    }
    if raise_exceptions:
        _raise_first(native)
    scores = [
        {name: chosen[name].value(rows[name][n], native[name][n]) for name in chosen}
        for n in range(len(samples))
    ]
    return EvaluationResult(samples, scores, native, runs)


def evaluate(
    dataset: Any,
    metrics: Sequence[DoorMetric] | None = None,
    llm: Any = None,
    embeddings: Any = None,
    **settings: Any,
) -> EvaluationResult:
    """`aevaluate` from code that is not async, in a running event loop, too."""
    return run_sync(aevaluate(dataset, metrics, llm, embeddings, **settings))


async def _all(work: Iterable[Coroutine[Any, Any, Run]]) -> list[Run]:
    """The runs, all at once; the first failure ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


async def _score(
    samples: EvaluationDataset,
    llm: BaseRagasLLM,
    group: Mapping[str, DoorMetric],
    concurrency: int,
) -> Run:
    natives = [sample.native(str(n)) for n, sample in enumerate(samples, 1)]
    # Two names of ragas may be one metric here; it is scored once.
    metrics: dict[str, Metric] = {str(m.metric()): m.metric() for m in group.values()}
    async with llm.at_work() as judge:
        return await evaluate_async(natives, list(metrics.values()), judge, concurrency=concurrency)


def _by_judge(
    metrics: Mapping[str, DoorMetric], default: Any
) -> dict[BaseRagasLLM, dict[str, DoorMetric]]:
    """The metrics by the judge that they share."""
    known: dict[tuple[Any, ...], BaseRagasLLM] = {}
    groups: dict[BaseRagasLLM, dict[str, DoorMetric]] = {}
    for name, metric in metrics.items():
        source = default if metric.llm is None else metric.llm
        key = (id(source), *metric.judge_key())
        if key not in known:
            known[key] = metric.llm_for(default)
        groups.setdefault(known[key], {})[name] = metric
    return groups


def _dataset(source: Any, column_map: Mapping[str, str] | None) -> EvaluationDataset:
    if isinstance(source, EvaluationDataset):
        return source
    if isinstance(source, list) and source and isinstance(source[0], SingleTurnSample):
        return EvaluationDataset(source)
    return EvaluationDataset.read(source, column_map)


def _named(metrics: Sequence[DoorMetric] | None) -> dict[str, DoorMetric]:
    if metrics is None:
        metrics = [ContextPrecision(), Faithfulness(), ContextRecall()]
    if not isinstance(metrics, Iterable):
        raise TypeError(f"metrics must be a list, not {metrics!r}")
    out: dict[str, DoorMetric] = {}
    for metric in metrics:
        if not isinstance(metric, DoorMetric):
            raise TypeError(
                "All metrics must be initialised metric objects, e.g: "
                f"metrics=[Faithfulness(), NoiseSensitivity()], not {metric!r}"
            )
        if metric.column in out:
            raise ValueError(f"two metrics are called {metric.column!r}; give one another name=")
        out[metric.column] = metric
    if not out:
        raise ValueError("no metrics given")
    return out


def _check_columns(
    metrics: Mapping[str, DoorMetric], samples: EvaluationDataset, *, every: bool
) -> None:
    """Raise ValueError for a field that no sample has or, with ``every``, that one lacks."""
    present = set(samples.features())
    for name, metric in metrics.items():
        lacks = sorted(set(metric.columns) - set(metric.spared) - present)
        if lacks:
            raise ValueError(
                f"The metric [{name}] that is used requires the following additional columns "
                f"{lacks} to be present in the dataset."
            )
        for sample in samples if every else ():
            metric.check(sample.model_dump())


def _raise_first(native: Mapping[str, Sequence[Score]]) -> None:
    for name, scores in native.items():
        for n, score in enumerate(scores, 1):
            if score.status == "failed":
                raise JudgeError(f"{name}, sample {n}: {score.reason}")


def _check_others(others: Mapping[str, Any]) -> None:
    """Let pass what ragas has: names for tracking, callbacks, and what it does to event loops."""
    for name in others:
        if name not in _NO_EFFECT and not name.startswith("allow_"):
            raise TypeError(f"evaluate() got an unexpected keyword argument {name!r}")
    if others.get("return_executor"):
        raise TypeError("return_executor: there is none; cancel the task of aevaluate() instead")
