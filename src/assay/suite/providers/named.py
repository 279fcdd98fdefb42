"""Providers by name, as a suite's config writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.errors import ConfigError, did_you_mean
from assay.suite.providers.base import Provider
from assay.suite.secrets import Secrets

if TYPE_CHECKING:
    from assay.suite.files import Folder
    from assay.suite.templates import Templates

PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "openai:MODEL": "a chat model at any OpenAI-compatible endpoint (config.apiBaseUrl)",
        "ollama:MODEL": "a local model of Ollama",
        "openrouter:MODEL": "a model at OpenRouter (OPENROUTER_API_KEY)",
        "mistral:MODEL": "a model at Mistral (MISTRAL_API_KEY)",
        "groq:MODEL": "a model at Groq (GROQ_API_KEY)",
        "deepseek:MODEL": "a model at DeepSeek (DEEPSEEK_API_KEY)",
        "together:MODEL": "a model at Together (TOGETHER_API_KEY)",
        "xai:MODEL": "a model at xAI (XAI_API_KEY)",
        "https://URL": "an HTTP endpoint, also http://; config says what is sent and read",
        "http": "an HTTP endpoint at config.url",
        "echo": "answers with the prompt itself",
        "replay:FILE": "answers from a JSON or JSON-lines file",
        "python:FILE.py": "call_api, or FILE.py:FUNCTION, of a Python file; needs --allow-code",
        "exec: COMMAND": "a command's stdout; needs --allow-code",
    }
)
"""Ids of providers with what each is."""
_FILE = "file://"
_ENDINGS = (".jsonl", ".json", ".ndjson")


@dataclass(frozen=True, slots=True)
class _Given:
    """What every kind of provider is made of."""

    id: str
    label: str | None
    config: Mapping[str, Any]
    templates: Templates
    folder: Folder
    secrets: Secrets
    allow_code: bool
    concurrency: int


def open_provider(
    spec: str | Mapping[str, Any],
    *,
    templates: Templates,
    folder: Folder,
    secrets: Secrets,
    allow_code: bool,
    concurrency: int,
) -> Provider:
    """The provider of an id, or of {id, label, config}; nothing is asked or started yet.

    Files are found in ``folder``; programs run only with ``allow_code``; ``concurrency`` is the
    number of calls at once. A ``delay`` in the spec is for whoever calls. Raises ConfigError for
    what cannot work, DataError for a file of answers that cannot be read.
    """
    whole = {"id": spec} if isinstance(spec, str) else spec
    name, label, config = whole.get("id"), whole.get("label"), whole.get("config")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"a provider has no id; {_listed()}")
    if label is not None and not isinstance(label, str):
        raise ConfigError(f"provider {name}: its label must be a text")
    config = {} if config is None else config
    if not isinstance(config, Mapping):
        raise ConfigError(f"provider {name}: config must be a mapping of names to values")
    given = _Given(name.strip(), label, config, templates, folder, secrets, allow_code, concurrency)
    return _opened(given)


def _opened(given: _Given) -> Provider:
    kind = given.id.partition(":")[0]
    if kind in ("http", "https"):
        from assay.suite.providers.http import HttpProvider

        return HttpProvider(
            given.id,
            given.config,
            templates=given.templates,
            secrets=given.secrets,
            label=given.label,
            concurrency=given.concurrency,
        )
    if given.id == "echo":
        from assay.suite.providers.echo import EchoProvider

        return EchoProvider(given.label)
    if kind in ("replay", "python", "exec", "file"):
        return _of_files(kind, given)
    return _chat(kind, given)


def _of_files(kind: str, given: _Given) -> Provider:
    """A provider that is a file or program of the user's."""
    ref = given.id.removeprefix(f"{kind}:").strip()
    if kind == "exec":
        return _command(given)
    file = ref.removeprefix("//") if kind == "file" else ref.removeprefix(_FILE)
    if kind == "replay" or (kind == "file" and file.endswith(_ENDINGS)):
        return _replay(file, given)
    from assay.suite.providers.program import python_file
    from assay.suite.providers.python import FUNCTION, PythonProvider

    name, function = python_file(file, FUNCTION)
    if not name.endswith(".py"):
        raise ConfigError(
            f"provider {given.id}: a file of Python (.py) or of answers (.jsonl, .json) can"
            " answer; other programs run as exec: COMMAND"
        )
    _allowed(given)
    return PythonProvider(
        given.id,
        _existing(name, given),
        function,
        given.config,
        templates=given.templates,
        secrets=given.secrets,
        label=given.label,
        folder=given.folder.root,
    )


def _command(given: _Given) -> Provider:
    from assay.suite.providers.command import CommandProvider

    _allowed(given)
    return CommandProvider(
        given.id,
        given.config,
        templates=given.templates,
        secrets=given.secrets,
        label=given.label,
        folder=given.folder.root,
        concurrency=given.concurrency,
    )


def _replay(file: str, given: _Given) -> Provider:
    from assay.suite.providers.answers import read_rows
    from assay.suite.providers.replay import ReplayProvider

    path = given.folder.resolve(file, allowed=_ENDINGS)
    rows = read_rows(given.folder.read_text(path), file)
    return ReplayProvider(given.id, rows, given.label)


def _chat(kind: str, given: _Given) -> Provider:
    from assay.suite.providers.openai import VENDORS, OpenAIProvider

    if kind not in VENDORS:
        known = [*VENDORS, "echo", "http", "https", "replay", "python", "exec"]
        raise ConfigError(
            f"unknown provider {given.id!r}; {did_you_mean(kind, known)} (an OpenAI-compatible"
            " endpoint of any vendor is openai:MODEL with config.apiBaseUrl)"
        )
    return OpenAIProvider(
        given.id,
        given.config,
        templates=given.templates,
        secrets=given.secrets,
        label=given.label,
        concurrency=given.concurrency,
    )


def _allowed(given: _Given) -> None:
    if not given.allow_code:
        raise ConfigError(
            f"provider {given.id} runs a program: allow that with --allow-code, if you trust this"
            " suite"
        )


def _existing(name: str, given: _Given) -> Path:
    path = given.folder.resolve(name, allowed=(".py",))
    if not path.is_file():
        raise ConfigError(f"provider {given.id}: there is no file {name} in the suite's folder")
    return path


def _listed() -> str:
    return "there are " + ", ".join(PROVIDERS)
