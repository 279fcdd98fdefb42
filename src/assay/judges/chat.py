"""Chat completions as OpenAI defined them: requests, replies, refusals, whatever carries them."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from assay.asks import Usage
from assay.errors import (
    JudgeError,
    JudgeRejected,
    JudgeUnavailable,
    JudgeUnusable,
    MalformedAnswer,
)
from assay.judges.complete import Completion, Messages, Schema, Slots
from assay.judges.limiting import Limiter
from assay.judges.limits.headers import until_reset
from assay.judges.retrying import BUSY, Backoff, PassingError, passes, retry_after
from assay.judges.terms import Sampling

Path = Literal["/chat/completions", "/embeddings"]
"""Where a request goes, below the endpoint's URL."""
CHAT: Path = "/chat/completions"
_WIDER = 4
"""A reply that was cut off is asked for once more with this many times the tokens."""
T = TypeVar("T")
_UNUSABLE_CODES = ("insufficient_quota", "billing_hard_limit_reached", "model_not_found")


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP answer: ``data`` is its JSON, or None if it is none.

    Its headers are found by names in lower case.
    """

    status: int
    headers: Mapping[str, str]
    data: Any
    text: str = ""


class Carrier(Protocol):
    """Brings one request body to the endpoint and its reply back.

    ``send`` raises PassingError where no HTTP answer came.
    """

    where: str
    """The endpoint as people know it, for messages."""

    def advice(self, status: int) -> str:
        """What the user can do about a status that ends the run: 401 to 405, a redirect."""

    def scrub(self, text: str) -> str:
        """The text without any secret that this carrier sends."""

    async def send(self, body: Mapping[str, Any], path: Path = CHAT) -> Reply: ...


class Chat:
    """One model behind one carrier: negotiates, retries, and reads completions.

    Without a ``limiter``, it has one of its own for ``concurrency`` calls at once, by ``backoff``,
    in which a call may take as long as its attempts may.
    """

    def __init__(
        self,
        model: str,
        carrier: Carrier,
        sampling: Sampling,
        *,
        concurrency: int = 64,
        backoff: Backoff | None = None,
        newest: bool = False,
        limiter: Limiter | None = None,
    ) -> None:
        self._terms = sampling.terms(newest=newest)
        self.usage = Usage(notes=self._terms.notes)
        self._fixed = {"model": model, **sampling.extra}
        self._carrier = carrier
        self._limit = sampling.max_tokens
        self._limiter = limiter or Limiter(
            concurrency, deadline=None, adaptive_timeout=False, backoff=backoff
        )
        self._pilot = Slots(1)

    async def complete(self, messages: Messages, schema: Schema | None) -> Completion:
        """The completion; a reply that was cut off is asked for once more with more room."""
        limit = self._limit
        done = await self._persist(messages, schema, limit)
        if done.finish_reason == "length" and limit is not None and self._terms.limits:
            limit *= _WIDER
            self.usage.retries += 1
            done = await self._persist(messages, schema, limit)
        if done.finish_reason == "length":
            room = "" if limit is None else f" at {limit} tokens"
            raise MalformedAnswer(f"{self._carrier.where}: the reply was cut off{room}")
        return done

    async def fetch(self, path: Path, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """What ``read`` makes of the JSON that answers another kind of request.

        It is retried like a completion; ``read`` raises ValueError for JSON that is not as asked.
        """
        tokens = self._estimate(body)
        return await self._run(lambda: self._fetch(path, body, read, tokens), tokens)

    async def _fetch(
        self, path: Path, body: Mapping[str, Any], read: Callable[[Any], T], tokens: float
    ) -> T:
        reply = await self._send(body, path, tokens)
        if reply.status >= 300:
            code, _, message = _refusal(reply)
            raise self._fault(reply, code, message)
        try:
            return read(reply.data)
        except ValueError as error:
            raise PassingError(MalformedAnswer(f"{self._carrier.where}: {error}")) from None

    def _persist(
        self, messages: Messages, schema: Schema | None, limit: int | None
    ) -> Awaitable[Completion]:
        tokens = self._estimate(messages)
        return self._run(lambda: self._once(messages, schema, limit, tokens), tokens)

    def _run(self, call: Callable[[], Awaitable[T]], tokens: float) -> Awaitable[T]:
        return self._limiter.run(call, where=self._carrier.where, usage=self.usage, tokens=tokens)

    def _estimate(self, content: object) -> float:
        """About how many tokens it takes to send this; 0 where it does not matter."""
        if not self._limiter.counts_tokens:
            return 0.0
        return len(json.dumps(content, ensure_ascii=False).encode()) / 4

    async def _send(self, body: Mapping[str, Any], path: Path, tokens: float) -> Reply:
        """One request, counted, with what its reply says of limits and use."""
        self.usage.calls += 1
        reply = _unwrapped(await self._carrier.send(body, path))
        if reply.status < 300:
            used = reply.data.get("usage") if isinstance(reply.data, dict) else None
            read, written = _count(used, "prompt_tokens"), _count(used, "completion_tokens")
            self.usage.prompt_tokens += read
            self.usage.completion_tokens += written
            if tokens and read + written:
                self._limiter.correct(tokens, read + written)
            self._limiter.told(reply.headers)
        return reply

    async def _once(
        self, messages: Messages, schema: Schema | None, limit: int | None, tokens: float
    ) -> Completion:
        if not self._terms.settled:
            # One call finds out what the endpoint accepts; the others wait for it.
            async with self._pilot():
                if not self._terms.settled:
                    try:
                        return await self._negotiate(messages, schema, limit, tokens)
                    finally:
                        self._terms.settled = True
        return await self._negotiate(messages, schema, limit, tokens)

    async def _negotiate(
        self, messages: Messages, schema: Schema | None, limit: int | None, tokens: float
    ) -> Completion:
        while True:
            offered = self._terms.parameters(schema, limit)
            body = {**offered, **self._fixed, "messages": list(messages)}
            reply = await self._send(body, CHAT, tokens)
            if reply.status < 300:
                self._terms.proved(offered)
                return self._completion(reply)
            code, param, message = _refusal(reply)
            if code not in _UNUSABLE_CODES and reply.status in (400, 422, 500, 501):
                ours = {name: offered[name] for name in offered if name not in self._fixed}
                if self._terms.give_up(ours, param, message):
                    self._limiter.charge(tokens)
                    continue
            raise self._fault(reply, code, message)

    def _fault(self, reply: Reply, code: str, message: str) -> JudgeError | PassingError:
        status, where = reply.status, self._carrier.where
        said = f"{where}: HTTP {status}"
        if status != 401 and message:  # what a server says of a wrong key may repeat the key
            said += f": {self._quoted(message, 300)}"
        if code in _UNUSABLE_CODES:
            return JudgeUnusable(said)
        if passes(status):
            after = retry_after(reply.headers)
            after = until_reset(reply.headers) if after is None else after
            return PassingError(JudgeUnavailable(said), after, busy=BUSY.get(status, ""))
        if status in (401, 402, 403, 404, 405) or status < 400:
            return JudgeUnusable(f"{said}; {self._carrier.advice(status)}")
        return JudgeRejected(said)

    def _completion(self, reply: Reply) -> Completion:
        where, data = self._carrier.where, reply.data
        used = data.get("usage") if isinstance(data, dict) else None
        read, written = _count(used, "prompt_tokens"), _count(used, "completion_tokens")
        try:
            choice = data["choices"][0]
            message = choice["message"]
            text, refusal = _text(message.get("content")), message.get("refusal")
            finish = str(choice.get("finish_reason") or "stop")
        except (TypeError, KeyError, IndexError, AttributeError):
            seen = self._quoted(reply.text, 80)
            hint = f": {seen!r}" if seen else ""
            raise PassingError(MalformedAnswer(f"{where} sent no completion{hint}")) from None
        if refusal or finish == "content_filter":
            why = self._quoted(str(refusal or finish), 200)
            raise JudgeRejected(f"{where}: the model refused ({why})")
        if text is None and finish != "length":
            raise PassingError(MalformedAnswer(f"{where} sent a completion without text"))
        return Completion(text or "", read, written, finish)

    def _quoted(self, text: str, longest: int) -> str:
        """The beginning of what a server says, on one line."""
        # A cut before the scrubbing would let the first half of a key through.
        return " ".join(self._carrier.scrub(text).split())[:longest]


def _unwrapped(reply: Reply) -> Reply:
    """The reply, or the error that some gateways send with status 200."""
    data = reply.data
    if reply.status < 300 and isinstance(data, dict) and not data.get("choices"):
        error = data.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        if error:
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
            return Reply(status, reply.headers, data, reply.text)
    return reply


def _refusal(reply: Reply) -> tuple[str, str | None, str]:
    """Code, parameter and message of an error body, in the shapes that are about."""
    data = reply.data
    error = data.get("error", data) if isinstance(data, dict) else None
    if isinstance(error, dict):
        code, param = error.get("code") or error.get("type"), error.get("param")
        said = _said(error.get("message") or error.get("detail") or "")
        return str(code), param if isinstance(param, str) else None, said
    said = error if isinstance(error, str) else re.sub(r"<[^>]*>|\s+", " ", reply.text)
    return "", None, " ".join(said.split())


def _said(message: object) -> str:
    """A message as text; of a list of faults their places and descriptions, not their inputs."""
    if isinstance(message, list) and all(isinstance(item, dict) for item in message):
        places = [item.get("loc") for item in message]
        named = [".".join(map(str, loc)) if isinstance(loc, list) else "" for loc in places]
        return "; ".join(
            f"{name}: {item.get('msg') or ''}" for name, item in zip(named, message, strict=True)
        )
    return message if isinstance(message, str) else str(message)


def _text(content: object) -> str | None:
    """The text of a message; some endpoints send it in parts."""
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") == "text"]
        return "".join(p for p in parts if isinstance(p, str)) or None
    return content if isinstance(content, str) and content.strip() else None


def _count(used: object, name: str) -> int:
    value = used.get(name) if isinstance(used, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
