"""HTTP endpoints under test: what is sent, what is read, and what goes wrong on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from assay.suite.providers.base import Request
from assay.suite.secrets import Secrets
from http_site import KEY, Site, asked, open_site, opened

HTML = web.Response(text="<html>Sorry</html>", content_type="text/html")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site() as found:
        yield found


# --- what is sent ------------------------------------------------------------------------------


async def test_an_object_is_posted_and_hostile_values_cannot_break_it(site: Site) -> None:
    site.says({"ok": 1})
    hostile = '"}, {"admin": true} {{ env.KEY }} \ud800 é'
    body = {"q": "{{prompt}}", "all": {"{{x}}": ["{{ n }}", "n={{ n }}", 1, None]}}
    answer = await asked(site, {"body": body}, hostile, n=3)
    assert answer.error is None
    assert site.body == {"q": hostile, "all": {"{{x}}": [3, "n=3", 1, None]}}
    request, _ = site.seen[-1]
    assert (request.method, request.content_type) == ("POST", "application/json")


async def test_messages_stay_messages_in_an_object_and_are_json_in_a_text(site: Site) -> None:
    site.says({"ok": 1})
    messages = [{"role": "user", "content": "Grüezi"}]
    await asked(site, {"body": {"messages": "{{prompt}}"}}, messages)
    assert site.body == {"messages": messages}
    await asked(site, {"body": "{{prompt}}"}, messages)
    assert site.body == messages


async def test_a_text_body_is_sent_as_it_renders(site: Site) -> None:
    site.says({"ok": 1})
    await asked(site, {"body": "ask: {{prompt}}"}, "a&b")
    request, body = site.seen[-1]
    assert (body, request.content_type) == (b"ask: a&b", "text/plain")
    answer = await asked(site, {"body": '{"q": "{{prompt}}"}'}, 'say "hi"')
    assert answer.error is not None
    assert "write config.body as an object" in answer.error
    assert len(site.seen) == 1


async def test_a_form_is_posted_where_its_type_says_so(site: Site) -> None:
    site.says({"ok": 1})
    kind = {"content-type": "application/x-www-form-urlencoded"}
    await asked(site, {"headers": kind, "body": {"q": "{{prompt}}", "n": 2}}, "a b&c=d")
    assert site.seen[-1][1] == b"q=a+b%26c%3Dd&n=2"


async def test_get_with_query_headers_and_a_variable_in_the_url(site: Site) -> None:
    site.says({"ok": 1})
    site.url += "/{{ id }}?fixed={{ id }}"
    config = {"queryParams": {"q": "{{prompt}}", "k": 3, "x": None}, "headers": {"X-N": "{{n}}"}}
    answer = await asked(site, config, "a&b=c/ü", id="../x?admin=1&", n=5)
    assert answer.error is None
    request, _ = site.seen[-1]
    assert request.method == "GET"
    assert request.raw_path.startswith("/ask/..%2Fx%3Fadmin")
    assert dict(request.query) == {"fixed": "../x?admin=1&", "q": "a&b=c/ü", "k": "3"}
    assert request.headers["X-N"] == "5"


async def test_a_key_is_sent_counts_as_secret_and_never_shows_in_errors(site: Site) -> None:
    secrets = Secrets()
    config = {"headers": {"Authorization": "Bearer {{ env.KEY }}"}}

    async def echo(request: web.Request) -> web.StreamResponse:
        said = "x" * 190 + request.headers["Authorization"]
        return web.Response(status=401, text=said)

    site.answers = [echo]
    answer = await asked(site, config, secrets=secrets)
    assert site.seen[-1][0].headers["Authorization"] == f"Bearer {KEY}"
    assert answer.error is not None
    assert answer.error.startswith("HTTP 401: xxx")
    assert "sk-" not in answer.error
    assert secrets.scrub(KEY) == "***"


async def test_a_key_that_is_not_set_is_said_before_anything_is_sent(site: Site) -> None:
    site.says({"ok": 1})
    answer = await asked(site, {"headers": {"X-Key": "{{ env.NONE }}"}})
    assert answer.error == "the environment variable NONE is not set"
    assert site.seen == []


async def test_a_header_with_a_line_break_is_not_sent(site: Site) -> None:
    site.says({"ok": 1})
    answer = await asked(site, {"headers": {"X-A": "{{prompt}}"}}, "a\r\nX-Admin: 1")
    assert answer.error is not None
    assert "cannot be sent" in answer.error
    assert site.seen == []


def in_charset(name: str, body: bytes) -> web.Response:
    return web.Response(body=body, headers={"Content-Type": f"text/plain; charset={name}"})


# --- what is read ------------------------------------------------------------------------------


async def test_output_and_contexts_are_found_and_the_reply_is_kept(site: Site) -> None:
    reply = {"choices": [{"text": "Grüezi 👋"}], "docs": [{"t": "a"}, {"t": "b"}]}
    site.says(reply)
    config = {"responseParser": "json.choices[0].text", "contextTransform": "$.docs[*].t"}
    answer = await asked(site, config)
    assert (answer.output, answer.contexts, answer.raw) == ("Grüezi 👋", ["a", "b"], reply)
    assert answer.calls == 1
    assert answer.cost is None
    assert answer.latency_ms is not None
    assert 0 < answer.latency_ms < 5000


@pytest.mark.parametrize(
    ("response", "output"),
    [
        ({"a": 1}, {"a": 1}),
        (web.Response(text="plain"), "plain"),
        (web.Response(text=""), ""),
        (web.Response(body="\ufeff[1]".encode()), [1]),
        (in_charset("latin-1", b"na\xefve"), "naïve"),
        (in_charset("nonsense", b"\xff\xfe"), "\ufffd\ufffd"),
        (web.Response(text='{"score": NaN}'), {"score": None}),
        (web.Response(text="[" * 100_000), "[" * 100_000),
    ],
)
async def test_without_a_transform_the_reply_is_the_output(
    site: Site, response: Any, output: Any
) -> None:
    site.says(response)
    assert (await asked(site, {})).output == output


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (web.Response(text=""), "is empty, where JSON was expected"),
        (HTML, "no JSON (text/html): <html>Sorry"),
        ({"error": "x", "id": 3}, "nothing at '$.answer': the keys there are error, id"),
        ([1], "there is a list of 1"),
        (web.Response(text='"text"'), "there is a text"),
    ],
)
async def test_a_transform_that_finds_nothing_says_what_there_is(
    site: Site, response: Any, said: str
) -> None:
    site.says(response)
    answer = await asked(site, {"transformResponse": "$.answer"})
    assert answer.output is None
    assert answer.error is not None
    assert said in answer.error


async def test_contexts_that_are_missing_are_an_error(site: Site) -> None:
    site.says({"answer": "x"})
    answer = await asked(site, {"transformResponse": "$.answer", "contextTransform": "$.docs"})
    assert (answer.output, answer.error) == ("x", None)  # the answer is good all the same
    said = "contextTransform: nothing at '$.docs': the keys there are answer"
    assert answer.contexts_error == said


# --- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_a_refusal_is_not_tried_again(site: Site, status: int) -> None:
    site.says(web.Response(status=status, text="no\n such " + "é" * 500))
    answer = await asked(site, {})
    assert answer.error == f"HTTP {status}: no such " + "é" * 192
    assert answer.calls == 1


@pytest.mark.parametrize("config", [{"timeout": 0.2}, {"timeoutMs": 200}])
async def test_a_server_that_hangs_is_given_up(site: Site, config: dict[str, Any]) -> None:
    async def hang(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    site.answers = [hang]
    answer = await asked(site, config)
    assert answer.error == "no answer within 0.2 s"
    assert answer.calls == 1


@pytest.mark.parametrize("chunked", [False, True])
async def test_more_than_5_mb_are_not_read(site: Site, chunked: bool) -> None:
    written = 0

    async def big(request: web.Request) -> web.StreamResponse:
        nonlocal written
        response = web.StreamResponse()
        if not chunked:
            response.content_length = 2**26
        await response.prepare(request)
        for _ in range(64):
            await response.write(b"x" * 2**20)
            written += 1
        return response

    site.answers = [big]
    answer = await asked(site, {})
    assert answer.error == "the answer is larger than 5 MB"
    assert written < 64


async def test_redirects_stay_at_home(site: Site) -> None:
    moved = web.Response(status=302, headers={"Location": "/elsewhere?x=1"})
    kept = web.Response(status=307, headers={"Location": "/elsewhere"})
    site.says(moved, {"ok": 1})
    answer = await asked(site, {"body": {"a": 1}, "queryParams": {"q": "1"}})
    assert answer.output == {"ok": 1}
    request, body = site.seen[-1]
    assert (request.method, request.path_qs, body) == ("GET", "/elsewhere?x=1", b"")
    site.says(kept, {"ok": 1})
    await asked(site, {"body": {"a": 1}})
    assert site.seen[-1][0].method == "POST"
    assert site.body == {"a": 1}


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:9/x?k=1", "http://localhost:9/x", "ftp://a/b"]
)
async def test_redirects_to_other_hosts_are_not_followed(site: Site, target: str) -> None:
    site.says(web.Response(status=308, headers={"Location": target}))
    answer = await asked(site, {"headers": {"X-Key": "{{env.KEY}}"}})
    assert answer.error is not None
    assert f"redirects to {target.partition('?')[0]}" in answer.error
    assert len(site.seen) == 1


async def test_redirects_in_a_ring_end(site: Site) -> None:
    site.says(web.Response(status=302, headers={"Location": "/ask"}))
    assert (await asked(site, {})).error == "it redirects more than 5 times"


async def test_nobody_there_is_an_error_without_the_query(site: Site) -> None:
    site.url = "http://127.0.0.1:1/x?key=123"
    answer = await asked(site, {"queryParams": {"q": "1"}})
    assert answer.error is not None
    assert "cannot reach http://127.0.0.1:1/x (" in answer.error
    assert "123" not in answer.error


async def test_calls_run_at_once_up_to_the_limit_and_can_be_cancelled(site: Site) -> None:
    now, peak = 0, 0

    async def slow(request: web.Request) -> web.StreamResponse:
        nonlocal now, peak
        now += 1
        peak = max(peak, now)
        await asyncio.sleep(0.1)
        now -= 1
        return web.json_response({"ok": 1})

    site.answers = [slow]
    provider = opened(site, {})
    answers = await asyncio.gather(*(provider.call(Request(str(k))) for k in range(8)))
    assert {answer.error for answer in answers} == {None}
    assert peak == 4
    call = asyncio.create_task(provider.call(Request("x")))
    await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await provider.aclose()
