"""A LangChain chat model as the judge."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from assay.asks import Usage
from assay.errors import JudgeError, JudgeRejected, JudgeUnavailable, JudgeUnusable, MalformedAnswer
from assay.judges.asking import REASKS
from assay.judges.complete import Completion, Messages, Schema
from assay.judges.limiting import Limiter
from assay.judges.llm import LLMJudge
from assay.judges.retrying import (
    BUSY,
    LATE,
    Backoff,
    PassingError,
    of_another_loop,
    passes,
    without_stale,
)

_HARMLESS = re.compile(
    r"(key|secret|password|token|headers|callbacks|cache|metadata|tags|verbose|time_?out"
    r"|max_retries|rate_limiter|client|name)$",
    re.IGNORECASE,
)
_IDENTITY = re.compile(r"(model|deployment|engine)_?(id|name)?$", re.IGNORECASE)

_ADVICE = {
    401: "check the model's key",
    402: "the account cannot pay for this",
    403: "check the model's key and what it may use",
    404: "are the model's name and URL right?",
}
_BACKOFF = Backoff(attempts=3)


class Invokable(Protocol):
    """The part of ``BaseChatModel`` that is used."""

    def ainvoke(self, input: Any, /) -> Awaitable[Any]: ...


class LangChainComplete:
    """Completions by a LangChain chat model: plain messages in, text out.

    The model is used as it was made, with its own parameters; nothing is set on it. So its own
    repeats go on within each attempt, unseen here: make it with ``max_retries=0`` if it has such
    a parameter. ``timeout`` is in seconds, for one attempt. A ``limiter`` replaces
    ``concurrency`` and ``backoff``.
    """

    def __init__(
        self,
        model: Invokable,
        *,
        timeout: float = 60.0,
        concurrency: int = 128,
        backoff: Backoff | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        self.usage = Usage()
        self._model = model
        self._timeout = timeout
        self._limiter = limiter or Limiter(concurrency, backoff=backoff or _BACKOFF)

    @property
    def parts(self) -> Mapping[str, Any]:
        """The model's class and its plain parameters; no keys, clients or time-outs."""
        kind = type(self._model)
        dump = getattr(self._model, "model_dump", None)
        fields = dump() if callable(dump) else vars(self._model)
        return {"class": f"{kind.__module__}.{kind.__qualname__}", "fields": _plain(fields)}

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        pairs = [(message["role"], message["content"]) for message in messages]
        name, tokens = type(self._model).__name__, 0.0
        if self._limiter.counts_tokens:
            tokens = sum(len(content.encode()) for _, content in pairs) / 4
        return await self._limiter.run(
            lambda: self._once(pairs, tokens), where=name, usage=self.usage, tokens=tokens
        )

    async def aclose(self) -> None:
        """Nothing is held: the model is its owner's."""

    async def _once(self, pairs: list[tuple[str, str]], tokens: float) -> Completion:
        self.usage.calls += 1
        name = type(self._model).__name__
        try:
            async with asyncio.timeout(self._timeout):
                message = await without_stale(lambda: self._model.ainvoke(pairs))
        except TimeoutError:
            late = JudgeUnavailable(f"{name}: no answer within {self._timeout:g} s")
            raise PassingError(late, busy=LATE) from None
        except Exception as error:
            raise _classified(name, error) from error
        done = _completion(message)
        self.usage.prompt_tokens += done.prompt_tokens
        self.usage.completion_tokens += done.completion_tokens
        if tokens and (used := done.prompt_tokens + done.completion_tokens):
            self._limiter.correct(tokens, used)
        if done.finish_reason in ("length", "max_tokens"):
            raise MalformedAnswer(f"{name}: the reply was cut off; raise the model's token limit")
        if done.finish_reason in ("content_filter", "refusal"):
            raise JudgeRejected(f"{name}: the model refused ({done.finish_reason})")
        return done


def langchain_judge(
    model: Invokable,
    *,
    name: str | None = None,
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
) -> LLMJudge:
    """A judge that asks a LangChain chat model; parameters as for `LLMJudge` and `Limiter`.

    Set the model's temperature and ``max_retries`` to 0 yourself: it is used as it was made.
    """
    limiter = limiter or Limiter(
        concurrency,
        rpm=rpm,
        tpm=tpm,
        deadline=deadline,
        adaptive_timeout=adaptive_timeout,
        backoff=backoff or _BACKOFF,
    )
    complete = LangChainComplete(model, timeout=timeout, limiter=limiter)
    return LLMJudge(
        complete,
        name=name or f"langchain:{_model_name(model)}",
        fingerprint_parts=complete.parts,
        packed=packed,
        max_claims=max_claims,
        max_chars=max_chars,
        reasons=reasons,
        reasks=reasks,
        prompts=prompts,
        limiter=limiter,
    )


def _model_name(model: object) -> str:
    for field in ("model_name", "model", "model_id", "deployment_name"):
        if isinstance(value := getattr(model, field, None), str) and value:
            return value
    return type(model).__name__


def _plain(value: Any) -> Any:
    """The value without secrets, clients and whatever else is no plain data."""
    if isinstance(value, Mapping):
        kept = {str(k): _plain(v) for k, v in value.items() if _counts(str(k))}
        return {k: v for k, v in kept.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float) else None


def _counts(field: str) -> bool:
    return bool(_IDENTITY.search(field)) or not _HARMLESS.search(field)


def _classified(name: str, error: Exception) -> JudgeError | PassingError:
    """A provider's exception in our terms; the provider's words are in its cause."""
    status = getattr(error, "status_code", None)
    what = f"{name}: {type(error).__name__}"
    if isinstance(status, int):
        what += f" (HTTP {status})"
        if status in _ADVICE:
            return JudgeUnusable(f"{what}; {_ADVICE[status]}")
        if not passes(status):
            return JudgeRejected(what)
    if of_another_loop(error):
        what += "; the model keeps connections of an event loop that has ended: make a new model"
    busy = BUSY.get(status, "") if isinstance(status, int) else ""
    return PassingError(JudgeUnavailable(what), busy=busy)


def _completion(message: Any) -> Completion:
    content = getattr(message, "content", message)
    if isinstance(content, list):
        texts = [part if isinstance(part, str) else part.get("text", "") for part in content]
        content = "".join(text for text in texts if isinstance(text, str))
    used = getattr(message, "usage_metadata", None) or {}
    about = getattr(message, "response_metadata", None) or {}
    return Completion(
        content if isinstance(content, str) else "",
        int(used.get("input_tokens", 0)),
        int(used.get("output_tokens", 0)),
        str(about.get("finish_reason") or about.get("stop_reason") or "stop"),
    )
