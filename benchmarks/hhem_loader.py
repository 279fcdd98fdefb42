"""Loading time, pairs a second and memory of the HHEM judge, on random weights of full size.

    python benchmarks/hhem_loader.py [--pairs 40] [--rounds 1] [--folder DIR]

The model has the shape of HHEM-2.1-Open (a flan-t5-base encoder, 110 million numbers) and random
weights, stored as the real one is; time and memory are those of the real one, scores mean
nothing. Premises are of 10 to 350 words, most of them short. Batches of 1 and of 10, sorted by
length as the judge does and in the order given, in turns. Needs torch and transformers.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from assay.judges import hhem
from assay.judges.batching import Pair
from assay.judges.classifier import in_batches
from assay.judges.hhem import HhemFiles, HhemScorer, prompt

CONFIG = {
    "model_type": "t5",
    "vocab_size": 32128,
    "d_model": 768,
    "d_kv": 64,
    "d_ff": 2048,
    "num_layers": 12,
    "num_heads": 12,
    "relative_attention_num_buckets": 32,
    "relative_attention_max_distance": 128,
    "feed_forward_proj": "gated-gelu",
    "layer_norm_epsilon": 1e-6,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "tie_word_embeddings": False,
}
WORDS = tuple(f"word{n}" for n in range(500))


def save(folder: Path) -> None:
    """Random weights, a config and a tokenizer of words, in the layout of the model card."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors
    from transformers import T5Config, T5ForTokenClassification

    (folder / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    special = ["<pad>", "</s>", "<unk>"]
    vocabulary = {word: n for n, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", None, [("</s>", 1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    with torch.device("meta"):
        model: Any = T5ForTokenClassification(T5Config.from_dict({**CONFIG, "num_labels": 2}))
    names = {name: t.shape for name, t in model.state_dict().items() if name != hhem.TIED}
    tensors = {f"t5.{name}": torch.randn(shape) * 0.02 for name, shape in names.items()}
    save_file(tensors, folder / "model.safetensors")
    print(f"{len(tensors)} tensors, {sum(t.numel() for t in tensors.values()):,} numbers")


def some_pairs(count: int, seed: int) -> list[Pair]:
    """Premises of 10 to 350 words, claims of 5 to 20."""
    rng = random.Random(seed)
    lengths = [round(10 * 35 ** (rng.random() ** 1.3)) for _ in range(count)]
    return [
        (" ".join(rng.choices(WORDS, k=n)), " ".join(rng.choices(WORDS, k=rng.randint(5, 20))))
        for n in lengths
    ]


def unsorted(
    lengths: list[int], batch: int, run: Callable[[list[int]], list[float]]
) -> list[float]:
    """Batches in the order given."""
    at = range(0, len(lengths), batch)
    return [x for n in at for x in run(list(range(n, min(n + batch, len(lengths)))))]


def peak() -> float:
    """The most memory that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: Path, count: int, rounds: int) -> None:
    files = HhemFiles.find(folder)
    start = time.perf_counter()
    identity = files.identity
    print(f"fingerprint {identity}: {time.perf_counter() - start:.2f} s")
    import torch
    import transformers

    print(f"torch {torch.__version__}, transformers {transformers.__version__}", end="; ")
    print(f"{torch.get_num_threads()} threads; {peak():.0f} MB before loading")
    scorer = HhemScorer(files)
    start = time.perf_counter()
    scorer.scores([("word1", "word2")])
    print(f"loaded, first pair scored: {time.perf_counter() - start:.2f} s; {peak():.0f} MB")
    lengths = [len(prompt(pair).split()) for pair in some_pairs(count, 0)]
    print(
        f"{count} pairs of {min(lengths)} to {max(lengths)} words, mean {sum(lengths) / count:.0f}"
    )
    for n in range(rounds):
        pairs = some_pairs(count, n)
        for batch, how in ((1, in_batches), (10, in_batches), (10, unsorted)):
            scorer.batch_size = batch
            with patch.object(hhem, "in_batches", how):
                start = time.perf_counter()
                scorer.scores(pairs)
                rate = count / (time.perf_counter() - start)
            order = "as given" if how is unsorted else "sorted"
            print(f"batch {batch:>2}, {order:<8}: {rate:.2f} pairs/s; peak {peak():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="a stored model, e.g. the real one")
    options = parser.parse_args()
    if options.folder:
        measure(options.folder, options.pairs, options.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        import multiprocessing

        # Made in another process, so that its memory is not counted here.
        child = multiprocessing.get_context("spawn").Process(target=save, args=(Path(folder),))
        child.start()
        child.join()
        measure(Path(folder), options.pairs, options.rounds)


if __name__ == "__main__":
    main()
