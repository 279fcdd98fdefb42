"""A long run with a scripted judge: rows a second, and whether memory stays flat.

    python benchmarks/million.py [--rows 1000000] [--shard-rows 1000] [--concurrency 32]
                                 [--shard-format jsonl] [--folder FOLDER]

Samples with two passages are scored for faithfulness, from a JSONL file into a run folder, and
merged into one table. The rate so far and the peak memory of the process are printed at a tenth of
the rows, at 100,000 and at the end. The judge costs nothing: what is left is the cost of a row.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from assay.asks import Ask, T
from assay.judges.scripted import ScriptedJudge
from assay.run import Row
from assay.runs import merge, score_to


class Forgetful(ScriptedJudge):
    """A scripted judge that does not keep what it was asked."""

    async def answer(self, ask: Ask[T]) -> T:
        self.asked.clear()
        return await super().answer(ask)


class Watch:
    """Prints rate and peak memory at some rows."""

    def __init__(self, rows: int) -> None:
        self._at = {rows // 10, 100_000, rows}
        self._rows = 0
        self._start = time.perf_counter()

    def __call__(self, row: Row) -> None:
        self._rows += 1
        if self._rows in self._at:
            say("scored", self._rows, time.perf_counter() - self._start)


def say(what: str, rows: int, seconds: float) -> None:
    scale = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 2**20
    print(f"{what:<8}{rows:>10,} rows {rows / seconds:>9,.0f} rows/s  peak {peak:>6.0f} MB")


def write_rows(path: Path, rows: int) -> None:
    passage = "It stands by the river, and its wheel was made of oak. " * 8
    with path.open("w", encoding="utf-8") as file:
        for n in range(rows):
            opened = f"Mill {n} opened in {1800 + n % 90}."
            row = {
                "question": f"When did mill {n} open?",
                "response": f"{opened} It is red.",
                "contexts": [f"{opened} {passage}", "Bread is baked at night."],
            }
            file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--shard-rows", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--shard-format", default="jsonl")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    gc.set_threshold(10_000)  # as the command line does
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        data = folder / "in.jsonl"
        write_rows(data, given.rows)
        score_to(
            folder / "run",
            data,
            "faithfulness",
            Forgetful(),
            shard_rows=given.shard_rows,
            shard_format=given.shard_format,
            concurrency=given.concurrency,
            watch=Watch(given.rows),
        )
        clock = time.perf_counter()
        merged = merge(folder / "run", folder / "out.jsonl")
        say("merged", merged.rows, time.perf_counter() - clock)


if __name__ == "__main__":
    main()
