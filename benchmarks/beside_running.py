"""promptfoo and assay as child processes on one config: what they wrote, and what it took."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beside_server import Served

Name = Literal["promptfoo", "assay"]
NAMES: tuple[Name, ...] = ("promptfoo", "assay")


@dataclass(frozen=True, slots=True)
class Took:
    """One run: seconds by the clock, seconds of processor, the largest memory in MB, exit code."""

    wall: float
    cpu: float
    peak_mb: float
    code: int


@dataclass(frozen=True, slots=True)
class Programs:
    """How both are started; their own files go to ``folder``."""

    commands: Mapping[Name, Sequence[str]]
    folder: Path

    def evaluate(
        self, name: Name, config: Path, server: Served, *options: str
    ) -> tuple[Took, Path]:
        """Run ``name`` on a config without its cache; what it took, and its results as JSON.

        Raises SystemExit if it wrote none.
        """
        output = self.folder / f"{name}.json"
        output.unlink(missing_ok=True)
        command = [*self.commands[name], "eval", "-c", str(config), "-o", str(output)]
        command += ["--no-cache", "--no-table", *options]
        if name == "promptfoo":
            command += ["--no-progress-bar", "--no-write"]
        log = self.folder / f"{name}.log"
        took = _run(command, self._environment(name, server), log)
        if not output.exists():
            raise SystemExit(f"{' '.join(command)} wrote no results:\n{log.read_text()[-2000:]}")
        return took, output

    def _environment(self, name: Name, server: Served) -> dict[str, str]:
        """Where the server is, and nothing that calls home."""
        # Without its bytecode a Python program is compiled anew at every start.
        own = {key: one for key, one in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        return {
            **own,
            "RAG_URL": f"{server.url}/{name}/rag",
            "GRADER_URL": f"{server.url}/{name}/v1",
            "OPENAI_API_KEY": "sk-local",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "PROMPTFOO_CONFIG_DIR": str(self.folder / "home"),
            "PROMPTFOO_CACHE_PATH": str(self.folder / "cache" / "promptfoo"),
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        }


def _run(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Took:
    with log.open("wb") as file:
        start = time.perf_counter()
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment
        )
        # wait4 tells what this child and its own children took, and nothing of other runs.
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    cpu = used.ru_utime + used.ru_stime
    return Took(wall, cpu, used.ru_maxrss / 1024, child.returncode)
