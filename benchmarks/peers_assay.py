"""One run of assay over a workload, in a process of its own; what it took is printed as JSON.

    python benchmarks/peers_assay.py --workload FILE --base http://127.0.0.1:8100/v1 [--packed]

The clock runs from the call of `assay.evaluate` to its return. What it imports at first use is
imported before, as the drivers of others do; all of it is in the figures of the whole process.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import assay
from assay import Sample

METRICS = (
    "faithfulness",
    "noise_sensitivity(mode=relevant)",
    "noise_sensitivity(mode=irrelevant)",
    "answer_correctness",
    "context_precision",
    "context_recall",
    "context_relevance",
    "hallucination",
)


SHARES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "faithfulness": ("ok", "nr", "ni"),
        "noise_sensitivity(mode=relevant)": ("nr",),
        "noise_sensitivity(mode=irrelevant)": ("ni",),
        "hallucination": ("hal",),
    }
)
"""What counts for a metric, of the claims that a workload's ``truth`` counts by kind: right;
wrong, from a relevant context; wrong, from an irrelevant one; wrong, from none."""


def read(path: Path, limit: int) -> list[dict[str, Any]]:
    """The first rows of a workload."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(limit), strict=False)]


def samples(path: Path, limit: int) -> list[Sample]:
    """The first samples of a workload."""
    return [
        Sample(
            id=row["id"],
            question=row["question"],
            response=row["response"],
            contexts=row["contexts"],
            references=[row["reference"]],
        )
        for row in read(path, limit)
    ]


def untrue(values: Mapping[str, list[float | None]], rows: list[dict[str, Any]]) -> int:
    """How many scores differ from what the workload says of its own claims, where it does."""
    out = 0
    for name, kinds in SHARES.items():
        for value, row in zip(values.get(name, ()), rows, strict=False):
            if value is not None and (truth := row.get("truth")):
                right = sum(truth[kind] for kind in kinds) / truth["n_claims"]
                out += abs(value - right) > 1e-9
    return out


def _import_the_rest() -> None:
    """What an evaluation imports at first use."""
    for name in ("aiohttp", "assay.readers"):
        import_module(name)


def _peak_mb() -> float:
    """The largest memory of this process, without what its parent had when it was started."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Score the workload once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workload", type=Path, required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--without", default="", help="a metric that is left out")
    parser.add_argument("--calls", type=int, help="calls at once, else the default")
    parser.add_argument("--samples", type=int, help="samples at once, else the default")
    parser.add_argument("--scores", type=Path, help="a file for every score")
    given = parser.parse_args()
    options = {"concurrency": given.calls} if given.calls else {}
    judge = assay.openai("gpt-4o", base_url=given.base, packed=given.packed, **options)
    metrics = [name for name in METRICS if name != given.without]
    known = samples(given.workload, given.limit)
    _import_the_rest()

    start, cpu = time.perf_counter(), time.process_time()
    run = assay.evaluate(
        known, metrics, judge, **({"concurrency": given.samples} if given.samples else {})
    )
    wall, spent = time.perf_counter() - start, time.process_time() - cpu
    values = {name: [row.scores[name].value for row in run.rows] for name in metrics}
    told = {name: [value for value in found if value is not None] for name, found in values.items()}
    if given.scores:
        given.scores.write_text(json.dumps(values), encoding="utf-8")
    out = {
        "wall": wall,
        "cpu": spent,
        "peak_mb": _peak_mb(),
        "untrue": untrue(values, read(given.workload, given.limit)),
        "missing": sum(len(found) - len(told[name]) for name, found in values.items()),
        "means": {name: round(sum(found) / len(found), 4) for name, found in told.items() if found},
        "usage": run.provenance["usage"],
    }
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
