"""The file of remembered answers: what it keeps, what it forgets, what it survives."""

from __future__ import annotations

import gc
import os
import random
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay.asks import Entail
from assay.judges.memory.database import default_path
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import MemoryStore, Record
from assay.judges.remembering import RememberingJudge
from assay.judges.scripted import ScriptedJudge
from assay.verdicts import Cell, Verdict


def record(blob: bytes = b"blob", judge: str = "judge") -> Record:
    return Record(blob, judge, "judge:1", "Entail")


def key(n: int) -> bytes:
    return n.to_bytes(32, "big")


def fill(path: Path, n: int, blob: bytes = b"blob") -> None:
    with closing(SqliteStore(path)) as store:
        for k in range(n):
            store.put(key(k), record(blob))


def kept(path: Path, n: int) -> list[bool]:
    with closing(SqliteStore(path)) as store:
        return [store.get(key(k)) is not None for k in range(n)]


def saved(path: Path) -> int:
    """Rows that another connection sees."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


def eventually(path: Path, n: int) -> bool:
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if saved(path) == n:
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "cache" / "answers.sqlite"
    gc.collect()  # an unclosed file is closed here, and a complaint fails the test


# --- keeping ----------------------------------------------------------------------------------


def test_what_is_put_is_there_at_once_and_later(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        assert store.get(key(1)) is None
        store.put(key(1), record(b"one"))
        assert store.get(key(1)) == b"one"
        store.put(key(1), record(b"two"))
        assert store.get(key(1)) == b"two"
        store.close()
        assert store.get(key(1)) == b"two"
        store.put(key(1), record(b"three"))
    with closing(SqliteStore(path)) as again:
        assert again.get(key(1)) == b"three"
        assert again.notes == []
    assert saved(path) == 1


def test_an_answer_is_saved_without_being_asked_to(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.put(key(1), record())
        assert eventually(path, 1)
        for n in range(200):
            store.put(key(n), record())
        assert eventually(path, 200)


def test_a_store_that_is_dropped_saves_first(path: Path) -> None:
    store = SqliteStore(path)
    store.put(key(0), record())
    del store
    gc.collect()
    assert kept(path, 1) == [True]
    assert not [t for t in threading.enumerate() if t.name == "assay-answers"]


def test_nothing_is_made_before_it_is_used(path: Path) -> None:
    SqliteStore(path).close()
    assert not path.parent.exists()


def test_only_the_user_can_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(SqliteStore(path)) as store:
            store.put(key(1), record())
            assert eventually(path, 1)
            modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_odd_names_and_many_threads(path: Path) -> None:
    with closing(SqliteStore(path)) as store:

        def work(n: int) -> None:
            for k in range(50):
                store.put(key(n * 50 + k), record(b"%d" % k, "\ud800\0';--"))
                assert store.get(key(n * 50 + k)) == b"%d" % k

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.notes == []
    assert all(kept(path, 400))


def test_the_file_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_path() == tmp_path / "xdg" / "assay" / "answers.sqlite"
    for odd in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", odd)
        assert default_path() == tmp_path / ".cache" / "assay" / "answers.sqlite"
    for given, wanted in (
        ("~/mine.db", "mine.db"),
        ("~/folder/", "folder/answers.sqlite"),
        (str(tmp_path), "answers.sqlite"),
    ):
        monkeypatch.setenv("ASSAY_CACHE", given)
        assert default_path() == tmp_path / wanted
    with closing(SqliteStore()) as store:
        store.put(key(1), record())
    assert saved(tmp_path / "answers.sqlite") == 1


# --- making room ------------------------------------------------------------------------------


def test_what_was_not_used_for_longest_makes_room(path: Path) -> None:
    fill(path, 200, os.urandom(4000))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET used = used - 9e6, created = created - 9e6")
    with closing(SqliteStore(path)) as store:
        for k in range(0, 200, 10):
            assert store.get(key(k)) is not None
    half = path.stat().st_size // 2
    with closing(SqliteStore(path, max_bytes=half)) as store:
        store.get(key(0))
    left = kept(path, 200)
    assert all(left[::10])
    assert 50 < sum(left) < 100
    with closing(SqliteStore(path, max_bytes=half)) as store:
        store.get(key(0))
    assert kept(path, 200) == left  # what fits stays
    with closing(SqliteStore(path, max_bytes=0)) as store:
        store.get(key(0))
    assert saved(path) == 0


def test_room_is_made_while_it_grows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.judges.memory.writing._LOOK", 1)
    blob = os.urandom(10_000)
    with closing(SqliteStore(path, max_bytes=200_000)) as store:
        for n in range(200):
            store.put(key(n), record(blob))
            if n % 20 == 0:
                time.sleep(0.06)
    assert 0 < saved(path) < 100
    assert kept(path, 200)[-1]


def test_memory_is_bounded_and_keeps_what_was_used() -> None:
    store = MemoryStore(max_bytes=30)
    for n in range(3):
        store.put(bytes([n]), Record(b"x" * 10, "", "", ""))
    store.get(b"\0")
    store.put(b"\3", Record(b"y" * 10, "", "", ""))
    assert [store.get(bytes([n])) is not None for n in range(4)] == [True, False, True, True]
    store.put(b"\3", Record(b"z" * 31, "", "", ""))
    assert len(store) == 0


# --- damage -----------------------------------------------------------------------------------


def test_a_damaged_file_is_set_aside_and_a_new_one_begun(path: Path) -> None:
    for n in (1, 2):
        fill(path, 3)
        path.write_bytes(b"\xff" * 5000)
        with closing(SqliteStore(path)) as store:
            assert store.get(key(1)) is None
            assert store.notes == [
                f"the answers in {path} were damaged; the file is now answers.sqlite.damaged-{n}"
            ]
            store.put(key(1), record())
        assert kept(path, 2) == [False, True]
        assert (path.parent / f"answers.sqlite.damaged-{n}").read_bytes() == b"\xff" * 5000


def test_damage_found_in_use_ends_the_use_and_is_mended_next_time(path: Path) -> None:
    fill(path, 2000, os.urandom(300))
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 8192 * 4096, len(data), 4096):
        data[at : at + 64] = b"\xff" * 64  # the heads of the pages of the second half
    path.write_bytes(data)
    with closing(SqliteStore(path)) as store:
        for k in range(2000):
            assert store.get(key(k)) in (None, store.get(key(k)))
        assert len(store.notes) == 1
        assert "answers are not remembered" in store.notes[0]
        assert "malformed" in store.notes[0]
        store.put(key(1), record())
    with closing(SqliteStore(path)) as store:
        assert store.get(key(1)) is None
        assert "damaged-1" in store.notes[0]
        store.put(key(1), record())
    assert kept(path, 2) == [False, True]


@pytest.mark.parametrize("cut", [1, 100, 5000, 30_000])
async def test_a_file_that_was_cut_off_gives_right_answers_or_none(path: Path, cut: int) -> None:
    asks = [
        Entail((f"claim {n} " + random.Random(n).randbytes(90).hex(),), ("premise",))
        for n in range(300)
    ]
    inner = ScriptedJudge(verdicts=lambda claim, premise: Cell(Verdict.ENTAILED, reason=claim))

    async def answers() -> tuple[list[str], list[str]]:
        judge = RememberingJudge(inner, SqliteStore(path))
        told = [(await judge.answer(ask))[0][0].reason for ask in asks]
        await judge.aclose()
        return told, judge.usage.notes

    right = [ask.claims[0] for ask in asks]
    assert await answers() == (right, [])
    path.write_bytes(path.read_bytes()[:-cut])
    inner.asked.clear()
    told, notes = await answers()
    assert told == right
    assert bool(notes) == bool(inner.asked)
    assert inner.asked or cut == 1  # the last byte may be one of the room that is left


def test_somebody_else_s_file_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "rows.jsonl"
    text.write_text("{}\n" * 500)
    theirs = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(theirs)) as connection:
        connection.execute("CREATE TABLE answers (key, blob)")
    newer = tmp_path / "newer.sqlite"
    fill(newer, 1)
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 2")
    for path, why in (
        (text, "holds no answers"),
        (theirs, "something else"),
        (newer, "another version"),
    ):
        before = path.read_bytes()
        with closing(SqliteStore(path)) as store:
            store.put(key(1), record())
            assert store.get(key(1)) is None
            assert len(store.notes) == 1
            assert why in store.notes[0]
        assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} >= {
        "rows.jsonl",
        "theirs.sqlite",
        "newer.sqlite",
    }
    assert not list(tmp_path.glob("*.damaged*"))


def test_where_no_file_can_be_the_run_goes_on_with_one_note(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "answers.sqlite", tmp_path):
        with closing(SqliteStore(path)) as store:
            for n in range(3):
                store.put(key(n), record())
                assert store.get(key(n)) is None
            assert len(store.notes) == 1
            assert "answers are not remembered: cannot open" in store.notes[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(0o500)
    with closing(SqliteStore(path)) as store:
        store.put(key(1), record())
        assert store.get(key(1)) is None
        assert len(store.notes) == 1


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", "~nobody-of-this-name/answers.sqlite")
    with closing(SqliteStore()) as store:
        assert store.get(key(1)) is None
        assert len(store.notes) == 1
        assert "no home folder" in store.notes[0]


def test_where_no_thread_can_start_the_run_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    with closing(SqliteStore(path)) as store:
        store.put(key(1), record())
        assert store.get(key(1)) is None
        assert len(store.notes) == 1
        assert "start new thread" in store.notes[0]


def test_a_file_that_another_holds_is_a_miss_and_waited_for(path: Path) -> None:
    fill(path, 1)
    with closing(SqliteStore(path)) as store:
        assert store.get(key(0)) == b"blob"
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            store.put(key(1), record())
            time.sleep(0.15)
            assert store.get(key(0)) == b"blob"
            assert store.get(key(1)) == b"blob"  # waiting to be saved
            other.execute("COMMIT")
        assert eventually(path, 2)
        assert store.notes == []


def test_rows_of_the_wrong_type_are_handed_on_as_they_are(path: Path) -> None:
    fill(path, 3)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET blob = 'text', used = 'never' WHERE id = 1")
        connection.execute("UPDATE answers SET blob = 7 WHERE id = 2")
    with closing(SqliteStore(path)) as store:
        assert [store.get(key(k)) for k in range(3)] == ["text", 7, b"blob"]
        assert store.notes == []
