"""assay beside ragas, RAGChecker, valor-lite and deepeval: calls, repeats, tokens, time, memory.

    python benchmarks/peers.py --workload FILE [--peers FOLDER [--only ragchecker,valor]]

FILE has a sample a line: id, question, response, contexts, reference. Everybody asks an oracle by
the same rules (`peers_oracle`), which answers after 200 ms, and every run is a process of its own.
assay runs before and after the others, which are driven by the scripts of FOLDER (see
`peers_others`), once in each mode; without FOLDER only assay runs. The suite of assay is
faithfulness, noise sensitivity in both modes, answer correctness, context precision, recall and
relevance, and hallucination; those of the others have what they offer of it, and some more.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from oracle_endpoint import Served, served
from peers_others import MODES, others
from peers_row import Row, means, table
from peers_running import run

OWN: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "default": (),
        "without context relevance": ("--without", "context_relevance"),
        "packed": ("--packed",),
        "256 calls at once": ("--calls", "256", "--samples", "100"),
        "packed, 256 calls at once": ("--packed", "--calls", "256", "--samples", "100"),
    }
)


def own(endpoint: Served, mode: str, given: argparse.Namespace) -> Row:
    """One run of assay."""
    endpoint.reset()
    options = ["--workload", str(given.workload), "--base", endpoint.base]
    options += ["--limit", str(given.limit), *OWN[mode]]
    took = run("peers_assay.py", *options, nice=given.nice)
    heard, said = endpoint.stats(), took.said
    return Row(
        name="assay",
        mode=mode,
        calls=heard["calls"] / given.limit,
        repeated=heard["repeated"] / heard["calls"],
        prompt_tokens=heard["prompt_tokens"] / given.limit,
        completion_tokens=heard["completion_tokens"] / given.limit,
        wall=said["wall"],
        cpu=said["cpu"],
        whole_wall=took.wall,
        whole_cpu=took.cpu,
        peak_mb=said["peak_mb"],
        at_once=heard["peak"],
        missing=said["missing"],
        others=took.others,
        means=said["means"],
        note=f"{said['untrue']} scores differ from the workload's truth" if said["untrue"] else "",
    )


def main() -> None:
    """Prints a line a run, then a table of medians and the mean scores."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workload", type=Path, required=True)
    parser.add_argument("--peers", type=Path, help="a folder with the drivers of the others")
    parser.add_argument("--only", default=",".join(MODES), help="which of the others")
    parser.add_argument("--limit", type=int, default=100, help="samples")
    parser.add_argument("--latency-ms", type=float, default=200.0)
    parser.add_argument("--rounds", type=int, default=2, help="of assay, before and after")
    parser.add_argument("--nice", type=int, default=0, help="priority of all, for a busy machine")
    parser.add_argument("--json", type=Path, help="a file for all rows, a JSON object a line")
    given = parser.parse_args()
    peers = [name for name in given.only.split(",") if name]
    if unknown := set(peers) - set(MODES):
        raise SystemExit(f"--only: no driver for {', '.join(unknown)}; {', '.join(MODES)}")
    rows: list[Row] = []
    with served("--latency-ms", str(given.latency_ms), nice=given.nice) as endpoint:
        settings = {"limit": given.limit, "latency_ms": given.latency_ms, "nice": given.nice}
        theirs = others(given.peers, peers, **settings) if given.peers else ()
        before = (own(endpoint, mode, given) for _ in range(given.rounds) for mode in OWN)
        after = (own(endpoint, mode, given) for _ in range(given.rounds) for mode in OWN)
        for row in chain(before, theirs, after if given.peers else ()):
            rows.append(row)
            print(f"{row.name} {row.mode}: {row.wall:.2f} s, {row.cpu:.2f} s CPU {row.note}")
            if given.json:
                with given.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row.as_dict()) + "\n")
    print(table(rows, given.limit), means(rows), sep="\n\n")
    print(f"load {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
