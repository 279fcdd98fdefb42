"""``assay score``: rows in, scores out, with progress and a table of means."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import time
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.api import check_skills, collecting_seldom, open_metrics, provenance, run_sync
from assay.asks import Judge
from assay.cli.judging import Judging
from assay.cli.progress import Progress
from assay.cli.tables import console, plain, summary_table, to_stderr
from assay.cli.wording import StoppedError, counted, lacking
from assay.errors import BudgetSpent, ConfigError, MissingField
from assay.judges.batch.leaving import batches_of, going_on
from assay.judges.reaching import reach_of
from assay.metrics import Metric, split_names
from assay.planning.affording import held_to_budget
from assay.readers import open_samples, parse_map
from assay.run import Row, Run
from assay.runner import closure, score_samples
from assay.runs.stopping import Interrupts, ignore_interrupts
from assay.sample import Sample
from assay.store import RowFile, to_json, write_provenance


def score(
    data: str,
    names: str,
    out: str | None,
    judging: Judging,
    *,
    maps: Sequence[str],
    file_format: str | None,
    concurrency: int,
    quiet: bool,
) -> int:
    """Score a file; the exit code is 2 if a sample failed or was left out by a budget."""
    say = (lambda _: None) if quiet else to_stderr
    metrics = open_metrics(split_names(names))
    opened = judging.opened(say)
    answerer = opened.judge
    if out and Path(out).exists() and Path(data).exists() and Path(out).samefile(data):
        raise ConfigError(f"{out} is the input as well; give another -o")
    reading = open_samples(data, columns=parse_map(maps), format=file_format)
    samples = list(reading)
    say(f"{reading.name}: {counted(len(samples), 'sample')}; {reading.describe()}")
    check_fields(metrics, samples, reading.describe())
    check_skills(metrics, samples, answerer)
    if judging.name is None and answerer.name == "embedded" and os.environ.get("OPENAI_API_KEY"):
        say("judge: embedded (OPENAI_API_KEY is set: --judge openai:MODEL would use it)")
    else:
        say(f"judge: {answerer.name}")
    rows: list[Row] = []
    clock, started = time.perf_counter(), datetime.now(UTC)
    if judging.batch is not None:
        concurrency = max(concurrency, len(samples))  # a batch is what all samples ask together
    concurrency = run_sync(held_to_budget(answerer, concurrency, samples, metrics))
    work = _work(rows, samples, metrics, answerer, concurrency=concurrency, out=out, quiet=quiet)
    with Interrupts() as interrupts:
        try:
            spent = _done(_heeding(work, interrupts), rows, len(samples))
        except (KeyboardInterrupt, asyncio.CancelledError):
            ignore_interrupts()
            how = _going_on(answerer, cache=judging.cache)
            raise StoppedError(f"{_so_far(len(rows), len(samples), out)}; {how}") from None
    seconds = time.perf_counter() - clock
    about = provenance(metrics, answerer, answerer.usage, started, seconds)
    about |= {name: said for name, said in (("cost", opened.cost()), ("stopped", spent)) if said}
    run = Run(rows, list(metrics), about)
    if out and out != "-":
        write_provenance(Path(out), run.provenance)
    if not quiet:
        _report(run, metrics, seconds, out)
    for line in [*failures(run), *([spent] if spent else []), *_left(run, answerer)]:
        to_stderr(line)
    return 2 if run.failed or spent else 0


def _done(work: Coroutine[Any, Any, None], rows: Sequence[Row], samples: int) -> str:
    """Do the work; what stopped it before its end, if a budget did."""
    try:
        run_sync(work)
    except BudgetSpent as error:
        return f"stopped: {error}; {len(rows)} of {counted(samples, 'sample')} are scored"
    return ""


async def _heeding(work: Coroutine[Any, Any, None], interrupts: Interrupts) -> None:
    """Do the work, which the first interrupt cancels."""
    task = asyncio.ensure_future(work)
    with interrupts.heeded(task.cancel):
        await task


def _so_far(rows: int, samples: int, out: str | None) -> str:
    done = f"{rows} of {counted(samples, 'sample')}"
    if out and out != "-":
        return f"the rows so far are in {shlex.quote(f'{out}.partial')}: {done}"
    return f"{done} {'is' if rows == 1 else 'are'} scored"


def _going_on(judge: Judge, *, cache: bool) -> str:
    """What goes on without this process, and what the same command would do."""
    batches = batches_of(judge)
    if batches is not None:
        return f"{f'{going_on(batches)}: ' if batches else ''}the same command goes on"
    if cache:
        return "the same command goes on, with the answers that the cache has"
    return "the same command starts anew; with --run FOLDER it could be resumed"


def _left(run: Run, judge: Judge) -> list[str]:
    """What to do about samples that failed because their endpoint went away."""
    batches, out = batches_of(judge), reach_of(judge).outage
    if not run.failed or not (batches or out):
        return []
    if batches is None:
        return ["with --run FOLDER, a run stops when its endpoint goes away, and can be resumed"]
    going = f"{going_on(batches)}; " if batches else ""
    when = "when the endpoint is back, " if out else ""
    return [f"{going}{when}the same command goes on: nothing is paid twice"]


def check_fields(metrics: Mapping[str, Metric], samples: Sequence[Sample], columns: str) -> None:
    """Raise ConfigError if no sample has the fields that a metric needs."""
    for name, metric in metrics.items():
        missing: Counter[str] = Counter()
        for sample in samples:
            try:
                closure(metric.needs, sample)
                break
            except MissingField as error:
                missing[error.field] += 1
        else:
            field = missing.most_common(1)[0][0]
            raise ConfigError(
                f"metric {name} needs {field}, and no sample has any ({columns}); "
                f"name the column with --map {field}=COLUMN"
            )


async def _work(
    rows: list[Row],
    samples: Sequence[Sample],
    metrics: Mapping[str, Metric],
    judge: Judge,
    *,
    concurrency: int,
    out: str | None,
    quiet: bool,
) -> None:
    file: AbstractContextManager[RowFile | None] = nullcontext()
    if out and out != "-":
        file = RowFile(Path(out), list(metrics))
    with ExitStack() as stack:
        stack.enter_context(collecting_seldom())
        writer = stack.enter_context(file)
        progress = stack.enter_context(
            Progress(len(samples), quiet=quiet, waiting=lambda: reach_of(judge).waiting)
        )
        try:
            scored = score_samples(samples, metrics, judge, concurrency=concurrency)
            async with aclosing(scored):
                async for row in scored:
                    if writer is not None:
                        writer.write(row)
                    elif out == "-":
                        print(to_json(row.as_dict()), flush=True)
                    rows.append(row)
                    progress.step(failure=row.failure)
        finally:
            await judge.aclose()


def _report(run: Run, metrics: Mapping[str, Metric], seconds: float, out: str | None) -> None:
    screen = console(stderr=out == "-")
    screen.print(summary_table(run, metrics))
    usage = run.provenance["usage"]
    rate = len(run) / seconds if seconds else 0.0
    used = counted(usage["calls"], "pair" if run.provenance["judge"] == "embedded" else "call")
    line = f"{counted(len(run), 'sample')} in {seconds:.1f} s ({rate:.1f}/s), {used}"
    if tokens := usage["prompt_tokens"] + usage["completion_tokens"]:
        line += f", {counted(tokens, 'token')}"
    if cost := run.provenance.get("cost"):
        line += f", ${cost['usd']:.4f}"
    if known := usage["cached"]:
        line += f", {counted(known, 'answer')} known already"
    screen.print(line, highlight=False, soft_wrap=True)
    for note in usage["notes"]:
        screen.print(plain(f"note: {note}"), soft_wrap=True)
    if out and out != "-":
        hint = ""
        if out.endswith(".jsonl") and run.rows:
            one = f"{shlex.quote(out)} --id {shlex.quote(str(run.rows[0].sample.id))}"
            hint = f"; see one with: assay explain {one}"
        name = f"{out}.partial" if "stopped" in run.provenance else f"{out}{hint}"
        screen.print(plain(f"wrote {name}"), soft_wrap=True)


def failures(run: Run) -> list[str]:
    """The commonest reasons why scores failed, and that some lack verdicts, with examples."""
    reasons: Counter[str] = Counter()
    example: dict[str, str] = {}
    for row in run:
        for reason in {s.reason for s in row.scores.values() if s.status == "failed"}:
            alike = re.sub(r"\d+", "#", reason)  # counts and seconds differ, the trouble does not
            reasons[alike] += 1
            example.setdefault(alike, f"{row.sample.id}: {reason}")
    said = [
        f"failed: {count} of {counted(len(run), 'sample')}, e.g. {example[alike]}"
        for alike, count in reasons.most_common(5)
    ]
    gaps = [
        row for row in run if any(s.unknown and s.value is not None for s in row.scores.values())
    ]
    if gaps:
        first = gaps[0]
        items = (item for score in first.scores.values() for item in score.items)
        why = next((item.reason for item in items if item.unanswered and item.reason), "")
        example_of = f", e.g. {first.sample.id}: {why}" if why else ""
        said.append(f"{lacking(len(gaps), len(run), 'sample')}{example_of}")
    return said
