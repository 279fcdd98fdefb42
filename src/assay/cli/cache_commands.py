"""The commands about the answer cache."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

cache = typer.Typer(help="What judges answered before.", no_args_is_help=True)


@cache.command("stats")
def cache_stats() -> int:
    """Where answers are kept, how many of which judge at which URL, their size and age."""
    from assay.cli.cache import cache_stats as command

    return command()


@cache.command("clear")
def cache_clear(
    judge: Annotated[
        str | None, typer.Option("--judge", help="Only answers of this judge.")
    ] = None,
    fingerprint: Annotated[
        str | None,
        typer.Option(
            "--fingerprint", help="Only answers under this fingerprint, as stats shows it."
        ),
    ] = None,
    days: Annotated[
        int | None, typer.Option("--older-than", min=0, help="Only answers older than DAYS.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> int:
    """Forget what judges answered."""
    from assay.cli.cache import cache_clear as command

    return command(judge, days, yes, fingerprint)


@cache.command("export")
def cache_export(
    out: Annotated[Path, typer.Argument(help="FILE.jsonl, or - for stdout.")],
) -> int:
    """Write all answers with their questions, a line each."""
    from assay.cli.cache import cache_export as command

    return command(out)
