"""How often a judge agrees with people, through ``assay score``, next to word overlap.

    python benchmarks/agreement.py BENCH_FOLDER [--judge embedded] [--write]

Per set: balanced accuracy at the judge's shipped thresholds, AUROC of the claims' probabilities
(for labels of whole responses, of their mean), and AUROC of the share of the claim's words that
the source holds. A response counts as supported if all its claims are ("all") or at least half
("half"). ``--write`` stores the table in the embedded judge's edition, which ``assay judges``
prints. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from assay.judges.evidence import overlap
from labelled import SETS, Row, Set, rows

EDITION = Path(__file__).parent.parent / "src/assay/judges/embedded/judge.json"


def score(samples: list[Row], metric: str, judge: str, folder: Path) -> list[Row]:
    """The rows that ``assay score`` writes."""
    source, out = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text("".join(json.dumps(s) + "\n" for s in samples), "utf-8")
    command = [sys.executable, "-m", "assay", "score", str(source), "-m", metric]
    command += ["-j", judge, "-o", str(out), "--quiet"]
    done = subprocess.run(command, check=False)
    if done.returncode not in (0, 2):
        sys.exit(done.returncode)
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def measure(one: Set, folder: Path, judge: str, scratch: Path) -> dict[str, Any]:
    """The figures of one set."""
    raw = list(rows(folder, one.file))
    start = time.perf_counter()
    scored = score([one.sample(row) for row in raw], one.metric, judge, scratch)
    seconds = time.perf_counter() - start
    truth: list[int] = []
    soft: list[float] = []
    yes: dict[str, list[bool]] = {"all": [], "half": []}
    words: list[float] = []
    left_out = pairs = 0
    for row, result in zip(raw, scored, strict=True):
        items = result["scores"][one.metric]["items"]
        pairs += len(items) * max(1, len(result.get("contexts", [1])))
        if not items:
            left_out += 1
            continue
        probabilities = [i["probability"] or 0.0 for i in items]
        entailed = [i["verdict"] == "entailed" or i["hit"] is True for i in items]
        source = " ".join(c["text"] for c in result.get("contexts", [])) or row.get("response", "")
        about = row["question"] if one.metric == "context_relevance" else None
        shares = [overlap(about or i["claim"], source) for i in items]
        truth += one.labels(row)
        if one.by_row:
            soft.append(sum(probabilities) / len(probabilities))
            yes["all"].append(all(entailed))
            yes["half"].append(sum(entailed) >= len(entailed) / 2)
            words.append(sum(shares) / len(shares))
        else:
            soft += probabilities
            yes["all"] += entailed
            words += shares
    return {
        "set": one.name,
        "what": one.what,
        "n": len(truth),
        "balanced_accuracy": round(float(balanced_accuracy_score(truth, yes["all"])), 3),
        "half": round(float(balanced_accuracy_score(truth, yes["half"])), 3)
        if one.by_row
        else None,
        "auroc": round(float(roc_auc_score(truth, soft)), 3),
        "overlap_auroc": round(float(roc_auc_score(truth, words)), 3),
        "left_out": left_out,
        "pairs_per_second": round(pairs / seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--set", action="append", help="only these sets")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table = []
    head = ("set", "n", "bal.acc", "half", "AUROC", "overlap", "left out", "pairs/s")
    print(("{:22}" + "{:>9}" * 7).format(*head))
    with tempfile.TemporaryDirectory() as scratch:
        for one in SETS:
            if options.set and one.name not in options.set:
                continue
            row = measure(one, options.bench, options.judge, Path(scratch))
            table.append(row)
            shown = ("set", "n", "balanced_accuracy", "half", "auroc", "overlap_auroc")
            cells = [row[k] for k in (*shown, "left_out", "pairs_per_second")]
            print(
                ("{:22}" + "{:>9}" * 7).format(*("–" if c is None else c for c in cells)),
                flush=True,
            )
    if options.write:
        edition = json.loads(EDITION.read_text("utf-8"))
        kept = ("set", "what", "n", "balanced_accuracy", "auroc", "overlap_auroc")
        edition["measured"] = [{k: row[k] for k in kept} for row in table]
        EDITION.write_text(json.dumps(edition, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
