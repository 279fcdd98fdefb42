"""A local server that plays the model under test and the judge, and suites run against it.

    with Endpoint(answer=lambda prompt: "Paris.").in_thread() as server:
        record = ran(tmp_path, config.replace("URL", server.url))

A call whose last message is plain text is for the model under test; one in the form of assay's
judges is answered by the oracle.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.cli.app import run
from servers import FakeOpenAI, Fault, data_of, kind_of

Model = Callable[[str], str]
"""From the prompt to the model's reply."""


class Endpoint(FakeOpenAI):
    """The server; ``answer`` is the model under test. Other arguments are the judge's."""

    def __init__(self, *args: Any, answer: Model = str.upper, **options: Any) -> None:
        super().__init__(*args, **options)
        self.answer = answer

    @property
    def prompts(self) -> list[str]:
        """The prompts that the model under test was asked, in the order of arrival."""
        return [_last(body) for body in self.bodies if _is_plain(body)]

    @property
    def judged(self) -> int:
        """The calls that were for the judge."""
        return self.calls - len(self.prompts)

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[Endpoint]:
        with super().in_thread():
            yield self

    def asked(self, kind: str) -> list[dict[str, Any]]:
        chats = [data_of(one) for one in self.bodies if "messages" in one and not _is_plain(one)]
        return [data for data in chats if kind_of(data) == kind]

    def _completion(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        if not _is_plain(body):
            return super()._completion(body, fault)
        text = self.answer(_last(body))
        message = {"role": "assistant", "content": text, **(fault.message or {})}
        return {
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": fault.finish}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12},
        }


def _last(body: Mapping[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def _is_plain(body: Mapping[str, Any]) -> bool:
    return "messages" in body and not _last(body).startswith("nonce ")


def written(folder: Path, config: str, files: Mapping[str, str] | None = None) -> Path:
    """The config in a folder, with other files beside it."""
    for name, text in {"suite.yaml": config, **(files or {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder / "suite.yaml"


def evaluated(
    folder: Path, config: str, *arguments: str, files: Mapping[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    """The exit code of ``assay eval`` and the record of its results, {} if there is none."""
    path, out = written(folder, config, files), folder / "results.json"
    out.unlink(missing_ok=True)
    code = run(["eval", "-c", str(path), "-o", str(out), "-q", *arguments])
    return code, json.loads(out.read_text("utf-8")) if out.exists() else {}


def rows_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a result."""
    found: list[dict[str, Any]] = record["results"]["results"]
    return found


def parts_of(record: Mapping[str, Any], row: int = 0) -> list[dict[str, Any]]:
    """What came of each assertion of a row."""
    found: list[dict[str, Any]] = rows_of(record)[row]["gradingResult"]["componentResults"]
    return found


def ran(
    folder: Path, config: str, *arguments: str, files: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """What came of each assertion of the only result."""
    _, record = evaluated(folder, config, *arguments, files=files)
    (row,) = rows_of(record)
    return parts_of({"results": {"results": [row]}})


def statuses(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    return [part["status"] for part in parts]
