"""Noise sensitivity against gold, through ``assay score``.

    python benchmarks/noise.py BENCH_FOLDER [--judge embedded] [--claims given|own]

On ramdocs_noise (gold: share of claims that are wrong and come from a misleading document) and
factcheckgpt_noise (gold from people's labels of each claim): mean absolute error of noise
sensitivity, both modes added up and the irrelevant mode alone, next to always saying the mean;
agreement of claim verdicts with people's labels; samples a second and peak memory of the command.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean
from typing import Any

from labelled import Row, rows

RELEVANT, IRRELEVANT = "noise_sensitivity(mode=relevant)", "noise_sensitivity(mode=irrelevant)"
METRICS = ["faithfulness", "precision", RELEVANT, IRRELEVANT]


def run(samples: list[Row], judge: str, folder: Path) -> tuple[list[Row], float]:
    """Rows of ``assay score`` and its wall time in seconds."""
    source, out = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text("".join(json.dumps(s) + "\n" for s in samples), "utf-8")
    command = [sys.executable, "-m", "assay", "score", str(source), "-m", ",".join(METRICS)]
    start = time.perf_counter()
    done = subprocess.run([*command, "-j", judge, "-o", str(out), "--quiet"], check=False)
    if done.returncode not in (0, 2):
        sys.exit(done.returncode)
    seconds = time.perf_counter() - start
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()], seconds


def sample(row: Row, claims: str) -> Row:
    out = {k: row[k] for k in ("id", "question", "reference", "contexts", "response")}
    return out | ({"response_claims": row["claims"]} if claims == "given" else {})


def value(row: Row, metric: str) -> float | None:
    found: float | None = row["scores"][metric]["value"]
    return found


def gold(row: Row) -> float | None:
    """Share of labelled claims that are wrong and that some context supports."""
    if "score" in row:
        return float(row["score"])
    n = row["gold"]["n_claims"]
    return row["gold"]["n_incorrect_supported_full"] / n if n else None


def labels(row: Row) -> list[tuple[int | None, int]]:
    """Per claim: right or not (None: nobody knows), supported by some context or not."""
    out = []
    for claim in row["claim_labels"]:
        if "supported_by" in claim:
            out.append((claim["correct"], int(bool(claim["supported_by"]))))
        else:
            full = any(e["stance"] == "completely-support" for e in claim["evidence"])
            out.append((claim["factual"], int(full)))
    return out


def errors(pairs: list[tuple[float, float]]) -> str:
    mean = fmean(g for g, _ in pairs)
    error = fmean(abs(g - p) for g, p in pairs)
    constant = fmean(abs(g - mean) for g, _ in pairs)
    return f"{error:.3f} (always the mean: {constant:.3f}, n {len(pairs)})"


def balanced(pairs: list[tuple[int, bool]]) -> str:
    yes = [said for truth, said in pairs if truth]
    no = [not said for truth, said in pairs if not truth]
    parts = [fmean(part) for part in (yes, no) if part]
    plain = fmean(bool(t) == s for t, s in pairs)
    return f"{fmean(parts):.3f} balanced, {plain:.3f} plain (n {len(pairs)})"


def report(name: str, raw: list[Row], scored: list[Row], given: bool) -> None:
    both: list[tuple[float, float]] = []
    alone: list[tuple[float, float]] = []
    right: list[tuple[int, bool]] = []
    supported: list[tuple[int, bool]] = []
    for row, result in zip(raw, scored, strict=True):
        truth = gold(row)
        a, b = value(result, RELEVANT), value(result, IRRELEVANT)
        if truth is not None and a is not None and b is not None:
            both.append((truth, a + b))
            alone.append((truth, b))
        if given:
            add_claims(row, result, right, supported)
    print(f"{name}: error of noise sensitivity, both modes {errors(both)}")
    print(f"{name}: error of noise sensitivity, irrelevant {errors(alone)}")
    if given:
        print(f"{name}: claim right or not, agreement {balanced(right)}")
        print(f"{name}: claim supported by a context or not, agreement {balanced(supported)}")


def add_claims(
    row: Row, result: Row, right: list[tuple[int, bool]], supported: list[tuple[int, bool]]
) -> None:
    scores: dict[str, Any] = result["scores"]
    precise, faithful = scores["precision"]["items"], scores["faithfulness"]["items"]
    for (correct, support), p, f in zip(labels(row), precise, faithful, strict=True):
        if correct is not None:
            right.append((correct, p["verdict"] == "entailed"))
        supported.append((support, f["verdict"] == "entailed"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--claims", choices=("given", "own"), default="given")
    options = parser.parse_args()
    for name in ("ramdocs_noise", "factcheckgpt_noise"):
        raw = list(rows(options.bench, name))
        with tempfile.TemporaryDirectory() as scratch:
            samples = [sample(row, options.claims) for row in raw]
            scored, seconds = run(samples, options.judge, Path(scratch))
        report(name, raw, scored, options.claims == "given")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"{name}: {len(raw)} samples in {seconds:.1f} s, {len(raw) / seconds:.2f} a second, "
            f"peak memory {peak:.0f} MB"
        )


if __name__ == "__main__":
    main()
