"""The judge that asks through batch files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.asks import Ask
from assay.judges.asking import REASKS
from assay.judges.batch.completing import BatchComplete
from assay.judges.batch.following import Polling, Say
from assay.judges.batch.gathering import Gathering
from assay.judges.llm import LLMJudge
from assay.judges.retrying import Backoff
from assay.judges.sizing import CallSize
from assay.judges.terms import Format, Sampling


class BatchJudge(LLMJudge):
    """An `LLMJudge` whose open batches can be cancelled."""

    def __init__(self, complete: BatchComplete, **options: Any) -> None:
        super().__init__(complete, nonce=complete.nonce, limiter=complete, **options)
        self._batches = complete

    def calls_for(self, ask: Ask[Any]) -> list[CallSize]:
        """The requests that an answer takes if every reply is whole; those sent stay the same."""
        with self._batches.nonce.blank():
            return super().calls_for(ask)

    async def cancel(self) -> list[str]:
        """Cancel the batches that are open, and return their ids; asks without answers fail."""
        return await self._batches.cancel()


def open_batch_judge(
    model: str,
    *,
    state: str | Path,
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
    quiet: float = 1.0,
    max_requests: int = 50_000,
    max_bytes: int = 200_000_000,
    polling: Polling | None = None,
    backoff: Backoff | None = None,
    on_state: Say | None = None,
    packed: bool = False,
    max_claims: int = 40,
    max_chars: int = 24_000,
    reasons: bool = True,
    reasks: int = REASKS,
    prompts: Mapping[str, str] | None = None,
    embedding_model: str | None = "text-embedding-3-small",
) -> BatchJudge:
    """A judge that asks an OpenAI-compatible endpoint through batch files, at half the price.

    It takes as long as batches take, once for each dependent stage: give it all samples at once
    (``concurrency`` at least their number). ``state`` is the folder of this run: the same run
    with the same folder goes on where it was stopped. Name and fingerprint are those of
    `openai_judge` with the same options. ``quiet``, ``max_requests`` and ``max_bytes`` are those
    of `Gathering`; the other parameters are those of `BatchComplete`, `Sampling` and `LLMJudge`.
    Raises ConfigError.
    """
    complete = BatchComplete(
        model,
        state=state,
        base_url=base_url,
        api_key_env=api_key_env,
        key_header=key_header,
        query=query,
        sampling=Sampling(temperature, seed, max_tokens, reply_format, extra or {}),
        timeout=timeout,
        gathering=Gathering(quiet, max_requests, max_bytes),
        polling=polling,
        backoff=backoff,
        on_state=on_state,
    )
    return BatchJudge(
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
    )
