"""assay at full speed, remembering in a file what was answered: seconds and calls, as JSON.

    python benchmarks/overhead_assay.py --workload FILE --base URL --store FILE [--calls 64]

Prompts, limits, retries, SQLite and strict reading are all on. The suite is that of
`peers_assay`; with ``--bare`` nothing is remembered.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import assay
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.remembering import RememberingJudge
from peers_assay import METRICS, samples


def main() -> None:
    """Score the workload once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workload", type=Path, required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=64)
    parser.add_argument("--limit", type=int, default=1_000_000, help="rows of the workload")
    parser.add_argument("--bare", action="store_true", help="remember nothing")
    given = parser.parse_args()
    import aiohttp  # noqa: F401 - the other clients import theirs before the clock runs, too

    known = samples(given.workload, given.limit)
    judge = assay.openai("gpt-4o", base_url=given.base, concurrency=given.calls)
    asked = judge if given.bare else RememberingJudge(judge, SqliteStore(given.store))
    start, cpu = time.perf_counter(), time.process_time()
    run = assay.evaluate(known, METRICS, asked, concurrency=given.calls)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    if any(score.value is None for row in run.rows for score in row.scores.values()):
        raise SystemExit("not every sample was scored")
    json.dump({"wall": wall, "cpu": cpu, "calls": judge.usage.calls}, sys.stdout)


if __name__ == "__main__":
    main()
