"""How well claims match people's atomic facts, on factscore_atomic.jsonl.gz of a folder.

    python benchmarks/claim_splitting.py FOLDER [--splitter rules|sentences|spacy]

Per sentence: claims a sentence; recall = mean over human facts of the best bag-of-words F1 with a
claim; precision = mean over claims of the best F1 with a human fact.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from typing import Any

from assay.judges.split import split_claims
from assay.sample import Claim
from assay.text import sentences, words

Splitter = Callable[[str], list[Claim]]


def whole(text: str) -> list[Claim]:
    return [Claim(text[a:b], a, b) for a, b in sentences(text)]


def spacy_rules() -> Splitter:
    from assay.judges.split_spacy import SpacySplitter

    return SpacySplitter()


SPLITTERS: dict[str, Callable[[], Splitter]] = {
    "sentences": lambda: whole,
    "rules": lambda: split_claims,
    "spacy": spacy_rules,
}


def f1(left: Counter[str], right: Counter[str]) -> float:
    total = sum(left.values()) + sum(right.values())
    return 2 * sum((left & right).values()) / total if total else 0.0


def best(items: Iterable[Counter[str]], others: list[Counter[str]]) -> list[float]:
    return [max((f1(item, other) for other in others), default=0.0) for item in items]


def measure(
    splitter: Splitter, rows: list[dict[str, Any]]
) -> tuple[int, float, float, float, float]:
    """Sentences, claims a sentence, recall F1, precision F1, sentences a second."""
    recall: list[float] = []
    precision: list[float] = []
    count, seconds = 0, 0.0
    for item in (item for row in rows for item in row["sentences"] if item["human"]):
        began = time.perf_counter()
        made = splitter(item["sentence"])
        seconds += time.perf_counter() - began
        facts = [Counter(words(fact["text"])) for fact in item["human"]]
        claims = [Counter(words(claim.text)) for claim in made]
        count += 1
        recall += best(facts, claims)
        precision += best(claims, facts)
    return count, len(precision) / count, mean(recall), mean(precision), count / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splitter", choices=sorted(SPLITTERS), action="append")
    args = parser.parse_args()
    with gzip.open(args.folder / "factscore_atomic.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    print("splitter   sentences  claims/sentence  recall F1  precision F1  sentences/s")
    for name in args.splitter or ["sentences", "rules"]:
        splitter = SPLITTERS[name]()
        splitter("Warm up.")
        count, ratio, recall, precision, speed = measure(splitter, rows)
        print(f"{name:<10} {count:>9} {ratio:>16.2f} {recall:>10.3f}", end=" ")
        print(f"{precision:>13.3f} {speed:>12.0f}")


if __name__ == "__main__":
    main()
