"""HTTP connections of one provider, and replies of a bounded size."""

from __future__ import annotations

import asyncio
import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import aiohttp

MOST_BYTES = 5 * 2**20
"""A reply that is larger is not read."""
_LOOPBACK = ("localhost", "127.", "::1")


class TooLargeError(Exception):
    """A reply of more than `MOST_BYTES`."""


@dataclass(frozen=True, slots=True)
class Received:
    """One HTTP reply; header names in lower case."""

    status: int
    headers: dict[str, str]
    text: str


class Connections:
    """Sessions of aiohttp, one in whichever event loop is running; cookies are not kept."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self, url: str) -> aiohttp.ClientSession:
        """The session; proxies that the environment names are used but for this computer."""
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            # A session of an earlier loop cannot be closed from this one.
            if self._session is not None:
                self._session.detach()
            host = urlsplit(url).hostname or ""
            self._loop = loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=self._timeout),
                trust_env=not host.startswith(_LOOPBACK),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def aclose(self) -> None:
        """Close the session, if there is one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


async def received(response: aiohttp.ClientResponse) -> Received:
    """The whole reply; raises TooLargeError without reading it to its end."""
    declared = response.content_length
    if declared is not None and declared > MOST_BYTES:
        raise TooLargeError
    body = bytearray()
    async for chunk in response.content.iter_chunked(2**16):
        body += chunk
        if len(body) > MOST_BYTES:
            raise TooLargeError
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Received(response.status, headers, _decoded(bytes(body), response.charset))


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        name = codecs.lookup(charset or "utf-8").name
        text = body.decode("utf-8-sig" if name == "utf-8" else name, "replace")
    except (LookupError, ValueError):  # a charset that is none, or no charset of texts
        return body.decode("utf-8-sig", "replace")
    return text
