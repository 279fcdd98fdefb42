"""assay on an endpoint that misbehaves: samples scored, scores that differ, calls, seconds.

    python benchmarks/faults.py --workload FILE [--seeds 3] [--peers FOLDER --others valor]

A programme of faults (`oracle_faults`) over an oracle that answers after 20 ms; the scores are
held against those of a run without faults. With FOLDER (see `peers_others`) and ``--others``,
other libraries meet the same rates by its ``bench_faults.py``; the ones that wait for a hung call
are stopped after 200 s there.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from oracle_endpoint import Served, served
from peers_others import module
from peers_running import Took, run

Shares = Mapping[str, float]
USUAL: Shares = MappingProxyType(
    {"429": 0.10, "500": 0.05, "malformed": 0.05, "hang": 0.01, "missing_id": 0.01}
)
ODD: Shares = MappingProxyType(
    {
        **dict.fromkeys(("reset", "half", "html", "no_choices", "missing_id", "doubled_id"), 0.03),
        "429": 0.05,
    }
)
PROGRAMMES: Mapping[str, Shares] = MappingProxyType(
    {
        "none": {},
        "429": {"429": 0.10},
        "500": {"500": 0.05},
        "malformed": {"malformed": 0.05},
        "passing": {"429": 0.10, "500": 0.05, "malformed": 0.05},
        "usual": USUAL,
        "odd": ODD,
    }
)
Scores = Mapping[str, list[float | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: what it took, what the endpoint counted, a score a metric and sample."""

    took: Took
    heard: Mapping[str, Any]
    scores: Scores

    def against(self, clean: Outcome) -> tuple[int, int]:
        """Samples with every score that they have without faults; samples with another one."""
        whole = different = 0
        for own, right in zip(_by_sample(self.scores), _by_sample(clean.scores), strict=True):
            whole += all(value is not None for value in own)
            different += any(
                value is not None and (other is None or abs(value - other) > 1e-9)
                for value, other in zip(own, right, strict=True)
            )
        return whole, different


def _by_sample(scores: Scores) -> list[tuple[float | None, ...]]:
    return list(zip(*scores.values(), strict=True))


def _outcome(endpoint: Served, shares: Shares, seed: int, given: argparse.Namespace) -> Outcome:
    endpoint.reset(faults=dict(shares), seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.json"
        options = ["--workload", str(given.workload), "--base", endpoint.base]
        options += ["--limit", str(given.limit), "--scores", str(file)]
        took = run("peers_assay.py", *options)
        return Outcome(took, endpoint.stats(), json.loads(file.read_text(encoding="utf-8")))


def _own(given: argparse.Namespace) -> None:
    """Prints a line a programme and seed."""
    print("| programme | seed | samples scored | with another score | calls | times | s | faults |")
    print("|---|---|---|---|---|---|---|---|")
    with served("--latency-ms", "20") as endpoint:
        clean = _outcome(endpoint, {}, 0, given)
        base = clean.heard["calls"]
        for name in given.programmes.split(","):
            for seed in range(1, given.seeds + 1):
                found = _outcome(endpoint, PROGRAMMES[name], seed, given)
                whole, different = found.against(clean)
                calls, met = found.heard["calls"], found.heard["faults"]
                told = " ".join(f"{kind}:{count}" for kind, count in sorted(met.items()))
                print(
                    f"| {name} | {seed} | {whole} of {given.limit} | {different} | {calls} |"
                    f" {calls / base:.2f} | {found.took.said['wall']:.1f} | {told} |",
                    flush=True,
                )


def _others(given: argparse.Namespace) -> None:
    """The same rates for others, as their driver prints it."""
    os.environ["CASES"] = given.cases  # read when the module is imported
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    (given.peers / "logs").mkdir(exist_ok=True)
    common: Any = module(given.peers, "bench_common")
    driver: Any = module(given.peers, "bench_faults")
    for number, name in enumerate(given.others.split(",")):
        server = common.Server(8151 + number)
        try:
            driver.faults(name, server)
        finally:
            server.stop()


def main() -> None:
    """Prints a table for assay, then what the drivers of the others say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workload", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100, help="samples")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--programmes", default=",".join(PROGRAMMES))
    parser.add_argument("--peers", type=Path, help="a folder with the drivers of the others")
    parser.add_argument("--others", default="", help="which of the others to run")
    parser.add_argument("--cases", default="429+500+bad,all", help="their programmes")
    given = parser.parse_args()
    if unknown := set(filter(None, given.programmes.split(","))) - set(PROGRAMMES):
        raise SystemExit(f"no such programme: {', '.join(unknown)}; {', '.join(PROGRAMMES)}")
    if given.programmes:
        _own(given)
    if given.peers and given.others:
        _others(given)


if __name__ == "__main__":
    main()
