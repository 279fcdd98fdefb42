"""Which endpoint an answer came from: kept beside the answers, shown, and used to clear them."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay.asks import Extract
from assay.cli.app import run
from assay.cli.cache import cache_clear, cache_stats
from assay.cli.remembering import remember
from assay.errors import ConfigError
from assay.judges.memory.endpoints import note_endpoints
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import Record
from assay.judges.memory.survey import Group, groups
from assay.judges.openai import openai_judge
from assay.judges.remembering import RememberingJudge
from assay.judges.scripted import ScriptedJudge
from servers import FakeOpenAI

WIDE = "400"


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("COLUMNS", WIDE)
    return tmp_path / "answers.sqlite"


async def ask(*order: int) -> list[str]:
    """Answers of the same model at two URLs, which are returned, as commands ask for them."""
    async with FakeOpenAI() as one, FakeOpenAI() as two:
        urls = [one.url, two.url]
        for number in order:
            judge = remember()(openai_judge("m", base_url=urls[number]), 0)
            await judge.answer(Extract("Rain falls."))
            await judge.aclose()
    return urls


def by_endpoint(path: Path) -> dict[str | None, Group]:
    return {group.endpoint: group for group in groups(path)}


def test_stats_tell_two_endpoints_of_one_model_apart(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = asyncio.run(ask(0, 1, 0))
    found = by_endpoint(path)
    assert set(found) == set(urls)
    assert {group.judge for group in found.values()} == {"openai:m"}
    assert cache_stats() == 0
    lines = capsys.readouterr().out.splitlines()
    for url in urls:
        (line,) = [line for line in lines if url in line]
        assert found[url].fingerprint[4:12] in line
    assert b"sk-secret" not in path.read_bytes()


def test_clear_takes_one_fingerprint_as_stats_shows_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = asyncio.run(ask(0, 1))
    short = by_endpoint(path)[one].fingerprint[:12]
    with pytest.raises(ConfigError, match=r"'llm:' may be any of llm:\w{8}, llm:\w{8}: give more"):
        cache_clear(None, None, yes=True, fingerprint="llm:")
    with pytest.raises(ConfigError, match="empty"):
        cache_clear(None, None, yes=True, fingerprint=" ")
    assert run(["cache", "clear", "--fingerprint", "llm:nothing", "--yes"]) == 0
    assert "no such answers" in capsys.readouterr().out
    assert run(["cache", "clear", "--fingerprint", short, "--yes"]) == 0
    assert "deleted 1 answers" in capsys.readouterr().out
    assert set(by_endpoint(path)) == {two}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT endpoint FROM judges").fetchall() == [(two,)]


def test_a_repeat_is_cleared_apart_from_the_first(path: Path) -> None:
    async def answers(repeat: int) -> None:
        judge = RememberingJudge(ScriptedJudge(), SqliteStore(), repeat=repeat)
        await judge.answer(Extract("Rain falls."))
        await judge.aclose()

    asyncio.run(answers(0))
    asyncio.run(answers(1))
    first = min(groups(path), key=lambda group: len(group.fingerprint)).fingerprint
    assert {group.fingerprint for group in groups(path)} == {first, f"{first} repeat=1"}
    assert cache_clear(None, None, yes=True, fingerprint=first) == 0
    assert [group.fingerprint for group in groups(path)] == [f"{first} repeat=1"]


def test_a_file_of_an_earlier_version_is_read_and_added_to(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SqliteStore()
    store.put(b"k" * 32, Record(b"x", "old", "llm:old", "Extract"))
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    assert tables == [("answers",)]
    assert [group.endpoint for group in groups(path)] == [None]
    assert cache_stats() == 0
    assert "endpoint" not in capsys.readouterr().out
    url = asyncio.run(ask(0))[0]
    assert {group.judge: group.endpoint for group in groups(path)} == {
        "old": None,
        "openai:m": url,
    }


def test_what_could_be_secret_in_a_url_is_not_kept(path: Path) -> None:
    class Hosted(ScriptedJudge):
        endpoint = {"model": "m", "base_url": "https://me:pa55@host.example/v1?key=pa55#pa55"}  # noqa: RUF012 - read only

    async def one() -> None:
        judge = remember()(Hosted(), 0)
        await judge.answer(Extract("Rain falls."))
        await judge.aclose()

    asyncio.run(one())
    assert list(by_endpoint(path)) == ["https://host.example/v1"]
    assert b"pa55" not in path.read_bytes()


def test_a_judge_that_gave_no_answer_is_not_noted(path: Path) -> None:
    store = SqliteStore()
    store.place("llm:idle", "http://idle")
    store.put(b"k" * 32, Record(b"x", "other", "llm:other", "Extract"))
    store.close()
    store.close()
    assert [(group.fingerprint, group.endpoint) for group in groups(path)] == [("llm:other", None)]


def test_an_endpoint_is_noted_once_and_changed_at_need(path: Path) -> None:
    note_endpoints(path, {"a": "http://one"})
    note_endpoints(path, {"a": "http://one", "b": "http://two"})
    note_endpoints(path, {"a": "http://three"})
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT * FROM judges ORDER BY 1").fetchall()
    assert found == [("a", "http://three"), ("b", "http://two")]


def test_a_store_takes_a_path_as_text(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "own.sqlite"
    store = SqliteStore(str(file))
    store.put(b"k" * 32, Record(b"blob", "judge", "print", "Extract"))
    assert store.get(b"k" * 32) == b"blob"
    store.close()
    assert store.notes == []
    again = SqliteStore(file)
    assert again.get(b"k" * 32) == b"blob"
    again.close()
