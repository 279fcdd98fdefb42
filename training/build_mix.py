"""Builds the training mix of the embedded judge from labelled pools.

    python training/build_mix.py POOLS_FOLDER mix.jsonl.gz --leave-out wice_dev

Writes JSON lines (gzip): premise, hypothesis, label (1 supported, 0 not), source. Beside the rows
of the pools there are three kinds made from them: a short premise among sentences of other
documents, or these alone; claims of document sentences, kept, made false or without their evidence;
and question-answer pairs. Long premises are cut as the judge cuts them. The same arguments give the
same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.judges.embedded.judge import as_question
from documents import document_rows
from pools import (
    ANSWERS,
    NAMES,
    POOLS,
    Held,
    Row,
    evidence,
    file_of,
    generator,
    held,
    labelled,
    read,
    sentences_of,
)

DOCUMENT_ROWS = 24_000
ANSWER_ROWS = 9_000
ANSWER_WORDS = 60
DOCUMENT = 40
"""Words from which a premise serves as a document."""
DISTRACTING_DOCUMENTS = 3000
SHARE = {"realsumm_scu_train": 0.15}
"""Of these facts only so many get distractors: their premises are long enough already."""


def build(
    folder: Path,
    *,
    documents: Sequence[Path] = (),
    leave_out: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 1,
) -> list[Row]:
    """All rows of the mix in random order; ``limit`` caps each pool and each made kind.

    Pools that the folder lacks are passed over, except those to leave out: FileNotFoundError.
    """
    kept_out = held(folder, leave_out)
    pools = {
        pool.name: labelled(folder, pool, kept_out, seed, limit)
        for pool in POOLS
        if pool.name not in leave_out and file_of(folder, pool.name).exists()
    }
    texts = document_texts(pools, documents, kept_out)
    generator(seed, "documents").shuffle(texts)
    rows = pool_rows(pools)
    rows += distractor_rows(pools, texts, generator(seed, "distractors"))[:limit]
    if ANSWERS not in leave_out and file_of(folder, ANSWERS).exists():
        most = min(limit or ANSWER_ROWS, ANSWER_ROWS)
        answers = list(read(file_of(folder, ANSWERS)))
        rows += answer_rows(answers, generator(seed, "answers"), most)
    most = min(limit or DOCUMENT_ROWS, DOCUMENT_ROWS)
    rows += document_rows(texts, generator(seed, "document rows"), most)
    rows = [row for row in rows if row.premise.strip() and row.hypothesis.strip()]
    generator(seed, "order").shuffle(rows)
    return rows


def pool_rows(pools: dict[str, list[dict[str, Any]]]) -> list[Row]:
    """The rows of the pools themselves."""
    return [
        Row(evidence(row["premise"], row["hypothesis"]), row["hypothesis"], row["label"], name)
        for name, rows in pools.items()
        for row in rows
    ]


def document_texts(
    pools: dict[str, list[dict[str, Any]]], files: Sequence[Path], kept_out: Held
) -> list[str]:
    """Long premises of the pools and long ``contexts`` of the files, each text once."""
    found = [row["premise"] for pool in POOLS if pool.documents for row in pools.get(pool.name, ())]
    contexts = [text for path in files for row in read(path) for text in row.get("contexts", ())]
    found += [text for text in dict.fromkeys(contexts) if not kept_out.touches(text)]
    return [text for text in dict.fromkeys(found) if len(text.split()) > DOCUMENT]


def distractor_rows(
    pools: dict[str, list[dict[str, Any]]], texts: Sequence[str], rng: random.Random
) -> list[Row]:
    """Short evidence among sentences of other documents, or these alone (label 0)."""
    spare = [
        sentence
        for text in texts[:DISTRACTING_DOCUMENTS]
        for sentence in sentences_of(text)
        if 6 < len(sentence.split()) < 45
    ]
    facts = [(pool.name, row) for pool in POOLS if pool.facts for row in pools.get(pool.name, ())]
    rng.shuffle(facts)
    out = []
    for name, row in facts:
        if rng.random() > SHARE.get(name, 1.0):
            continue
        premise, label = row["premise"], row["label"]
        others = [s for s in row.get("retrieved") or () if s not in premise]
        others = others or rng.sample(spare, min(5, len(spare)))
        chosen = rng.sample(others, min(len(others), rng.randint(2, 5)))
        chosen = [s for s in chosen if len(s.split()) < 60 and s not in premise]
        if not chosen:
            continue
        if label and rng.random() < 0.25:
            label = 0
        else:
            chosen.insert(rng.randint(0, len(chosen)), premise)
        hypothesis = row["hypothesis"]
        out.append(Row(evidence(" ".join(chosen), hypothesis), hypothesis, label, "distractors"))
    return out


def answer_rows(rows: list[dict[str, Any]], rng: random.Random, most: int) -> list[Row]:
    """Question and right answer as the premise, a system's answer as the claim; half are right."""
    rng.shuffle(rows)
    left = {0: most // 2, 1: most // 2}
    out = []
    for row in rows:
        label = int(row["label"])
        right = [answer for answer in row["reference"].split("/") if answer.strip()]
        if not left[label] or not right:
            continue
        left[label] -= 1
        question = as_question(row["question"])
        response = " ".join(row["response"].split()[:ANSWER_WORDS])
        claim = f"{question} {response}" if rng.random() < 0.7 else response
        out.append(Row(f"{question} {rng.choice(right[:3]).strip()}", claim, label, "answers"))
    return out


def write(rows: Sequence[Row], path: Path) -> None:
    """The rows as gzipped JSON lines, with no name or time in the file."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        for row in rows:
            file.write(f"{row.line()}\n".encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pools", type=Path, help="folder of NAME.jsonl.gz files")
    parser.add_argument("out", type=Path, help="file to write, .jsonl.gz")
    parser.add_argument(
        "--documents", type=Path, nargs="+", default=[], metavar="JSONL.GZ",
        help="more texts to make rows from: their field `contexts`, a list of strings",
    )  # fmt: skip
    parser.add_argument(
        "--leave-out", nargs="+", default=[], choices=NAMES, metavar="POOL",
        help="pools whose texts must not be learned from, by any way",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, help="at most so many rows of each pool and kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    absent = [name for name in NAMES if not file_of(options.pools, name).exists()]
    if len(absent) == len(NAMES):
        parser.error(f"{options.pools} holds none of the pools: {', '.join(NAMES)}")
    if lost := [name for name in options.leave_out if name in absent]:
        parser.error(f"to leave a pool out its texts must be known: no {', '.join(lost)}")
    if absent:
        print("not there:", ", ".join(absent))
    rows = build(
        options.pools,
        documents=options.documents,
        leave_out=options.leave_out,
        limit=options.limit,
        seed=options.seed,
    )
    write(rows, options.out)
    for (source, label), n in sorted(Counter((row.source, row.label) for row in rows).items()):
        print(f"{n:7} {source} {'supported' if label else 'not'}")
    share = sum(row.label for row in rows) / max(1, len(rows))
    print(f"{len(rows)} rows, {share:.1%} supported, in {options.out}")


if __name__ == "__main__":
    main()
