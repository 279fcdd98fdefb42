"""A cross-encoder that runs on ONNX Runtime: one logit a premise-hypothesis pair."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from assay.judges.batching import Pair


class CrossEncoder:
    """Logits of pairs from a folder with ``model.int8.onnx`` and ``tokenizer.json``.

    Each pair runs on its own, several at once on as many cores: int8 ranges are found per run,
    so in a shared batch a pair's logit would depend on its neighbours, and padding would cost
    what batching gains. Pairs longer than ``max_tokens`` are cut from the longer side. The model
    is loaded at the first call; one call at a time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        file: str = "model.int8.onnx",
        max_tokens: int = 256,
        threads: int | None = None,
    ) -> None:
        self.folder = folder
        self.file = file
        self.max_tokens = max_tokens
        self.threads = threads or _cores()
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def logits(self, pairs: Sequence[Pair]) -> list[float]:
        """One number a pair; above 0 the model finds the hypothesis supported."""
        with self._lock:
            session, tokenizer = self._load()
            encoded = tokenizer.encode_batch([(_plain(p), _plain(h)) for p, h in pairs])
            with ThreadPoolExecutor(self.threads) as pool:
                return list(pool.map(lambda one: _logit(session, one), encoded))

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            import onnxruntime
            from tokenizers import Tokenizer

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(
                str(self.folder / self.file), options, providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
            tokenizer.no_padding()
            tokenizer.enable_truncation(self.max_tokens, strategy="longest_first")
            self._loaded = (session, tokenizer)
        return self._loaded


def _logit(session: Any, encoded: Any) -> float:
    import numpy as np

    inputs = {
        "input_ids": np.array([encoded.ids], dtype=np.int64),
        "attention_mask": np.ones((1, len(encoded.ids)), dtype=np.int64),
        "token_type_ids": np.array([encoded.type_ids], dtype=np.int64),
    }
    return float(session.run(None, inputs)[0][0, 0])


def _plain(text: str) -> str:
    # The tokenizer takes UTF-8 only; a lone surrogate is no character anyhow.
    return text.encode(errors="replace").decode()


def _cores() -> int:
    # The cores this process may use, which in a container are fewer than the machine has.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
