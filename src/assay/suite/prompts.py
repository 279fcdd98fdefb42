"""Prompts of a suite: templates of one text or of chat messages, and what they become."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from assay.errors import ConfigError
from assay.suite.document import read_document
from assay.suite.files import Folder
from assay.suite.model import PromptSpec, SuiteSpec
from assay.suite.problems import SuiteError
from assay.suite.templates import Templates

Message = dict[str, Any]

PROMPT_FILES = (".txt", ".md", ".j2", ".json", ".yaml", ".yml")
DEFAULT = "{{prompt}}"
"""The prompt of a suite that names none."""

_LONGEST_LABEL = 80
_SEPARATOR = re.compile(r"^---$", re.MULTILINE)
_PATH = re.compile(r"\S+\.(?:txt|md|j2|json|ya?ml)")
_PROGRAM = re.compile(r"(?:file://)?\S+\.(?:py|[cm]?[jt]s|rb|go|sh)(?::\w+)?|exec:.*")
_REMOTE = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://\S+")
_MEANT_AS_CHAT = re.compile(r'\s*\[\s*\{\s*"(?:role|content)"')


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template; that of a chat is the JSON of its messages, whose texts are templates."""

    label: str
    source: str
    kind: Literal["text", "chat"] = "text"
    id: str = ""
    entry: int = 0
    """Which of the config's prompts it comes from, counted from 0."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Every template in it, as it is rendered."""
        return (self.source,) if self.kind == "text" else tuple(_texts(json.loads(self.source)))


def load_prompts(spec: SuiteSpec, folder: Folder, templates: Templates) -> list[Prompt]:
    """The prompts of a suite in order, each with a label of its own; ``{{prompt}}`` without any.

    Raises ConfigError for a file that is missing, outside of the folder or no prompt, and for
    prompts that are programs or kept elsewhere.
    """
    given = spec.prompts or [PromptSpec(raw=DEFAULT)]
    out: list[Prompt] = []
    taken: set[str] = set()
    for n, one in enumerate(given):
        for prompt in _of(one, folder, templates):
            label = _free(prompt.label, taken)
            taken.add(label)
            out.append(replace(prompt, label=label, entry=n))
    return out


def render(
    prompt: Prompt,
    vars: Mapping[str, Any],
    templates: Templates,
    *,
    prefix: str | None = None,
    suffix: str | None = None,
) -> str | list[Message]:
    """The prompt with the variables filled in: a text, or the messages of a chat.

    Every template is rendered once, so that what variables hold is never a template, and no
    message of a chat can end within a variable. ``prefix`` and ``suffix`` are put around the text
    as they are; of a chat, around the text of the user's last message. Raises TemplateError.
    """
    before, after = prefix or "", suffix or ""
    if prompt.kind == "text":
        return before + templates.render(prompt.source, vars) + after
    messages: list[Message] = _rendered(json.loads(prompt.source), vars, templates)
    if before or after:
        for message in reversed(messages):
            if message["role"] == "user" and isinstance(message.get("content"), str):
                message["content"] = before + message["content"] + after
                break
    return messages


def _of(spec: PromptSpec, folder: Folder, templates: Templates) -> Iterator[Prompt]:
    """The prompts that one entry of the config stands for."""
    raw = spec.raw or spec.id or ""
    if not raw.strip():
        raise ConfigError("a prompt is empty: write its text, or file:// and the file's name")
    ref = raw.strip()
    templated = templates.has_template(ref)
    if not templated and _PROGRAM.fullmatch(ref):
        raise ConfigError(f"{_short(ref)}: prompts are not made by programs; write the template")
    if not templated and _REMOTE.fullmatch(ref):
        raise ConfigError(f"{_short(ref)}: prompts are not fetched; save it as a file")
    names = {"id": spec.id or "", "label": spec.label or (spec.id or "" if spec.raw else "")}
    if not ref.startswith("file://") and (templated or not _PATH.fullmatch(ref)):
        yield _named(_from_text(raw), **names)
        return
    for file in folder.glob(ref, PROMPT_FILES):
        for prompt in _from_file(file, folder):
            yield _named(prompt, **names)


def _named(prompt: Prompt, *, id: str, label: str) -> Prompt:
    short = " ".join(prompt.source.split())[:_LONGEST_LABEL]
    return replace(prompt, id=id, label=label or short)


def _free(label: str, taken: set[str]) -> str:
    """The label, with a number behind it if it is taken."""
    name, number = label, 1
    while name in taken:
        number += 1
        name = f"{label} #{number}"
    return name


def _from_text(text: str) -> Prompt:
    """A prompt out of its own text; the JSON of messages is a chat."""
    if text.lstrip().startswith("["):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if data is not None and _is_chat(data):
            return _chat(data)
        if data is None and _MEANT_AS_CHAT.match(text):
            raise ConfigError(
                f"the messages of {_short(text)} are no JSON: templates must stand within quotes,"
                ' as in {"role": "user", "content": "{{question}}"}, also without | dump'
            )
    return Prompt("", text)


def _from_file(file: Path, folder: Folder) -> list[Prompt]:
    text = folder.read_text(file)
    suffix = file.suffix.lower()
    if suffix in (".json", ".yaml", ".yml"):
        return [_chat_in(text, file.name)]
    pieces = _SEPARATOR.split(text) if suffix == ".txt" else [text]
    prompts = [_from_text(piece.strip()) for piece in pieces if piece.strip()]
    if not prompts:
        raise ConfigError(f"{file.name} has no prompt in it")
    return prompts


def _chat_in(text: str, name: str) -> Prompt:
    """The chat in a JSON or YAML file."""
    try:
        data = read_document(text, name, refs=False).data
    except SuiteError as error:
        raise ConfigError(f"{error.problems[0]} (templates must stand within texts)") from None
    if not _is_chat(data):
        raise ConfigError(f"{name}: it must be a list of messages, each with role and content")
    return _chat(data)


def _chat(data: Sequence[Message]) -> Prompt:
    return Prompt("", json.dumps(data, ensure_ascii=False), "chat")


def _is_chat(data: Any) -> bool:
    """Whether data is a list of messages."""
    return (
        isinstance(data, list)
        and bool(data)
        and all(
            isinstance(one, dict)
            and isinstance(one.get("role"), str)
            and isinstance(one.get("content"), str | list | None)
            and one.keys() & {"content", "tool_calls"}
            for one in data
        )
    )


def _rendered(value: Any, vars: Mapping[str, Any], templates: Templates) -> Any:
    if isinstance(value, str):
        return templates.render(value, vars)
    if isinstance(value, list):
        return [_rendered(item, vars, templates) for item in value]
    if isinstance(value, dict):
        return {key: _rendered(item, vars, templates) for key, item in value.items()}
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
