"""Runs of other libraries on the same workload, by the drivers of a folder of their own.

The folder has a virtual environment for each library and ``bench_common.py``, which starts an
oracle with latency and one run as a process: ``run(peer, server, "suite", mode, samples)``.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from peers_row import Row

MODES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "ragchecker": ("custom-400", "default"),
        "valor": ("200", "default"),
        "deepeval": ("100", "default"),
        "ragas": ("coll", "default"),
    }
)
"""The fastest mode of each library, and how it runs if nothing is set."""


def others(
    folder: Path, peers: Sequence[str], *, limit: int, latency_ms: float, nice: int
) -> Iterator[Row]:
    """One run a library and mode, the fastest modes first."""
    os.environ["BENCH_NICE"] = str(nice)
    # No cache and no network: the oracle falls back to a fourth of the characters, as ours does.
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    common: Any = module(folder, "bench_common")
    (folder / "logs").mkdir(exist_ok=True)
    server = common.Server(8141, latency_ms=latency_ms)
    try:
        for n in range(2):
            for peer in peers:
                mode = MODES[peer][n]
                yield _row(common.run(peer, server, "suite", mode, limit, tag="beside"), limit)
    finally:
        server.stop()


def _row(found: Mapping[str, Any], limit: int) -> Row:
    heard = found["server"]
    calls = heard["chat_attempts"]
    return Row(
        name=found["peer"],
        mode=found["mode"],
        calls=calls / limit,
        repeated=heard["repeated_prompts"] / max(1, calls),
        prompt_tokens=heard["prompt_tokens"] / limit,
        completion_tokens=heard["completion_tokens"] / limit,
        wall=found["wall_s"],
        cpu=found.get("cpu_s", 0.0),
        other_requests=found["embeds_per_sample"],
        whole_wall=found["process_wall_s"],
        whole_cpu=found["process_cpu_s"],
        peak_mb=found["process_rss_mb"],
        at_once=heard["peak_concurrency"],
        missing=sum(found["missing"].values()),
        others=found["others_cores"],
        means={name: round(value, 4) for name, value in found["mean"].items()},
        note=found["crash"] or ("tokens by " + heard["tokenizer"]),
    )


def module(folder: Path, name: str) -> ModuleType:
    """A module of the folder, which may import others there."""
    sys.path.insert(0, str(folder))
    path = folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise SystemExit(f"{folder} has no {name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
