"""HTTP endpoints under test that fail: what is tried again, when, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from assay.suite.providers.base import Request
from assay.suite.providers.http import HttpProvider
from assay.suite.secrets import Secrets
from assay.suite.templates import Templates
from http_site import Site, asked, open_site, opened


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site() as found:
        yield found


async def test_server_errors_are_tried_again_and_then_said(site: Site) -> None:
    site.says(web.Response(status=500, text="oops"))
    answer = await asked(site, {})
    assert answer.error == "HTTP 500: oops (3 attempts)"
    assert answer.calls == len(site.seen) == 3


async def test_a_rate_limit_is_waited_out(site: Site) -> None:
    site.says(web.Response(status=429, headers={"Retry-After": "0.2"}), {"ok": 1})
    started = asyncio.get_running_loop().time()
    answer = await asked(site, {})
    took = asyncio.get_running_loop().time() - started
    assert took >= 0.2
    assert (answer.output, answer.error, answer.calls) == ({"ok": 1}, None, 2)
    assert answer.latency_ms is not None
    assert answer.latency_ms <= (took - 0.2) * 1000


async def test_a_wait_that_one_call_is_told_holds_back_the_others(site: Site) -> None:
    site.says(web.Response(status=429, headers={"Retry-After": "0.3"}), {"ok": 1})
    provider = opened(site, {})
    clock = asyncio.get_running_loop().time
    try:
        started = clock()
        first = asyncio.create_task(provider.call(Request("a", {})))
        while not site.seen:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        second = await provider.call(Request("b", {}))
        assert clock() - started >= 0.3
        assert (second.calls, (await first).calls) == (1, 2)
    finally:
        await provider.aclose()


async def test_a_server_that_only_fails_is_asked_by_each_test(site: Site) -> None:
    site.says(web.Response(status=500, text="down"))
    provider = opened(site, {})
    try:
        answers = [await provider.call(Request("a", {})) for _ in range(15)]
        site.says({"ok": 1})
        assert (await provider.call(Request("a", {}))).output == {"ok": 1}
    finally:
        await provider.aclose()
    assert answers[0].error == "HTTP 500: down (3 attempts)"
    assert {(answer.calls, answer.error) for answer in answers} == {(3, answers[0].error)}


async def test_a_rate_limit_is_tried_no_more_often_than_any_fault(site: Site) -> None:
    site.says(web.Response(status=429, text="slower"))
    assert (await asked(site, {})).calls == len(site.seen) == 3


async def test_no_retries_means_one_request_also_at_a_rate_limit(site: Site) -> None:
    site.says(web.Response(status=429, text="slower"))
    provider = HttpProvider(
        site.url, {"maxRetries": 0}, templates=Templates({}), secrets=Secrets(), backoff=None
    )
    try:
        answer = await provider.call(Request("a", {}))
    finally:
        await provider.aclose()
    assert answer.error == "HTTP 429: slower (1 attempt)"
    assert (answer.calls, len(site.seen)) == (1, 1)


async def test_half_a_body_is_tried_again(site: Site) -> None:
    async def half(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b'{"ok"')
        assert request.transport is not None
        request.transport.close()
        return response

    site.says({"ok": 1})
    site.answers.insert(0, half)
    assert (await asked(site, {})).output == {"ok": 1}
    site.answers = [half]
    answer = await asked(site, {})
    assert answer.error == "the answer broke off (3 attempts)"
