"""The functions behind ``assay cache``: what they print, delete and write."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay.asks import Ask, Entail, Extract
from assay.cli.cache import cache_clear, cache_export, cache_stats
from assay.errors import ConfigError, DataError
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.survey import groups, size
from assay.judges.remembering import RememberingJudge
from assay.judges.scripted import ScriptedJudge

ASKS: list[Ask[Any]] = [Extract("Rain\ud800 falls."), Entail(("Rain.",), ("Rain. é",))]


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "answers.sqlite"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return tmp_path / "answers.sqlite"


def remember(*names: str) -> None:
    """Two answers of a judge of each name."""

    async def ask(name: str) -> None:
        judge = RememberingJudge(ScriptedJudge(name=name), SqliteStore())
        for one in ASKS:
            await judge.answer(one)
        await judge.aclose()

    for name in names:
        asyncio.run(ask(name))


def names(path: Path) -> list[str]:
    return sorted({group.judge for group in groups(path)})


def age(path: Path, judge: str, days: float) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE answers SET used = ?, created = 0 WHERE judge = ?",
            (time.time() - days * 86_400, judge),
        )


def test_stats_say_what_is_kept_and_where(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    remember("one", "\x1b[31mtwo")
    age(path, "one", 3)
    assert cache_stats() == 0
    out = capsys.readouterr().out
    assert str(path) in out.replace("\n", "")
    assert "4 answers" in out
    assert "1970-01-01" in out
    for word in ("one", "Extract", "Entail"):
        assert word in out
    assert "\x1b" not in out
    assert size(path) >= path.stat().st_size > 0


def test_without_a_file_there_is_nothing_and_none_is_made(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cache_stats() == 0
    assert "no answers are kept" in capsys.readouterr().out
    assert cache_clear(None, None, yes=True) == 0
    assert "no such answers" in capsys.readouterr().out
    assert cache_export(tmp_path / "out.jsonl") == 0
    assert (tmp_path / "out.jsonl").read_text() == ""
    assert not path.exists()


def test_clear_by_judge_and_age(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    remember("one", "two", "three")
    age(path, "two", 10)
    assert cache_clear("thr", None, yes=True) == 0
    assert "judges: one, three, two" in capsys.readouterr().out
    assert cache_clear("one", 5, yes=True) == 0
    assert names(path) == ["one", "three", "two"]
    assert cache_clear(None, 5, yes=True) == 0
    assert "deleted 2 answers" in capsys.readouterr().out
    assert names(path) == ["one", "three"]
    assert cache_clear("one", None, yes=True) == 0
    assert names(path) == ["three"]
    assert cache_clear(None, 0, yes=True) == 0
    assert names(path) == []


def test_clear_asks_first(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("one")
    with pytest.raises(ConfigError, match=r"delete 2 answers .* --yes"):
        cache_clear(None, None, yes=False)
    with pytest.raises(ConfigError, match="days"):
        cache_clear(None, -1, yes=True)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for said, code, left in (("n\n", 1, 2), ("\n", 1, 2), ("Yes\n", 0, 0)):
        monkeypatch.setattr(sys, "stdin", Terminal(said))
        assert cache_clear(None, None, yes=False) == code
        assert sum(group.entries for group in groups(path)) == left
    assert "nothing was deleted" in capsys.readouterr().out


def test_clearing_gives_the_room_back_and_the_judge_goes_on(path: Path) -> None:
    remember(*(f"judge {n}" for n in range(40)))
    before = path.stat().st_size
    cache_clear(None, None, yes=True)
    assert path.stat().st_size < before
    remember("one")
    assert names(path) == ["one"]


def test_export_writes_asks_and_answers(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remember("one")
    out = tmp_path / "out.jsonl"
    assert cache_export(out) == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["kind"] for row in rows] == ["Extract", "Entail"]
    assert rows[0]["ask"] == {"text": "Rain\ud800 falls.", "question": None, "opinions": False}
    assert rows[1]["answer"][0][0]["verdict"] == "entailed"
    for row in rows:
        assert row["judge"] == "one"
        assert row["fingerprint"] == ScriptedJudge(name="one").fingerprint
        assert (len(row["key"]), row["repeat"]) == (64, 0)
        assert abs(row["created"] - time.time()) < 60
    assert cache_export(Path("-")) == 0
    assert capsys.readouterr().out == out.read_text("utf-8")


def test_export_leaves_damaged_rows_out(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remember("one", "two")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET blob = x'00' WHERE id = 1")
        connection.execute("UPDATE answers SET key = 'text' WHERE id = 2")
    out = tmp_path / "out.jsonl"
    assert cache_export(out) == 2
    assert len(out.read_text().splitlines()) == 2
    assert "2 damaged ones left out" in capsys.readouterr().err
    with pytest.raises(DataError, match="cannot write"):
        cache_export(tmp_path / "no folder" / "out.jsonl")


def test_a_file_of_something_else_is_named(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 9000)
    with pytest.raises(DataError, match="delete it"):
        cache_stats()
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE answers (id)")
    for command in (
        cache_stats,
        lambda: cache_clear(None, None, yes=True),
        lambda: cache_export(tmp_path / "out.jsonl"),
    ):
        with pytest.raises(DataError, match="holds no answers"):
            command()
    assert not list(tmp_path.glob("out*"))
