"""Commands and exit codes: 0 done, 1 usage or internal error, 2 done with failed samples."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.cache_commands import cache
from assay.cli.score_commands import JudgeName, merge, plan, score
from assay.cli.suite_commands import evaluate, schema, validate
from assay.cli.tables import plain
from assay.cli.wording import StoppedError
from assay.errors import AssayError
from assay.version import __version__

app = typer.Typer(
    name="assay",
    help="Claim-level evaluation of RAG and generated text.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def main() -> None:
    """Entry point: runs a command and ends the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of a command line; deliberate errors become one line on stderr."""
    return exit_code(lambda: app(arguments, standalone_mode=False))


def exit_code(command: Callable[[], object]) -> int:
    """The exit code of a command; deliberate errors become one line on stderr."""
    try:
        code = command()
        if code == INTERRUPTED:  # the command-line library makes an exit code of an interrupt
            raise KeyboardInterrupt  # noqa: TRY301
        return code if isinstance(code, int) else 0
    except StoppedError as stopped:
        print(f"assay: stopped; {plain(stopped)}", file=sys.stderr)
        return INTERRUPTED
    except AssayError as error:
        print(f"assay: {plain(error)}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, typer.Abort):
        print("assay: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; nothing more can be said to it.
        sys.stderr.close()
        return 1
    except Exception as error:
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()  # a usage error of the command-line library, which would exit with 2
            return 1 if error.exit_code else 0
        raise


def _version(wanted: bool) -> None:
    if wanted:
        print(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Claim-level evaluation of RAG and generated text."""


@app.command()
def demo(judge: JudgeName = None) -> int:
    """Score the bundled examples offline: table, one explained sample, agreement with gold."""
    from assay.cli.demo import demo as command

    return command(judge)


app.command()(score)
app.command()(plan)
app.command()(merge)
app.command("eval")(evaluate)
app.command()(validate)
app.command()(schema)


@app.command()
def explain(
    rows: Annotated[Path, typer.Argument(help="A .jsonl file written by 'assay score'.")],
    sample: Annotated[str | None, typer.Option("--id", help="The sample's id.")] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", "-m", help="Only the claims of this metric.")
    ] = None,
) -> int:
    """Show the claims, verdicts and evidence behind one sample's scores."""
    from assay.cli.explain import explain as command

    return command(rows, sample, metric)


@app.command()
def migrate(
    source: Annotated[
        str,
        typer.Argument(help="A script, data or a promptfoo config; it is read and never run."),
    ],
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="The new file; stdout without it.")
    ] = None,
) -> int:
    """Rewrite what was made for ragas, RAGChecker, Valor or promptfoo; 2 if something is left."""
    from assay.cli.migrate import migrate as command

    return command(source, out)


@app.command()
def metrics() -> int:
    """List the metrics: quantity, direction, parameters, what they need."""
    from assay.cli.listing import list_metrics

    return list_metrics()


@app.command()
def judges() -> int:
    """List the judges, and how often the embedded one agrees with people."""
    from assay.cli.listing import list_judges

    return list_judges()


app.add_typer(cache, name="cache")
