"""Files of a suite's results: the ending of a name says the format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.errors import ConfigError, DataError, MissingExtra
from assay.store import to_json
from assay.suite.outcome import SuiteRun
from assay.suite.outputs.findings import rows_of
from assay.suite.outputs.html import render_html
from assay.suite.outputs.junit import render_junit
from assay.suite.outputs.markdown import render_markdown
from assay.suite.outputs.record import as_record
from assay.suite.outputs.table import render_csv

Scrub = Callable[[Any], Any]
"""Takes JSON-able data and gives it back without secrets."""

Record = Mapping[str, Any]


def check_outputs(paths: Sequence[Path]) -> None:
    """Refuse, before anything runs, files that could not be written afterwards.

    Raises ConfigError for an unknown ending, a folder that is not there or not writable, a path
    that is no file, and one that is given twice; MissingExtra where a package is not installed.
    """
    for n, path in enumerate(paths):
        if ending(path) in YAML:
            _yaml()
        if path in paths[:n]:
            raise ConfigError(f"cannot write {path} twice; give each output a name of its own")
        if not path.parent.is_dir():
            raise ConfigError(f"cannot write {path}: the folder {path.parent} does not exist")
        if path.is_dir():
            raise ConfigError(f"cannot write {path}: it is a folder; name a file in it")
        if path.exists() and not path.is_file():
            raise ConfigError(f"cannot write {path}: it is not a plain file")
        if not os.access(path.parent, os.W_OK):
            raise ConfigError(f"cannot write {path}: the folder {path.parent} is not writable")


def write_outputs(run: SuiteRun, paths: Sequence[Path], *, scrub: Scrub) -> None:
    """Write the run to each path, whole or not at all; one that fails keeps no other from it.

    ``scrub`` gets the run as JSON-able data before anything is made of it. Raises what
    `check_outputs` raises, and DataError when the disk refuses.
    """
    check_outputs(paths)
    if not paths:
        return
    record = scrub(as_record(run))
    refused: list[DataError] = []
    for path in paths:
        try:
            _replace(path, RENDERERS[ending(path)](record))
        except DataError as error:
            refused.append(error)
    if refused:
        raise refused[0]


def append_step_summary(run: SuiteRun, path: Path, scrub: Scrub) -> None:
    """Add a page of Markdown to the file that GitHub Actions names in GITHUB_STEP_SUMMARY.

    Raises DataError when the disk refuses.
    """
    page = _encoded(render_markdown(scrub(as_record(run))))
    with _refusals(path), path.open("ab") as file:
        # Whatever another step wrote last may lack the end of its line.
        file.write(b"\n" + page if file.tell() else page)


def ending(path: Path) -> str:
    """The known ending of a file's name, in small letters; raises ConfigError for another."""
    name = path.name.lower()
    for known in RENDERERS:
        if name.endswith(known):
            return known
    raise ConfigError(f"cannot write {path.name!r}; known endings: {', '.join(RENDERERS)}")


def _render_json(record: Record) -> str:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2)
    # A lone surrogate has no UTF-8; escaped it survives.
    whole = _encoded(text).decode("utf-8") == text
    return (text if whole else json.dumps(record, allow_nan=False, indent=2)) + "\n"


def _render_jsonl(record: Record) -> str:
    return "".join(to_json(row) + "\n" for row in rows_of(record))


def _render_yaml(record: Record) -> str:
    yaml = _yaml()
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    options = {"allow_unicode": True, "sort_keys": False, "width": 100}
    try:
        text = yaml.dump(record, Dumper=dumper, **options)
    except UnicodeEncodeError:
        # libyaml cannot take lone surrogates; the dumper in Python escapes them.
        text = yaml.dump(record, Dumper=yaml.SafeDumper, **options)
    return str(text)


YAML = (".yaml", ".yml")

RENDERERS: Mapping[str, Callable[[Record], str]] = MappingProxyType(
    {
        ".json": _render_json,
        ".jsonl": _render_jsonl,
        ".yaml": _render_yaml,
        ".yml": _render_yaml,
        ".csv": render_csv,
        ".html": render_html,
        ".junit.xml": render_junit,
        ".xml": render_junit,
        ".md": render_markdown,
    }
)
"""What writes each ending; .xml is JUnit's as well."""


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtra("pyyaml", "yaml") from None
    return yaml


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")


def _replace(path: Path, text: str) -> None:
    # A link keeps being one: what it points to is replaced.
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:40]}.{os.getpid()}.partial")
    with _refusals(path):
        try:
            beside.unlink(missing_ok=True)
            with beside.open("xb") as file:
                file.write(_encoded(text))
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Refusals of the disk as DataError."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}; make room or give another -o, and "
            "run again"
        ) from error
