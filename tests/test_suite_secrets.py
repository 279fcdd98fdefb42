"""Secrets are struck out of texts and data, however they are written there."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus

import pytest

from assay.suite.secrets import Secrets, looks_secret

HARD = 'k/+"é\\ü <&> x=1'
"""A secret that JSON, URLs, HTML and Python literals all write differently."""


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("hf_token", True),
        ("DB_PASSWORD", True),
        ("X-Auth", True),
        ("AUTHORIZATION", True),
        ("AWS_CREDENTIALS", True),
        ("GIT_AUTHOR_NAME", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("KEYBOARD_LAYOUT", False),
        ("PATH", False),
    ],
)
def test_names_that_look_secret(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret


def test_the_environment_gives_the_values_of_secret_names_only() -> None:
    secrets = Secrets.from_environment(
        {"MY_KEY": "abcdefgh", "SHORT_KEY": "true", "HOME": "/home/somebody"}
    )
    assert secrets.scrub("abcdefgh true /home/somebody") == "*** true /home/somebody"


@pytest.mark.parametrize(
    "written",
    [
        HARD,
        json.dumps(HARD)[1:-1],
        json.dumps(HARD, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(HARD)[1:-1])[1:-1],
        quote(HARD),
        quote(HARD, safe=""),
        quote(HARD, safe="").lower(),
        quote_plus(HARD),
        html.escape(HARD),
        repr(HARD)[1:-1],
    ],
)
def test_a_secret_is_struck_out_as_it_is_written(written: str) -> None:
    assert Secrets([HARD]).scrub(f"before {written} after") == "before *** after"


@pytest.mark.parametrize("user", ["", "u", "us", "use", "someone:"])
@pytest.mark.parametrize("after", ["", "!", "!!"])
def test_a_secret_is_struck_out_of_base64_wherever_it_begins(user: str, after: str) -> None:
    secret = "p4ssw0rd-with-some-length"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        code = encode(f"{user}{secret}{after}".encode()).decode()
        scrubbed = Secrets([secret]).scrub(f"Basic {code}")
        assert "***" in scrubbed
        # What is left is too short to hold more than the characters at either end.
        assert len(scrubbed) < len("Basic ***") + len(user) * 2 + len(after) * 2 + 12


def test_the_longer_of_two_secrets_is_struck_out_whole() -> None:
    secrets = Secrets(["abcdefgh", "abcdefgh-and-more"])
    assert secrets.scrub("abcdefgh-and-more abcdefgh") == "*** ***"


def test_kept_values_join_later_and_short_ones_do_not() -> None:
    secrets = Secrets()
    assert secrets.scrub("hunter22") == "hunter22"
    secrets.keep(" hunter22\n")
    secrets.keep("ab")
    secrets.keep("")
    assert secrets.scrub("hunter22 ab ") == "*** ab "


def test_data_is_scrubbed_in_texts_and_keys_and_keeps_the_rest() -> None:
    data = {"a": ["x hunter22", 1, None, 2.5, True], "hunter22": {"b": ("hunter22",)}}
    assert Secrets(["hunter22"]).scrub_data(data) == {
        "a": ["x ***", 1, None, 2.5, True],
        "***": {"b": ["***"]},
    }
    assert Secrets().scrub_data(data) is data


def test_data_deeper_than_any_reader_follows_is_left_out() -> None:
    deep: list[object] = ["hunter22"]
    for _ in range(5000):
        deep = [deep]
    assert "hunter22" not in json.dumps(Secrets(["hunter22"]).scrub_data(deep))


def test_big_texts_are_scrubbed_in_no_time() -> None:
    secrets = Secrets(f"secret-{k}-{'ab' * k}+/é" for k in range(30))
    text = "The quick brown fox secret-less jumps. " * 50_000 + "secret-3-ababab+/é"
    started = time.perf_counter()
    assert secrets.scrub(text).endswith("jumps. ***")
    assert time.perf_counter() - started < 2.0
