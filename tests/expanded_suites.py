"""Suites written into a folder, expanded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.suite.case import TestCase
from assay.suite.document import load_document
from assay.suite.expanding import expand
from assay.suite.files import Folder
from assay.suite.model import SuiteSpec
from assay.suite.problems import Problem
from assay.suite.templates import Templates

ENV = {"SECRET": "s3cret"}
HOSTILE = "{{env.SECRET}}{{7*7}}{% for x in [1] %}"


def expanded(
    folder: Path, config: str, files: Mapping[str, str] | None = None, **options: Any
) -> tuple[list[TestCase], list[Problem]]:
    for name, text in {"suite.yaml": config, **(files or {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    document = load_document(folder / "suite.yaml")
    spec = SuiteSpec.model_validate(document.data)
    options.setdefault("env", {})
    return expand(spec, document, Folder(folder), Templates(ENV), **options)


def cases(folder: Path, config: str, files: Mapping[str, str] | None = None, **options: Any) -> Any:
    found, problems = expanded(folder, config, files, **options)
    assert problems == []
    return found


def error(folder: Path, config: str, files: Mapping[str, str] | None = None, **options: Any) -> str:
    _, problems = expanded(folder, config, files, **options)
    (message,) = [str(p) for p in problems if p.severity == "error"]
    return message.replace(f"{folder}/", "")
