"""The pytest plugin: options, the fixture ``judge``, suites in YAML; it imports little."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from assay.pytest_plugin.session import CURRENT, Session

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from assay.asks import Judge
    from assay.pytest_plugin.collecting import SuiteFile

FILES = ("*.assay.yaml", "*.assay.yml")
SESSION = pytest.StashKey[Session]()
_REMARKS = "assay_remarks"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and settings, each named for assay."""
    group = parser.getgroup("assay", "scores of generated text")
    group.addoption(
        "--assay-judge",
        metavar="NAME",
        help="judge of the session and of suites that name none: embedded, openai:MODEL, ..."
        " (else: variable ASSAY_JUDGE, setting assay_judge, embedded)",
    )
    group.addoption(
        "--assay-packed",
        action="store_true",
        help="judges over a network get all contexts of a sample in one call",
    )
    group.addoption(
        "--assay-allow-code",
        action="store_true",
        help="suites may run programs: python and exec providers, python assertions",
    )
    parser.addini("assay_judge", "judge where neither --assay-judge nor ASSAY_JUDGE names one")
    parser.addini("assay_packed", "as --assay-packed", type="bool", default=False)
    parser.addini(
        "assay_files", "patterns of files that are suites", type="args", default=list(FILES)
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the session, which opens nothing before its first use."""
    name = config.getoption("assay_judge") or os.environ.get("ASSAY_JUDGE")
    session = Session(
        name or config.getini("assay_judge") or None,
        packed=config.getoption("assay_packed") or config.getini("assay_packed"),
        allow_code=config.getoption("assay_allow_code"),
    )
    config.stash[SESSION] = session


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what the session opened."""
    if (session := config.stash.get(SESSION, None)) is not None:
        session.close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """A suite, where the name of the file says that it is one."""
    if not any(file_path.match(pattern) for pattern in parent.config.getini("assay_files")):
        return None
    from assay.pytest_plugin.collecting import SuiteFile

    return SuiteFile.from_parent(parent, path=file_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let `assert_scores` know the session while a test runs."""
    token = CURRENT.set(item.config.stash[SESSION])
    try:
        return (yield)
    finally:
        CURRENT.reset(token)


@pytest.fixture(scope="session")
def judge(request: pytest.FixtureRequest) -> Judge:
    """The judge that --assay-judge, ASSAY_JUDGE or assay_judge names, closed with the session."""
    from assay.errors import AssayError

    try:
        return request.config.stash[SESSION].open()
    except AssayError as error:
        why = str(error)
    pytest.fail(why, pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the remarks of a worker of pytest-xdist to the process that prints them."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_REMARKS] = session.config.stash[SESSION].remarks


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the remarks of a worker that ends."""
    for text in getattr(node, "workeroutput", {}).get(_REMARKS, ()):
        node.config.stash[SESSION].remark(text)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what suites warn of; as warnings of Python's they would fail some projects."""
    if remarks := terminalreporter.config.stash[SESSION].remarks:
        terminalreporter.section("assay")
        for text in remarks:
            terminalreporter.line(text)
