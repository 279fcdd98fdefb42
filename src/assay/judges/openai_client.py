"""Completions by the user's own openai client object."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from assay.asks import Usage
from assay.errors import JudgeUnavailable, MissingExtra
from assay.judges.chat import Chat, Reply
from assay.judges.complete import Completion, Messages, Schema
from assay.judges.retrying import Backoff, PassingError
from assay.judges.terms import Sampling


class ClientComplete:
    """Completions of ``model`` through an ``openai.OpenAI`` or ``AsyncOpenAI`` object.

    The object is left as it is: a copy of it is used that shares its connections and does not
    retry, since retries are counted here. A synchronous client works in ``concurrency`` threads.
    Closing the client is up to its owner.

    Raises MissingExtra without the openai package.
    """

    def __init__(
        self,
        client: object,
        model: str,
        *,
        sampling: Sampling | None = None,
        timeout: float = 60.0,
        concurrency: int = 64,
        backoff: Backoff | None = None,
    ) -> None:
        sampling = sampling or Sampling()
        self._carrier = _ClientCarrier(client, timeout, concurrency)
        self._parts = {"model": model, "base_url": self._carrier.where, **sampling.parts()}
        self._chat = Chat(
            model, self._carrier, sampling, concurrency=concurrency, backoff=backoff, newest=True
        )

    @property
    def usage(self) -> Usage:
        """Requests, tokens and retries so far, and what the endpoint refused."""
        return self._chat.usage

    @property
    def parts(self) -> Mapping[str, Any]:
        """What the replies depend on, for a fingerprint."""
        return self._parts

    async def __call__(self, messages: Messages, schema: Schema | None) -> Completion:
        return await self._chat.complete(messages, schema)

    async def aclose(self) -> None:
        """Let the threads of a synchronous client go; the client stays open."""
        self._carrier.close()


class _ClientCarrier:
    def __init__(self, client: Any, timeout: float, concurrency: int) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("openai", "openai") from None
        self._openai = openai
        self._threaded = isinstance(client, openai.OpenAI)
        if hasattr(client, "with_options"):
            client = client.with_options(max_retries=0, timeout=timeout)
        self._create = client.chat.completions.create
        self._key = getattr(client, "api_key", None)
        self.where = str(getattr(client, "base_url", "openai client")).rstrip("/")
        self._threads: ThreadPoolExecutor | None = None
        self._concurrency = concurrency

    async def send(self, body: Mapping[str, Any]) -> Reply:
        """The client's answer; raises PassingError where there was none."""
        try:
            return _reply(await self._call(body))
        except self._openai.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return Reply(error.status_code, headers, {"error": error.body}, error.message)
        except self._openai.APITimeoutError:
            late = JudgeUnavailable(f"{self.where}: no answer in time")
            raise PassingError(late) from None
        except self._openai.APIConnectionError:
            lost = JudgeUnavailable(
                f"cannot reach {self.where}: is the server running, is the client's URL right?"
            )
            raise PassingError(lost) from None
        except (self._openai.APIError, ValueError) as error:
            return Reply(200, {}, None, self.scrub(str(error)))

    async def _call(self, body: Mapping[str, Any]) -> Any:
        model, messages = body["model"], body["messages"]
        # extra_body, so that no version of the client refuses a parameter that it does not know
        rest = {name: body[name] for name in body if name not in ("model", "messages")}
        if not self._threaded:
            made = self._create(model=model, messages=messages, extra_body=rest)
            return await made if inspect.isawaitable(made) else made
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._concurrency, "assay-openai")
        return await asyncio.get_running_loop().run_in_executor(
            self._threads,
            lambda: self._create(model=model, messages=messages, extra_body=rest),
        )

    def advice(self, status: int) -> str:
        """What the user can do about 401, 403 or 404."""
        if status == 404:
            return "are the model's name and the client's base_url right?"
        return "check the key that the client was made with"

    def scrub(self, text: str) -> str:
        """The text without the client's key."""
        key = self._key if isinstance(self._key, str) else ""
        return text.replace(key, "***") if key.strip() else text

    def close(self) -> None:
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)


def _reply(made: Any) -> Reply:
    dump = getattr(made, "model_dump", None)
    data = dump() if callable(dump) else made
    return Reply(200, {}, data, data if isinstance(data, str) else "")
