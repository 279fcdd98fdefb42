"""The Python front door: judges by name, and one call that scores many samples."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from assay.asks import Judge, Usage
from assay.errors import BudgetSpent, ConfigError, MissingField
from assay.judges.memory.store import Store
from assay.judges.named import open_judge
from assay.judges.remembering import RememberingJudge
from assay.metrics import Metric, load_metric, split_names
from assay.run import Row, Run
from assay.runner import closure, score_samples
from assay.sample import Sample
from assay.version import __version__

T = TypeVar("T")
Samples = str | Path | Iterable[Sample | Mapping[str, Any]]
Metrics = str | Metric | Sequence[str | Metric]
CONCURRENCY = 64
"""Samples in work at once."""
_COLLECT_AFTER = 20_000


def openai(model: str, **options: Any) -> Judge:
    """A judge on any OpenAI-compatible chat-completions endpoint.

    Options: ``base_url``, ``api_key_env`` (the NAME of the variable that holds the key),
    ``client`` (your own ``openai`` client object), ``packed``, ``timeout``, ``concurrency``,
    ``temperature``, ``seed``, ``extra``; see `assay.judges.openai.openai_judge`.
    """
    from assay.judges.openai import openai_judge

    return openai_judge(model, **options)


def langchain(model: Any, **options: Any) -> Judge:
    """A judge on a LangChain chat model object; the object is used as it is.

    Options: ``packed``, ``name``, ``timeout``, ``concurrency``; see
    `assay.judges.langchain.langchain_judge`.
    """
    from assay.judges.langchain import langchain_judge

    return langchain_judge(model, **options)


def load(source: Any, *, columns: Mapping[str, str] | None = None) -> list[Sample]:
    """Samples from a file, a DataFrame or dataset, or an iterable of mappings.

    ``columns`` maps our field names to the columns of the source, where they are not recognised.
    Raises DataError naming file, row and column.
    """
    from assay.readers import read_samples  # not needed to import assay

    return read_samples(source, columns=columns)


def open_metrics(metrics: Metrics) -> dict[str, Metric]:
    """Metrics by the name they were asked for; raises ConfigError if unknown or given twice."""
    if isinstance(metrics, str):
        metrics = split_names(metrics)
    listed = [metrics] if isinstance(metrics, Metric) else _listed(metrics)
    out: dict[str, Metric] = {}
    for asked in listed:
        if isinstance(asked, Metric):
            name, metric = str(asked), asked
        elif isinstance(asked, str):
            name, metric = asked.strip(), load_metric(asked)
        else:
            raise ConfigError(f"{asked!r} is no metric; give a name, or an object: Faithfulness()")
        if name in out:
            raise ConfigError(f"metric {name!r} is given twice")
        out[name] = metric
    if not out:
        raise ConfigError("no metrics given; 'assay metrics' lists them")
    return out


def check_skills(metrics: Mapping[str, Metric], samples: Iterable[Sample], judge: Judge) -> None:
    """Raise ConfigError if a metric needs what the judge does not do at all."""
    left = dict(metrics)
    for sample in samples:
        for name in list(left):
            try:
                needs = closure(left[name].needs, sample)
            except MissingField:
                continue
            skills = {skill for need in needs for skill in need.skills} | left[name].skills
            if lacks := sorted(skill for skill in skills if not judge.can(skill)):
                others = "openai:MODEL" if "embed" in lacks else "openai:MODEL or a LangChain model"
                raise ConfigError(
                    f"metric {name} needs a judge that does {', '.join(lacks)}, and "
                    f"{judge.name} does not; an LLM judge does: {others}"
                )
            del left[name]
        if not left:
            return


def _listed(metrics: object) -> list[object]:
    if isinstance(metrics, Iterable):
        return list(metrics)
    raise ConfigError(f"{metrics!r} is no metric; give a name, or an object: Faithfulness()")


async def evaluate_async(
    samples: Samples,
    metrics: Metrics,
    judge: str | Judge | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    concurrency: int = CONCURRENCY,
    cache: bool | str | Path | Store = False,
) -> Run:
    """Score samples by metrics: `evaluate` for code that runs in an event loop."""
    chosen, answerer = open_metrics(metrics), open_judge(judge)
    known = load(samples, columns=columns)
    check_skills(chosen, known, answerer)
    store = _store(cache)
    asked = answerer if store is None else RememberingJudge(answerer, store)
    before = copy(asked.usage)
    clock, started = time.perf_counter(), datetime.now(UTC)
    rows: list[Row] = []
    about: dict[str, Any] = {}
    try:
        with collecting_seldom():
            async for row in score_samples(known, chosen, asked, concurrency=concurrency):
                rows.append(row)  # noqa: PERF401 - those so far are kept when a budget is spent
    except BudgetSpent as error:
        about = {"stopped": f"{error}; {len(rows)} of {len(known)} samples are scored"}
    finally:
        if answerer is not judge:
            await answerer.aclose()
        if store is not None:
            await asyncio.to_thread(store.close)
    seconds = time.perf_counter() - clock
    usage = asked.usage.since(before)
    about = provenance(chosen, asked, usage, started, seconds) | about
    return Run(rows, list(chosen), about)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Look for garbage less often meanwhile: a tenth of the time of a run would go into it.

    What rows leave behind is freed by counting; only cycles wait longer.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(_COLLECT_AFTER, before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _store(cache: bool | str | Path | Store) -> Store | None:
    """What keeps answers: the file that the commands use, another one, a store, or nothing."""
    if cache is False:
        return None
    if not isinstance(cache, bool | str | Path):
        if not callable(getattr(cache, "put", None)):
            raise ConfigError(f"cache is True, False, a path or a store of answers, not {cache!r}")
        return cache
    from assay.judges.memory.sqlite import SqliteStore

    return SqliteStore() if cache is True else SqliteStore(Path(cache))


def evaluate(
    samples: Samples,
    metrics: Metrics,
    judge: str | Judge | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    concurrency: int = CONCURRENCY,
    cache: bool | str | Path | Store = False,
) -> Run:
    """Score samples by metrics.

    ``samples``: a file, a DataFrame or dataset, or an iterable of `Sample` or mappings.
    ``metrics``: names with parameters or `Metric` objects; scores are kept under the names as
    given. ``judge``: a name (see `open_judge`) or a judge object. ``columns`` is that of `load`.
    At most ``concurrency`` samples are in work at once. With ``cache`` the judge's answers are
    kept in the file of the commands (True), another one or a `Store`, and used again. A judge whose
    budget is spent ends the run: it holds the rows so far, and ``provenance["stopped"]`` says so.
    Works inside a running event loop, too.

    Raises ConfigError, DataError, and JudgeUnusable; troubles of single samples are in their
    scores.
    """
    answerer = open_judge(judge)

    async def work() -> Run:
        try:
            return await evaluate_async(
                samples,
                metrics,
                answerer,
                columns=columns,
                concurrency=concurrency,
                cache=cache,
            )
        finally:
            # The loop ends here, and connections with it; a judge opens others when used again.
            await answerer.aclose()

    return run_sync(work())


def provenance(
    metrics: Mapping[str, Metric],
    judge: Judge,
    usage: Usage,
    started: datetime,
    seconds: float,
) -> dict[str, Any]:
    """What produced a run, as JSON-able values."""
    import platform

    return {
        "assay": __version__,
        "python": platform.python_version(),
        "judge": judge.name,
        "judge_fingerprint": judge.fingerprint,
        "metrics": {name: f"{metric} v{metric.version}" for name, metric in metrics.items()},
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "usage": usage.as_dict(),
    }


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, from code that is not async.

    Inside a running loop (notebook, web server) the work gets a loop of its own in a thread, and
    the caller's loop stands still meanwhile; nothing is patched. An interrupt cancels the work.
    """
    if not _in_loop():
        out: list[T] = []

        async def put() -> None:
            # asyncio.run shows its task in an error that it hides; the repr of a long run is slow.
            out.append(await work)

        asyncio.run(put())
        return out[0]
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    thread = threading.Thread(target=_run_loop, args=(loop, task), name="assay")
    thread.start()
    try:
        thread.join()
    except BaseException:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    return task.result()


def _run_loop(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    """Run the loop until the task has ended, in whatever way; its result stays in the task."""
    asyncio.set_event_loop(loop)
    try:
        with suppress(KeyboardInterrupt, SystemExit):  # these are the task's result as well
            loop.run_until_complete(asyncio.wait([task]))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
