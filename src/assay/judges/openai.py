"""Any OpenAI-compatible endpoint over aiohttp, and the judge that asks it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from assay.errors import ConfigError
from assay.judges.asking import REASKS
from assay.judges.carrier import OPENAI, HttpCarrier
from assay.judges.chat import Chat
from assay.judges.endpoint import ChatEndpoint
from assay.judges.limiting import Limiter
from assay.judges.llm import LLMJudge
from assay.judges.openai_client import ClientComplete
from assay.judges.retrying import Backoff
from assay.judges.terms import Format, Sampling


class OpenAIComplete(ChatEndpoint):
    """Completions of ``model`` at an OpenAI-compatible endpoint.

    ``base_url`` is, unless given, $OPENAI_BASE_URL or OpenAI's own. The key is read at every
    call from the variable *named* ``api_key_env`` and sent as ``key_header``; where the variable
    is not set, none is sent. ``query`` goes with every URL (Azure's ``api-version``).
    ``timeout`` is in seconds, for one attempt. How many requests go out, and how often, is up to
    ``limiter``, or else to one of this object's own with ``concurrency`` and ``backoff``.

    Raises ConfigError for a URL or name that cannot work.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        key_header: str = "Authorization",
        query: Mapping[str, str] | None = None,
        sampling: Sampling | None = None,
        timeout: float = 60.0,
        concurrency: int = 128,
        backoff: Backoff | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        where = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        sampling = sampling or Sampling()
        carrier = HttpCarrier(where, api_key_env, key_header, query or {}, timeout)
        chat = Chat(
            model,
            carrier,
            sampling,
            newest=carrier.where == OPENAI,
            limiter=limiter or Limiter(concurrency, backoff=backoff),
        )
        parts = {"model": model, "base_url": carrier.where, "query": dict(query or {})}
        super().__init__(chat, parts | sampling.parts(), carrier.aclose)


def openai_judge(
    model: str,
    *,
    client: object | None = None,
    base_url: str | None = None,
    api_key_env: str = "OPENAI_API_KEY",
    key_header: str = "Authorization",
    query: Mapping[str, str] | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 0,
    max_tokens: int | None = 4096,
    reply_format: Format = "json_schema",
    extra: Mapping[str, Any] | None = None,
    timeout: float = 60.0,
    concurrency: int = 128,
    rpm: float | None = None,
    tpm: float | None = None,
    deadline: float | None = 300.0,
    adaptive_timeout: bool = True,
    backoff: Backoff | None = None,
    limiter: Limiter | None = None,
    packed: bool = False,
    max_claims: int = 40,
    max_chars: int = 24_000,
    reasons: bool = True,
    reasks: int = REASKS,
    prompts: Mapping[str, str] | None = None,
    embedding_model: str | None = "text-embedding-3-small",
) -> LLMJudge:
    """A judge that asks an OpenAI-compatible endpoint, or your own openai client object.

    With ``client`` (an ``openai.OpenAI`` or ``AsyncOpenAI``, Azure's too) the URL and the key
    are the client's. ``embedding_model`` of the same endpoint gives embeddings; with None, the
    judge does not. ``concurrency``, ``rpm``, ``tpm``, ``deadline``, ``adaptive_timeout`` and
    ``backoff`` are those of a `Limiter`; judges of one endpoint share a ``limiter``, which
    replaces them. The other parameters are those of `OpenAIComplete`, `Sampling` and `LLMJudge`.
    Raises ConfigError.
    """
    limiter = limiter or Limiter(
        concurrency,
        rpm=rpm,
        tpm=tpm,
        deadline=deadline,
        adaptive_timeout=adaptive_timeout,
        backoff=backoff,
    )
    sampling = Sampling(temperature, seed, max_tokens, reply_format, extra or {})
    complete: OpenAIComplete | ClientComplete
    if client is None:
        complete = OpenAIComplete(
            model,
            base_url=base_url,
            api_key_env=api_key_env,
            key_header=key_header,
            query=query,
            sampling=sampling,
            timeout=timeout,
            limiter=limiter,
        )
    elif base_url is not None or query is not None:
        raise ConfigError("a client has its own URL: give base_url and query to the client")
    else:
        complete = ClientComplete(
            client,
            model,
            sampling=sampling,
            timeout=timeout,
            limiter=limiter,
        )
    return LLMJudge(
        complete,
        name=f"openai:{model}",
        fingerprint_parts=complete.parts,
        packed=packed,
        max_claims=max_claims,
        max_chars=max_chars,
        reasons=reasons,
        reasks=reasks,
        prompts=prompts,
        embedding=complete.embedding(embedding_model) if embedding_model else None,
        limiter=limiter,
    )
