"""Fine-tunes a small BERT encoder into a cross-encoder: one logit, does the premise support it?

    python training/train.py --data mix.jsonl.gz --base BASE_FOLDER --out MODEL --minutes 65

Reads JSON lines (gzip or plain) with premise, hypothesis, label and perhaps weight. Runs on the
CPU, in bfloat16. The learning rate falls with the time used, so that a run ends annealed whatever
else the machine does; with --max-steps it falls with the steps, and a run can be repeated exactly.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from transformers import BertConfig, BertForSequenceClassification

from pools import read

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "special_tokens_map.json",
)
NOT_DECAYED = ("bias", "LayerNorm.weight")
PAD_TO = 8
WINDOW = 4096
"""Pairs among which those of like length are put together."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A pair's token ids, and where its second text starts."""

    ids: np.ndarray
    second: int


@dataclass(frozen=True)
class Pairs:
    """Encoded pairs with their labels and weights, shape (n,) each."""

    items: list[Encoded]
    labels: np.ndarray
    weights: np.ndarray

    @classmethod
    def read(cls, paths: Sequence[Path], tokenizer: Tokenizer) -> Pairs:
        """The pairs of the files, in their order."""
        rows = [row for path in paths for row in read(path)]
        texts = [(row["premise"], row["hypothesis"]) for row in rows]
        return cls(
            encode(tokenizer, texts),
            np.array([row["label"] for row in rows], dtype=np.float32),
            np.array([row.get("weight", 1.0) for row in rows], dtype=np.float32),
        )


def tokenizer_of(base: Path, max_length: int) -> Tokenizer:
    """The base's tokenizer, cutting pairs from their longer side."""
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length, strategy="longest_first")
    return tokenizer


def encode(
    tokenizer: Tokenizer, texts: list[tuple[str, str]], at_once: int = 20_000
) -> list[Encoded]:
    """The pairs as token ids."""
    out = []
    for start in range(0, len(texts), at_once):
        for one in tokenizer.encode_batch(texts[start : start + at_once]):
            types = np.array(one.type_ids)
            second = int(np.argmax(types)) if types.any() else len(types)
            out.append(Encoded(np.array(one.ids, dtype=np.int32), second))
    return out


def inputs_of(items: Sequence[Encoded]) -> dict[str, torch.Tensor]:
    """Padded model inputs, shape (items, longest rounded up to 8)."""
    width = -(-max(len(item.ids) for item in items) // PAD_TO) * PAD_TO
    ids = np.zeros((len(items), width), dtype=np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for row, item in enumerate(items):
        length = len(item.ids)
        ids[row, :length] = item.ids
        mask[row, :length] = 1
        types[row, item.second : length] = 1
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def batches(
    lengths: np.ndarray, tokens: int, most: int, rng: np.random.Generator
) -> list[list[int]]:
    """All pairs once, in random batches of at most ``tokens`` padded tokens and ``most`` pairs."""
    order = rng.permutation(len(lengths))
    out: list[list[int]] = []
    for start in range(0, len(order), WINDOW):
        window = order[start : start + WINDOW]
        window = window[np.argsort(lengths[window], kind="stable")]
        found: list[list[int]] = [[]]
        for index in window.tolist():
            # Sorted by length, so that this one is the longest of its batch so far.
            if found[-1] and (
                lengths[index] * (len(found[-1]) + 1) > tokens or len(found[-1]) >= most
            ):
                found.append([])
            found[-1].append(index)
        out += [found[i] for i in rng.permutation(len(found))]
    return out


def rate(done: float, peak: float, warm_up: float) -> float:
    """Learning rate at a share ``done`` of the run: up to the peak, then down to 0.

    >>> [rate(done, 1.0, 0.5) for done in (0.0, 0.25, 0.5, 0.75, 1.0)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return peak * (done / warm_up if done < warm_up else (1 - done) / (1 - warm_up))


def classifier(base: Path) -> BertForSequenceClassification:
    """The base with a new head of one logit; its word embeddings stay as they are."""
    config = BertConfig.from_pretrained(base)
    if config.model_type != "bert":
        raise SystemExit(f"{base} is a {config.model_type} model; the judge is a BERT")
    config.num_labels = 1
    config.problem_type = "multi_label_classification"
    model = BertForSequenceClassification.from_pretrained(
        base, config=config, attn_implementation="sdpa"
    )
    model.bert.embeddings.word_embeddings.weight.requires_grad_(False)
    return model


def optimiser(model: torch.nn.Module, peak: float) -> torch.optim.Optimizer:
    """AdamW; biases and norms are not decayed."""
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    return torch.optim.AdamW(
        [
            {
                "params": [p for name, p in named if not name.endswith(NOT_DECAYED)],
                "weight_decay": 0.01,
            },
            {"params": [p for name, p in named if name.endswith(NOT_DECAYED)], "weight_decay": 0.0},
        ],
        lr=peak,
        fused=True,
    )


def logits_of(model: torch.nn.Module, items: Sequence[Encoded]) -> torch.Tensor:
    """One logit a pair, computed in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        return model(**inputs_of(items)).logits[:, 0].float()


@torch.no_grad()
def auroc(model: torch.nn.Module, pairs: Pairs, at_once: int = 64) -> float:
    """Area under the ROC curve on the pairs."""
    model.eval()
    order = np.argsort([len(item.ids) for item in pairs.items])
    scores = np.zeros(len(order))
    for start in range(0, len(order), at_once):
        chosen = order[start : start + at_once]
        scores[chosen] = logits_of(model, [pairs.items[i] for i in chosen]).numpy()
    model.train()
    return float(roc_auc_score(pairs.labels, scores))


def steps(pairs: Pairs, options: argparse.Namespace) -> Iterator[tuple[int, list[int]]]:
    """Batches of one epoch after another, each with the epoch's number."""
    rng = np.random.default_rng(options.seed)
    lengths = np.array([len(item.ids) for item in pairs.items])
    epoch = 0
    while True:
        epoch += 1
        for batch in batches(lengths, options.tokens, options.max_items, rng):
            yield epoch, batch


def fit(
    model: BertForSequenceClassification,
    pairs: Pairs,
    dev: dict[str, Pairs],
    options: argparse.Namespace,
) -> dict[str, float]:
    """Trains in place; what the run took."""
    optimizer = optimiser(model, options.lr)
    loss_of = torch.nn.BCEWithLogitsLoss(reduction="none")
    trained = [p for p in model.parameters() if p.requires_grad]
    model.train()
    start = time.monotonic()
    step = seen = tokens = epoch = 0
    running = 0.0
    for epoch, batch in steps(pairs, options):
        minutes = (time.monotonic() - start) / 60
        done = step / options.max_steps if options.max_steps else minutes / options.minutes
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate(done, options.lr, options.warm_up)
        labels, weights = (torch.from_numpy(x[batch]) for x in (pairs.labels, pairs.weights))
        logits = logits_of(model, [pairs.items[i] for i in batch])
        loss = (loss_of(logits, labels) * weights).sum() / weights.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        seen += len(batch)
        tokens += sum(len(pairs.items[i].ids) for i in batch)
        running = loss.item() if step == 1 else 0.98 * running + 0.02 * loss.item()
        if step % options.report_every == 0:
            seconds = time.monotonic() - start
            print(
                f"step {step} epoch {epoch} loss {running:.4f} {seen} pairs"
                f" {seen / seconds:.1f}/s {tokens / seconds:.0f} tokens/s {seconds / 60:.1f} min",
                flush=True,
            )
        if step % options.dev_every == 0:
            report(model, dev)
    return {
        "steps": step,
        "pairs": seen,
        "tokens": tokens,
        "epochs": round(seen / len(pairs.items), 3),
        "minutes_used": round((time.monotonic() - start) / 60, 2),
        "loss": round(running, 4),
    }


def report(model: torch.nn.Module, dev: dict[str, Pairs]) -> None:
    """Prints the area under the ROC curve on each development set."""
    for name, pairs in dev.items():
        print(f"  {name} AUROC {auroc(model, pairs):.4f}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", type=Path, required=True)
    parser.add_argument("--dev", nargs="*", type=Path, default=[], help="rows to report AUROC on")
    parser.add_argument("--base", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=65)
    parser.add_argument("--max-steps", type=int, default=0, help="instead of --minutes")
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--warm-up", type=float, default=0.05, help="share of the run")
    parser.add_argument("--max-len", type=int, default=256, help="word pieces of a pair")
    parser.add_argument("--tokens", type=int, default=4096, help="padded word pieces of a batch")
    parser.add_argument("--max-items", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report-every", type=int, default=100)
    parser.add_argument("--dev-every", type=int, default=600)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    tokenizer = tokenizer_of(options.base, options.max_len)
    pairs = Pairs.read(options.data, tokenizer)
    print(f"{len(pairs.items)} pairs, {pairs.labels.mean():.1%} supported", flush=True)
    dev = {path.name.split(".")[0]: Pairs.read([path], tokenizer) for path in options.dev}
    model = classifier(options.base)
    used = fit(model, pairs, dev, options)
    report(model, dev)
    options.out.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(options.out)
    for name in TOKENIZER_FILES:
        if (options.base / name).exists():
            shutil.copyfile(options.base / name, options.out / name)
    record = json.dumps({**vars(options), **used}, indent=1, default=str)
    (options.out / "train.json").write_text(record + "\n", "utf-8")
    print(used)


if __name__ == "__main__":
    main()
