"""Whole runs with secrets in the environment: none of them reaches a file, table or log."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from assay.cli.app import run
from assay.judges.retrying import Backoff
from servers import status
from suite_endpoint import Endpoint, written

SECRETS = {
    "OPENAI_API_KEY": "sk-tested-0123456789abcdef",
    "GRADER_KEY": "gk-grader-fedcba9876543210",
    "SITE_PASSWORD": 'pass"word<&>\\ü',
    "PLAIN": "bearer-value-that-only-a-header-has",
}
ENDINGS = ("json", "jsonl", "yaml", "csv", "html", "junit.xml", "md")


def echoing(prompt: str) -> str:
    """A model that tells all that it was told."""
    return f"{prompt} and {' '.join(SECRETS.values())}. The mill is old."


def config(url: str) -> str:
    grader = {
        "id": "openai:chat:judge",
        "config": {"apiBaseUrl": url, "apiKeyEnvar": "GRADER_KEY"},
    }
    tested = {
        "id": "openai:chat:tested",
        "label": "tested {{env.SITE_PASSWORD}}",
        "config": {
            "apiBaseUrl": url,
            "headers": {"X-Site": "Bearer {{env.PLAIN}}", "Authorization": "{{env.PLAIN}}"},
        },
    }
    asserts = [
        {"type": "equals", "value": "{{env.SITE_PASSWORD}}", "metric": "{{env.SITE_PASSWORD}}"},
        {"type": "contains", "value": "{{secret}}", "weight": 0},
        {"type": "noise-sensitivity", "value": "The {{secret}} is old."},
        {"type": "assert-set", "assert": [{"type": "equals", "value": "{{secret}}"}]},
    ]
    test = {
        "description": "with {{env.SITE_PASSWORD}}",
        "vars": {"secret": "{{env.SITE_PASSWORD}}", "q": "{{env.OPENAI_API_KEY}}"},
        "assert": asserts,
    }
    return json.dumps(
        {
            "description": SECRETS["GRADER_KEY"],
            "prompts": ["Say {{q}} {{secret}}"],
            "providers": [tested],
            "tests": [test, {**test, "description": ""}],
            "defaultTest": {"options": {"provider": grader}},
        }
    )


@pytest.mark.parametrize("trouble", [None, "model", "judge", "config"])
def test_no_secret_is_written_shown_or_logged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    trouble: str | None,
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Backoff, "pause", lambda *_: 0.001)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    caplog.set_level(logging.DEBUG)
    told = f"refused: {' '.join(SECRETS.values())}"
    with Endpoint(answer=echoing).in_thread() as server:
        if trouble == "model":
            server.faults = [status(400, told)] * 99
        elif trouble == "judge":
            server.faults = [None, None, *[status(400, told)] * 99]
        text = config(server.url)
        if trouble == "config":
            bad = '"value": "x", "rubricPrompt": "file://{{env.SITE_PASSWORD}}"'
            text = text.replace('"type": "equals", "value"', f'"type": "llm-rubric", {bad}, "v"')
        path = written(tmp_path, text)
        options = [part for end in ENDINGS for part in ("-o", str(tmp_path / f"o.{end}"))]
        code = run(["eval", "-c", str(path), *options, "-j", "1"])
    assert code == (1 if trouble == "config" else 100)
    if trouble is None:
        sent = [headers.get("authorization") for _, headers in server.requests]
        assert f"Bearer {SECRETS['GRADER_KEY']}" in sent
        assert SECRETS["PLAIN"] in sent
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file != path]
    assert len(files) == (0 if trouble == "config" else len(ENDINGS) + 1)
    shown = capfd.readouterr()
    texts = {str(file): file.read_text("utf-8") for file in files}
    texts |= {"stdout": shown.out, "stderr": shown.err, "log": caplog.text}
    for where, content in texts.items():
        for name, value in SECRETS.items():
            forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
            assert not [form for form in forms if form in content], (where, name)


def test_the_answer_cache_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache.sqlite"
    monkeypatch.setenv("ASSAY_CACHE", str(cache))
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["OPENAI_API_KEY"])
    test = {
        "providerOutput": "The mill is old.",
        "assert": [{"type": "noise-sensitivity", "value": "The mill is old."}],
    }
    with Endpoint().in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        path = written(tmp_path, json.dumps({"tests": [test]}))
        assert run(["eval", "-c", str(path), "--grader", "openai:judge", "-q"]) == 0
    assert server.judged > 0
    for file in tmp_path.glob("cache.sqlite*"):
        assert SECRETS["OPENAI_API_KEY"].encode() not in file.read_bytes()
