"""The embedded judge by one Ray actor and by two: seconds, rows a second, memory.

    python benchmarks/ray_speed.py [--rows 300] [--rounds 3]

The bundled examples, repeated up to ROWS with words put in front so that no pair occurs twice, are
scored by one local process with one thread, by one actor and by two, in turn. Memory is the peak of
each worker's resident set (VmHWM), read as it ends. The load of the machine is told beside, since
on busy cores two actors cannot be twice as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from statistics import median

from assay.judges.embedded import EmbeddedJudge
from assay.runs import merge, score_to, start
from assay.scale.cluster import cluster
from assay.scale.ray import run

METRICS = ["faithfulness", "precision"]
DEMO = Path(__file__).parent.parent / "src" / "assay" / "demo" / "samples.jsonl"


class Weighed(EmbeddedJudge):
    """Notes the peak memory of its process as it is closed."""

    def __init__(self, folder: str) -> None:
        super().__init__(threads=1)
        self._notes = Path(folder)

    async def aclose(self) -> None:
        self._note()
        await super().aclose()

    def _note(self) -> None:
        status = Path("/proc/self/status").read_text()
        peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        (self._notes / f"{os.getpid()}.kb").write_text(peak)


def write_rows(path: Path, count: int) -> None:
    """The examples, again and again, each time a little different."""
    demo = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            row = demo[n % len(demo)]
            row = {**row, "id": str(n), "question": f"({n}) {row['question']}"}
            row["contexts"] = [_numbered(context, n) for context in row["contexts"]]
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _numbered(context: object, n: int) -> object:
    if isinstance(context, dict):
        return {**context, "text": f"{n}. {context['text']}"}
    return f"{n}. {context}"


def by_ray(folder: Path, data: Path, actors: int, shard_rows: int) -> tuple[float, list[int]]:
    """Seconds of a run, without the start of Ray, and the peaks of its workers in MB."""
    notes = folder.with_name(folder.name + ".notes")
    notes.mkdir()
    where = str(notes)
    start(data, METRICS, EmbeddedJudge(), folder, shard_rows=shard_rows)
    clock = time.perf_counter()
    run(folder, lambda: Weighed(where), actors=actors)
    seconds = time.perf_counter() - clock
    return seconds, sorted(int(path.read_text()) // 1024 for path in notes.glob("*.kb"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shard-rows", type=int, default=20)
    given = parser.parse_args()
    times: dict[str, list[float]] = {"local": [], "1 actor": [], "2 actors": []}
    tables, peaks = set(), {}
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name, cluster(None, 2):
        base = Path(name)
        data = base / "in.jsonl"
        write_rows(data, given.rows)
        for n in range(given.rounds):
            clock = time.perf_counter()
            local = base / f"local{n}"
            score_to(local, data, METRICS, EmbeddedJudge(threads=1), shard_rows=given.shard_rows)
            times["local"].append(time.perf_counter() - clock)
            for actors, kind in ((1, "1 actor"), (2, "2 actors")):
                folder = base / f"ray{n}-{actors}"
                seconds, peaks[kind] = by_ray(folder, data, actors, given.shard_rows)
                times[kind].append(seconds)
                tables.add(table(folder))
            tables.add(table(local))
            load = os.getloadavg()[0]
            told = ", ".join(f"{kind} {taken[-1]:.1f} s" for kind, taken in times.items())
            print(f"round {n + 1}, load {load:.1f}: {told}")
    for kind, taken in times.items():
        rate = given.rows / median(taken)
        told = f", peak of a worker {max(peaks[kind])} MB" if kind in peaks else ""
        print(f"{kind:9} median {median(taken):6.1f} s, {rate:5.1f} rows/s{told}")
    ratios = [one / two for one, two in zip(times["1 actor"], times["2 actors"], strict=True)]
    print(f"2 actors against 1: {median(ratios):.2f} times ({min(ratios):.2f}-{max(ratios):.2f})")
    print(f"tables: {len(tables)} different")


def table(folder: Path) -> bytes:
    """The merged rows of a run."""
    out = folder.with_name(folder.name + ".jsonl")
    merge(folder, out)
    return out.read_bytes()


if __name__ == "__main__":
    main()
