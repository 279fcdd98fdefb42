"""Several real processes and one file of answers: at once, killed, forked, on a full disk."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import Record

SHARED = """
import hashlib, sys, time
from pathlib import Path
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import Record

def key(*name):
    return hashlib.sha256(repr(name).encode()).digest()

def blob(k):
    return k * 20

def put(*name):
    k = key(*name)
    store.put(k, Record(blob(k), "judge", "judge:1", "Entail"))

store = SqliteStore(Path(sys.argv[1]))
me, n = int(sys.argv[2]), int(sys.argv[3])
"""


def start(code: str, path: Path, me: int = 0, n: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SHARED + code, str(path), str(me), str(n)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out.strip()


def sound(path: Path) -> int:
    """The number of rows of a file that is whole."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for key, blob in connection.execute("SELECT key, blob FROM answers"):
            assert blob == key * 20
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


MANY = """
for i in range(n):
    put(me, i)              # its own
    put("all", i)           # the same in every process
    if i % 50 == 0:
        for other in range(4):
            for j in range(0, i + 1, 50):
                got = store.get(key(other, j))
                assert got in (None, blob(key(other, j)))
                assert got or other != me
store.close()
missing = [i for i in range(n) if store.get(key(me, i)) != blob(key(me, i))]
store.close()
print(len(missing), store.notes)
"""


def test_four_processes_write_and_read_one_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "answers.sqlite"  # all four make it
    processes = [start(MANY, path, me, 500) for me in range(4)]
    assert [finish(process) for process in processes] == ["0 []"] * 4
    assert sound(path) == 5 * 500
    assert [file.name for file in path.parent.iterdir()] == ["answers.sqlite"]


DAMAGED = """
store.get(key(me))
put(me)
store.close()
print(*store.notes, sep="\\n")
"""


def test_processes_that_find_damage_at_once_begin_one_new_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 9000)
    said = [finish(process) for process in [start(DAMAGED, path, me) for me in range(4)]]
    assert sorted(map(bool, said)) == [False, False, False, True]
    assert len(list(tmp_path.glob("*.damaged-*"))) == 1
    assert sound(path) == 4


ENDLESS = """
i = 0
while True:
    put(me, i)
    print(i, time.time(), flush=True)
    i += 1
    time.sleep(0.0005)
"""


def test_a_killed_process_loses_a_fraction_of_a_second_at_most(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    process = start(ENDLESS, path)
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(0.8)
    process.send_signal(signal.SIGKILL)
    killed = time.time()
    out, _ = process.communicate(timeout=30)
    put = [line.split() for line in (first + out).splitlines()]
    times = [float(line[1]) for line in put if len(line) == 2 and "." in line[1]]
    rows = sound(path)
    assert rows <= len(times) + 1
    # On an idle machine it is a twentieth of a second.
    old = sum(when < killed - 0.5 for when in times)
    assert rows >= old > 10
    with closing(SqliteStore(path)) as store:
        assert store.get(b"x" * 32) is None
        assert store.notes == []


ABRUPT = """
for i in range(n):
    put(me, i)
# No close: the interpreter ends here.
"""


def test_a_program_that_just_ends_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    finish(start(ABRUPT, path, 0, 300))
    assert sound(path) == 300


FULL = """
import resource
put(0, 0)
store.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
for i in range(n):
    put(me, i)
    if i % 50 == 0:
        time.sleep(0.06)
time.sleep(0.2)
put(me, n + 1)
print(len(store.notes), store.get(key(0, 0)) is not None, *store.notes)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size to set")
def test_on_a_full_disk_the_run_goes_on_with_one_note(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    said = finish(start(FULL, path, 0, 600))
    assert said.startswith("1 True ")
    assert "and those that follow are not remembered" in said
    assert sound(path) >= 1


def test_a_forked_child_has_connections_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    code = """
import os, warnings
warnings.simplefilter("ignore")  # newer Pythons advise against a fork beside a thread
put("parent", 1)
assert store.get(key("parent", 1))
time.sleep(0.2)
child = os.fork()
if not child:
    assert store.get(key("parent", 1)) == blob(key("parent", 1))
    put("child", 1)
    store.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert store.get(key("child", 1))
put("parent", 2)
store.close()
assert store.get(key("parent", 2))
store.close()
print(store.notes)
"""
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    assert finish(start(code, path)) == "[]"
    assert sound(path) == 3


def test_a_process_that_was_stopped_does_not_stop_the_others(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    process = start(ENDLESS, path, 1)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    try:
        with closing(SqliteStore(path)) as store:
            before = time.monotonic()
            store.put(b"k" * 32, Record(b"k" * 640, "", "", ""))
            assert store.get(b"k" * 32) == b"k" * 640
            assert store.get(b"m" * 32) is None
            assert time.monotonic() - before < 1.0
            process.kill()  # it may hold the lock that our last batch waits for
    finally:
        process.kill()
        process.communicate(timeout=30)
    assert sound(path) >= 1
