"""Benchmark programs as child processes: what they print, what they took, how busy the rest was."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Took:
    """One child: what it printed (a JSON object), and the whole process by clock and processor."""

    said: dict[str, Any]
    wall: float
    cpu: float
    others: float
    """Cores that the rest of the machine used meanwhile, the endpoint included."""


def run(script: str, *options: str, nice: int = 0) -> Took:
    """Run a script of this folder; raises SystemExit with what it said if it fails."""
    command = ["nice", "-n", str(nice), sys.executable, str(HERE / script), *options]
    own = {**os.environ, "OPENAI_API_KEY": "sk-local", "NO_PROXY": "127.0.0.1"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        busy, start = machine_busy(), time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=errors, env=own)
        # wait4 tells what this child took, and nothing of other children.
        _, status, used = os.wait4(child.pid, 0)
        wall, cpu = time.perf_counter() - start, used.ru_utime + used.ru_stime
        others = (machine_busy() - busy - cpu) / wall
        child.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, errors):
            file.seek(0)
        if child.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{errors.read().decode()[-3000:]}")
        return Took(json.loads(out.read()), wall, cpu, max(0.0, others))


def machine_busy() -> float:
    """Processor seconds that the whole machine has spent; 0 where this is not told."""
    path = Path("/proc/stat")
    if not path.exists():
        return 0.0
    ticks = [int(word) for word in path.read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def middle(values: Iterable[float]) -> float:
    """The median."""
    return median(list(values))


@contextlib.contextmanager
def cpu_of(pid: int) -> Iterator[list[float]]:
    """The processor seconds that another process takes inside, as the only element."""
    before, out = _cpu_of(pid), [0.0]
    yield out
    out[0] = _cpu_of(pid) - before


def _cpu_of(pid: int) -> float:
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return 0.0
    parts = path.read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
