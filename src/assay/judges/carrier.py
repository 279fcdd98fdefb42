"""JSON posts to one endpoint over aiohttp, with a key from the environment."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from assay.errors import ConfigError, JudgeUnavailable, JudgeUnusable, MalformedAnswer
from assay.judges.chat import CHAT, Path, Reply
from assay.judges.limits.watch import Watch
from assay.judges.retrying import LATE, PassingError

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

OPENAI = "https://api.openai.com/v1"
_LOOPBACK = ("localhost", "127.", "::1")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
_MESSAGE = frozenset(("role", "content"))
_ROLES = frozenset(("system", "user"))
_KINDS = 64
"""Instructions and reply formats that are kept as JSON; a judge has about eight."""


class HttpCarrier:
    """Posts to paths below ``base_url``; one session, in the running event loop.

    A wait for a free connection is not part of the time-out: the number of requests at once is
    bounded by the caller.
    """

    def __init__(
        self,
        base_url: str,
        api_key_env: str,
        key_header: str,
        query: Mapping[str, str],
        timeout: float,
    ) -> None:
        if not _NAME.fullmatch(api_key_env):
            raise ConfigError(
                "api_key_env is the NAME of an environment variable (upper-case letters, digits"
                " and _), such as OPENAI_API_KEY; a key itself is never given"
            )
        self.where = _checked(base_url)
        self._env, self._header, self._query = api_key_env, key_header, dict(query)
        self._timeout = timeout
        self._connection: tuple[aiohttp.ClientSession, Watch] | None = None
        self._urls: dict[Path, URL] = {}
        self._written = _Writing()

    async def send(self, body: Mapping[str, Any], path: Path = CHAT) -> Reply:
        """The endpoint's answer; raises PassingError, JudgeUnusable."""
        import aiohttp

        session, watch = self._connected()
        headers = self._headers()
        try:
            with watch.within(self._timeout):
                async with session.post(
                    self._urls.get(path) or self._url(path),
                    data=aiohttp.BytesPayload(
                        self._written.encoded(body), content_type="application/json"
                    ),
                    headers=headers,
                    allow_redirects=False,  # a key is not carried elsewhere
                ) as response:
                    raw = await response.read()
                    return Reply(response.status, response.headers, *_read(raw))
        except TimeoutError:
            late = f"{self.where}: no answer within {self._timeout:g} s"
            raise PassingError(JudgeUnavailable(late), busy=LATE) from None
        except aiohttp.ClientSSLError as error:
            raise JudgeUnusable(f"{self.where}: no trusted connection: {error}") from None
        except aiohttp.ClientConnectorError as error:
            raise PassingError(JudgeUnavailable(self._unreachable(error))) from None
        except (aiohttp.ClientPayloadError, aiohttp.ContentTypeError):
            half = f"{self.where}: the reply broke off"
            raise PassingError(MalformedAnswer(half)) from None
        except aiohttp.InvalidURL:
            raise JudgeUnusable(f"{self.where} is not a URL: set OPENAI_BASE_URL") from None
        except (aiohttp.ClientError, OSError) as error:
            lost = f"{self.where}: the connection failed ({type(error).__name__})"
            raise PassingError(JudgeUnavailable(lost)) from None

    def advice(self, status: int) -> str:
        """What the user can do about a status that ends the run."""
        if status == 404:
            return "is the model's name right, and does the base URL end as it should (/v1)?"
        if status in (401, 403):
            state = "is set, but refused" if os.environ.get(self._env) else "is not set"
            return f"check the key: the environment variable {self._env} {state}"
        if status == 402:
            return "the account cannot pay for this"
        if status < 400:
            return "it sends requests elsewhere: give the base URL that it moved to"
        return "is the base URL that of an OpenAI-compatible endpoint? set OPENAI_BASE_URL"

    def scrub(self, text: str) -> str:
        """The text without the key."""
        key = os.environ.get(self._env, "").strip()
        return text.replace(key, "***") if key else text

    async def aclose(self) -> None:
        """Close the session, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection[0].close()

    def _url(self, path: Path) -> URL:
        """The URL with its query, made once; raises aiohttp's InvalidURL."""
        import aiohttp
        from yarl import URL

        try:
            url = URL(self.where + path)
            url = url.with_query(self._query) if self._query else url
        except ValueError as error:
            raise aiohttp.InvalidURL(self.where) from error
        self._urls[path] = url
        return url

    def _open(self) -> aiohttp.ClientSession:
        return self._connected()[0]

    def _connected(self) -> tuple[aiohttp.ClientSession, Watch]:
        """The session of the running event loop, and the watch over its time-outs."""
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._connection is not None:
            if self._connection[1].loop is loop:
                return self._connection
            # A session of an earlier loop cannot be closed from this one.
            self._connection[0].detach()
        host = urlsplit(self.where).hostname or ""
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(),  # none: a timer for each request costs more
            trust_env=not host.startswith(_LOOPBACK),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._connection = session, Watch(loop)
        return self._connection

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(self._env, "").strip()
        if not key:
            if self.where == OPENAI:
                raise JudgeUnusable(
                    f"{self.where}: the environment variable {self._env} is not set; set it to"
                    " your key, or set OPENAI_BASE_URL to a server that needs none"
                )
            return headers
        if not (key.isascii() and key.isprintable()):
            raise JudgeUnusable(f"the value of {self._env} has characters that no key can have")
        bearer = self._header.lower() == "authorization"
        headers[self._header] = f"Bearer {key}" if bearer else key
        return headers

    def _unreachable(self, error: OSError) -> str:
        why = error.strerror or type(error).__name__
        return (
            f"cannot reach {self.where} ({why}): is the server running? set OPENAI_BASE_URL or"
            " base_url to where it is"
        )


def _checked(base_url: str) -> str:
    """The URL without its trailing parts; raises ConfigError."""
    url = base_url.strip().rstrip("/").removesuffix("/chat/completions")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("the base URL must begin with http:// or https:// and name a host")
    if "@" in parts.netloc:
        raise ConfigError("the base URL holds a password: put the key in an environment variable")
    if parts.query or parts.fragment:
        raise ConfigError("the base URL has a query: give it as query={...}")
    return url


class _Writing:
    """Request bodies as JSON; what is the same in many of them is written once.

    That is the instructions, and all that is no message: model, sampling and reply format.
    """

    def __init__(self) -> None:
        self._text = lru_cache(maxsize=_KINDS)(_encoded)
        self._heads: dict[str, tuple[Mapping[str, Any], bytes]] = {}

    def encoded(self, body: Mapping[str, Any]) -> bytes:
        """The body in UTF-8; what UTF-8 cannot carry is escaped."""
        try:
            return self._joined(body)
        except UnicodeEncodeError:
            return json.dumps(body).encode()

    def _joined(self, body: Mapping[str, Any]) -> bytes:
        head = dict(body)
        messages = head.pop("messages", None)
        if not head or not isinstance(messages, list):
            return _encoded(body)
        listed = b",".join(map(self._message, messages))
        return b'%s,"messages":[%s]}' % (self._head(head)[:-1], listed)

    def _message(self, message: Mapping[str, Any]) -> bytes:
        if message.keys() != _MESSAGE or message["role"] not in _ROLES:
            return _encoded(message)
        role, content = message["role"], message["content"]
        if type(content) is not str:
            return _encoded(message)
        if role == "system":
            return b'{"role":"system","content":%s}' % self._text(content)
        return b'{"role":"user","content":%s}' % msgspec.json.encode(content)

    def _head(self, head: Mapping[str, Any]) -> bytes:
        form = _schema_name(head.get("response_format"))
        known, text = self._heads.get(form, (None, b""))
        if known != head:
            text = _encoded(head)
            if len(self._heads) >= _KINDS:
                self._heads.clear()
            self._heads[form] = head, text
        return text


def _encoded(value: object) -> bytes:
    return _ENCODER.encode(value).encode()


def _schema_name(response_format: object) -> str:
    """What tells the few reply formats of a judge from each other."""
    wanted = response_format.get("json_schema") if isinstance(response_format, dict) else None
    return str(wanted.get("name")) if isinstance(wanted, dict) else ""


def _read(raw: bytes) -> tuple[Any, str]:
    text = raw.decode("utf-8", "replace")
    try:
        return msgspec.json.decode(raw), text
    except (ValueError, RecursionError):
        return _loosely(text), text


def _loosely(text: str) -> Any:
    """JSON as Python reads it, with broken characters and numbers that are none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def shown_url(url: str) -> str:
    """The URL without its query and user, for messages.

    >>> shown_url("https://example.org/v1/ask?key=123#top")
    'https://example.org/v1/ask'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
