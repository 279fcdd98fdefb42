"""``assay eval``: suites in YAML run, shown and written; their exit codes."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assay.api import run_sync
from assay.cli.progress import Progress
from assay.cli.remembering import remember
from assay.cli.suite_tables import suite_table, summary_lines
from assay.cli.suites import checked
from assay.cli.tables import console, plain
from assay.errors import AssayError, ConfigError
from assay.suite.environment import environment
from assay.suite.evaluating import Choices, evaluate_suite, secrets_of
from assay.suite.filters import failing_in, span_of
from assay.suite.loading import Additions, Suite, find_config
from assay.suite.outcome import Result, SuiteRun
from assay.suite.outputs.writers import append_step_summary, check_outputs, write_outputs
from assay.suite.secrets import Secrets

BELOW = 100.0
"""Exit code where fewer tests passed than were to."""
RATE = "PROMPTFOO_PASS_RATE_THRESHOLD"
CODE = "PROMPTFOO_FAILED_TEST_EXIT_CODE"


@dataclass(frozen=True)
class Wishes:
    """What of a command line is about showing and writing."""

    outputs: Sequence[str] = ()
    variables: Sequence[str] = ()
    providers: Sequence[str] = ()
    prompts: Sequence[str] = ()
    assertions: Path | None = None
    quiet: bool = False
    progress: bool = True
    table: bool = True
    cache: bool = True
    offline: bool = False

    def additions(self) -> Additions:
        """What goes before the configs."""
        variables = dict(_variable(one) for one in self.variables)
        return Additions(variables, self.providers, self.prompts, self.assertions)

    def remembering(self, choices: Choices, suite: Suite) -> Choices:
        """The choices with the answer cache, unless the suite or the command line is without."""
        cache = self.cache and (self.offline or suite.spec.evaluate_options.cache is not False)
        return replace(choices, remember=remember(cache=cache, offline=self.offline))


def _paths(configs: Sequence[str], wishes: Wishes) -> Sequence[Path | None]:
    if not configs and wishes.assertions is not None:
        return [None]
    return [Path(one) for one in configs] or [find_config(Path())]


def evaluate(configs: Sequence[str], choices: Choices, wishes: Wishes) -> int:
    """Run suites; 0 if enough tests passed, 100 (or as the environment says) if not."""
    additions = wishes.additions()
    # Every suite is read and checked before any is run.
    found = [checked(path, additions, choices) for path in _paths(configs, wishes)]
    suites = [suite for suite in found if suite is not None]
    if len(suites) < len(found):
        return 1
    outputs, bar = _outputs(suites, wishes.outputs), _Bar.of(suites[0])
    check_outputs([path for paths in outputs for path in paths])
    if (before := choices.filters.failing) is not None and not failing_in(before):
        _say(f"nothing failed in {before}")
        return 0
    passed, ran = 0, 0
    for suite, done in zip(suites, outputs, strict=True):
        secrets = secrets_of(suite)
        with environment(suite.spec.env), _scrubbed_errors(secrets):
            run = run_sync(_evaluated(suite, wishes.remembering(choices, suite), secrets, wishes))
        # Files first: whoever reads the table may stop reading.
        write_outputs(run, done, scrub=secrets.scrub_data)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            append_step_summary(run, Path(summary), secrets.scrub_data)
        _show(run, wishes, secrets)
        for path in done:
            _say(f"wrote {path}")
        passed += sum(result.passed for result in run.results)
        ran += sum(result.status != "skipped" for result in run.results)
    return bar.ends(100 * passed / ran if ran else 0.0)


async def _evaluated(suite: Suite, choices: Choices, secrets: Secrets, wishes: Wishes) -> SuiteRun:
    progress: list[Progress] = []

    def start(total: int) -> None:
        progress.append(Progress(total, quiet=wishes.quiet or not wishes.progress).__enter__())

    def step(result: Result) -> None:
        why = secrets.scrub(result.reason) if result.status == "error" else ""
        progress[0].step(failure=why)

    try:
        return await evaluate_suite(suite, choices, secrets, on_start=start, on_result=step)
    finally:
        for one in progress:
            one.__exit__(None, None, None)


def check_settings(suite: Suite) -> None:
    """Raise ConfigError for settings and output files of the config's own that cannot be."""
    _Bar.of(suite)
    if suite.spec.evaluate_options.filter_range:
        span_of(suite.spec.evaluate_options.filter_range)
    check_outputs(_outputs([suite], ())[0])


def _show(run: SuiteRun, wishes: Wishes, secrets: Secrets) -> None:
    """The table and the counts; a reader of stdout who has gone keeps nothing else from going."""
    if wishes.quiet:
        return
    try:
        _print(run, wishes, secrets)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich would end the process here
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _print(run: SuiteRun, wishes: Wishes, secrets: Secrets) -> None:
    screen = console()
    if run.description:
        screen.print(plain(secrets.scrub(run.description)), style="bold")
    if wishes.table:
        screen.print(suite_table(run, scrub=secrets.scrub_data))
    for line in summary_lines(run, scrub=secrets.scrub_data):
        screen.print(plain(line), soft_wrap=True)


@contextmanager
def _scrubbed_errors(secrets: Secrets) -> Iterator[None]:
    """Errors are raised without secrets in what they say."""
    try:
        yield
    except AssayError as error:
        said = secrets.scrub(str(error))
        if said == str(error):
            raise
        raise ConfigError(said) from None


def _outputs(suites: Sequence[Suite], given: Sequence[str]) -> list[list[Path]]:
    """The files that each suite writes: the command line's or, without any, its outputPath."""
    if not given:
        # A config may write into its own folder; elsewhere only who types -o may.
        return [[suite.folder.resolve(one) for one in suite.spec.output_path] for suite in suites]
    paths = [Path(one) for one in given]
    if len(suites) == 1:
        return [paths]
    stems = [suite.path.stem for suite in suites]
    return [
        [_own(path, stem if stems.count(stem) == 1 else f"{stem}-{n + 1}") for path in paths]
        for n, stem in enumerate(stems)
    ]


def _own(path: Path, suite: str) -> Path:
    """The file of one of several suites: results.json of a.yaml is results.a.json."""
    name, dot, endings = path.name.partition(".")
    return path.with_name(f"{name}.{suite}{dot}{endings}")


@dataclass(frozen=True, slots=True)
class _Bar:
    """The share of tests in percent that must pass, and the exit code if fewer do."""

    rate: float
    code: int

    @classmethod
    def of(cls, suite: Suite) -> _Bar:
        """By the environment and the suite's env; raises ConfigError."""
        code = _number(suite, CODE, BELOW, 255)  # what a process can end with
        if not code.is_integer():
            raise ConfigError(f"{CODE} is {suite.setting(CODE)!r}; it must be a whole number")
        return cls(_number(suite, RATE, 100.0, 100.0), int(code))

    def ends(self, rate: float) -> int:
        """The exit code."""
        return 0 if rate >= self.rate - 1e-9 else self.code


def _number(suite: Suite, name: str, default: float, high: float) -> float:
    """A setting from 0 to ``high``; raises ConfigError for anything else."""
    written = suite.setting(name)
    if not written:
        return default
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not 0 <= number <= high:
        raise ConfigError(f"{name} is {written!r}; it must be a number from 0 to {high:g}")
    return number


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError(f"--var {text!r}: write NAME=VALUE")
    return name, value


def _say(text: str) -> None:
    print(plain(text), file=sys.stderr)
