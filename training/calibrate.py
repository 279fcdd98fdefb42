"""Learns the heads and thresholds of the embedded judge from human-labelled sets.

    python training/calibrate.py BENCH_FOLDER MODEL_FOLDER --name v0

MODEL_FOLDER holds model.int8.onnx and tokenizer.json; its judge.json is written anew, with the
``measured`` table of the old one kept. Needs scikit-learn. Sets are weighted equally, and so are
the two labels within a set, so that a probability means the same on each. Each head is also
fitted with one set left out in turn and tried on that one: the printed figures are those.
Premises are read as the judge first reads them, short ones after the question; that the judge
then takes back what the question alone would say is no part of a head.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from assay.judges.crossencoder import CrossEncoder
from assay.judges.embedded.head import FEATURES
from assay.judges.embedded.judge import as_question
from assay.judges.evidence import Passage, overlap
from assay.text import content_words

MAX_WORDS, MAX_TOKENS = 165, 256
QUESTION_WORDS = {"passage": 8, "reference": 40, "response": 30, "question": 0}
USED = {
    "passage": ("logit", "content"),
    "reference": ("logit",),
    "response": ("logit", "content"),
    "question": ("logit",),
}
SETS = {
    "passage": ("stance", "wice", "begin", "ramdocs", "fcnoise", "realsumm"),
    "reference": ("ramdocs_ref", "fcnoise_ref", "evouna", "nq301"),
    "response": ("realsumm", "wice", "stance"),
    "question": ("clapnq",),
}


@dataclass(frozen=True)
class Labelled:
    set: str
    against: str
    question: str
    premise: str
    claim: str
    label: int


def read(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def labelled(folder: Path) -> Iterator[Labelled]:
    """Every pair that a person judged."""
    for set_, name in (("stance", "factcheckgpt_stance"), ("wice", "wice_claims")):
        for r in read(folder, name):
            yield Labelled(
                set_, "passage", r.get("question", ""), r["contexts"][0], r["claims"][0], r["label"]
            )
    for r in read(folder, "begin_wow"):
        yield Labelled(
            "begin", "passage", r["question"], r["contexts"][0], r["response"], r["label"]
        )
    for r in read(folder, "realsumm_scu"):
        for claim, label in zip(r["claims"], r["claim_labels"], strict=True):
            yield Labelled("realsumm", "response", "", r["response"], claim, label)
    for r in read(folder, "ramdocs_noise"):
        for claim, what in zip(r["claims"], r["claim_labels"], strict=True):
            for k, context in enumerate(r["contexts"]):
                label = int(k in what["supported_by"])
                yield Labelled("ramdocs", "passage", r["question"], context, claim, label)
            yield Labelled(
                "ramdocs_ref", "reference", r["question"], r["reference"], claim, what["correct"]
            )
    for r in read(folder, "factcheckgpt_noise"):
        for what in r["claim_labels"]:
            claim = what["text"]
            if what["factual"] is not None:
                yield Labelled(
                    "fcnoise_ref",
                    "reference",
                    r["question"],
                    r["reference"],
                    claim,
                    what["factual"],
                )
            for e in what["evidence"]:
                label = int(e["stance"] == "completely-support")
                context = r["contexts"][e["context"]]
                yield Labelled("fcnoise", "passage", r["question"], context, claim, label)
    for r in read(folder, "clapnq_context_relevance"):
        question = as_question(r["question"])
        yield Labelled("clapnq", "question", "", r["contexts"][0], question, r["label"])
    for set_ in ("evouna", "nq301"):
        for r in read(folder, f"{set_}_answer_correctness"):
            yield Labelled(
                set_, "reference", r["question"], r["reference"], r["response"], r["label"]
            )


def features(pairs: list[Labelled], model: Path) -> np.ndarray:
    """Shape (pairs, features), with the premises as the judge makes them."""
    encoder = CrossEncoder(model, max_tokens=MAX_TOKENS)
    texts, overlaps = [], []
    passages: dict[str, Passage] = {}
    for pair in pairs:
        passage = passages.setdefault(pair.premise, Passage.of(pair.premise))
        chosen = passage.select(frozenset(content_words(pair.claim)), MAX_WORDS)
        premise = passage.cut(chosen, MAX_WORDS)
        if pair.question.strip() and passage.words <= QUESTION_WORDS[pair.against]:
            premise = f"{as_question(pair.question)} {premise}"
        texts.append((premise, pair.claim))
        overlaps.append(overlap(pair.claim, premise))
    logits = encoder.logits(texts)
    return np.array([[z, o] for z, o in zip(logits, overlaps, strict=True)])


def fit(x: np.ndarray, y: np.ndarray, sets: np.ndarray, used: list[int]) -> LogisticRegression:
    weight = np.zeros(len(y))
    for name in set(sets):
        for label in (0, 1):
            chosen = (sets == name) & (y == label)
            weight[chosen] = 200 / max(1, chosen.sum())
    return LogisticRegression(C=10.0, max_iter=1000).fit(x[:, used], y, sample_weight=weight)


def log_odds(p: float) -> float:
    return float(np.log(p / (1 - p)))


def best_threshold(p: np.ndarray, y: np.ndarray, sets: np.ndarray) -> float:
    """The threshold of the best mean balanced accuracy; flat tops give their middle."""
    grid = np.arange(0.30, 0.701, 0.01)
    score = [
        np.mean([balanced_accuracy_score(y[sets == s], p[sets == s] >= t) for s in set(sets)])
        for t in grid
    ]
    top = [t for t, s in zip(grid, score, strict=True) if s >= max(score) - 0.002]
    return round(float(np.mean(top)), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--name", default="v0")
    options = parser.parse_args()
    pairs = list(labelled(options.bench))
    x = features(pairs, options.model)
    y = np.array([pair.label for pair in pairs])
    sets = np.array([pair.set for pair in pairs])
    heads: dict[str, dict[str, float]] = {}
    for kind, names in SETS.items():
        used = [FEATURES.index(name) for name in USED[kind]]
        mine = np.isin(sets, names)
        for name in names if len(names) > 1 else ():
            others = mine & (sets != name)
            out = fit(x[others], y[others], sets[others], used)
            p = out.predict_proba(x[sets == name][:, used])[:, 1]
            truth = y[sets == name]
            print(
                f"{kind:10} {name:12} n {len(p):5}  left out: AUROC {roc_auc_score(truth, p):.3f}"
                f"  balanced accuracy {balanced_accuracy_score(truth, p >= 0.5):.3f}"
            )
        model = fit(x[mine], y[mine], sets[mine], used)
        weights: dict[str, float] = defaultdict(float)
        for name, weight in zip(USED[kind], model.coef_[0], strict=True):
            weights[name] = round(float(weight), 4)
        p = model.predict_proba(x[mine][:, used])[:, 1]
        threshold = best_threshold(p, y[mine], sets[mine])
        heads[kind] = {
            **{name: weights[name] for name in FEATURES},
            # Shifted so that a probability of 1/2 is the best threshold.
            "bias": round(float(model.intercept_[0] - log_odds(threshold)), 4),
            "question_words": QUESTION_WORDS[kind],
        }
        print(kind, heads[kind])
    path = options.model / "judge.json"
    old = json.loads(path.read_text("utf-8")) if path.exists() else {}
    edition = {
        "name": options.name,
        "max_words": MAX_WORDS,
        "max_tokens": MAX_TOKENS,
        "heads": heads,
        "measured": old.get("measured", []),
    }
    path.write_text(json.dumps(edition, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
