"""Cost of remembering: answers saved and found a second, bytes an answer, microseconds a hit.

    python benchmarks/cache.py [--answers 20000] [--rounds 3] [--folder FOLDER]

Saving and finding are held against bare sqlite3: one thread, one table, the same blobs, 64 a
commit. A hit is everything between an ask and its checked answer, for a pair, a matrix of 6 claims
and 5 passages, and a vector of 1536 numbers. The file is made in FOLDER (a temporary one).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from assay.asks import Ask, Embed, Entail
from assay.judges.memory.codec import entry, pack
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import MemoryStore, Record, Store
from assay.judges.remembering import RememberingJudge
from assay.judges.scripted import ScriptedJudge
from assay.verdicts import Cell, Span, Verdict

WORDS = "the mill on the river was opened by a family of millers in spring and sold to its workers"
FINGERPRINT = "llm:" + "0" * 32
Rows = list[tuple[bytes, bytes]]


def sentence(rng: random.Random, words: int = 14) -> str:
    return " ".join(rng.choice(WORDS.split()) + rng.choice("aeiou") for _ in range(words)) + "."


def cell(rng: random.Random, premise: str) -> Cell:
    verdict = rng.choice((Verdict.ENTAILED, Verdict.NEUTRAL))
    quote = Span(premise[:40], 0, 40) if verdict is Verdict.ENTAILED else None
    return Cell(verdict, reason=sentence(rng, 9), evidence=quote)


def matrix(rng: random.Random, claims: int, premises: int) -> tuple[Ask[Any], Any]:
    """An ask and its answer, with passages of a hundred words."""
    texts = tuple(sentence(rng, 100) for _ in range(premises))
    ask = Entail(tuple(sentence(rng) for _ in range(claims)), texts, sentence(rng, 8))
    return ask, tuple(tuple(cell(rng, text) for text in texts) for _ in range(claims))


def packed(ask: Ask[Any], answer: Any) -> tuple[bytes, bytes]:
    place = entry(ask, FINGERPRINT)
    blob = pack(place, ask, answer) if place else None
    if place is None or blob is None:
        raise SystemExit("an answer of the benchmark cannot be kept")
    return place.key, blob


def shuffled(rows: Rows) -> Rows:
    return random.Random(1).sample(rows, len(rows))


@contextmanager
def clock(into: list[float], count: int) -> Iterator[None]:
    """Appends the rate of what is done inside."""
    start = time.perf_counter()
    yield
    into.append(count / (time.perf_counter() - start))


def bare(path: Path, rows: Rows, saved: list[float], found: list[float]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, key BLOB UNIQUE, blob BLOB)")
        with clock(saved, len(rows)):
            for start in range(0, len(rows), 64):
                db.execute("BEGIN")
                db.executemany("INSERT INTO t (key, blob) VALUES (?, ?)", rows[start : start + 64])
                db.execute("COMMIT")
        with clock(found, len(rows)):
            for key, _ in shuffled(rows):
                db.execute("SELECT blob FROM t WHERE key = ?", (key,)).fetchall()


def ours(path: Path, rows: Rows, saved: list[float], found: list[float]) -> None:
    store = SqliteStore(path)
    store.get(b"")
    with clock(saved, len(rows)):
        for key, blob in rows:
            store.put(key, Record(blob, "openai:model", FINGERPRINT, "Entail"))
        store.close()
    store.get(b"")
    with clock(found, len(rows)):
        for key, _ in shuffled(rows):
            store.get(key)
    store.close()
    if store.notes:
        raise SystemExit("\n".join(store.notes))


@dataclass
class Side:
    """One of the two, with its rates."""

    work: Callable[[Path, Rows, list[float], list[float]], None]
    saved: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)


def compare(folder: Path, rows: Rows, rounds: int) -> None:
    """Prints one line for saving and one for finding."""
    made = {"bare": Side(bare), "assay": Side(ours)}
    size = 0
    for n in range(rounds):
        for name, side in made.items():
            path = folder / f"{name}-{n}.sqlite"
            side.work(path, rows, side.saved, side.found)
            size = path.stat().st_size
    for title in ("saved", "found"):
        base, own = (median(getattr(made[name], title)) for name in ("bare", "assay"))
        print(f"{title} {own:10,.0f}/s   bare sqlite3 {base:10,.0f}/s   ratio {own / base:.2f}")
    blobs = sum(len(blob) for _, blob in rows) / len(rows)
    print(f"bytes an answer: {size / len(rows):.0f} in the file, {blobs:.0f} of them packed")


async def hit(ask: Ask[Any], answer: Any, store: Store, count: int = 300) -> float:
    """Seconds from an ask to its stored answer."""
    judge = RememberingJudge(ScriptedJudge(), store)
    place = entry(ask, judge.fingerprint)
    blob = pack(place, ask, answer) if place else None
    if place is None or blob is None:
        raise SystemExit("an answer of the benchmark cannot be kept")
    store.put(place.key, Record(blob, judge.name, judge.fingerprint, place.kind))
    store.close()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        await judge.answer(ask)
        times.append(time.perf_counter() - start)
    await judge.aclose()
    if judge.recall.hits != count:
        raise SystemExit("not every ask was a hit")
    return median(times)


def hits(folder: Path, rng: random.Random) -> None:
    """Prints one line a kind of answer."""
    vector = tuple(rng.gauss(0, 0.03) for _ in range(1536))
    asks: dict[str, tuple[Ask[Any], Any]] = {
        "one pair": matrix(rng, 1, 1),
        "6 claims x 5 passages": matrix(rng, 6, 5),
        "vector of 1536": (Embed((sentence(rng),)), (vector,)),
    }
    for name, (ask, answer) in asks.items():
        file = asyncio.run(hit(ask, answer, SqliteStore(folder / "hits.sqlite")))
        memory = asyncio.run(hit(ask, answer, MemoryStore()))
        size = len(packed(ask, answer)[1])
        print(f"hit, {name:22} {file * 1e6:7.0f} µs   in memory {memory * 1e6:7.0f} µs   {size} B")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = [packed(*matrix(rng, 1, 1)) for _ in range(options.answers)]
        print(f"{len(rows)} answers about a claim and a passage, {options.rounds} rounds")
        compare(Path(folder), rows, options.rounds)
        hits(Path(folder), rng)


if __name__ == "__main__":
    main()
