"""``assay validate`` and ``assay schema``: configs checked without running, and their schema."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.cli.tables import plain
from assay.errors import AssayError
from assay.suite.environment import environment
from assay.suite.evaluating import Choices, check_suite, secrets_of
from assay.suite.loading import Additions, Suite, find_config, load_suite
from assay.suite.problems import Place, Problem, SuiteError
from assay.suite.secrets import Secrets


def validate(configs: Sequence[str]) -> int:
    """Tell every problem of the configs; 1 if one cannot run."""
    from assay.cli.eval import check_settings

    failed = 0
    for path in [Path(one) for one in configs] or [find_config(Path())]:
        try:
            suite = checked(path, Additions(), None)
            if suite is not None:
                check_settings(suite)
        except AssayError as error:
            say(Problem(Place(str(path)), str(error)), Secrets.from_environment(os.environ))
            suite = None
        if suite is None:
            failed += 1
            continue
        tests, prompts = len(suite.cases), len(suite.prompts)
        providers = len(suite.spec.providers or suite.spec.targets)
        print(plain(f"{path}: {tests} tests, {prompts} prompts, {providers} providers: can run"))
    return 1 if failed else 0


def checked(path: Path | None, additions: Additions, choices: Choices | None) -> Suite | None:
    """A suite that can run, its warnings told; None if it cannot, its errors told.

    ``choices`` are those of the command line, None where it only checks.
    """
    try:
        suite = load_suite(path, additions)
    except SuiteError as error:
        secrets = Secrets.from_environment(os.environ)
        for problem in error.problems:
            say(problem, secrets)
        return None
    secrets = secrets_of(suite)
    with environment(suite.spec.env):
        found = [*suite.warnings, *check_suite(suite, choices, secrets)]
    for problem in sorted(found, key=lambda one: one.place):
        say(problem, secrets)
    return None if any(problem.severity == "error" for problem in found) else suite


def say(problem: Problem, secrets: Secrets) -> None:
    """Write a problem to stderr, without secrets."""
    print(plain(secrets.scrub(str(problem))), file=sys.stderr)


def schema() -> int:
    """Print the JSON Schema of a config."""
    from assay.suite.schema import config_schema

    print(json.dumps(config_schema(), indent=2))
    return 0
