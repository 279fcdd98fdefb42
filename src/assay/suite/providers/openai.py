"""Chat models under test at OpenAI-compatible endpoints."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, ConfigError
from assay.judges.carrier import OPENAI, HttpCarrier, shown_url
from assay.judges.chat import CHAT, Chat, Path, Reply
from assay.judges.retrying import Backoff
from assay.judges.terms import Sampling
from assay.suite.providers.attempts import SECONDS, Tally, limiter_of
from assay.suite.providers.base import Answer, Request
from assay.suite.providers.completions import told
from assay.suite.providers.messages import as_messages
from assay.suite.providers.settings import Settings, keep_env, unset_env
from assay.suite.secrets import Secrets

if TYPE_CHECKING:
    from assay.suite.templates import Templates

VENDORS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "openai": (OPENAI, "OPENAI_API_KEY"),
        "ollama": ("http://localhost:11434/v1", "OLLAMA_API_KEY"),
        "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        "together": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
        "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    }
)
"""Prefixes of ids with the endpoint and the name of the variable that holds its key."""

SENT = (
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "top_p",
    "seed",
    "stop",
    "response_format",
    "frequency_penalty",
    "presence_penalty",
    "reasoning_effort",
    "verbosity",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "logprobs",
    "top_logprobs",
    "service_tier",
    "user",
)
"""Keys of the config that are sent as they are; nothing else is sent but what ``passthrough``
holds.
"""
KNOWN = (
    *SENT,
    "apiBaseUrl",
    "apiHost",
    "apiKey",
    "apiKeyEnvar",
    "headers",
    "organization",
    "passthrough",
    "timeout",
    "timeoutMs",
    "maxRetries",
)
INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "stream": "replies are read whole",
        "n": "one reply is read; use repeat",
        "cost": "prices are not reckoned",
    }
)
_FROM_ENV = re.compile(r"\{\{-?\s*env\.([A-Za-z_]\w*)\s*-?\}\}")
_UNSENDABLE = frozenset({"messages", "stream", "n"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model, the base URL that it is asked at, and the variable that holds the key."""

    model: str
    base_url: str
    api_key_env: str


def endpoint_of(
    id: str, config: Mapping[str, Any], templates: Templates, secrets: Secrets
) -> Endpoint | None:
    """Where an id such as "openai:chat:gpt-4o-mini" is asked; None if it is of no vendor here.

    Of the config, ``apiBaseUrl`` (or ``apiHost``), ``apiKeyEnvar`` and ``apiKey`` are read; the
    value of the key is counted as secret. Raises ConfigError.
    """
    if id.partition(":")[0] not in VENDORS:
        return None
    vendor, model = _model(id)
    settings = Settings(id, config)
    key = _key_name(settings, VENDORS[vendor][1])
    secrets.keep(os.environ.get(key, ""))
    return Endpoint(model, _base_url(settings, vendor, templates, secrets), key)


def key_note(
    id: str, config: Mapping[str, Any], templates: Templates, secrets: Secrets
) -> str | None:
    """That no key will be sent, where the config names one or the vendor wants one; else None.

    Raises ConfigError where `endpoint_of` does.
    """
    place = endpoint_of(id, config, templates, secrets)
    if place is None or os.environ.get(place.api_key_env):
        return None
    named = config.get("apiKeyEnvar") or config.get("apiKey")
    vendor = id.partition(":")[0]
    wants = vendor != "ollama" and place.base_url == VENDORS[vendor][0]
    if not (named or wants):
        return None
    return f"{place.api_key_env} is not set: no key is sent to {shown_url(place.base_url)}"


class OpenAIProvider:
    """A chat model at ``apiBaseUrl``, by default its vendor's endpoint.

    Only what the config says is sent. ``apiKeyEnvar`` names the variable that holds the key.
    ``timeout`` is in seconds, for one attempt; failures that may pass are tried again
    ``maxRetries`` times. A reply that was cut off or refused is an answer all the same: see
    ``finish_reason`` and ``refused`` in its metadata. Raises ConfigError.
    """

    def __init__(
        self,
        id: str,
        config: Mapping[str, Any],
        *,
        templates: Templates,
        secrets: Secrets,
        label: str | None = None,
        concurrency: int = 4,
        backoff: Backoff | None = None,
    ) -> None:
        place = endpoint_of(id, config, templates, secrets)
        if place is None:
            raise ConfigError(f"provider {id}: its id must begin with one of {', '.join(VENDORS)}")
        self.id, self.label = id, label or id
        settings = Settings(id, config, KNOWN, INSTEAD)
        self._body = _body(settings, place.model)
        self._secrets = secrets
        self._key = place.api_key_env
        self._carrier = _ModelCarrier(
            place.base_url,
            place.api_key_env,
            settings.timeout(SECONDS),
            _headers(settings, templates, secrets),
            secrets,
        )
        self._chat = Chat(
            place.model,
            self._carrier,
            Sampling(),  # what it says is sent by completions that judge; this body is our own
            limiter=limiter_of(settings, concurrency, backoff),
        )

    async def call(self, request: Request) -> Answer:
        """The model's reply; ``latency_ms`` is that of the attempt that succeeded."""
        self._secrets.keep(os.environ.get(self._key, ""))
        body = _Sent({**self._body, "messages": as_messages(request.prompt)})
        try:
            said = await self._chat.fetch(CHAT, body, told)
        except AssayError as error:
            return body.tally.of(Answer(error=self._secrets.scrub(str(error))))
        blocked = said.finish_reason == "content_filter" and not said.output
        answer = Answer(
            output=None if blocked else said.output,
            error="the endpoint's content filter took the reply away" if blocked else None,
            raw=said.raw,
            prompt_tokens=said.prompt_tokens,
            completion_tokens=said.completion_tokens,
            metadata={"finish_reason": said.finish_reason, "refused": said.refused},
        )
        return body.tally.of(answer)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._carrier.aclose()


class _Sent(dict[str, Any]):
    """A request's body with the tally of its call."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(body)
        self.tally = Tally()


class _ModelCarrier(HttpCarrier):
    """Carries with headers of the config, and counts what it sends on the bodies."""

    def __init__(
        self,
        base_url: str,
        key_env: str,
        timeout: float,
        headers: Mapping[str, str],
        secrets: Secrets,
    ) -> None:
        super().__init__(base_url, key_env, "Authorization", {}, timeout)
        self._more, self._secrets = dict(headers), secrets

    async def send(self, body: Mapping[str, Any], path: Path = CHAT) -> Reply:
        """The endpoint's answer; raises PassingError, JudgeUnusable."""
        tally = body.tally if isinstance(body, _Sent) else Tally()
        with tally.attempt():
            return await super().send(body, path)

    def scrub(self, text: str) -> str:
        """The text without any secret."""
        return self._secrets.scrub(super().scrub(text))

    def _headers(self) -> dict[str, str]:
        return {**super()._headers(), **self._more}

    def _unreachable(self, error: OSError) -> str:
        why = error.strerror or type(error).__name__
        return f"cannot reach {self.where} ({why}): is it running? config.apiBaseUrl says where"


def _model(id: str) -> tuple[str, str]:
    """Vendor and model of an id, e.g. "openai:chat:gpt-4o-mini"; raises ConfigError."""
    vendor, _, rest = id.partition(":")
    kind, _, model = rest.partition(":")
    if kind in ("responses", "completion", "embeddings", "embedding", "realtime", "assistant"):
        raise ConfigError(f"provider {id}: only chat is done; write {vendor}:chat:{model}")
    name = model if kind == "chat" else rest  # other colons are part of the name: qwen3:8b
    if not name.strip():
        raise ConfigError(f"provider {id}: which model? write {vendor}:MODEL")
    return vendor, name


def _body(settings: Settings, model: str) -> dict[str, Any]:
    """What every request holds but for its messages."""
    passed = settings.mapping("passthrough")
    for name in _UNSENDABLE & passed.keys():
        raise settings.wrong("passthrough", f"cannot hold {name!r}")
    own = {name: settings.all[name] for name in SENT if settings.all.get(name) is not None}
    if not isinstance(own.get("response_format", {}), Mapping):
        raise settings.wrong("response_format", "must be a mapping, such as {type: json_object}")
    return {"model": model, **own, **passed}


def _key_name(settings: Settings, usual: str) -> str:
    """The name of the variable that holds the key; a key itself is refused, unshown."""
    name, key = settings.text("apiKeyEnvar"), settings.text("apiKey")
    if key is None:
        return name or usual
    found = _FROM_ENV.fullmatch(key.strip())
    if not found:
        raise settings.wrong(
            "apiKey", "holds a key: put it in an environment variable and name that as apiKeyEnvar"
        )
    if name is not None and name != found[1]:
        raise settings.wrong("apiKey", "and config.apiKeyEnvar name different variables")
    return found[1]


def _base_url(settings: Settings, vendor: str, templates: Templates, secrets: Secrets) -> str:
    given, host = settings.text("apiBaseUrl"), settings.text("apiHost")
    if given is None and host is not None:
        given = f"https://{host}/v1"
    if given is not None:
        if name := unset_env(given, templates):
            raise settings.wrong("apiBaseUrl", f"needs the environment variable {name}: set it")
        keep_env(given, templates, secrets)
        url: str = templates.render(given, {})
        return url
    elsewhere = os.environ.get("OPENAI_BASE_URL") if vendor == "openai" else None
    return elsewhere or VENDORS[vendor][0]


def _headers(settings: Settings, templates: Templates, secrets: Secrets) -> dict[str, str]:
    given = settings.mapping("headers")
    if (organization := settings.text("organization")) is not None:
        given["OpenAI-Organization"] = organization
    keep_env(given, templates, secrets, header=True)
    out = {}
    for name, value in given.items():
        text = templates.render(str(value), {})
        if not (text.isprintable() and text.isascii()):
            raise settings.wrong("headers", f"has characters in {name} that no header can have")
        out[name] = text
    return out
