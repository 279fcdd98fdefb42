"""Any NLI cross-encoder of transformers as a judge."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.asks import Judge
from assay.errors import ConfigError, JudgeUnusable
from assay.judges.batching import Pair
from assay.judges.classifier import ClassifierJudge, in_batches
from assay.judges.route import RoutedJudge
from assay.judges.weights import digest, hub_folder, local_folder, need_torch, torch_device

PATTERNS = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model"]
MAX_TOKENS = 512
_NAMES = {
    "entailment": "entailment",
    "entails": "entailment",
    "entailed": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradicts": "contradiction",
    "contradicted": "contradiction",
    "notentailment": "not_entailment",
    "nonentailment": "not_entailment",
}


def nli_judge(
    path_or_repo: str | Path,
    *,
    device: str = "cpu",
    batch_size: int = 16,
    threshold: float = 0.5,
    window: int | None = 250,
    revision: str | None = None,
    labels: Sequence[str] | None = None,
    offline: bool | None = None,
    extract: Judge | None = None,
) -> Judge:
    """A judge whose verdicts are those of an NLI model and whose claims are ``extract``'s.

    ``path_or_repo`` is a folder, or a repository of the hub (pin its ``revision``), with weights
    as safetensors. ``labels`` are the classes in order of the logits, each "entailment",
    "neutral", "contradiction" or "not_entailment"; None: what the model's config calls them. A
    model of one logit gives P(entailment) by the logistic function. Pairs are cut to 512 tokens,
    so ``window`` should stay well below. ``extract`` None: the rules of the embedded judge, whose
    model stays unloaded. The model is loaded at the first verdict. Raises MissingExtra without
    torch and transformers, ConfigError for an unknown device, missing files or unclear labels.
    """
    need_torch("nli")
    where = torch_device(device)
    folder = local_folder(path_or_repo)
    if folder is None:
        folder = hub_folder(str(path_or_repo), PATTERNS, revision=revision, offline=offline)
    config = _config(folder)
    classes = Classes.of(labels if labels is not None else _labels(config), str(path_or_repo))
    scorer = NliScorer(folder, classes, device=where, batch_size=batch_size)
    judge = ClassifierJudge(
        scorer,
        name=f"nli:{Path(path_or_repo).name}",
        fingerprint=f"nli:{scorer.identity}",
        threshold=threshold,
        window=window,
        contradicts=classes.contradiction is not None,
        batch=8 * batch_size,
    )
    if extract is None:
        from assay.judges.embedded import EmbeddedJudge

        extract = EmbeddedJudge()
    return RoutedJudge(extract=extract, entail=judge)


@dataclass(frozen=True, slots=True)
class Classes:
    """Which logit stands for what."""

    count: int
    entailment: int
    contradiction: int | None = None

    @classmethod
    def of(cls, labels: Sequence[str], model: str) -> Classes:
        """The classes of a model's labels, in order of its logits.

        >>> Classes.of(["CONTRADICTION", "entailment", "Neutral"], "m")
        Classes(count=3, entailment=1, contradiction=0)

        A single logit needs no name. Raises ConfigError for labels that say nothing.
        """
        if len(labels) == 1:
            return cls(1, 0)
        read = [_NAMES.get("".join(c for c in one.casefold() if c.isalpha())) for one in labels]
        known = sorted(filter(None, read))
        if known not in (
            ["contradiction", "entailment", "neutral"],
            ["entailment", "not_entailment"],
            ["contradiction", "entailment"],
        ) or len(known) != len(read):
            raise ConfigError(
                f"{model} has the labels {', '.join(map(repr, labels))}: which is entailment? pass "
                "labels=, e.g. labels=('contradiction', 'entailment', 'neutral') in the order of "
                "its logits"
            )
        three = len(read) == 3
        return cls(
            len(read), read.index("entailment"), read.index("contradiction") if three else None
        )


class NliScorer:
    """P(entailment) by the model of ``folder``; less 1 where contradiction is the likeliest."""

    def __init__(
        self, folder: Path, classes: Classes, *, device: str = "cpu", batch_size: int = 16
    ) -> None:
        if batch_size < 1:
            raise ConfigError(f"batch_size must be at least 1, not {batch_size}")
        if not list(folder.glob("*.safetensors")):
            raise ConfigError(f"{folder} has no weights as safetensors, and others are not read")
        self.folder = folder
        self.classes = classes
        self.device = device
        self.batch_size = batch_size
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, int] | None = None

    @property
    def identity(self) -> str:
        """Identity by the content of all files, and by classes."""
        files = {path for pattern in PATTERNS for path in self.folder.glob(pattern)}
        return f"{digest(sorted(files))} {self.classes.entailment}{self.classes.contradiction}"

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """One number a pair, -1 to 1; raises ConfigError if the folder holds no such model."""
        with self._lock:
            if self._loaded is None:
                self._loaded = load(self.folder, self.classes, self.device)
            model, tokenizer, longest = self._loaded
            encoded = tokenizer(
                [premise for premise, _ in pairs],
                [hypothesis for _, hypothesis in pairs],
                truncation="longest_first",
                max_length=longest,
            )
            lengths = [len(ids) for ids in encoded["input_ids"]]
            return in_batches(
                lengths,
                self.batch_size,
                lambda chosen: self._run(model, tokenizer, _rows(encoded, chosen)),
            )

    def _run(self, model: Any, tokenizer: Any, rows: Mapping[str, Any]) -> list[float]:
        import torch

        try:
            inputs = tokenizer.pad(rows, return_tensors="pt").to(self.device)
            with torch.inference_mode():
                logits = model(**inputs).logits.float()
        except RuntimeError as error:  # torch's way to say that memory ran out
            raise JudgeUnusable(
                f"the NLI model failed on {len(rows['input_ids'])} pairs (smaller batch_size?): "
                f"{str(error)[:300]}"
            ) from error
        if self.classes.count == 1:
            single: list[float] = logits[:, 0].sigmoid().tolist()
            return single
        chances = logits.softmax(-1)
        likeliest = chances.argmax(-1).tolist()
        entailed = chances[:, self.classes.entailment].tolist()
        return [
            p - 1 if top == self.classes.contradiction else p
            for p, top in zip(entailed, likeliest, strict=True)
        ]


def load(folder: Path, classes: Classes, device: str = "cpu") -> tuple[Any, Any, int]:
    """The model in 32 bits, its tokenizer, and the most tokens it reads.

    Only classes of transformers itself, only safetensors: no code of the repository runs. Raises
    ConfigError for other models, and where a weight is missing and would be random.
    """
    from transformers import CONFIG_MAPPING, AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging as bars

    progress: Any = bars
    config = _config(folder)
    if config.get("model_type") not in CONFIG_MAPPING or "auto_map" in _tokenizing(folder):
        raise ConfigError(f"{folder}: {config.get('model_type')!r} needs code that is not run")
    shown = progress.is_progress_bar_enabled()
    progress.disable_progress_bar()
    try:
        # Tokens of the model that stand in the texts are letters, so nobody can end a premise.
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, split_special_tokens=True)
        loaded: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True, local_files_only=True, output_loading_info=True
        )
    except (OSError, ValueError, ImportError, RuntimeError, KeyError) as error:
        raise ConfigError(f"{folder} holds no model of pairs: {str(error)[:300]}") from error
    finally:
        if shown:
            progress.enable_progress_bar()
    model, info = loaded
    if info["missing_keys"] or info["mismatched_keys"]:
        raise ConfigError(
            f"{folder} lacks weights of a classifier: {sorted(info['missing_keys'])[:3]}"
        )
    if model.config.num_labels != classes.count:
        raise ConfigError(
            f"{folder} has {model.config.num_labels} classes, not {classes.count} as labels= says"
        )
    positions = getattr(model.config, "max_position_embeddings", 0) or MAX_TOKENS
    longest = min(MAX_TOKENS, tokenizer.model_max_length, positions)
    return model.float().train(False).to(device), tokenizer, longest


def _rows(encoded: Mapping[str, Any], chosen: Sequence[int]) -> dict[str, Any]:
    return {name: [values[i] for i in chosen] for name, values in encoded.items()}


def _labels(config: Mapping[str, Any]) -> list[str]:
    """The labels of a config in order; those of transformers itself where it has none."""
    named = config.get("id2label")
    if not isinstance(named, dict) or not named:
        return [f"LABEL_{n}" for n in range(int(config.get("num_labels", 2)))]
    try:
        return [str(named[key]) for key in sorted(named, key=int)]
    except ValueError as error:
        raise ConfigError(f"id2label has keys that are no numbers: {sorted(named)}") from error


def _tokenizing(folder: Path) -> dict[str, Any]:
    path = folder / "tokenizer_config.json"
    return _read(path) if path.is_file() else {}


def _config(folder: Path) -> dict[str, Any]:
    if not (folder / "config.json").is_file():
        raise ConfigError(f"{folder} has no config.json")
    return _read(folder / "config.json")


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return raw if isinstance(raw, dict) else {}
