"""``assay migrate``: what comes out, what is said to be left, and what is refused."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from assay.cli.app import run
from assay.errors import DataError
from assay.migrate import migrate_file
from assay.readers import read_samples
from migrating import SUITE, put, rows, script

# --- scripts -----------------------------------------------------------------------------------


def test_import_roots_change_and_nothing_else_does(tmp_path: Path) -> None:
    old = (
        "# ragas.metrics is good\r\n"
        "import os, ragas.metrics as rm\r\n"
        "from  ragas import (  # ragas\r\n    evaluate,\r\n    SingleTurnSample as S,\r\n)\r\n"
        "name = 'ragas.evaluate'; é = rm.Faithfulness()\r\n"
        "from .ragas import own\r\n"
        "import ragasish\r\n"
    )
    done = script(tmp_path, old)
    assert done.left == []
    new = old.replace("import os, ragas.metrics", "import os, assay.ragas.metrics")
    assert done.text == new.replace("from  ragas import", "from  assay.ragas import")
    assert len(done.converted) == 2


def test_dotted_uses_follow_a_plain_import(tmp_path: Path) -> None:
    done = script(
        tmp_path,
        "import ragas\nimport ragas.metrics\nfrom ragchecker import RAGChecker\n"
        "é = 'ragas'; m = ragas.metrics.Faithfulness(); ragas.evaluate([], [m])\n",
    )
    assert done.left == []
    assert done.text == (
        "import assay.ragas\nimport assay.ragas.metrics\nfrom assay.ragchecker import RAGChecker\n"
        "é = 'ragas'; m = assay.ragas.metrics.Faithfulness(); assay.ragas.evaluate([], [m])\n"
    )
    assert "ragas, ragchecker" in done.kind


def test_valor_has_another_name_here(tmp_path: Path) -> None:
    done = script(
        tmp_path,
        "from valor_lite import text_generation\nimport valor_lite.text_generation\n"
        "from valor_lite.text_generation import Evaluator\n"
        "valor_lite.text_generation.Evaluator; text_generation.Context\n",
    )
    assert done.left == []
    assert done.text == (
        "from assay import valor as text_generation\nimport assay.valor\n"
        "from assay.valor import Evaluator\nassay.valor.Evaluator; text_generation.Context\n"
    )


def test_a_private_module_becomes_the_public_one_that_has_its_names(tmp_path: Path) -> None:
    done = script(tmp_path, "from ragas.metrics._faithfulness import Faithfulness\n")
    assert done.text == "from assay.ragas.metrics import Faithfulness\n"
    assert done.left == []


def test_names_that_the_door_lacks_are_listed_with_their_lines(tmp_path: Path) -> None:
    done = script(
        tmp_path,
        "import ragas.metrics as rm\nfrom ragas.metrics import (\n    Faithfulness,\n"
        "    AspectCritic,\n)\nfrom ragas.testset import TestsetGenerator\n"
        "rm.RougeScore()\nfrom valor_lite.object_detection import Loader\n"
        "from ragas.metrics import *\n",
    )
    assert "from assay.ragas.metrics import (\n" in done.text
    assert "from ragas.testset import TestsetGenerator\n" in done.text
    places = [line.split(": ")[0] for line in done.left]
    assert places == ["old.py:4", "old.py:6", "old.py:7", "old.py:8", "old.py:9"]
    assert "no AspectCritic: it is a prompt of its own" in done.left[0]
    assert "no RougeScore: it compares strings" in done.left[2]


def test_a_root_that_is_also_a_variable_is_left_alone(tmp_path: Path) -> None:
    old = "import ragas\ndef f(ragas):\n    return ragas.x\n"
    done = script(tmp_path, old)
    assert done.text == old
    assert len(done.left) == 1
    assert done.left[0].startswith("old.py:1: ragas or assay is also a variable")


def test_a_script_is_never_run(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    script(tmp_path, f"from ragas import evaluate\nopen({str(witness)!r}, 'w')\n")
    assert not witness.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os\n", "imports none of ragas"),
        ("import ragas\nx = (\n", r"old\.py:2: not Python"),
        ("import ragas\0\n", "not Python|cannot be read"),
        ("x = " + "(" * 5000, "not Python|cannot be read"),
    ],
)
def test_what_is_no_such_script_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        script(tmp_path, text)


# --- data --------------------------------------------------------------------------------------


def test_ragas_data_get_native_names(tmp_path: Path) -> None:
    source = put(
        tmp_path / "d.csv",
        'user_input,response,retrieved_contexts,reference,topic\nWhen?,1820.,"[""a"", ""b""]",'
        "In 1820.,mills\n",
    )
    done = migrate_file(source)
    assert done.left == []
    assert "ragas, 1 samples" in done.kind
    assert rows(done) == [
        {
            "id": "1",
            "question": "When?",
            "response": "1820.",
            "contexts": [{"text": "a"}, {"text": "b"}],
            "references": ["In 1820."],
            "metadata": {"topic": "mills"},
        }
    ]
    out = put(tmp_path / "o.jsonl", done.text)
    assert read_samples(str(out)) == read_samples(str(source))


def test_ragchecker_triplets_are_joined_and_its_labels_pointed_at(tmp_path: Path) -> None:
    record = {
        "query_id": "7",
        "query": "When?",
        "gt_answer": "In 1820.",
        "response": "1820.",
        "retrieved_context": [{"doc_id": "a", "text": "It opened in 1820."}],
        "response_claims": [["mill", "opened in", "1820"]],
        "answer2response": ["Entailment"],
    }
    done = migrate_file(put(tmp_path / "d.json", json.dumps({"results": [record]})))
    (row,) = rows(done)
    assert row["id"] == "7"
    assert row["contexts"] == [{"text": "It opened in 1820.", "id": "a"}]
    assert row["response_claims"][0]["text"] == "mill opened in 1820"
    assert row["metadata"]["answer2response"] == ["Entailment"]
    assert len(done.left) == 1
    assert done.left[0].startswith("answer2response: kept in metadata")


def test_valor_context_is_taken_apart(tmp_path: Path) -> None:
    record = {"query": "q", "response": "r", "context": {"groundtruth": ["g"], "prediction": ["p"]}}
    done = migrate_file(put(tmp_path / "d.jsonl", json.dumps(record) + "\n"))
    assert "Valor" in done.kind
    assert rows(done)[0]["contexts"] == [{"text": "p"}]
    assert rows(done)[0]["references"] == ["g"]


# --- the command -------------------------------------------------------------------------------


def test_the_command_that_it_prints_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = put(tmp_path / "p.json", json.dumps(SUITE))
    out = tmp_path / "new.jsonl"
    assert run(["migrate", str(source), "-o", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    (following,) = [line for line in shown.err.splitlines() if line.startswith("next: ")]
    words = shlex.split(following.removeprefix("next: "))
    assert words[0] == "assay"
    assert run([*words[1:], "-o", "-", "-q"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert scores["faithfulness(joined=true)"]["value"] == 1.0
    assert len(scores) == 3


def test_exit_codes_and_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = put(tmp_path / "a.py", "from ragas import evaluate\n")
    assert run(["migrate", str(good)]) == 0
    shown = capsys.readouterr()
    assert shown.out == "from assay.ragas import evaluate\n"
    assert "converted: a.py:1: ragas -> assay.ragas" in shown.err
    half = put(tmp_path / "b.py", "from ragas import experiment, evaluate, Dataset\n")
    assert run(["migrate", str(half)]) == 2
    assert "not converted: b.py:1: assay.ragas has no Dataset" in capsys.readouterr().err
    assert run(["migrate", str(put(tmp_path / "c.docx", "x"))]) == 1
    assert "does not know this kind of file" in capsys.readouterr().err
    assert run(["migrate", str(tmp_path / "none.py")]) == 1


def test_the_source_is_never_overwritten(tmp_path: Path) -> None:
    source = put(tmp_path / "a.py", "from ragas import evaluate\n")
    link = tmp_path / "link.py"
    link.symlink_to(source)
    assert run(["migrate", str(source), "-o", str(link)]) == 1
    assert source.read_text() == "from ragas import evaluate\n"


@pytest.mark.parametrize(("name", "hint"), [("a.ts", "not run"), ("a.ipynb", "export")])
def test_other_kinds_say_what_to_do(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(DataError, match=hint):
        migrate_file(put(tmp_path / name, "x"))
