"""ragas' names for models, each a judge."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from assay import api
from assay.asks import Judge
from assay.judges.named import open_judge
from assay.ragas.absent import absent
from assay.ragas.run_config import RunConfig

__all__ = ["BaseRagasLLM", "LangchainLLMWrapper", "llm_factory"]


class BaseRagasLLM:
    """A judge where ragas has a model.

    ``make`` gives the judge for a time limit of one call in seconds (None: the judge's own).
    With ``closes``, connections are let go whenever nothing is being scored. ``under`` is a model
    whose judge this one's is made of; it keeps its own connections.
    """

    def __init__(
        self,
        make: Callable[[float | None], Judge],
        run_config: RunConfig | None = None,
        *,
        closes: bool = True,
        under: BaseRagasLLM | None = None,
    ) -> None:
        self._make, self._closes, self._under = make, closes, under
        self._timeout = run_config.timeout if run_config else None
        self._judge: Judge | None = None
        self._users = 0

    @property
    def judge(self) -> Judge:
        """The judge itself, to use with `assay.evaluate`."""
        if self._judge is None:
            self._judge = self._make(self._timeout)
        return self._judge

    def set_run_config(self, run_config: RunConfig) -> None:
        """Take the time limit of one call from ``run_config``."""
        if self._under is not None:
            self._under.set_run_config(run_config)
        if run_config.timeout != self._timeout:
            self._timeout, self._judge = run_config.timeout, None

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[Judge]:
        """The judge while something is being scored; its connections belong to one event loop."""
        judge = self.judge
        self._users += 1
        async with AsyncExitStack() as also:
            if self._under is not None:
                await also.enter_async_context(self._under.at_work())
            try:
                yield judge
            finally:
                self._users -= 1
                if self._closes and not self._users:
                    await judge.aclose()


class LangchainLLMWrapper(BaseRagasLLM):
    """A LangChain chat model; it is used as it was made, and nothing is set on it.

    Only the timeout of ``run_config`` counts. Other settings of ragas (``cache``,
    ``is_finished_parser``, ``bypass_temperature``, ``bypass_n``) have no effect.
    """

    def __init__(
        self,
        langchain_llm: Any,
        run_config: RunConfig | None = None,
        *,
        is_finished_parser: Any = None,
        cache: Any = None,
        bypass_temperature: bool = False,
        bypass_n: bool = False,
    ) -> None:
        if not hasattr(langchain_llm, "ainvoke"):
            raise ValueError(f"no LangChain chat model: {type(langchain_llm).__name__}")
        self.langchain_llm = langchain_llm

        def make(timeout: float | None) -> Judge:
            limit = {} if timeout is None else {"timeout": timeout}
            return api.langchain(langchain_llm, **limit)

        super().__init__(make, run_config)

    def __repr__(self) -> str:
        return f"LangchainLLMWrapper(langchain_llm={type(self.langchain_llm).__name__}(...))"


class AsyncClientLLM(BaseRagasLLM):
    """A model behind the user's asynchronous openai client, in one event loop after the other.

    Connections belong to the event loop that opened them, and every synchronous call has a loop
    of its own: all but the first get a copy of the client with connections of their own. A client
    that was made with an ``http_client`` is used in every loop as it is.
    """

    def __init__(
        self, model: str, client: Any, options: dict[str, Any], run_config: RunConfig | None
    ) -> None:
        super().__init__(partial(_openai, model, client, options), run_config)
        self._client, self._made = client, partial(_openai, model)
        self._options = options
        self._home: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[Judge]:
        """The judge, on a client whose connections are of the running loop."""
        loop = asyncio.get_running_loop()
        self._home = self._home or loop
        # Set by the user, it may know a proxy or certificates that a new one would not.
        theirs = type(getattr(self._client, "_client", None)).__module__.startswith("httpx")
        if loop is self._home or theirs:
            async with super().at_work() as judge:
                yield judge
            return
        from openai import DefaultAsyncHttpxClient

        async with DefaultAsyncHttpxClient() as http:
            client = self._client.copy(http_client=http)
            yield self._made(client, self._options, self._timeout)


def llm_factory(
    model: str,
    provider: str = "openai",
    client: Any = None,
    adapter: str = "auto",
    cache: Any = None,
    **kwargs: Any,
) -> BaseRagasLLM:
    """A model behind an ``openai`` client, synchronous or not, or any OpenAI-compatible URL.

    Without ``client``, where ragas raises ValueError, $OPENAI_BASE_URL and $OPENAI_API_KEY say
    where to ask. ``temperature``, ``seed``, ``max_tokens``, ``timeout`` and ``base_url`` are
    those of `assay.openai`; every other parameter goes with each request. ``provider``,
    ``adapter``, ``cache``, ``mode`` and ``system_prompt`` have no effect, the last one with a
    warning.

    Raises ValueError for a client of another kind, an unknown adapter and an empty model.
    """
    if not model:
        raise ValueError("model parameter is required")
    if adapter not in ("auto", "instructor", "litellm"):
        raise ValueError(f"Unknown adapter: {adapter}. Available: ['instructor', 'litellm']")
    if client is not None and not hasattr(client, "chat"):
        raise ValueError(
            f"a client of {provider} ({type(client).__name__}) does not speak the OpenAI protocol:"
            " use an openai client with the provider's base_url, or LangchainLLMWrapper"
        )
    if kwargs.pop("system_prompt", None):
        warnings.warn("system_prompt has no effect: judges have their own", stacklevel=2)
    kwargs.pop("mode", None)
    run_config = kwargs.pop("run_config", None)
    known = {name: kwargs.pop(name) for name in list(kwargs) if name in _OPTIONS}
    options = {**known, "extra": kwargs}
    if client is not None and _is_async(client):
        return AsyncClientLLM(model, client, options, run_config)
    return BaseRagasLLM(partial(_openai, model, client, options), run_config)


def _is_async(client: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(client.chat.completions.create))


_OPTIONS = ("base_url", "temperature", "seed", "max_tokens", "timeout")


def _openai(model: str, client: Any, options: dict[str, Any], timeout: float | None) -> Judge:
    limit = {} if timeout is None else {"timeout": timeout}
    return api.openai(model, client=client, **{**options, **limit})


def as_llm(llm: Any) -> BaseRagasLLM:
    """The model of a metric, whatever was given for it.

    A wrapper of this module, a judge, a judge's name, a LangChain chat model, or None for the
    judge of $ASSAY_JUDGE, else the embedded one. Raises ValueError for anything else.
    """
    if isinstance(llm, BaseRagasLLM):
        return llm
    if llm is None or isinstance(llm, str):
        return BaseRagasLLM(lambda _: open_judge(llm))
    if hasattr(llm, "answer") and hasattr(llm, "fingerprint"):
        return BaseRagasLLM(lambda _: llm, closes=False)
    if hasattr(llm, "ainvoke"):
        return LangchainLLMWrapper(llm)
    raise ValueError(
        f"llm is a {type(llm).__name__}, and no judge can be made of it. "
        "Use: llm_factory('gpt-4o-mini', client=...) or LangchainLLMWrapper(...)"
    )


def __getattr__(name: str) -> Any:
    raise absent(__name__, name, __all__)
