"""Ray workers killed at random moments of a run: is the table the same?

    python benchmarks/ray_kills.py [--rows 500] [--kills 10] [--latency-ms 150] [--actors 2]

One run of ROWS samples with a judge that takes LATENCY (from a half to three halves of it) an ask.
KILLS times, at a random moment, a random worker gets SIGKILL; Ray starts another in its place. The
merged table is held byte for byte against that of a local run. What is asked again is told as well.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

from assay.judges.scripted import ScriptedJudge
from assay.runs import merge, score_to, start
from assay.scale.cluster import cluster
from assay.scale.ray import run
from kills import METRICS, SlowJudge, paid_twice, write_rows


class Marked(SlowJudge):
    """A slow judge that says in which process it is."""

    def __init__(self, latency: float, folder: str) -> None:
        super().__init__(latency, Path(folder) / "bill")
        (Path(folder) / f"{os.getpid()}.pid").touch()


def alive(folder: Path) -> list[int]:
    """The workers that are there."""
    pids = (int(path.stem) for path in folder.glob("*.pid"))
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").exists()]


def kill(folder: Path, kills: int, mean: float, ended: threading.Event, done: list[int]) -> None:
    """Kill workers of this run at random moments, until there were so many or it has ended."""
    rng = random.Random(1)
    while len(done) < kills and not ended.wait(rng.uniform(0.2, 2 * mean)):
        if there := alive(folder):
            done.append(rng.choice(there))
            os.kill(done[-1], signal.SIGKILL)


def table(folder: Path) -> bytes:
    """The merged rows of a run."""
    out = folder.with_name(folder.name + ".jsonl")
    merge(folder, out)
    return out.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--latency-ms", type=float, default=150)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--shard-rows", type=int, default=25)
    given = parser.parse_args()
    # Workers import the judges of this file and its neighbour.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    latency = given.latency_ms / 1000
    asks = 4 * given.rows * latency / (given.actors * given.concurrency)
    with tempfile.TemporaryDirectory() as name, cluster(None, given.actors):
        base = Path(name)
        data, notes = base / "in.jsonl", base / "notes"
        notes.mkdir()
        write_rows(data, given.rows)
        score_to(base / "here", data, METRICS, SlowJudge(0, None), shard_rows=given.shard_rows)
        start(data, METRICS, named(), base / "there", shard_rows=given.shard_rows)
        ended = threading.Event()
        killed: list[int] = []
        mean = asks / given.kills / 2
        killer = threading.Thread(target=kill, args=(notes, given.kills, mean, ended, killed))
        killer.start()
        where = str(notes)
        clock = time.perf_counter()
        outcome = run(
            base / "there",
            lambda: Marked(latency, where),
            actors=given.actors,
            concurrency=given.concurrency,
        )
        seconds = time.perf_counter() - clock
        ended.set()
        killer.join()
        same = table(base / "here") == table(base / "there")
        print(f"load                  {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"workers killed        {len(killed)} ({len(set(killed))} processes)")
        print(f"seconds               {seconds:.0f}")
        print(f"shards                {len(outcome.reports)}, elsewhere {len(outcome.elsewhere)}")
        print(f"rows asked about anew {paid_twice(notes / 'bill')}")
        print(f"table equal byte for byte: {same}")
        if not same:
            raise SystemExit(1)


def named() -> ScriptedJudge:
    """A judge of the same name and fingerprint that is asked nothing."""
    return SlowJudge(0, None)


if __name__ == "__main__":
    main()
