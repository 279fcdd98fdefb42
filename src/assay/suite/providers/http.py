"""Any HTTP endpoint as a provider: a rendered request out, values found in its reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from assay.asks import Usage
from assay.errors import AssayError, ConfigError, JudgeError, JudgeRejected, JudgeUnavailable
from assay.judges.carrier import shown_url
from assay.judges.limits.headers import until_reset
from assay.judges.retrying import BUSY, Backoff, PassingError, passes, retry_after
from assay.suite.providers.attempts import SECONDS, Tally, limiter_of, quoted
from assay.suite.providers.base import Answer, Request
from assay.suite.providers.connections import Connections, Received, TooLargeError, received
from assay.suite.providers.paths import Transform
from assay.suite.providers.requests import HttpRequest, Recipe, origin
from assay.suite.providers.settings import Settings
from assay.suite.secrets import Secrets

if TYPE_CHECKING:
    from assay.suite.templates import Templates

KNOWN = (
    "url",
    "method",
    "headers",
    "body",
    "queryParams",
    "transformResponse",
    "responseParser",
    "contextTransform",
    "timeout",
    "timeoutMs",
    "maxRetries",
)
INSTEAD: Mapping[str, str] = {
    "validateStatus": "a status other than 2xx is an error of the test",
    "request": "write url, method, headers and body instead of a raw request",
    "transformRequest": "write the body as an object with {{prompt}} in it",
    "sessionParser": "sessions are not kept",
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HOPS = 5
_NAMES = ("json", "text")


class _NotJsonError(AssayError):
    """A reply that is no JSON, where a transform wants JSON."""


class HttpProvider:
    """Sends a rendered request for each prompt and takes the output from the reply.

    ``config``: ``url``, ``method`` (POST with a body, else GET), ``headers``, ``body``,
    ``queryParams`` - templates of the variables and ``prompt`` -, ``transformResponse`` and
    ``contextTransform`` (see `Transform`; the values are ``json`` and ``text``), ``timeout``
    (seconds) or ``timeoutMs``, ``maxRetries``. Status 429, 5xx and lost connections are tried
    again, time-outs are not. Raises ConfigError.
    """

    def __init__(
        self,
        id: str,
        config: Mapping[str, Any],
        *,
        templates: Templates,
        secrets: Secrets,
        label: str | None = None,
        concurrency: int = 4,
        backoff: Backoff | None = None,
    ) -> None:
        self.id, self.label = id, label or id
        settings = Settings(id, config, KNOWN, INSTEAD)
        self._recipe = Recipe(id, settings, templates, secrets)
        self._output = _transform(settings, ("transformResponse", "responseParser"), templates)
        self._contexts = _transform(settings, ("contextTransform",), templates, listed=True)
        self._seconds = settings.timeout(SECONDS)
        self._connections = Connections(self._seconds)
        self._limiter = limiter_of(settings, concurrency, backoff)
        self._usage = Usage()
        self._secrets = secrets

    async def call(self, request: Request) -> Answer:
        """What the endpoint answers; ``latency_ms`` is that of the attempt that answered."""
        tally = Tally()
        try:
            wanted = self._recipe.request(request)
            reply = await self._limiter.run(
                lambda: self._send(wanted, tally), where=shown_url(wanted.url), usage=self._usage
            )
            answer = self._answer(reply)
        except AssayError as error:
            answer = Answer(error=self._secrets.scrub(str(error)))
        return tally.of(answer)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connections.aclose()

    async def _send(self, wanted: HttpRequest, tally: Tally) -> Received:
        with tally.attempt():
            reply = await self._received(wanted)
        if reply.status >= 300:
            raise self._refused(reply)
        self._limiter.told(reply.headers)
        return reply

    async def _received(self, wanted: HttpRequest) -> Received:
        import aiohttp

        try:
            return await self._followed(wanted)
        except TimeoutError:
            raise JudgeUnavailable(f"no answer within {self._seconds:g} s") from None
        except TooLargeError:
            raise JudgeRejected("the answer is larger than 5 MB") from None
        except aiohttp.ClientSSLError as error:
            raise JudgeRejected(f"no trusted connection: {error}") from None
        except aiohttp.ClientConnectorError as error:
            why = error.strerror or type(error).__name__
            raise PassingError(
                JudgeUnavailable(f"cannot reach {shown_url(wanted.url)} ({why}): is it running?")
            ) from None
        except aiohttp.InvalidURL:
            raise JudgeRejected(f"{shown_url(wanted.url)} is no URL") from None
        except aiohttp.ClientPayloadError:
            raise PassingError(JudgeUnavailable("the answer broke off")) from None
        except (aiohttp.ClientError, OSError) as error:
            lost = f"the connection to {shown_url(wanted.url)} failed ({type(error).__name__})"
            raise PassingError(JudgeUnavailable(lost)) from None
        except ValueError as error:
            raise JudgeRejected(f"the request cannot be sent: {error}") from None

    async def _followed(self, wanted: HttpRequest) -> Received:
        """The reply, after redirects within the same origin: no header goes elsewhere."""
        session = self._connections.open(wanted.url)
        for _ in range(_HOPS):
            async with session.request(
                wanted.method,
                wanted.url,
                params=wanted.query,
                headers=wanted.headers,
                data=wanted.body,
                allow_redirects=False,
            ) as response:
                target = response.headers.get("Location")
                if response.status not in _REDIRECTS or not target:
                    return await received(response)
                wanted = wanted.redirected(urljoin(str(response.url), target), response.status)
                if origin(wanted.url) != origin(str(response.url)):
                    raise JudgeRejected(
                        f"HTTP {response.status}: it redirects to {shown_url(wanted.url)}; if that"
                        " is right, give that URL"
                    )
        raise JudgeRejected(f"it redirects more than {_HOPS} times")

    def _refused(self, reply: Received) -> JudgeError | PassingError:
        said = quoted(reply.text, self._secrets)
        message = f"HTTP {reply.status}" + (f": {said}" if said else "")
        if passes(reply.status):
            after = retry_after(reply.headers)
            after = until_reset(reply.headers) if after is None else after
            busy = BUSY.get(reply.status, "")
            return PassingError(JudgeUnavailable(message), after, busy=busy)
        return JudgeRejected(message)

    def _answer(self, reply: Received) -> Answer:
        found, data = _json(reply.text)
        raw = data if found else reply.text
        output, contexts, trouble = raw, None, None
        if self._output is not None:
            try:
                output = self._applied(self._output, reply, data, found=found)
            except AssayError as error:
                return Answer(error=self._failed("transformResponse", error), raw=raw)
        if self._contexts is not None:
            try:
                contexts = self._applied(self._contexts, reply, data, found=found)
            except AssayError as error:
                # The answer is good all the same for whatever needs no contexts.
                trouble = self._failed("contextTransform", error)
        return Answer(output=output, raw=raw, contexts=contexts, contexts_error=trouble)

    def _applied(self, part: Transform, reply: Received, data: Any, *, found: bool) -> Any:
        """What a transform finds in a reply; ``found``: the reply is JSON, namely ``data``."""
        if not found and part.reads("json", _NAMES):
            raise _NotJsonError(self._not_json(reply))
        return part.apply({"json": data, "text": reply.text})

    def _not_json(self, reply: Received) -> str:
        """Why a reply that is no JSON cannot be used."""
        if not reply.text.strip():
            return "the answer is empty, where JSON was expected"
        kind = reply.headers.get("content-type", "no content type").partition(";")[0]
        return f"the answer is no JSON ({kind}): {quoted(reply.text, self._secrets)}"

    def _failed(self, name: str, error: AssayError) -> str:
        what = "" if isinstance(error, _NotJsonError) else f"{name}: "
        return self._secrets.scrub(f"{what}{error}")


def _transform(
    settings: Settings, names: tuple[str, ...], templates: Templates, *, listed: bool = False
) -> Transform | None:
    given = [name for name in names if settings.text(name) is not None]
    if len(given) > 1:
        raise settings.wrong(given[0], f"and config.{given[1]} are the same thing: give one")
    if not given:
        return None
    try:
        return Transform(settings.text(given[0]) or "", templates, listed=listed)
    except ConfigError as error:
        raise settings.wrong(given[0], f"cannot be used: {error}") from None


def _json(text: str) -> tuple[bool, Any]:
    """Whether a text is JSON, and its data; what is not a number (NaN) becomes null."""
    import json

    try:
        return True, json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return False, None
