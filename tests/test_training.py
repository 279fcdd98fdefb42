"""The training mix from tiny pools: labels, cuts, what leaving a pool out means, repeatability."""

from __future__ import annotations

import doctest
import gzip
import importlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.judges.crossencoder import CrossEncoder
from assay.judges.evidence import Passage
from assay.text import content_words

TRAINING = Path(__file__).parents[1] / "training"
ANSWERS = "aux_evouna_answer_correctness_train"
TOWNS = ["Bern", "Ulm", "Lyon", "Porto", "Ghent", "Turin", "Malmo", "Graz", "Bristol", "Utrecht"]
HELD = "The harbour wall of Porthleven was rebuilt by Cornish masons after the storm of 1824."


def document(n: int) -> str:
    """Seven sentences with names and numbers, 60 words or so."""
    a, b, c = (TOWNS[(n + k) % len(TOWNS)] for k in range(3))
    return (
        f"The painter Anna Berg was born in {a} in {1850 + n}. Her first teacher was a monk there."
        f" In {1870 + n} she moved to {b} with two sisters. The academy has kept {20 + n} of her"
        f" drawings. She was elected to the council of {c} twice. Critics from Vienna praised the"
        f" portraits. Her last studio stands near the station of {b} and holds a small museum."
    )


def pools() -> dict[str, list[dict[str, Any]]]:
    caption = "A man plays a guitar on a stage."
    return {
        "snli_dev_test": [
            {"premise": caption, "hypothesis": "A man makes music.", "label": "entailment"},
            {"premise": caption, "hypothesis": "A man is famous.", "label": "neutral"},
            {"premise": caption, "hypothesis": "A man is asleep.", "label": "contradiction"},
        ],
        "realsumm_scu_train": [
            {
                "premise": document(n),
                "hypothesis": f"Anna Berg painted number {n}.",
                "label": ("supported", "unsupported")[n % 2],
            }
            for n in range(24)
        ],
        "fool_me_twice": [
            {
                "premise": f"The {town} bridge opened in 1901.",
                "hypothesis": f"A bridge opened in {town}.",
                "label": "entailment",
                "retrieved": [f"The town of {town} has a ferry.", f"Trams run through {town}."],
            }
            for town in TOWNS
        ],
        "wice_dev": [
            {
                "premise": f"{HELD} It stands today.",
                "hypothesis": "Masons rebuilt the wall at Porthleven.",
                "label": "supported",
            }
        ],
        ANSWERS: [
            {
                "question": f"what is thing {n}",
                "reference": "/".join([f"answer {n}", "the other"]),
                "response": f"It is answer {n}.",
                "label": int(n % 3 > 0),
            }
            for n in range(30)
        ],
    }


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "pools"
    where.mkdir()
    for name, rows in pools().items():
        write(where / f"{name}.jsonl.gz", rows)
    return where


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(TRAINING)


def module(name: str) -> Any:
    return importlib.import_module(name)


def command(*arguments: str | Path, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TRAINING / "build_mix.py", *arguments],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )


def of(rows: list[Any], source: str) -> list[Any]:
    return [row for row in rows if row.source == source]


def test_the_rows_of_a_pool_come_with_their_labels(folder: Path) -> None:
    rows = module("build_mix").build(folder)
    found = {row.hypothesis: row.label for row in of(rows, "snli_dev_test")}
    assert found == {"A man makes music.": 1, "A man is famous.": 0, "A man is asleep.": 0}
    assert Counter(row.label for row in of(rows, "realsumm_scu_train")) == {1: 12, 0: 12}
    assert {row.label for row in rows} == {0, 1}


def test_a_label_that_is_neither_yes_nor_no_is_refused(folder: Path) -> None:
    row = {"id": "b7", "premise": "A.", "hypothesis": "B.", "label": "perhaps"}
    write(folder / "bump.jsonl.gz", [row])
    with pytest.raises(ValueError, match="bump: row b7 has label 'perhaps'"):
        module("build_mix").build(folder)


def test_long_premises_are_cut_as_the_judge_cuts_them(folder: Path) -> None:
    premise = " ".join(document(n) for n in range(8))
    claim = "Anna Berg was born in Bern in 1850."
    row = {"premise": premise, "hypothesis": claim, "label": "supported"}
    write(folder / "wice_dev.jsonl.gz", [row])
    (found,) = of(module("build_mix").build(folder), "wice_dev")
    passage = Passage.of(premise)
    judged = passage.cut(passage.select(frozenset(content_words(claim)), 165), 165)
    assert found.premise == judged
    assert len(found.premise.split()) <= 165 < len(premise.split())
    assert "born in Bern in 1850" in found.premise


def test_a_pool_left_out_does_not_come_in_by_other_ways(folder: Path, tmp_path: Path) -> None:
    again = HELD.upper().replace(",", " ")
    write(
        folder / "bump.jsonl.gz",
        [
            {
                "premise": f"So: it is wet. {again}",
                "hypothesis": "It is wet.",
                "label": "supported",
            },
            {
                "premise": "Nothing is known.",
                "hypothesis": "masons rebuilt the wall at porthleven",
                "label": "unsupported",
            },
            {"premise": "It is dry.", "hypothesis": "It is wet.", "label": "unsupported"},
        ],
    )
    text = f"{HELD} {document(3)}"
    documents = write(tmp_path / "documents.jsonl.gz", [{"contexts": [text, document(90)]}])
    build = module("build_mix").build
    everything = build(folder, documents=[documents])
    assert sum("porthleven" in row.line().lower() for row in everything) > 3
    rows = build(folder, documents=[documents], leave_out=["wice_dev"])
    assert not [row for row in rows if "porthleven" in row.line().lower()]
    assert [row.premise for row in of(rows, "bump")] == ["It is dry."]
    assert any("1940" in row.premise for row in rows if row.source.startswith("document"))


def test_leaving_a_pool_out_does_not_change_the_draw_of_others(folder: Path) -> None:
    build = module("build_mix").build
    whole = of(build(folder, limit=10), "realsumm_scu_train")
    part = of(build(folder, limit=10, leave_out=["fool_me_twice", ANSWERS]), "realsumm_scu_train")
    assert set(part) == set(whole)
    assert len(part) == 10


def test_the_limit_holds_for_each_pool_and_kind(folder: Path) -> None:
    rows = module("build_mix").build(folder, limit=4)
    kinds = Counter(row.source.split("_")[0] for row in rows)
    assert kinds == {
        "snli": 3,
        "realsumm": 4,
        "fool": 4,
        "wice": 1,
        "distractors": 4,
        "answers": 4,
        "document": 4,
    }


def test_distractors_keep_the_evidence_or_lose_the_label(folder: Path) -> None:
    rows = of(module("build_mix").build(folder), "distractors")
    bridges = [row for row in rows if row.hypothesis.startswith("A bridge")]
    assert len(bridges) == len(TOWNS)
    for row in bridges:
        assert ("bridge opened in 1901" in row.premise) == bool(row.label)
        assert "ferry" in row.premise or "Trams" in row.premise


def test_half_of_the_answers_are_right(folder: Path) -> None:
    rows = of(module("build_mix").build(folder, limit=12), "answers")
    assert Counter(row.label for row in rows) == {0: 6, 1: 6}
    assert all("? " in row.premise and "/" not in row.premise for row in rows)


def test_claims_of_documents_are_kept_or_made_false(folder: Path) -> None:
    rows = [r for r in module("build_mix").build(folder) if r.source.startswith("document_")]
    kinds = {row.source.removeprefix("document_"): row.label for row in rows}
    assert kinds == {"kept": 1, "swapped": 0, "negated": 0, "missing": 0}
    for row in rows:
        there = set(content_words(row.premise))
        missing = set(content_words(row.hypothesis)) - there
        if row.source == "document_kept":
            assert not missing
        elif row.source == "document_negated":
            assert missing == {"not"}
        elif row.source == "document_missing":
            assert len(missing) >= 2


def test_names_give_way_to_names_of_their_kind() -> None:
    documents = module("documents")
    near, far = documents.Bank(), documents.Bank()
    near.add(documents.spots("Anna Berg moved from Bern to Lyon with Otto Frei in March."))
    near.add(documents.spots("In May the Danish painter left."))
    claim = "Anna Berg was born in Ulm."
    found = {documents.swapped(claim, claim, near, far, random.Random(n)) for n in range(40)}
    assert found == {
        "Otto Frei was born in Ulm.",
        "Anna Berg was born in Bern.",
        "Anna Berg was born in Lyon.",
    }
    march = documents.swapped("He left in March.", "", near, far, random.Random(0))
    assert march == "He left in May."
    assert documents.swapped("He left early.", "", near, far, random.Random(0)) is None


def test_first_words_of_sentences_are_no_names_unless_known() -> None:
    documents = module("documents")
    assert documents.spots('However it rained. "More tea," she said.') == []
    known = documents.Bank()
    known.add(documents.spots("They met Einstein."))
    assert [s.text for s in documents.spots("Einstein slept.", known)] == ["Einstein"]
    assert [s.text for s in documents.spots("The Eiffel Tower's lifts stop.")] == ["Eiffel Tower"]


@pytest.mark.parametrize("text", ["0", "7", "1999", "3,000", "1,200,000"])
def test_numbers_change_and_stay_written_alike(text: str) -> None:
    other_number = module("documents").other_number
    found = {other_number(text, random.Random(n)) for n in range(50)}
    assert text not in found
    assert all(each[0] != "-" for each in found)
    assert all(("," in each) == ("," in text) for each in found)


def test_negation_is_not_doubled() -> None:
    negated = module("documents").negated
    assert negated("It was never built.") is None
    assert negated("It didn't rain.") is None
    assert negated("Rain fell.") is None


@pytest.mark.parametrize("name", ["pools", "documents", "build_mix"])
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    assert doctest.testmod(module(name)).failed == 0


def test_the_same_command_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    one, two, other = (tmp_path / f"{n}.jsonl.gz" for n in range(3))
    done = command(folder, one, hash_seed="1")
    assert done.returncode == 0, done.stderr
    assert "rows, " in done.stdout
    command(folder, two, hash_seed="2")
    command(folder, other, "--seed", "2")
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes() != other.read_bytes()
    assert all(set(row) == {"premise", "hypothesis", "label", "source"} for row in read(one))


@pytest.mark.parametrize(
    ("left_out", "said"),
    [("wice", "invalid choice: 'wice'"), ("bump", "its texts must be known: no bump")],
)
def test_a_pool_that_cannot_be_left_out_is_an_error(
    folder: Path, tmp_path: Path, left_out: str, said: str
) -> None:
    done = command(folder, tmp_path / "mix.jsonl.gz", "--leave-out", left_out)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "mix.jsonl.gz").exists()


def tiny_base(where: Path) -> Path:
    """A BERT of one layer with random weights, and a tokenizer of single letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    transformers = module("transformers")
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *("##" + c for c in letters)]
    tokens = {token: n for n, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(tokens, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    where.mkdir()
    tokenizer.save(str(where / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
    )
    transformers.BertModel(config).save_pretrained(where)
    return where


@pytest.mark.filterwarnings("ignore")
def test_a_model_is_trained_exported_and_read(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for needed in ("torch", "transformers", "onnx", "sklearn"):
        pytest.importorskip(needed)
    rows = [vars_of(row) for row in module("build_mix").build(folder, limit=20)]
    mix = write(tmp_path / "mix.jsonl.gz", rows)
    base, model, out = tiny_base(tmp_path / "base"), tmp_path / "model", tmp_path / "out"
    train = ["train.py", "--data", mix, "--dev", mix, "--base", base, "--out", model]
    monkeypatch.setattr(sys, "argv", [*map(str, train), "--max-steps", "3", "--max-items", "8"])
    module("train").main()
    record = json.loads((model / "train.json").read_text("utf-8"))
    assert (record["steps"], record["seed"]) == (3, 0)
    assert 3 <= record["pairs"] <= 24
    monkeypatch.setattr(sys, "argv", ["export.py", str(model), str(out), "--check", str(mix)])
    module("export").main()
    assert "mix AUROC" in (said := capsys.readouterr().out)
    assert "int8 against fp32" in said
    assert {path.name for path in out.iterdir()} == {"model.int8.onnx", "tokenizer.json"}
    logits = CrossEncoder(out).logits([("a b c", "a"), ("d e f", "a b")])
    assert len(set(logits)) == 2


def vars_of(row: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row.line())
    return found
