"""Chat models behind Valor's evaluator: hosted ones, and a user's own client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from assay.asks import Usage
from assay.errors import JudgeUnavailable, MalformedAnswer, MissingExtra
from assay.judges.complete import Completion, Messages, Schema, Slots
from assay.judges.llm import LLMJudge
from assay.judges.openai import OpenAIComplete
from assay.judges.openai_client import ClientComplete
from assay.judges.terms import Sampling

MISTRAL = "https://api.mistral.ai/v1"


class ClientWrapper(Protocol):
    """A user's own chat model: messages with ``role`` and ``content`` in, the reply out."""

    @property
    def model_name(self) -> str:
        """Reported with each metric."""

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """The reply; called in a thread."""


class OpenAIWrapper:
    """A model at OpenAI or any endpoint that is compatible with it (``base_url``).

    The key is best left in the environment, in the variable named ``api_key_env``. An
    ``api_key`` is handed to a client of the openai package, which keeps it; nothing here does.
    """

    where: str | None = None
    env = "OPENAI_API_KEY"

    def __init__(
        self,
        model_name: str,
        api_key: str | None = None,
        seed: int | None = None,
        *,
        base_url: str | None = None,
        api_key_env: str | None = None,
        temperature: float | None = 0.0,
        timeout: float = 60.0,
        concurrency: int = 64,
    ) -> None:
        self.model_name = model_name
        sampling = Sampling(temperature=temperature, seed=seed)
        base_url = base_url or self.where
        self._complete: OpenAIComplete | ClientComplete
        if api_key is None:
            self._complete = OpenAIComplete(
                model_name,
                base_url=base_url,
                api_key_env=api_key_env or self.env,
                sampling=sampling,
                timeout=timeout,
                concurrency=concurrency,
            )
        else:
            self._complete = ClientComplete(
                _client(api_key, base_url),
                model_name,
                sampling=sampling,
                timeout=timeout,
                concurrency=concurrency,
            )

    @property
    def total_prompt_tokens(self) -> int:
        """Tokens of all prompts so far."""
        return self._complete.usage.prompt_tokens

    @property
    def total_completion_tokens(self) -> int:
        """Tokens of all replies so far."""
        return self._complete.usage.completion_tokens

    def judge(self, system_prompt: str | None, *, packed: bool = True) -> LLMJudge:
        """A judge on this model; ``system_prompt`` is put before its instructions."""
        complete = _Prefixed(self._complete, system_prompt) if system_prompt else self._complete
        parts = {**self._complete.parts, "system_prompt": system_prompt}
        return LLMJudge(complete, name=self.model_name, fingerprint_parts=parts, packed=packed)


class MistralWrapper(OpenAIWrapper):
    """A model at Mistral, through its OpenAI-compatible endpoint; key in $MISTRAL_API_KEY."""

    where = MISTRAL
    env = "MISTRAL_API_KEY"


def client_judge(
    client: ClientWrapper,
    system_prompt: str | None,
    *,
    concurrency: int = 1,
    packed: bool = True,
) -> LLMJudge:
    """A judge on a user's own client.

    ``concurrency`` is the number of its calls at once: more than one only for a client that
    may be used from several threads. Raises AttributeError for one without ``model_name``.
    """
    parts = {
        "client": type(client).__qualname__,
        "model": client.model_name,
        "system_prompt": system_prompt,
    }
    return LLMJudge(
        _Called(client, system_prompt, Slots(concurrency)),
        name=client.model_name,
        fingerprint_parts=parts,
        packed=packed,
    )


class _Called:
    """Completions by calling a client in a thread."""

    def __init__(self, client: ClientWrapper, system_prompt: str | None, slots: Slots) -> None:
        self._client = client
        self._system_prompt = system_prompt
        self._slots = slots

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        sent = [dict(message) for message in _prefixed(messages, self._system_prompt)]
        async with self._slots():
            try:
                reply: object = await asyncio.to_thread(self._client, sent)
            except Exception as error:
                raise JudgeUnavailable(f"the client: {type(error).__name__}: {error}") from error
        if not isinstance(reply, str):
            raise MalformedAnswer(f"the client returned {type(reply).__name__}, not text")
        return Completion(reply)


class _Prefixed:
    """Completions of another one, with a text before the system message."""

    def __init__(self, complete: OpenAIComplete | ClientComplete, text: str) -> None:
        self._complete = complete
        self._text = text

    @property
    def usage(self) -> Usage:
        """That of the one behind."""
        return self._complete.usage

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        return await self._complete(_prefixed(messages, self._text), schema)

    async def aclose(self) -> None:
        """Let go of the connections."""
        await self._complete.aclose()


def _prefixed(messages: Messages, text: str | None) -> list[Mapping[str, str]]:
    first, *rest = messages
    if text and first["role"] == "system":
        first = {**first, "content": f"{text}\n\n{first['content']}"}
    return [first, *rest]


def _client(key: str, base_url: str | None) -> Any:
    # The synchronous one: it belongs to no event loop, and closes itself.
    try:
        from openai import OpenAI
    except ImportError:
        raise MissingExtra("openai (or leave api_key in the environment)", "openai") from None
    return OpenAI(api_key=key, base_url=base_url)
