"""What assay costs a call: calls a second at no latency, beside a bare aiohttp loop and the SDK.

    python benchmarks/overhead.py --workload FILE [--rounds 3] [--calls 64] [--latency-ms 0]

All send the very same requests to one endpoint in a process of its own; assay also writes the
prompts, keeps limits, reads the replies strictly, and keeps every answer in SQLite. The order is
interleaved. `pip install openai` for the SDK; the workload is that of `peers.py`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from oracle_endpoint import Served, served
from peers_running import Took, cpu_of, middle, run

NAMES = {
    "aiohttp": "bare aiohttp",
    "openai": "openai SDK",
    "bare": "assay, not remembering",
    "assay": "assay, everything on",
}


def _once(name: str, given: argparse.Namespace, endpoint: Served, folder: Path) -> Took:
    shared = ["--base", endpoint.base, "--calls", str(given.calls)]
    if name in ("aiohttp", "openai"):
        bodies = str(folder / "bodies.json")
        return run("overhead_clients.py", name, "--bodies", bodies, *shared, nice=given.nice)
    store = Path(tempfile.mkdtemp(dir=folder)) / "answers.sqlite"
    options = ["--workload", str(given.workload), "--store", str(store), *shared]
    options += ["--bare"] if name == "bare" else []
    return run("overhead_assay.py", *options, nice=given.nice)


def _record(given: argparse.Namespace, folder: Path) -> int:
    """Write down the requests of one run; how many they are."""
    with served("--keep") as endpoint:
        took = _once("bare", given, endpoint, folder)
        (folder / "bodies.json").write_bytes(endpoint.bodies())
    return int(took.said["calls"])


def _lines(found: dict[str, list[Took]], served_cpu: list[float], calls: int) -> None:
    for name, runs in found.items():
        walls = [took.said["wall"] for took in runs]
        cpu = middle(took.said["cpu"] for took in runs) / calls * 1000
        ends = f"({calls / max(walls):,.0f}-{calls / min(walls):,.0f})"
        print(f"{NAMES[name]:24} {calls / middle(walls):7,.0f} calls/s {ends:15} {cpu:6.3f} ms CPU")
    others = middle(took.others for runs in found.values() for took in runs)
    print(f"endpoint {middle(served_cpu) / calls * 1000:.3f} ms CPU a call;", end=" ")
    print(f"{others:.2f} cores used by others (endpoint included); load {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Prints one line a client."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workload", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=64, help="calls at once")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--nice", type=int, default=0, help="priority of clients and endpoint")
    given = parser.parse_args()
    names = [name for name in NAMES if name != "openai" or find_spec("openai")]
    found: dict[str, list[Took]] = {name: [] for name in names}
    spent: list[float] = []
    latency = ("--latency-ms", str(given.latency_ms))
    with tempfile.TemporaryDirectory() as made, served(*latency, nice=given.nice) as endpoint:
        folder = Path(made)
        calls = _record(given, folder)
        at_once = f"{given.calls} at once, {given.latency_ms:g} ms latency"
        print(f"{calls} requests, {at_once}, {given.rounds} rounds")
        for _ in range(given.rounds):
            for name in names:
                with cpu_of(endpoint.pid) as took:
                    found[name].append(_once(name, given, endpoint, folder))
                spent.append(took[0])
    _lines(found, spent, calls)


if __name__ == "__main__":
    main()
