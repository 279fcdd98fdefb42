"""Configs of HTTP endpoints that cannot work, and how soon that is said."""

from __future__ import annotations

from typing import Any

import pytest

from assay.errors import ConfigError
from assay.suite.providers.base import Request
from assay.suite.providers.http import HttpProvider
from assay.suite.secrets import Secrets
from assay.suite.templates import Templates


@pytest.mark.parametrize(
    ("id", "config", "said"),
    [
        ("http", {}, "give config.url"),
        ("https://", {}, "must begin with http"),
        ("https", {"url": "ftp://a/b"}, "must begin with http"),
        ("https://user:pw12345@example.org", {}, "holds a user or password"),
        ("https://a.b", {"metod": "GET"}, "did you mean 'method'"),
        ("https://a.b", {"method": "BREW"}, "must be one of GET"),
        ("https://a.b", {"method": "GET", "body": {}}, "use queryParams"),
        ("https://a.b", {"validateStatus": "true"}, "other than 2xx is an error"),
        ("https://a.b", {"transformResponse": "json.a.join(',')"}, "JavaScript is not run"),
        ("https://a.b", {"transformResponse": "$.a", "responseParser": "$.a"}, "the same thing"),
        ("https://a.b", {"timeout": 300_000}, "timeoutMs is in milliseconds"),
        ("https://a.b", {"timeout": 1, "timeoutMs": 1}, "the same thing"),
        ("https://a.b", {"timeout": "soon"}, "a number above 0"),
        ("https://a.b", {"maxRetries": -1}, "0 or more"),
        ("https://a.b", {"headers": ["x"]}, "a mapping"),
        ("https://a.b", {"body": {"q": "{{ prompt"}}, ""),
    ],
)
def test_configs_that_cannot_work(id: str, config: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match="(?s)" + said) as caught:
        HttpProvider(id, config, templates=Templates(), secrets=Secrets())
    assert "pw12345" not in str(caught.value)


async def test_variables_cannot_choose_the_host() -> None:
    provider = HttpProvider(
        "http", {"url": "{{ base }}/ask"}, templates=Templates(), secrets=Secrets()
    )
    answer = await provider.call(Request("x", {"base": "http://evil.example"}))
    assert answer.error is not None
    assert "variables are quoted" in answer.error
