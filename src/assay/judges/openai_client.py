"""Completions by the user's own openai client object."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit

from assay.errors import JudgeUnavailable, MissingExtra
from assay.judges.chat import CHAT, Chat, Path, Reply
from assay.judges.endpoint import ChatEndpoint
from assay.judges.limiting import Limiter
from assay.judges.retrying import LATE, Backoff, PassingError, of_another_loop, without_stale
from assay.judges.terms import Sampling

_NAMED = ("model", "messages", "input", "encoding_format")
"""Parameters that the client is given by their names."""


class ClientComplete(ChatEndpoint):
    """Completions of ``model`` through an ``openai.OpenAI`` or ``AsyncOpenAI`` object.

    The object is left as it is: a copy of it is used that does not retry, since retries are
    counted here. A synchronous client works in ``concurrency`` threads and shares its
    connections; of an asynchronous one each event loop has a copy, with the settings of its HTTP
    client and connections of its own. Closing the client is up to its owner. A ``limiter``
    replaces ``concurrency`` and ``backoff``; of answers other than errors it sees no headers.

    Raises MissingExtra without the openai package.
    """

    def __init__(
        self,
        client: object,
        model: str,
        *,
        sampling: Sampling | None = None,
        timeout: float = 60.0,
        concurrency: int = 128,
        backoff: Backoff | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        sampling = sampling or Sampling()
        limiter = limiter or Limiter(concurrency, backoff=backoff)
        carrier = _ClientCarrier(client, timeout, limiter.maximum)
        parts = {"model": model, "base_url": carrier.where, **sampling.parts()}
        chat = Chat(model, carrier, sampling, newest=True, limiter=limiter)
        super().__init__(chat, parts, carrier.aclose)


class _ClientCarrier:
    def __init__(self, client: Any, timeout: float, concurrency: int) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("openai", "openai") from None
        self._openai = openai
        self._threaded = isinstance(client, openai.OpenAI)
        self._options = {"max_retries": 0, "timeout": timeout}
        if hasattr(client, "with_options"):
            client = client.with_options(**self._options)
        self._client = client
        self._per_loop = _PerLoop(client) if isinstance(client, openai.AsyncOpenAI) else None
        self.where, self._password = _without_userinfo(
            str(getattr(client, "base_url", "openai client")).rstrip("/")
        )
        self._threads: ThreadPoolExecutor | None = None
        self._concurrency = concurrency

    async def send(self, body: Mapping[str, Any], path: Path = CHAT) -> Reply:
        """The client's answer; raises PassingError where there was none."""
        try:
            return _reply(await without_stale(lambda: self._call(body, path)))
        except self._openai.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return Reply(error.status_code, headers, {"error": error.body}, error.message)
        except self._openai.APITimeoutError:
            late = JudgeUnavailable(f"{self.where}: no answer in time")
            raise PassingError(late, busy=LATE) from None
        except self._openai.APIConnectionError:
            lost = JudgeUnavailable(
                f"cannot reach {self.where}: is the server running, is the client's URL right?"
            )
            raise PassingError(lost) from None
        except (self._openai.APIError, ValueError) as error:
            return Reply(200, {}, None, str(error))
        except RuntimeError as error:
            raise PassingError(JudgeUnavailable(f"{self.where}: {self._broken(error)}")) from None

    async def _call(self, body: Mapping[str, Any], path: Path) -> Any:
        # extra_body, so that no version of the client refuses a parameter that it does not know
        given = {name: body[name] for name in _NAMED if name in body}
        given["extra_body"] = {name: body[name] for name in body if name not in _NAMED}
        if not self._threaded:
            client = self._client if self._per_loop is None else self._per_loop()
            made = _create(client, path)(**given)
            return await made if inspect.isawaitable(made) else made
        create = _create(self._client, path)
        if self._threads is None:
            # A call that was given up keeps its thread until the client gives it up as well.
            self._threads = ThreadPoolExecutor(2 * self._concurrency, "assay-openai")
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: create(**given)
        )

    def advice(self, status: int) -> str:
        """What the user can do about a status that ends the run."""
        if status == 404:
            return "are the model's name and the client's base_url right?"
        if status in (401, 403):
            return "check the key that the client was made with"
        if status == 402:
            return "the account cannot pay for this"
        return "is the client's base_url that of an OpenAI-compatible endpoint?"

    def scrub(self, text: str) -> str:
        """The text without the client's key and password."""
        # A client may fetch its key anew, so it is looked up when it is needed.
        key = getattr(self._current(), "api_key", None)
        for secret in (key, self._password, unquote(self._password)):
            if isinstance(secret, str) and secret.strip():
                text = text.replace(secret, "***")
        return text

    async def aclose(self) -> None:
        """Let the threads and the connections of this loop go."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
        if self._per_loop is not None:
            await self._per_loop.aclose()

    def _current(self) -> Any:
        return self._client if self._per_loop is None else self._per_loop.last

    def _broken(self, error: RuntimeError) -> str:
        if of_another_loop(error):
            return (
                "the client keeps connections of an event loop that has ended: use a new client,"
                " or a synchronous one"
            )
        return f"the client failed ({self.scrub(str(error))[:200]})"


def _create(client: Any, path: Path) -> Any:
    """The client's method for a kind of request."""
    return client.chat.completions.create if path == CHAT else client.embeddings.create


class _PerLoop:
    """An asynchronous client for whichever event loop is running: one loop's connections are of
    no use in another.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.last: Any = client
        self._http: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self) -> Any:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._drop()
            self._loop, self._http = loop, _http_like(getattr(self._client, "_client", None))
            if self._http is not None:
                self.last = self._client.with_options(http_client=self._http)
        return self.last

    async def aclose(self) -> None:
        """Close the connections of the running loop; those of another are dropped."""
        http = self._http if self._loop is asyncio.get_running_loop() else None
        if http is None:
            self._drop()
        self._loop, self._http, self.last = None, None, self._client
        if http is not None:
            await http.aclose()

    def _drop(self) -> None:
        """Forget the connections of a loop that has ended: they cannot be closed from another."""
        if self._http is not None:
            for transport in _transports(self._http).values():
                if transport is not None:
                    transport._pool = _empty(transport._pool)
        self._loop, self._http, self.last = None, None, self._client


def _http_like(http: Any) -> Any:
    """An HTTP client with all settings of another and connections of its own.

    None where its transport is of an unknown kind, which may hold anything.
    """
    try:
        fresh = {key: _fresh(transport) for key, transport in _transports(http).items()}
    except (AttributeError, TypeError):
        return None
    # The settings (proxies, certificates, hooks, a subclass's own) are only all there in a copy.
    out = copy.copy(http)
    out._transport = fresh.pop(None)
    out._mounts = fresh
    return out


def _transports(http: Any) -> dict[Any, Any]:
    """The transports of an HTTP client: the general one under None, then those of its mounts."""
    return {None: http._transport, **http._mounts}


def _fresh(transport: Any) -> Any:
    """The transport, with a pool that shares no connection."""
    if transport is None:
        return None
    out = copy.copy(transport)
    out._pool = _empty(transport._pool)
    return out


def _empty(pool: Any) -> Any:
    """A copy of a connection pool that is as it was when nothing had been sent."""
    if not (isinstance(pool._connections, list) and isinstance(pool._requests, list)):
        raise TypeError(type(pool).__name__)
    out = copy.copy(pool)
    out._connections, out._requests = [], []
    return out


def _without_userinfo(url: str) -> tuple[str, str]:
    """The URL's scheme, host, port and path, and the password that it had, if any."""
    parts = urlsplit(url)
    if not parts.netloc:
        return url, ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/"), parts.password or ""


def _reply(made: Any) -> Reply:
    dump = getattr(made, "model_dump", None)
    data = dump() if callable(dump) else made
    return Reply(200, {}, data, data if isinstance(data, str) else "")
