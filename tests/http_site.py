"""A site that says what it is told to, and providers that ask it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiohttp import web

from assay.judges.retrying import Backoff
from assay.suite.providers.base import Answer, Request
from assay.suite.providers.http import HttpProvider
from assay.suite.secrets import Secrets
from assay.suite.templates import Templates

KEY = "sk-very-secret-0123456789"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """A local server; ``answers`` are used up request by request, the last one staying."""

    def __init__(self) -> None:
        self.answers: list[Handler] = []
        self.seen: list[tuple[web.Request, bytes]] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request, await request.read()))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(request)

    def says(self, *responses: Any) -> None:
        """Answer with these: data as JSON, or responses as they are."""

        def made(response: Any) -> Handler:
            async def answer(request: web.Request) -> web.StreamResponse:
                if isinstance(response, web.Response):  # each can be sent only once
                    return web.Response(
                        status=response.status, body=response.body, headers=response.headers
                    )
                return web.json_response(response)

            return answer

        self.answers = [made(response) for response in responses]

    @property
    def body(self) -> Any:
        return json.loads(self.seen[-1][1])


@contextlib.asynccontextmanager
async def open_site() -> AsyncIterator[Site]:
    """A site on a port of its own."""
    found = Site()
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{rest:.*}", found.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/ask"
    try:
        yield found
    finally:
        await runner.cleanup()


def opened(site: Site, config: dict[str, Any], secrets: Secrets | None = None) -> HttpProvider:
    """A provider at the site that tries three times."""
    return HttpProvider(
        site.url,
        config if "timeoutMs" in config else {"timeout": 5, **config},
        templates=Templates({"KEY": KEY}),
        secrets=secrets or Secrets(),
        backoff=Backoff(attempts=3, first=0.0),
    )


async def asked(
    site: Site,
    config: dict[str, Any],
    prompt: Any = "Hi",
    secrets: Secrets | None = None,
    **variables: Any,
) -> Answer:
    """The answer of a provider at the site to one prompt."""
    provider = opened(site, config, secrets)
    try:
        return await provider.call(Request(prompt, variables))
    finally:
        await provider.aclose()
