"""HHEM-2.1-Open (Vectara) as a judge: a T5 encoder whose first token tells the verdict."""

from __future__ import annotations

import json
import re
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
from assay.judges.weights import digest, hub_file, local_folder, need_torch, torch_device

REPO = "vectara/hallucination_evaluation_model"
REVISION = "8e4a2e6e96c708cc76c2344f7e4757df2515292c"
BASE = "google/flan-t5-base"
BASE_REVISION = "7bcac572ce56db69c1ea7c8af255c5d7c9672fc2"
PREFIX = "t5."
TIED = "transformer.encoder.embed_tokens.weight"
SHARED = "transformer.shared.weight"
_MARKUP = re.compile(r"<(?=(?:pad|/s|unk|extra_id_\d+)>)")


def hhem_judge(
    path_or_repo: str | Path = REPO,
    *,
    device: str = "cpu",
    batch_size: int = 10,
    threshold: float = 0.5,
    window: int | None = 350,
    revision: str = REVISION,
    base: str | Path = BASE,
    base_revision: str = BASE_REVISION,
    offline: bool | None = None,
    extract: Judge | None = None,
) -> Judge:
    """A judge whose verdicts are HHEM's and whose claims are those of ``extract``.

    ``path_or_repo`` is a folder with ``model.safetensors`` or a repository of the hub at
    ``revision``. ``config.json`` and ``tokenizer.json`` of the T5 that it was made from come from
    the same folder if they are there, else from ``base``. ``extract`` None: the rules of the
    embedded judge, whose model stays unloaded. ``offline`` None: what HF_HUB_OFFLINE says. HHEM
    reads English and knows support from no support; see `ClassifierJudge` for the rest.
    Weights are loaded at the first verdict. Raises MissingExtra without torch and transformers,
    ConfigError for an unknown device, missing files, or (at the first verdict) other weights.
    """
    need_torch("hhem")
    where = torch_device(device)
    files = HhemFiles.find(
        path_or_repo, revision=revision, base=base, base_revision=base_revision, offline=offline
    )
    judge = ClassifierJudge(
        HhemScorer(files, device=where, batch_size=batch_size),
        name="hhem",
        fingerprint=f"hhem:{files.identity}",
        threshold=threshold,
        window=window,
        batch=8 * batch_size,
    )
    if extract is None:
        from assay.judges.embedded import EmbeddedJudge

        extract = EmbeddedJudge()
    return RoutedJudge(extract=extract, entail=judge)


def prompt(pair: Pair) -> str:
    """What the model reads of a pair; ``<pad>`` is token 0, whose output is the verdict.

    >>> prompt(("Rain is wet.", "It is dry.</s>"))[-37:]
    ' is wet.\\n\\nHypothesis: It is dry.< /s>'
    """
    # Put together, not formatted: braces in the texts are letters. So are tokens of the model.
    premise, hypothesis = (_MARKUP.sub("< ", text) for text in pair)
    lead = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: "
    return lead + premise + "\n\nHypothesis: " + hypothesis


@dataclass(frozen=True, slots=True)
class HhemFiles:
    """The three files that make the model."""

    weights: Path
    config: Path
    tokenizer: Path

    @classmethod
    def find(
        cls,
        path_or_repo: str | Path,
        *,
        revision: str = REVISION,
        base: str | Path = BASE,
        base_revision: str = BASE_REVISION,
        offline: bool | None = None,
    ) -> HhemFiles:
        """The files in a folder, else from the hub; raises ConfigError where one is missing."""
        folder = local_folder(path_or_repo)
        if folder is None:
            repo = str(path_or_repo)
            weights = hub_file(repo, "model.safetensors", revision=revision, offline=offline)
        else:
            weights = _there(folder / "model.safetensors")
            if _is_t5(folder):
                return cls(weights, folder / "config.json", folder / "tokenizer.json")
        base_folder = local_folder(base)
        if base_folder is not None:
            parts = [_there(base_folder / name) for name in ("config.json", "tokenizer.json")]
        else:
            parts = [
                hub_file(str(base), name, revision=base_revision, offline=offline)
                for name in ("config.json", "tokenizer.json")
            ]
        return cls(weights, *parts)

    @property
    def identity(self) -> str:
        """Identity by content."""
        return digest([self.weights, self.config, self.tokenizer])


class HhemScorer:
    """P(the hypothesis is consistent with the premise) by the model of ``files``."""

    def __init__(self, files: HhemFiles, *, device: str = "cpu", batch_size: int = 10) -> None:
        if batch_size < 1:
            raise ConfigError(f"batch_size must be at least 1, not {batch_size}")
        self.files = files
        self.device = device
        self.batch_size = batch_size
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """One probability a pair, 0 to 1; raises ConfigError if the weights are not HHEM's."""
        with self._lock:
            if self._loaded is None:
                self._loaded = load(self.files, self.device)
            model, tokenizer = self._loaded
            ids = [encoded.ids for encoded in tokenizer.encode_batch([prompt(p) for p in pairs])]
            return in_batches(
                [len(one) for one in ids],
                self.batch_size,
                lambda chosen: self._run(model, [ids[i] for i in chosen]),
            )

    def _run(self, model: Any, ids: Sequence[Sequence[int]]) -> list[float]:
        import torch

        width = max(map(len, ids))
        # Padding on the right: the verdict is read off the first token.
        tokens = torch.tensor([[*one, *[0] * (width - len(one))] for one in ids])
        mask = torch.tensor([[1] * len(one) + [0] * (width - len(one)) for one in ids])
        try:
            with torch.inference_mode():
                logits = model(
                    input_ids=tokens.to(self.device), attention_mask=mask.to(self.device)
                ).logits
                out: list[float] = logits[:, 0, :].float().softmax(-1)[:, 1].tolist()
        except RuntimeError as error:  # torch's way to say that memory ran out
            raise JudgeUnusable(
                f"HHEM failed on {len(ids)} pairs of {width} tokens (smaller batch_size or window?)"
                f": {str(error)[:300]}"
            ) from error
        return out


def load(files: HhemFiles, device: str = "cpu") -> tuple[Any, Any]:
    """The model, in 32 bits and ready to score, and its tokenizer.

    Plain classes of transformers, weights from safetensors: no code of the repository runs.
    Raises ConfigError unless the weights fill the model exactly.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from transformers import T5Config, T5ForTokenClassification

    try:
        config = T5Config.from_dict({**_config(files.config), "num_labels": 2})
        weights = load_file(files.weights)
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise ConfigError(f"{files.weights.parent} cannot be read: {error}") from error
    weights = {name.removeprefix(PREFIX): tensor for name, tensor in weights.items()}
    with torch.device("meta"):  # a skeleton without numbers: none may stay random
        model: Any = T5ForTokenClassification(config)
    _check(weights, {name: tuple(t.shape) for name, t in model.state_dict().items()}, files.weights)
    weights[TIED] = weights[SHARED]
    model.load_state_dict(weights, strict=True, assign=True)
    # Which of the two transformers ties by itself depends on its version.
    model.transformer.encoder.set_input_embeddings(model.transformer.shared)
    if model.transformer.encoder.embed_tokens.weight is not model.transformer.shared.weight:
        raise ConfigError("this version of transformers does not tie the embeddings of T5")
    return model.float().train(False).to(device), _tokenizer(files.tokenizer, config.vocab_size)


def _check(weights: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], path: Path) -> None:
    """Raises ConfigError unless weights and model have the same tensors, but for the tied one."""
    missing = sorted(shapes.keys() - weights.keys() - {TIED})
    unexpected = sorted(weights.keys() - shapes.keys())
    if missing or unexpected:
        raise ConfigError(
            f"{path} is not HHEM on this T5: missing {missing[:3]}, unexpected {unexpected[:3]} "
            f"({len(missing)} and {len(unexpected)} in all)"
        )
    for name, tensor in weights.items():
        if tuple(tensor.shape) != shapes[name]:
            raise ConfigError(f"{path}: {name} is {tuple(tensor.shape)}, not {shapes[name]}")
    if TIED in weights and not bool((weights[TIED] == weights[SHARED]).all()):
        raise ConfigError(f"{path}: {TIED} differs from {SHARED}, to which it is tied")


def _tokenizer(path: Path, vocabulary: int) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise ConfigError(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if tokenizer.get_vocab_size() > vocabulary or tokenizer.token_to_id("<pad>") != 0:
        raise ConfigError(f"{path} does not belong to a T5 of {vocabulary} tokens")
    return tokenizer


def _is_t5(folder: Path) -> bool:
    """Whether a folder has its T5's files; the repository itself has another kind of config."""
    config, tokenizer = folder / "config.json", folder / "tokenizer.json"
    if not (config.is_file() and tokenizer.is_file()):
        return False
    return _config(config).get("model_type") == "t5"


def _config(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return raw if isinstance(raw, dict) else {}


def _there(path: Path) -> Path:
    if not path.is_file():
        raise ConfigError(f"{path.parent} has no {path.name}")
    return path
