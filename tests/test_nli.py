"""Any NLI cross-encoder as a judge, on tiny random models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.asks import Entail, Extract
from assay.errors import ConfigError, MissingExtra
from assay.judges import weights as places
from assay.judges.batching import Pair
from assay.judges.nli import Classes, NliScorer, load, nli_judge
from assay.judges.scripted import ScriptedJudge
from assay.verdicts import Verdict

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

LABELS = ("contradiction", "entailment", "neutral")
NOUNS = "rain snow paris france rome wind fire ice"
WORDS = f"{NOUNS} is not wet cold hot in a the on"
PAIRS: list[Pair] = [
    (f"{a} is {b} in {c}" * n, f"{c} is {b}")
    for a in NOUNS.split()
    for b, c, n in (("wet", "rome", 1), ("cold", "ice", 6), ("hot", "fire", 2))
]


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny BERT of three classes."""
    folder = tmp_path_factory.mktemp("nli")
    torch.set_num_threads(1)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split(), ".", "[", "]"]
    (folder / "vocab.txt").write_text("\n".join([*vocabulary, "sep", "pad"]), "utf-8")
    vocab = {word: n for n, word in enumerate([*vocabulary, "sep", "pad"])}
    try:  # transformers 5 takes the vocabulary itself, 4 a file
        tokenizer = transformers.BertTokenizerFast(vocab=vocab)
        assert tokenizer.vocab_size == len(vocab)
    except (TypeError, AssertionError):
        tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocab),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=3,
    )
    torch.manual_seed(3)
    model = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
        # Every class is the likeliest of some pairs: logits vary about nought.
        model.classifier.weight.mul_(400)
        inputs = tokenizer(*map(list, zip(*PAIRS, strict=True)), padding=True, return_tensors="pt")
        model.classifier.bias.sub_(model.eval()(**inputs).logits.mean(0))
    model.save_pretrained(folder, safe_serialization=True)
    return named(folder, folder, LABELS)


def named(stored: Path, target: Path, labels: Sequence[str], order: Sequence[int] = ()) -> Path:
    """The stored model with classes of these names; ``order`` permutes the logits."""
    target.mkdir(exist_ok=True)
    for path in stored.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    config = json.loads((stored / "config.json").read_text("utf-8"))
    config["id2label"] = {str(n): label for n, label in enumerate(labels)}
    config["label2id"] = {label: n for n, label in enumerate(labels)}
    (target / "config.json").write_text(json.dumps(config), "utf-8")
    if order:
        tensors = safetensors.load_file(stored / "model.safetensors")
        for name in ("classifier.weight", "classifier.bias"):
            tensors[name] = tensors[name][list(order)].contiguous()
        safetensors.save_file(tensors, target / "model.safetensors", metadata={"format": "pt"})
    return target


def scores(folder: Path, pairs: Sequence[Pair] = PAIRS, **options: Any) -> list[float]:
    labels = options.pop("labels", None) or LABELS[: options.pop("classes", 3)]
    return NliScorer(folder, Classes.of(labels, "tiny"), **options).scores(pairs)


def by_hand(folder: Path, pairs: Sequence[Pair]) -> Any:
    """The model's probabilities of its classes, pair by pair."""
    model = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return torch.stack(
            [
                model(**tokenizer(*pair, return_tensors="pt", truncation=True, max_length=64))
                .logits[0]
                .softmax(-1)
                for pair in pairs
            ]
        )


def test_scores_are_those_of_the_model_itself(stored: Path) -> None:
    expected = by_hand(stored, PAIRS)
    likeliest = expected.argmax(-1).tolist()
    assert set(likeliest) == {0, 1, 2}
    for got, row, top in zip(scores(stored), expected.tolist(), likeliest, strict=True):
        assert (got < 0) == (LABELS[top] == "contradiction")
        assert got % 1 == pytest.approx(row[1], abs=1e-5)


def test_batches_and_padding_change_nothing(stored: Path) -> None:
    one_by_one = scores(stored, batch_size=1)
    assert scores(stored, batch_size=7) == pytest.approx(one_by_one, abs=1e-5)
    assert scores(stored, PAIRS[::-1], batch_size=5)[::-1] == pytest.approx(one_by_one, abs=1e-5)


async def test_verdicts_do_not_depend_on_the_order_of_the_classes(
    stored: Path, tmp_path: Path
) -> None:
    other = named(
        stored, tmp_path / "other", ("Neutral", "CONTRADICTION", "Entailment"), order=(2, 0, 1)
    )
    rows = []
    for folder in (stored, other):
        judge = nli_judge(folder)
        asks = [await judge.answer(Entail((claim,), (premise,))) for premise, claim in PAIRS]
        await judge.aclose()
        rows.append([row[0][0] for row in asks])
        assert judge.can("contradict")
    assert [cell.verdict for cell in rows[0]] == [cell.verdict for cell in rows[1]]
    assert {cell.verdict for cell in rows[0]} == set(Verdict) - {Verdict.UNKNOWN}
    chances = [[cell.probability for cell in row] for row in rows]
    assert chances[0] == pytest.approx(chances[1], abs=1e-6)
    expected = by_hand(stored, PAIRS)[:, 1].tolist()
    assert chances[0] == pytest.approx(expected, abs=1e-5)


def test_one_logit_and_two_classes(stored: Path, tmp_path: Path) -> None:
    two = named(stored, tmp_path / "two", ("entailment", "not_entailment"), order=(1, 2))
    chances = by_hand(two, PAIRS)
    assert scores(two, labels=("entailment", "not_entailment")) == pytest.approx(
        chances[:, 0].tolist(), abs=1e-5
    )
    assert not nli_judge(two).can("contradict")
    one = named(stored, tmp_path / "one", ("LABEL_0",), order=(1,))
    model = transformers.BertForSequenceClassification.from_pretrained(one).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(one)
    with torch.no_grad():
        logit = model(**tokenizer(*PAIRS[0], return_tensors="pt")).logits[0, 0]
    assert scores(one, PAIRS[:1], classes=1) == pytest.approx([float(logit.sigmoid())], abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("Entailment", "NEUTRAL", "contradiction"), Classes(3, 0, 2)),
        (("contradicts", "neutral", "entails"), Classes(3, 2, 0)),
        (("not_entailment", "entailment"), Classes(2, 1)),
        (("entailment", "Not-Entailment"), Classes(2, 0)),
        (("anything",), Classes(1, 0)),
    ],
)
def test_labels_are_read_in_any_case_and_order(labels: list[str], expected: Classes) -> None:
    assert Classes.of(labels, "m") == expected


@pytest.mark.parametrize(
    "labels",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("entailment", "entailment"),
        ("entailment", "neutral"),
        ("entailment", "neutral", "contradiction", "other"),
        ("positive", "negative"),
    ],
)
def test_labels_that_say_nothing_are_refused(labels: list[str]) -> None:
    with pytest.raises(
        ConfigError, match=r"m has the labels .* which is entailment\? pass labels="
    ):
        Classes.of(labels, "m")


def test_labels_may_be_passed_for_a_model_without(stored: Path, tmp_path: Path) -> None:
    bare = named(stored, tmp_path / "bare", ("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(ConfigError, match="pass labels="):
        nli_judge(bare)
    judge = nli_judge(bare, labels=LABELS)
    assert judge.can("entail")
    assert judge.fingerprint != nli_judge(bare, labels=LABELS[::-1]).fingerprint
    wrong = nli_judge(bare, labels=("entailment", "not_entailment"))
    scorer = NliScorer(bare, Classes.of(("entailment", "not_entailment"), "m"))
    assert wrong.can("entail")
    with pytest.raises(ConfigError, match="has 3 classes, not 2"):
        scorer.scores(PAIRS)


def test_a_model_without_a_classifier_is_refused(stored: Path, tmp_path: Path) -> None:
    folder = named(stored, tmp_path / "bare", LABELS)
    tensors = safetensors.load_file(folder / "model.safetensors")
    del tensors["classifier.weight"]
    safetensors.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        ConfigError, match=r"lacks weights of a classifier: \['classifier.weight'\]"
    ):
        scores(folder)


def test_code_of_a_repository_never_runs(stored: Path, tmp_path: Path) -> None:
    folder = named(stored, tmp_path / "foreign", LABELS)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["model_type"] = "foreign"
    config["auto_map"] = {"AutoModelForSequenceClassification": "model.Model"}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "model.py").write_text("raise SystemExit('ran')\n", "utf-8")
    with pytest.raises(ConfigError, match="'foreign' needs code that is not run"):
        scores(folder)


def test_other_weights_than_safetensors_are_not_read(stored: Path, tmp_path: Path) -> None:
    folder = named(stored, tmp_path / "old", LABELS)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="no weights as safetensors"):
        nli_judge(folder)
    (folder / "config.json").unlink()
    with pytest.raises(ConfigError, match=r"has no config\.json"):
        nli_judge(folder)


def test_long_pairs_are_cut_and_marks_in_texts_are_letters(stored: Path) -> None:
    model, tokenizer, longest = load(stored, Classes.of(LABELS, "m"))
    assert longest == 64
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    ids = tokenizer("rain [SEP] wet [PAD]", "snow")["input_ids"]
    assert ids.count(tokenizer.sep_token_id) == 2
    assert tokenizer.pad_token_id not in ids
    long = "rain is wet " * 200
    assert len(scores(stored, [(long, "rain is wet"), ("rain", long)])) == 2


async def test_the_judge_splits_by_rules_or_by_another(stored: Path) -> None:
    judge = nli_judge(stored, threshold=0.01)
    claims = await judge.answer(Extract("Rain is wet. Snow is cold."))
    assert [claim.text for claim in claims] == ["Rain is wet.", "Snow is cold."]
    ((cell,),) = await judge.answer(Entail(("rain is wet",), ("in rome rain is wet",)))
    await judge.aclose()
    assert cell.verdict is Verdict.ENTAILED
    assert cell.evidence is not None
    other = nli_judge(stored, extract=ScriptedJudge(claims={"x": ["y"]}))
    assert [claim.text for claim in await other.answer(Extract("x"))] == ["y"]
    assert judge.name == f"embedded+nli:{stored.name}"


def test_bad_parameters(stored: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no device 'tpu'; available: cpu"):
        nli_judge(stored, device="tpu")
    with pytest.raises(ConfigError, match="batch_size must be at least 1"):
        nli_judge(stored, batch_size=0)
    with pytest.raises(ConfigError, match="is no folder, and no repository"):
        nli_judge("./nowhere")
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match=r"downloads are off.*hf download nobody/none --local"):
        nli_judge("nobody/none", offline=True)
    monkeypatch.setattr(places, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"'assay\[nli\]'"):
        nli_judge(stored)
