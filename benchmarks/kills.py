"""Runs killed at random moments and resumed: is the table the same, and what is paid twice?

    python benchmarks/kills.py [--rows 2000] [--kills 100] [--latency-ms 40] [--concurrency 16]

Each run is a process that scores ROWS samples with a judge that takes LATENCY (from a half to
three halves of it) an ask and writes down what it answered, which is what an endpoint would have
billed. The process gets SIGKILL at a random moment, and another goes on in its folder, until the
run is whole; then the merged table is held byte for byte against that of a run that nobody
stopped. Runs are made until there were KILLS. A row is paid twice if any ask of it was answered
more than once; rows in work at the kills bound that.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from assay.asks import Ask, Entail, Extract, T
from assay.judges.scripted import ScriptedJudge
from assay.runs import merge, score_to

METRICS = ["faithfulness", "precision"]


class SlowJudge(ScriptedJudge):
    """A scripted judge that takes its time, and appends what it answered to a file."""

    def __init__(self, latency: float, bill: Path | None) -> None:
        super().__init__(name="slow")
        self._latency, self._bill = latency, bill

    async def answer(self, ask: Ask[T]) -> T:
        self.asked.clear()
        if self._latency:
            drawn = hashlib.sha256(repr(ask).encode()).digest()[0] / 255
            await asyncio.sleep(self._latency * (0.5 + drawn))
        if self._bill is not None and isinstance(ask, Extract | Entail):
            handle = os.open(self._bill, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            key = hashlib.sha256(repr(ask).encode()).hexdigest()
            os.write(handle, f"{key} {ask.question}\n".encode())
            os.close(handle)
        return await super().answer(ask)


@dataclass
class Figures:
    """What happened over all runs."""

    runs: int = 0
    kills: int = 0
    equal: int = 0
    twice: int = 0


def write_rows(path: Path, rows: int) -> None:
    """Samples of which some lack a field, so that some scores fail."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(rows):
            row = {
                "id": f"row {n}",
                "question": f"When did mill {n} open?",
                "response": f"Mill {n} opened in {1800 + n % 90}. It is red – «{n}».",
                "contexts": [f"Mill {n} opened in {1800 + n % 90}. It is old.", "Bread is baked."],
            }
            if n % 37:
                row["reference"] = f"Mill {n} opened in {1800 + n % 90}."
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def work(folder: Path, data: Path, latency: float, concurrency: int, shard_rows: int) -> None:
    """One process's share of a run."""
    judge = SlowJudge(latency, folder.with_name(folder.name + ".bill"))
    score_to(
        folder,
        data,
        METRICS,
        judge,
        concurrency=concurrency,
        shard_rows=shard_rows,
        resume=True,
    )


def table(folder: Path) -> bytes:
    """The merged rows of a run."""
    out = folder.with_name(folder.name + ".jsonl")
    merge(folder, out)
    return out.read_bytes()


def one_run(
    folder: Path, arguments: list[str], longest: float, kills: int, rng: random.Random
) -> int:
    """Start, kill and resume until the run is whole; how often it was killed."""
    killed = 0
    while True:
        process = subprocess.Popen(
            [sys.executable, __file__, "--work", str(folder), *arguments],
            start_new_session=True,
        )
        try:
            process.wait(rng.uniform(0.05, longest) if killed < kills else None)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
            continue
        if process.returncode:
            raise SystemExit(f"the run ended with {process.returncode}")
        return killed


def paid_twice(bill: Path) -> int:
    """How often a row had to be paid again."""
    again: Counter[str] = Counter()
    for line, times in Counter(bill.read_text("utf-8").splitlines()).items():
        question = line.partition(" ")[2]
        again[question] = max(again[question], times - 1)
    return again.total()


def measure(
    rows: int, kills: int, *, latency: float, concurrency: int, shard_rows: int, seed: int = 1
) -> Figures:
    """Runs until there were so many kills."""
    rng = random.Random(seed)
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        data = base / "in.jsonl"
        write_rows(data, rows)
        score_to(base / "whole", data, METRICS, SlowJudge(0, None), shard_rows=max(1, shard_rows))
        whole = table(base / "whole")
        arguments = [str(data), str(latency), str(concurrency), str(shard_rows)]
        # Long enough that a process gets somewhere, short enough that most are killed.
        longest = 1.0 + 0.15 * rows * 2 * latency / concurrency
        while figures.kills < kills:
            folder = base / f"run{figures.runs}"
            figures.kills += one_run(folder, arguments, longest, kills - figures.kills, rng)
            figures.runs += 1
            figures.equal += table(folder) == whole
            figures.twice += paid_twice(base / f"{folder.name}.bill")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--latency-ms", type=float, default=40)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--shard-rows", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", nargs=5, metavar=("FOLDER", "DATA", "LATENCY", "N", "ROWS"))
    given = parser.parse_args()
    if given.work:
        folder, data, latency, concurrency, shard_rows = given.work
        work(Path(folder), Path(data), float(latency), int(concurrency), int(shard_rows))
        return
    clock = time.perf_counter()
    figures = measure(
        given.rows,
        given.kills,
        latency=given.latency_ms / 1000,
        concurrency=given.concurrency,
        shard_rows=given.shard_rows,
        seed=given.seed,
    )
    bound = figures.kills * given.concurrency
    print(f"kills                      {figures.kills} in {figures.runs} runs of {given.rows} rows")
    print(f"tables equal byte for byte {figures.equal} of {figures.runs}")
    print(f"rows paid twice            {figures.twice} (in work at the kills: at most {bound})")
    print(f"  a kill                   {figures.twice / figures.kills:.2f} of {given.concurrency}")
    print(f"seconds                    {time.perf_counter() - clock:.0f}")


if __name__ == "__main__":
    main()
