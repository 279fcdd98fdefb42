"""Pairs a second of the embedded judge's model, against bare ONNX Runtime calls.

    python benchmarks/embedded_speed.py [--pairs 128] [--rounds 5]

At 128 and 256 tokens a pair, in turns within one run: the judge's encoder (tokenizing included),
the bare session in batches of 16 on all cores, and the bare session one pair at a time on all
cores. Prints medians and the median ratio of each round.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
import onnxruntime

from assay.judges.crossencoder import CrossEncoder
from assay.judges.embedded.judge import HERE

WORDS = (
    "river",
    "bank",
    "stone",
    "market",
    "paper",
    "winter",
    "garden",
    "letter",
    "music",
    "doctor",
    "engine",
    "harvest",
)


def texts(tokens: int, count: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of just so many tokens: common words are one token each, three are special."""
    rng = random.Random(seed)
    return [
        (
            " ".join(rng.choice(WORDS) for _ in range(tokens - 3 - 12)),
            " ".join(rng.choice(WORDS) for _ in range(12)),
        )
        for _ in range(count)
    ]


def session(threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        str(HERE / "model.int8.onnx"), options, providers=["CPUExecutionProvider"]
    )


def bare(one: onnxruntime.InferenceSession, tokens: int, count: int, batch: int) -> None:
    rng = np.random.default_rng(0)
    shape = (batch, tokens)
    inputs = {
        "input_ids": rng.integers(1000, 20000, shape),
        "attention_mask": np.ones(shape, dtype=np.int64),
        "token_type_ids": np.zeros(shape, dtype=np.int64),
    }
    for _ in range(count // batch):
        one.run(None, inputs)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    encoder, all_cores = CrossEncoder(HERE), session(cores)
    encoder.logits(texts(16, 4, 0))
    for tokens in (128, 256):
        rates: dict[str, list[float]] = {"judge": [], "batches of 16": [], "one at a time": []}
        for n in range(options.rounds):
            pairs = texts(tokens, options.pairs, n)
            works: tuple[Callable[[], object], ...] = (
                partial(encoder.logits, pairs),
                partial(bare, all_cores, tokens, options.pairs, 16),
                partial(bare, all_cores, tokens, options.pairs, 1),
            )
            for seen, work in zip(rates.values(), works, strict=True):
                seen.append(options.pairs / timed(work))
        print(f"{tokens} tokens: judge {median(rates['judge']):.0f} pairs/s")
        for name in ("batches of 16", "one at a time"):
            ratio = median(a / b for a, b in zip(rates["judge"], rates[name], strict=True))
            print(f"   bare, {name}: {median(rates[name]):.0f} pairs/s; judge / bare {ratio:.2f}")


if __name__ == "__main__":
    main()
