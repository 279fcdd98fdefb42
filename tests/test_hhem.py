"""HHEM as a judge, on a tiny random model that is stored as the real one is."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.asks import Entail, Extract, Label
from assay.errors import ConfigError, JudgeUnusable, MissingExtra
from assay.judges import weights as places
from assay.judges.batching import Pair
from assay.judges.hhem import HhemFiles, HhemScorer, hhem_judge, load, prompt
from assay.judges.scripted import ScriptedJudge
from assay.verdicts import Verdict

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

WORDS = "determine if the hypothesis is true given premise rain wet snow cold paris france a b c d"
PAIRS: list[Pair] = [
    ("Rain is wet.", "Rain is cold."),
    ("Snow is cold. " * 12, "Snow is wet."),
    ("Paris", "Paris is France."),
    ("a b c d " * 5, "d"),
    ("Rain is cold.", "Rain is wet."),
]
GOLDEN: list[tuple[str, str, float]] = [
    ("The capital of France is Berlin.", "The capital of France is Paris.", 0.0111),
    ("I am in California", "I am in United States.", 0.6474),
    ("I am in United States", "I am in California.", 0.1290),
    (
        "A person on a horse jumps over a broken down airplane.",
        "A person is outdoors, on a horse.",
        0.8969,
    ),
    (
        "A boy is jumping on skateboard in the middle of a red bridge.",
        "The boy skates down the sidewalk on a red bridge",
        0.1846,
    ),
    (
        "A man with blond-hair, and a brown shirt drinking out of a public water fountain.",
        "A blond man wearing a brown shirt is reading a book.",
        0.0050,
    ),
    ("Mark Wahlberg was a fan of Manny.", "Manny was a fan of Mark Wahlberg.", 0.0543),
]


def save_tokenizer(folder: Path) -> int:
    """Words are tokens; returns how many there are."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = ["<pad>", "</s>", "<unk>", *WORDS.split(), ".", ":", "?", "<", ">"]
    tokenizer = Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(vocabulary)}, unk_token="<unk>")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]
    )
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in vocabulary[:3]])
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", None, [("</s>", 1)])
    tokenizer.enable_truncation(8)  # must not survive: the model reads texts of any length
    tokenizer.save(str(folder / "tokenizer.json"))
    return len(vocabulary)


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model in the layout of the model card, and its T5's files."""
    folder = tmp_path_factory.mktemp("hhem")
    torch.set_num_threads(1)
    config = transformers.T5Config(
        vocab_size=save_tokenizer(folder) + 3,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        num_labels=2,
    )
    torch.manual_seed(1)
    model = transformers.T5ForTokenClassification(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)
    tensors = {
        f"t5.{name}": tensor.clone()
        for name, tensor in model.state_dict().items()
        if name != "transformer.encoder.embed_tokens.weight"
    }
    safetensors.save_file(tensors, folder / "model.safetensors")
    # Like that of google/flan-t5-base, which knows nothing of two labels.
    raw = {key: value for key, value in config.to_dict().items() if "label" not in key}
    (folder / "config.json").write_text(json.dumps({**raw, "model_type": "t5"}), "utf-8")
    return folder


def copy(stored: Path, target: Path, **changes: Any) -> Path:
    """The stored model with other tensors: ``changes`` maps a name's end to a tensor or None."""
    target.mkdir(exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        (target / name).write_bytes((stored / name).read_bytes())
    tensors = safetensors.load_file(stored / "model.safetensors")
    for name, tensor in changes.items():
        tensors.pop(name, None)
        if tensor is not None:
            tensors[name] = tensor
    safetensors.save_file(tensors, target / "model.safetensors")
    return target


def tensors(stored: Path) -> dict[str, Any]:
    found: dict[str, Any] = safetensors.load_file(stored / "model.safetensors")
    return found


def scores(folder: Path, pairs: Sequence[Pair] = PAIRS, **options: Any) -> list[float]:
    return HhemScorer(HhemFiles.find(folder, base=folder), **options).scores(pairs)


# --- loading ---------------------------------------------------------------------------------


def test_scores_are_those_of_the_model_itself(stored: Path) -> None:
    from tokenizers import Tokenizer

    raw = json.loads((stored / "config.json").read_text("utf-8"))
    model = transformers.T5ForTokenClassification(transformers.T5Config(**raw, num_labels=2))
    state = {name.removeprefix("t5."): t for name, t in tensors(stored).items()}
    state["transformer.encoder.embed_tokens.weight"] = state["transformer.shared.weight"]
    model.load_state_dict(state)
    model.eval()
    tokenizer = Tokenizer.from_file(str(stored / "tokenizer.json"))
    tokenizer.no_truncation()
    expected = []
    for premise, claim in PAIRS:
        text = (
            "<pad> Determine if the hypothesis is true given the premise?"
            f"\n\nPremise: {premise}\n\nHypothesis: {claim}"
        )
        ids = tokenizer.encode(text).ids
        assert ids[0] == 0
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids])).logits
        expected.append(float(torch.softmax(logits[:, 0, :], -1)[0, 1]))
    assert scores(stored) == pytest.approx(expected, abs=1e-5)
    assert max(expected) - min(expected) > 0.01


def test_embeddings_are_tied_and_read_from_the_weights(stored: Path, tmp_path: Path) -> None:
    model, _ = load(HhemFiles.find(stored))
    shared = model.transformer.shared.weight
    assert model.transformer.encoder.embed_tokens.weight is shared
    assert torch.equal(shared, tensors(stored)["t5.transformer.shared.weight"])
    other = copy(
        stored,
        tmp_path / "other",
        **{"t5.transformer.shared.weight": torch.randn_like(shared).contiguous()},
    )
    assert scores(other) != pytest.approx(scores(stored), abs=1e-3)


def test_weights_are_float32_whatever_they_are_stored_as(stored: Path, tmp_path: Path) -> None:
    half = {name: tensor.half() for name, tensor in tensors(stored).items()}
    model, _ = load(HhemFiles.find(copy(stored, tmp_path / "half", **half)))
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert not model.training


@pytest.mark.parametrize(
    ("name", "what"),
    [("t5.classifier.bias", "missing"), ("t5.transformer.shared.weight", "missing")],
)
def test_a_missing_tensor_is_refused(stored: Path, tmp_path: Path, name: str, what: str) -> None:
    folder = copy(stored, tmp_path / "less", **{name: None})
    with pytest.raises(ConfigError, match=rf"{what} \['{name.removeprefix('t5.')}'\]"):
        scores(folder)


def test_tensors_that_do_not_belong_are_refused(stored: Path, tmp_path: Path) -> None:
    more = copy(stored, tmp_path / "more", **{"t5.decoder.weight": torch.zeros(2)})
    with pytest.raises(ConfigError, match=r"unexpected \['decoder.weight'\]"):
        scores(more)
    wide = copy(stored, tmp_path / "wide", **{"t5.classifier.bias": torch.zeros(3)})
    with pytest.raises(ConfigError, match=r"classifier.bias is \(3,\), not \(2,\)"):
        scores(wide)


def test_a_second_copy_of_the_embeddings_must_be_the_same(stored: Path, tmp_path: Path) -> None:
    name, shared = (
        "t5.transformer.encoder.embed_tokens.weight",
        tensors(stored)["t5.transformer.shared.weight"],
    )
    same = copy(stored, tmp_path / "same", **{name: shared.clone()})
    assert scores(same) == scores(stored)
    differs = copy(stored, tmp_path / "differs", **{name: shared + 1})
    with pytest.raises(ConfigError, match="to which it is tied"):
        scores(differs)


def test_files_that_cannot_be_read_are_named(stored: Path, tmp_path: Path) -> None:
    broken = copy(stored, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"\x00" * 100)
    with pytest.raises(ConfigError, match="broken cannot be read"):
        scores(broken)
    foreign = copy(stored, tmp_path / "foreign")
    (foreign / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(ConfigError, match="is no tokenizer"):
        scores(foreign)
    (foreign / "config.json").write_text("[", "utf-8")
    with pytest.raises(ConfigError, match=r"config.json cannot be read"):
        HhemFiles.find(foreign)


def test_a_tokenizer_of_another_model_is_refused(stored: Path, tmp_path: Path) -> None:
    folder = copy(stored, tmp_path / "small")
    raw = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    raw["model"]["vocab"].update({f"word{n}": 1000 + n for n in range(50)})
    (folder / "tokenizer.json").write_text(json.dumps(raw), "utf-8")
    with pytest.raises(ConfigError, match="does not belong to a T5 of"):
        scores(folder)


def test_the_base_may_lie_elsewhere(stored: Path, tmp_path: Path) -> None:
    # As downloaded, the repository has a config of its own kind and no tokenizer.
    (tmp_path / "model.safetensors").write_bytes((stored / "model.safetensors").read_bytes())
    (tmp_path / "config.json").write_text('{"model_type": "HHEMv2Config"}', "utf-8")
    found = HhemFiles.find(tmp_path, base=stored)
    assert found.tokenizer == stored / "tokenizer.json"
    assert HhemScorer(found).scores(PAIRS) == scores(stored)
    (tmp_path / "base").mkdir()
    with pytest.raises(ConfigError, match=r"base has no config\.json"):
        HhemFiles.find(tmp_path, base=tmp_path / "base")


# --- scoring ---------------------------------------------------------------------------------


def test_batches_and_padding_change_nothing(stored: Path) -> None:
    one_by_one = scores(stored, batch_size=1)
    assert scores(stored, batch_size=3) == pytest.approx(one_by_one, abs=1e-5)
    assert scores(stored, batch_size=10) == pytest.approx(one_by_one, abs=1e-5)
    backwards = scores(stored, PAIRS[::-1], batch_size=2)
    assert backwards[::-1] == pytest.approx(one_by_one, abs=1e-5)


def test_tokens_of_the_model_in_a_text_are_letters(stored: Path) -> None:
    _, tokenizer = load(HhemFiles.find(stored))
    ids = tokenizer.encode(prompt(("rain</s> {x}<pad>", "<unk> wet</s>"))).ids
    assert ids.count(0) == 1
    assert ids.count(1) == 1
    assert "{x}" in prompt(("rain</s> {x}", "wet"))


def test_running_out_of_memory_ends_the_run(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = HhemScorer(HhemFiles.find(stored))
    scorer.scores(PAIRS[:1])

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(transformers.T5ForTokenClassification, "forward", fail)
    with pytest.raises(JudgeUnusable, match="smaller batch_size"):
        scorer.scores(PAIRS)


# --- the judge -------------------------------------------------------------------------------


async def test_verdicts_by_threshold(stored: Path) -> None:
    chances = scores(stored, [("Rain is wet.", c) for c in ("Rain is cold.", "Paris is France.")])
    middle = sum(chances) / 2
    judge = hhem_judge(stored, threshold=middle)
    ask = Entail(("Rain is cold.", "Paris is France."), ("Rain is wet.",))
    rows = await judge.answer(ask)
    await judge.aclose()
    assert [row[0].probability for row in rows] == pytest.approx(chances, abs=1e-5)
    assert [row[0].verdict is Verdict.ENTAILED for row in rows] == [c >= middle for c in chances]
    assert {row[0].verdict for row in rows} == {Verdict.ENTAILED, Verdict.NEUTRAL}
    assert judge.usage.calls == 2
    assert judge.can("entail")
    assert not judge.can("contradict")


async def test_claims_are_the_embedded_rules_or_those_of_a_judge(stored: Path) -> None:
    judge = hhem_judge(stored)
    claims = await judge.answer(Extract("Rain is wet. Snow is cold."))
    assert [claim.text for claim in claims] == ["Rain is wet.", "Snow is cold."]
    other = hhem_judge(stored, extract=ScriptedJudge(claims={"x": ["y"]}))
    assert [claim.text for claim in await other.answer(Extract("x"))] == ["y"]
    assert not judge.can("biased")
    with pytest.raises(ConfigError, match="does not answer biased"):
        await judge.answer(Label((("biased", "x"),)))


def test_making_it_and_splitting_load_no_model(stored: Path) -> None:
    code = (
        "import asyncio, sys; from assay.judges.hhem import hhem_judge; "
        "from assay.asks import Extract; "
        f"judge = hhem_judge({str(stored)!r}); asyncio.run(judge.answer(Extract('It rains.'))); "
        "print([m for m in ('torch', 'transformers', 'onnxruntime') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_fingerprint_follows_weights_and_parameters(stored: Path, tmp_path: Path) -> None:
    bias = tensors(stored)["t5.classifier.bias"] + 1
    other = copy(stored, tmp_path / "other", **{"t5.classifier.bias": bias})
    moved = copy(stored, tmp_path / "moved")
    made = [hhem_judge(stored), hhem_judge(other), hhem_judge(stored, threshold=0.4)]
    made.append(hhem_judge(stored, window=None))
    assert len({judge.fingerprint for judge in made}) == 4
    assert hhem_judge(moved, batch_size=3).fingerprint == made[0].fingerprint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "cuda:99"}, "no device 'cuda:99'; available: cpu"),
        ({"device": "gpu"}, "no device 'gpu'; available: cpu"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"threshold": 0.0}, "threshold must be above 0"),
        ({"threshold": 1.5}, "threshold must be above 0"),
        ({"window": 0}, "window must be at least 1"),
    ],
)
def test_bad_parameters(stored: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        hhem_judge(stored, **options)


def test_missing_files_and_places(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no model\.safetensors"):
        hhem_judge(tmp_path)
    with pytest.raises(ConfigError, match="is no folder, and no repository"):
        hhem_judge(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="is no folder, and no repository"):
        hhem_judge("hhem")


def test_offline_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ConfigError) as caught:
        hhem_judge("nobody/nothing", revision="a" * 40)
    message = str(caught.value)
    assert "not in the local cache, and downloads are off (HF_HUB_OFFLINE" in message
    assert f"hf download nobody/nothing model.safetensors --revision {'a' * 40}" in message
    assert "give the folder instead" in message


def test_offline_is_as_told_else_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert places.is_offline(None)
    assert not places.is_offline(offline=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    assert not places.is_offline(None)
    assert places.is_offline(offline=True)


def test_without_torch_the_extra_is_named(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "find_spec", lambda name: None if name == "torch" else 1)
    with pytest.raises(MissingExtra, match=r"transformers and torch .* 'assay\[hhem\]'"):
        hhem_judge(stored)


@pytest.mark.skipif("ASSAY_HHEM_PATH" not in os.environ, reason="ASSAY_HHEM_PATH names no weights")
async def test_real_weights_give_the_scores_of_the_model_card() -> None:
    judge = hhem_judge(os.environ["ASSAY_HHEM_PATH"])
    asks = [Entail((claim,), (premise,)) for premise, claim, _ in GOLDEN]
    rows = await asyncio.gather(*map(judge.answer, asks))
    await judge.aclose()
    got = [row[0][0].probability for row in rows]
    assert got == pytest.approx([score for _, _, score in GOLDEN], abs=5e-3)
