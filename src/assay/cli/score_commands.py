"""The commands that score a file: at once, as a run that can be resumed, or only planned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.suite_commands import NoCache, Offline

JudgeName = Annotated[
    str | None,
    typer.Option(
        "--judge",
        "-j",
        help="embedded (default, offline), openai:MODEL, hhem or nli:MODEL; the variable "
        "ASSAY_JUDGE sets another default. 'assay judges' lists them.",
    ),
]


Data = Annotated[str, typer.Argument(help="JSONL, JSON, CSV or Parquet file, or - for stdin.")]
Metrics = Annotated[
    str,
    typer.Option(
        "--metrics",
        "-m",
        help="Names with commas between, e.g. faithfulness,noise_sensitivity(mode=irrelevant). "
        "'assay metrics' lists them.",
    ),
]
Maps = Annotated[
    list[str] | None,
    typer.Option("--map", help="OURS=THEIRS: which column holds a field. Repeatable."),
]
FileFormat = Annotated[
    str | None, typer.Option("--format", help="jsonl, json, csv, tsv or parquet.")
]
Packed = Annotated[
    bool, typer.Option("--packed", help="All contexts of a sample in one call (LLM judges).")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]
Calls = Annotated[
    int | None, typer.Option("--calls", min=1, max=4096, help="Calls at once (LLM judges); 128.")
]
Rpm = Annotated[float | None, typer.Option("--rpm", min=0.1, help="Requests a minute at most.")]
Tpm = Annotated[float | None, typer.Option("--tpm", min=1, help="Tokens a minute at most.")]
PriceFile = Annotated[
    str | None, typer.Option("--prices", help="A file of prices by model: see docs/plan.md.")
]
PriceIn = Annotated[
    float | None, typer.Option("--price-input", min=0, help="Dollars for a million tokens read.")
]
PriceOut = Annotated[
    float | None,
    typer.Option("--price-output", min=0, help="Dollars for a million tokens written."),
]


Out = Annotated[
    str | None,
    typer.Option("--out", "-o", help="Rows to FILE.jsonl, .csv or .parquet, or - for stdout."),
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", min=0.1, help="Seconds for one call; 60.")
]
Budget = Annotated[float | None, typer.Option("--budget", min=0, help="Dollars to spend at most.")]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget-tokens", min=1, help="Tokens to use at most.")
]
BudgetCalls = Annotated[
    int | None, typer.Option("--budget-calls", min=1, help="Calls to make at most.")
]
Batch = Annotated[
    Path | None,
    typer.Option("--batch", help="Ask in batch files, kept in this folder: see docs/batch.md."),
]
RunFolder = Annotated[
    Path | None,
    typer.Option("--run", help="A folder for a run that can be resumed: see docs/runs.md."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Finish the run in the folder.")]
RetryErrors = Annotated[
    bool, typer.Option("--retry-errors", help="Score rows of the run anew that failed.")
]
Shard = Annotated[
    str | None, typer.Option("--shard", help="I/N: only this part of the run, from 1/N.")
]
ShardRows = Annotated[
    int | None, typer.Option("--shard-rows", min=1, help="Rows of a shard; 1000.")
]
ShardFormat = Annotated[
    str | None, typer.Option("--shard-format", help="jsonl (default) or parquet.")
]
Engine = Annotated[str, typer.Option("--engine", help="local, or ray (pip install 'assay[ray]').")]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Actors of the engine ray.")]


def score(
    data: Data,
    metrics: Metrics,
    out: Out = None,
    judge: JudgeName = None,
    column: Maps = None,
    file_format: FileFormat = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1024, help="Samples in work at once.")
    ] = 64,
    packed: Packed = False,
    calls: Calls = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    no_cache: NoCache = False,
    offline: Offline = False,
    budget: Budget = None,
    budget_tokens: BudgetTokens = None,
    budget_calls: BudgetCalls = None,
    prices: PriceFile = None,
    price_input: PriceIn = None,
    price_output: PriceOut = None,
    batch: Batch = None,
    folder: RunFolder = None,
    resume: Resume = False,
    retry_errors: RetryErrors = False,
    shard: Shard = None,
    shard_rows: ShardRows = None,
    shard_format: ShardFormat = None,
    engine: Engine = "local",
    workers: Workers = None,
    quiet: Quiet = False,
) -> int:
    """Score a file of samples and print the means; with -o, write a row a sample."""
    from assay.cli.judging import Judging
    from assay.cli.scoring import Part, score_file

    judging = Judging(
        judge,
        packed,
        calls,
        rpm,
        tpm,
        timeout,
        not no_cache,
        offline,
        budget,
        budget_tokens,
        budget_calls,
        prices,
        price_input,
        price_output,
        batch,
    )
    part = Part(folder, resume, retry_errors, shard, shard_rows, shard_format, engine, workers)
    return score_file(
        data,
        metrics,
        out,
        judging,
        part,
        maps=column or [],
        file_format=file_format,
        concurrency=concurrency,
        quiet=quiet,
    )


def plan(
    data: Data,
    metrics: Metrics,
    judge: JudgeName = None,
    column: Maps = None,
    file_format: FileFormat = None,
    packed: Packed = False,
    pilot: Annotated[
        int, typer.Option("--pilot", min=0, help="Samples that are really scored to find out.")
    ] = 30,
    no_cache: NoCache = False,
    prices: PriceFile = None,
    price_input: PriceIn = None,
    price_output: PriceOut = None,
    calls: Calls = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    offline: Offline = False,
    budget: Budget = None,
    budget_tokens: BudgetTokens = None,
    budget_calls: BudgetCalls = None,
    batch: Batch = None,
    out: Out = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Not looked at by a plan.")
    ] = None,
    folder: RunFolder = None,
    resume: Resume = False,
    retry_errors: RetryErrors = False,
    shard: Shard = None,
    shard_rows: ShardRows = None,
    shard_format: ShardFormat = None,
    engine: Engine = "local",
    workers: Workers = None,
    quiet: Quiet = False,
    seed: Annotated[int, typer.Option("--seed", help="Which samples the pilot draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Print calls, tokens, cost and time of a run before it is made; takes its options."""
    from assay.cli.plan import limit_of
    from assay.cli.plan import plan as command

    ignored = {
        "--out": out,
        "--concurrency": concurrency,
        "--run": folder,
        "--resume": resume,
        "--retry-errors": retry_errors,
        "--shard": shard,
        "--shard-rows": shard_rows,
        "--shard-format": shard_format,
        "--engine": engine != "local",
        "--workers": workers,
        "--quiet": quiet,
    }
    return command(
        data,
        metrics,
        judge,
        maps=column or [],
        file_format=file_format,
        packed=packed,
        pilot=0 if offline else pilot,
        cache=not no_cache,
        price_input=price_input,
        price_output=price_output,
        prices=prices,
        concurrency=calls or 128,
        rpm=rpm,
        tpm=tpm,
        timeout=timeout,
        limit=limit_of(budget, budget_tokens, budget_calls),
        batched=batch is not None,
        ignored=[name for name, given in ignored.items() if given],
        seed=seed,
        as_json=as_json,
    )


def merge(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="FILE.jsonl, .csv or .parquet.")],
    partial: Annotated[bool, typer.Option("--partial", help="Also if shards are missing.")] = False,
    quiet: Quiet = False,
) -> int:
    """Make one table of a run, and print the means."""
    from assay.cli.runs import merge_run

    return merge_run(folder, out, partial=partial, quiet=quiet)
