"""``assay score``: at once, or as a run in a folder, on this machine or on Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.asks import Judge, Usage
from assay.cli.judging import Judging
from assay.cli.tables import to_stderr
from assay.errors import ConfigError, did_you_mean
from assay.judges.named import DEFAULT_JUDGE

if TYPE_CHECKING:
    from assay.cli.runs import Elsewhere
    from assay.runs.engine import Outcome

ENGINES = ("local", "ray")
AT_ONCE = 50_000
"""Samples in work at once where their questions are gathered into batch files."""


@dataclass(frozen=True, slots=True)
class Part:
    """A run in a folder, and which part of it is done here; without a folder there is no run."""

    folder: Path | None = None
    resume: bool = False
    retry_errors: bool = False
    shard: str | None = None
    shard_rows: int | None = None
    shard_format: str | None = None
    engine: str = "local"
    workers: int | None = None

    def check(self, out: str | None) -> None:
        """Raise ConfigError for options that do not go together."""
        if self.engine not in ENGINES:
            raise ConfigError(f"no engine {self.engine!r}: {did_you_mean(self.engine, [*ENGINES])}")
        if self.workers is not None and self.engine == "local":
            raise ConfigError("--workers is for --engine ray; --concurrency bounds the local one")
        if self.folder is not None:
            if self.folder.exists() and not self.folder.is_dir():
                raise ConfigError(f"--run takes a folder, and {self.folder} is a file")
            if out is not None:
                raise ConfigError(
                    "--run keeps its rows in the folder: leave out -o, then make one table with"
                    f" assay merge {self.folder} -o {out}"
                )
            return
        given = {
            "--resume": self.resume,
            "--retry-errors": self.retry_errors,
            "--shard": self.shard,
            "--shard-rows": self.shard_rows,
            "--shard-format": self.shard_format,
            "--engine ray": self.engine == "ray",
        }
        if wrong := [name for name, value in given.items() if value]:
            raise ConfigError(f"{wrong[0]} needs --run FOLDER")


def score_file(
    data: str,
    names: str,
    out: str | None,
    judging: Judging,
    part: Part,
    *,
    maps: Sequence[str],
    file_format: str | None,
    concurrency: int,
    quiet: bool,
) -> int:
    """Score a file; the exit code is 2 if a sample failed."""
    part.check(out)
    if part.folder is None:
        from assay.cli.score import score

        return score(
            data,
            names,
            out,
            judging,
            maps=maps,
            file_format=file_format,
            concurrency=concurrency,
            quiet=quiet,
        )
    from assay.cli.runs import score_run
    from assay.runs.differing import known_of
    from assay.runs.folder import Folder
    from assay.runs.usage import read_usage

    say = (lambda _: None) if quiet else to_stderr
    before = read_usage(Folder(part.folder).usage).usage
    opened = judging.opened(say, before)
    engine = _on_ray(judging, part, concurrency) if part.engine == "ray" else None
    if judging.batch is not None:
        concurrency = AT_ONCE  # a batch is what all samples in work ask together
    return score_run(
        data,
        names,
        part.folder,
        opened.judge,
        maps=maps,
        file_format=file_format,
        concurrency=concurrency,
        resume=part.resume,
        retry_errors=part.retry_errors,
        shard=part.shard,
        shard_rows=part.shard_rows,
        shard_format=part.shard_format,
        engine=engine,
        quiet=quiet,
        judged_by=known_of(opened.inner) | {"--packed": "yes" if judging.packed else "no"},
        cost=partial(_cost, judging, opened.inner),
    )


def _cost(judging: Judging, judge: Judge, usage: Usage) -> float | None:
    """Dollars for what was used, where the price is known; a judge without tokens has none."""
    if not usage.prompt_tokens and not usage.completion_tokens:
        return None
    from assay.cli.plan import open_prices
    from assay.planning.models import endpoint_of
    from assay.planning.prices import cost_of

    place = endpoint_of(judge)
    prices = judging.prices_by(open_prices)
    cost = cost_of(usage, place.model, prices, base_url=place.base_url, batched=place.batched)
    return None if cost is None else cost.usd


def _on_ray(judging: Judging, part: Part, concurrency: int) -> Elsewhere:
    """The engine ray, each of whose workers makes the judge that the options describe."""
    limits = (judging.usd, judging.tokens, judging.requests)
    refused = {
        "--shard": part.shard,
        "--batch": judging.batch,
        "--offline": judging.offline or None,
        "--budget": next((limit for limit in limits if limit is not None), None),
    }
    if wrong := [name for name, value in refused.items() if value is not None]:
        raise ConfigError(f"{wrong[0]} does not go with --engine ray")
    from assay.scale.ray import run

    options = {"timeout": judging.timeout, "concurrency": judging.calls}

    def engine(folder: Path, told: Callable[[str], None], on_stop: Callable[[], None]) -> Outcome:
        return run(
            folder,
            judging.name or os.environ.get("ASSAY_JUDGE") or DEFAULT_JUDGE,
            actors=part.workers,
            concurrency=concurrency,
            packed=judging.packed,
            options={name: value for name, value in options.items() if value is not None},
            cache=judging.cache,
            rpm=judging.rpm,
            tpm=judging.tpm,
            retry_errors=part.retry_errors,
            watch=told,
            on_stop=on_stop,
        )

    return engine
