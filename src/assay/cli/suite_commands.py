"""The commands about suites: run, check, describe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Ask judges anew, also what they answered before.")
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Only what judges answered before; nothing is asked.")
]
Configs = Annotated[
    list[str] | None,
    typer.Option("--config", "-c", help="A suite; promptfooconfig.yaml or assay.yaml without it."),
]
Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="SUITE", help="The same as -c.", show_default=False),
]


def evaluate(
    files: Files = None,
    config: Configs = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            help="FILE.json, .jsonl, .yaml, .csv, .html, .junit.xml or .md. Repeatable.",
        ),
    ] = None,
    grader: Annotated[
        str | None,
        typer.Option(
            "--grader",
            help="The judge where the suite names none: embedded (default), openai:MODEL ...",
        ),
    ] = None,
    max_concurrency: Annotated[
        int | None,
        typer.Option(
            "--max-concurrency", "-j", min=1, max=1024, help="Answers in work at once; 8."
        ),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option("--repeat", min=1, help="Run every test so many times.")
    ] = None,
    delay: Annotated[
        float | None, typer.Option("--delay", min=0, help="Milliseconds between answers.")
    ] = None,
    no_cache: NoCache = False,
    offline: Offline = False,
    var: Annotated[
        list[str] | None,
        typer.Option("--var", help="NAME=VALUE: a variable for all tests. Repeatable."),
    ] = None,
    first: Annotated[
        int | None, typer.Option("--filter-first-n", "-n", min=1, help="Only the first tests.")
    ] = None,
    pattern: Annotated[
        str | None, typer.Option("--filter-pattern", help="Only tests whose description matches.")
    ] = None,
    span: Annotated[
        str | None, typer.Option("--filter-range", help="FIRST:END, tests counted from 0.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--filter-sample", min=1, help="So many tests, drawn at random.")
    ] = None,
    seed: Annotated[int, typer.Option("--filter-sample-seed", help="Which tests are drawn.")] = 0,
    metadata: Annotated[
        list[str] | None,
        typer.Option("--filter-metadata", help="KEY=VALUE of a test's metadata. Repeatable."),
    ] = None,
    providers: Annotated[
        str | None,
        typer.Option("--filter-providers", "--filter-targets", help="Only providers that match."),
    ] = None,
    prompts: Annotated[
        str | None, typer.Option("--filter-prompts", help="Only prompts whose label matches.")
    ] = None,
    failing: Annotated[
        Path | None,
        typer.Option("--filter-failing", help="Only what did not pass in this results .json."),
    ] = None,
    provider: Annotated[
        list[str] | None,
        typer.Option("--provider", "-r", help="Tested in place of the suite's. Repeatable."),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option("--prompt", "-p", help="A prompt, in place of the suite's. Repeatable."),
    ] = None,
    assertions: Annotated[
        Path | None,
        typer.Option("--assertions", "-a", help="A YAML file of assertions that all tests get."),
    ] = None,
    model_outputs: Annotated[
        Path | None,
        typer.Option("--model-outputs", help="Grade the answers in this .json; ask no provider."),
    ] = None,
    packed: Annotated[
        bool, typer.Option("--packed", help="All contexts of a test in one call (LLM judges).")
    ] = False,
    allow_code: Annotated[
        bool,
        typer.Option("--allow-code", help="Run the python: and exec: programs that a suite names."),
    ] = False,
    no_table: Annotated[bool, typer.Option("--no-table", help="No table of results.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")] = False,
    no_progress: Annotated[
        bool, typer.Option("--no-progress-bar", help="No progress.", hidden=True)
    ] = False,
    _no_write: Annotated[bool, typer.Option("--no-write", hidden=True)] = False,
    _share: Annotated[bool, typer.Option("--share/--no-share", hidden=True)] = False,
) -> int:
    """Run a suite of tests in YAML; 100 if too few pass, 1 if it cannot run."""
    from assay.cli.eval import Wishes
    from assay.cli.eval import evaluate as command
    from assay.suite.evaluating import Choices
    from assay.suite.filters import Filters

    filters = Filters(
        pattern, metadata or (), providers, prompts, span, failing, sample, seed, first
    )
    choices = Choices(
        grader,
        max_concurrency,
        repeat,
        delay,
        packed,
        allow_code,
        filters,
        model_outputs,
    )
    wishes = Wishes(
        output or (),
        var or (),
        provider or (),
        prompt or (),
        assertions,
        quiet,
        not no_progress,
        not no_table,
        not no_cache,
        offline,
    )
    return command([*(config or ()), *(files or ())], choices, wishes)


def validate(files: Files = None, config: Configs = None) -> int:
    """Check suites without running them; 1 if one cannot run."""
    from assay.cli.suites import validate as command

    return command([*(config or ()), *(files or ())])


def schema() -> int:
    """Print the JSON Schema of suites, for editors."""
    from assay.cli.suites import schema as command

    return command()
