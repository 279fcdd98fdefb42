"""HTTP requests made of a config's templates and one prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from assay.errors import ConfigError, JudgeRejected
from assay.suite.providers.base import Request
from assay.suite.providers.messages import as_json, as_text
from assay.suite.providers.settings import Settings, check_templates, keep_env, unset_env
from assay.suite.secrets import Secrets

if TYPE_CHECKING:
    from assay.suite.templates import Templates

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_TYPE = "content-type"
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What is sent; ``query`` is added to that of the URL."""

    method: str
    url: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes | None

    def redirected(self, url: str, status: int) -> HttpRequest:
        """The request that follows a redirect; all but 307 and 308 ask for a GET."""
        if status in (307, 308) or self.method in ("GET", "HEAD"):
            return replace(self, url=url, query={})
        kept = {name: value for name, value in self.headers.items() if name.lower() != _TYPE}
        return HttpRequest("GET", url, kept, {}, None)


class Recipe:
    """How requests are made of ``config``; raises ConfigError for what cannot work."""

    def __init__(self, id: str, settings: Settings, templates: Templates, secrets: Secrets) -> None:
        self._templates = templates
        self._url = _url(id, settings)
        self._headers = settings.mapping("headers")
        self._query = settings.mapping("queryParams")
        self._body = settings.all.get("body")
        self._method = (settings.text("method") or _usual(self._body)).upper()
        if self._method not in _METHODS:
            raise settings.wrong("method", f"must be one of {', '.join(_METHODS)}")
        if self._method in ("GET", "HEAD") and self._body is not None:
            raise settings.wrong("body", f"goes with no {self._method} request: use queryParams")
        check_templates([self._url, self._headers, self._query, self._body], templates)
        keep_env(self._headers, templates, secrets, header=True)
        rest = [self._url, self._query, self._body]
        keep_env(rest, templates, secrets)
        self._unset = unset_env([self._headers, *rest], templates)

    def request(self, request: Request) -> HttpRequest:
        """The request for one prompt; raises AssayError where it cannot be made."""
        if self._unset is not None:
            raise JudgeRejected(f"the environment variable {self._unset} is not set")
        values = {**request.vars, "prompt": request.prompt}
        texts = {**request.vars, "prompt": as_text(request.prompt)}
        headers = self._texts(self._headers, texts)
        body = self._rendered_body(values, texts, headers)
        return HttpRequest(
            self._method, self._rendered_url(texts), headers, self._texts(self._query, texts), body
        )

    def _rendered_url(self, values: Mapping[str, Any]) -> str:
        """The URL; variables are quoted, so that none changes the host or adds a parameter."""
        quoted = {
            name: quote(_plain(value).encode("utf-8", "replace"), safe="")
            for name, value in values.items()
        }
        url: str = self._templates.render(self._url, quoted).strip()
        parts = _split(url)
        if parts is None:
            raise JudgeRejected(
                "the URL must begin with http:// or https:// and name a host after its templates"
                " are filled in (variables are quoted; {{env.NAME}} is not)"
            )
        return url

    def _texts(self, mapping: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
        rendered = {
            name: self._templates.render_value(value, values) for name, value in mapping.items()
        }
        return {name: _plain(value) for name, value in rendered.items() if value is not None}

    def _rendered_body(
        self, values: Mapping[str, Any], texts: Mapping[str, Any], headers: dict[str, str]
    ) -> bytes | None:
        """The body; a header that says what it is is added where there is none."""
        if self._body is None:
            return None
        named = next((name for name in headers if name.lower() == _TYPE), None)
        if isinstance(self._body, str):
            text: str = self._templates.render(self._body, texts)
            headers.setdefault(named or "Content-Type", _kind(text))
            if "json" in headers[named or "Content-Type"].lower():
                _checked(text)
            return text.encode("utf-8", "replace")
        data = self._templates.render_value(self._body, values)
        kind = headers.setdefault(named or "Content-Type", "application/json")
        if kind.partition(";")[0].strip().lower() == _FORM and isinstance(data, Mapping):
            return urlencode(
                {name: _plain(value) for name, value in data.items()}, errors="replace"
            ).encode()
        return as_json(data).encode()


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: what a request's credentials are for.

    >>> origin("HTTPS://Example.org/a") == origin("https://example.org:443/b")
    True
    """
    parts = _split(url)
    if parts is None:
        return "", "", None
    scheme, host, port = parts
    return scheme, host, port or {"http": 80, "https": 443}[scheme]


def _split(url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname, parts.port
    except ValueError:
        return None
    return (scheme, host, port) if scheme in ("http", "https") and host else None


def _url(id: str, settings: Settings) -> str:
    """The template of the URL, from the config or the id."""
    url = settings.text("url")
    if url is None:
        if id in ("http", "https"):
            raise ConfigError(f"provider {id}: where? give config.url")
        url = id
    start = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    if "@" in start:
        raise ConfigError(
            "the URL of an http provider holds a user or password: send it in a header, such as"
            " Authorization: 'Bearer {{env.NAME}}'"
        )
    if "{{" not in start and _split(url) is None and "{{" not in url.partition("://")[0]:
        raise ConfigError(
            f"provider {id}: the URL must begin with http:// or https:// and name a host"
        )
    return url


def _usual(body: Any) -> str:
    return "GET" if body is None else "POST"


def _kind(text: str) -> str:
    return "application/json" if text.lstrip()[:1] in ("{", "[") else "text/plain; charset=utf-8"


def _checked(text: str) -> None:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise JudgeRejected(
            f"the body is no JSON after its templates are filled in ({error}): write config.body as"
            " an object, so that what is filled in is quoted"
        ) from None


def _plain(value: Any) -> str:
    """A value as text: a text as it is, data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
