"""Turns a trained model into what the judge loads: ONNX with dynamic int8 weights.

    python training/export.py MODEL OUT_FOLDER

Writes OUT_FOLDER/model.int8.onnx (weights int8 per channel, embeddings included) and
tokenizer.json. Says how far the int8 logits are from those of the fp32 form, which is then removed.
"""

from __future__ import annotations

import argparse
import shutil
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process
from transformers import BertForSequenceClassification

from assay.judges.crossencoder import CrossEncoder
from pools import read

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
CLOSE = 1e-3
"""Logits of torch and ONNX differ by rounding only."""
PAIRS = [
    ("Marie Curie was born in Warsaw in 1867.", "Marie Curie was born in Warsaw."),
    ("Marie Curie was born in Warsaw in 1867.", "Marie Curie was born in Paris."),
    ("The bridge opened in May. It is 300 metres long.", "The bridge is 300 metres long."),
    ("The bridge opened in May. It is 300 metres long.", "The bridge closed in June."),
]


class Logits(torch.nn.Module):
    """The model with its inputs in a fixed order and its logits alone, shape (pairs, 1)."""

    def __init__(self, model: BertForSequenceClassification) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        return self.model(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).logits


def to_onnx(model: Logits, path: Path) -> None:
    """Writes the model in fp32, for any number of pairs and tokens."""
    ones = torch.ones(2, 16, dtype=torch.long)
    free = {0: "batch", 1: "length"}
    with warnings.catch_warnings():
        # The older exporter is marked for removal; the newer one needs a further package.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (ones, ones, ones * 0),
            str(path),
            input_names=list(INPUTS),
            output_names=["logits"],
            dynamic_axes={**dict.fromkeys(INPUTS, free), "logits": {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )


def to_int8(full: Path, path: Path) -> None:
    """Writes the int8 form of an fp32 model."""
    prepared = full.with_name("model.prepared.onnx")
    quant_pre_process(str(full), str(prepared), skip_symbolic_shape=True)
    quantize_dynamic(
        prepared,
        path,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gemm", "Gather"],
    )
    prepared.unlink()


@torch.no_grad()
def torch_logits(model: Logits, encoder: CrossEncoder, pairs: list[tuple[str, str]]) -> np.ndarray:
    """Logits of the trained model itself, one pair at a time."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(encoder.folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(encoder.max_tokens, strategy="longest_first")
    out = []
    for one in tokenizer.encode_batch(pairs):
        rows = (one.ids, one.attention_mask, one.type_ids)
        out.append(model(*(torch.tensor([row]) for row in rows)).item())
    return np.array(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder that train.py wrote")
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--check", type=Path, help="rows to compare int8 and fp32 on, e.g. the mix (first 300)"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(options.model / "tokenizer.json", options.out / "tokenizer.json")
    full, small = options.out / "model.onnx", options.out / "model.int8.onnx"
    model = Logits(
        BertForSequenceClassification.from_pretrained(options.model, attn_implementation="eager")
    ).eval()
    to_onnx(model, full)
    to_int8(full, small)
    pairs = list(PAIRS)
    if options.check:
        pairs += [(row["premise"], row["hypothesis"]) for row in islice(read(options.check), 300)]
    encoder = CrossEncoder(options.out, file=full.name)
    exact = np.array(encoder.logits(pairs))
    apart = np.abs(exact[: len(PAIRS)] - torch_logits(model, encoder, PAIRS)).max()
    if apart > CLOSE:
        raise SystemExit(f"the ONNX logits differ from those of torch by {apart:.2g}")
    difference = np.abs(np.array(CrossEncoder(options.out).logits(pairs)) - exact)
    print(f"fp32 {full.stat().st_size / 1e6:.1f} MB, int8 {small.stat().st_size / 1e6:.1f} MB")
    print(
        f"int8 against fp32 on {len(pairs)} pairs: logits apart by {difference.mean():.4f} on"
        f" average, {difference.max():.4f} at most; spread of the fp32 logits {exact.std():.4f}"
    )
    full.unlink()


if __name__ == "__main__":
    main()
