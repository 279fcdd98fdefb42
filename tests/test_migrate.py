"""``assay migrate``: what comes out, what is said to be left, and what is refused."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from assay import load_metric
from assay.cli.app import run
from assay.errors import DataError, MissingExtra
from assay.migrate import Migration, migrate_file
from assay.migrate.assertions import METRICS
from assay.readers import read_samples

SUITE: dict[str, Any] = {
    "prompts": ["{{query}}"],
    "providers": ["echo"],
    "defaultTest": {"assert": [{"type": "context-faithfulness"}]},
    "tests": [
        {
            "description": "the mill",
            "vars": {
                "query": "When did the mill open?",
                "contextChunks": [
                    {"text": "The mill opened in 1820.", "relevant": True},
                    {"text": "Bread is baked at night.", "relevant": False},
                ],
                "right": "It opened in 1820.",
                "city": "Leith",
            },
            "providerOutput": "The mill opened in 1820.",
            "assert": [
                {
                    "type": "noise-sensitivity",
                    "value": "{{right}}",
                    "config": {"mode": "irrelevant", "contextChunks": "{{contextChunks}}"},
                },
                {"type": "rouge-n", "value": "{{right}}"},
            ],
        }
    ],
}


def put(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8", newline="")
    return path


def script(tmp_path: Path, text: str) -> Migration:
    return migrate_file(put(tmp_path / "old.py", text))


def suite(tmp_path: Path, **changes: Any) -> Migration:
    return migrate_file(put(tmp_path / "promptfooconfig.json", json.dumps(SUITE | changes)))


def rows(done: Migration) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.text.splitlines()]


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


# --- promptfoo ---------------------------------------------------------------------------------


def test_a_suite_becomes_samples_and_a_command(tmp_path: Path) -> None:
    done = suite(tmp_path)
    assert done.left == []
    (row,) = rows(done)
    assert row["question"] == "When did the mill open?"
    assert row["response"] == "The mill opened in 1820."
    assert [c["relevant"] for c in row["contexts"]] == [True, False]
    assert row["references"] == ["It opened in 1820."]
    assert row["metadata"]["city"] == "Leith"
    assert row["metadata"]["description"] == "the mill"
    assert done.command[-1] == (
        "faithfulness(joined=true),noise_sensitivity(mode=irrelevant, dialect=promptfoo),"
        "rouge(type=rouge1)"
    )
    assert done.converted[0] == "context-faithfulness -> faithfulness(joined=true)"


def test_what_a_suite_cannot_keep_is_said_assertion_by_assertion(tmp_path: Path) -> None:
    asserts = [
        {"type": "latency", "threshold": 5},
        {"type": "not-context-recall", "value": "x", "threshold": 0.8, "weight": 2},
        {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": "y"}]},
        {"$ref": "#/templates/x"},
    ]
    test = {"vars": {"query": "{{missing}}"}, "assert": asserts, "threshold": 0.5}
    done = suite(tmp_path, tests=[test, "file://more.csv"], scenarios=[{}])
    said = "\n".join(done.left)
    for part in (
        "scenarios: not taken over",
        "latency: responses are recorded",
        "not-context-recall: the negation",
        "not-context-recall: threshold 0.8",
        "not-context-recall: weight 2",
        "assert-set: its threshold",
        "contains: it looks at strings",
        "#/templates/x is not looked up",
        "threshold of a test",
        "file://more.csv is not read",
        "no recorded output",
        "'{{missing}}' is not filled in",
    ):
        assert part in said
    assert "context-recall -> context_recall(joined=true)" in "\n".join(done.converted)


def test_lists_of_texts_make_tests_but_contexts_stay_together(tmp_path: Path) -> None:
    test = {"vars": {"query": ["a", "b"], "context": ["c", "d"]}, "output": "r"}
    done = suite(tmp_path, tests=[test])
    assert [row["question"] for row in rows(done)] == ["a", "b"]
    assert [[c["text"] for c in row["contexts"]] for row in rows(done)] == [["c", "d"]] * 2
    with pytest.raises(DataError, match="over 10,000 tests"):
        suite(tmp_path, tests=[{"vars": {"a": ["x"] * 200, "b": ["y"] * 200}}])


def test_noise_and_the_grader_are_taken_along(tmp_path: Path) -> None:
    test = {
        "vars": {"query": "q", "context": "c"},
        "output": "r",
        "assert": [
            {"type": "noise-sensitivity", "value": "g", "config": {"noiseContext": "noise"}}
        ],
    }
    default = {"options": {"provider": "openai:chat:gpt-4o-mini"}}
    done = suite(tmp_path, tests=[test], defaultTest=default)
    assert rows(done)[0]["contexts"] == [{"text": "c"}, {"text": "noise"}]
    assert done.command[-2:] == ["--judge", "openai:gpt-4o-mini"]


def test_a_template_is_filled_in_once(tmp_path: Path) -> None:
    test = {"vars": {"query": "{{a}}", "a": "say {{b}}", "b": "no"}, "output": "r"}
    done = suite(tmp_path, tests=[test])
    assert rows(done)[0]["question"] == "say {{b}}"
    assert "'{{b}}' is not filled in" in done.left[0]


def test_every_metric_that_assertions_become_exists() -> None:
    for mapped in METRICS.values():
        assert load_metric(mapped.metric).name == mapped.metric.partition("(")[0]


def test_metrics_that_take_a_model_say_so(tmp_path: Path) -> None:
    test = {"vars": {"query": "q"}, "output": "r", "assert": [{"type": "answer-relevance"}]}
    done = suite(tmp_path, tests=[test], defaultTest={})
    assert done.notes[-1] == "response_relevancy: add --judge openai:MODEL"
    default = {"options": {"provider": {"id": "openai:gpt-4o"}}}
    done = suite(tmp_path, tests=[test], defaultTest=default)
    assert len(done.notes) == 1


def test_odd_values_of_assertions_are_reported(tmp_path: Path) -> None:
    asserts = [
        {"type": "bleu", "value": "x", "weight": [2]},
        {"type": "noise-sensitivity", "value": "x", "config": {"mode": ["both"]}},
        {"value": "x"},
    ]
    test = {"vars": {"query": "q", "expected": "y"}, "output": "r", "assert": asserts}
    done = suite(tmp_path, tests=[test], defaultTest={})
    assert rows(done)[0]["references"] == ["x"]
    assert rows(done)[0]["metadata"] == {"expected": "y"}
    assert [line.split(":")[0] for line in done.left] == ["bleu", "noise-sensitivity", "None"]


def test_yaml_with_anchors(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    text = (
        "prompts: ['{{query}}']\ntests:\n  - vars: &v {query: 'When?', context: In 1820.}\n"
        "    output: '1820'\n    assert: &a [{type: context-faithfulness}]\n"
        "  - vars: {<<: *v, query: 'Where?'}\n    output: Leith\n    assert: *a\n"
    )
    done = migrate_file(put(tmp_path / "promptfooconfig.yaml", text))
    assert [row["question"] for row in rows(done)] == ["When?", "Where?"]
    assert done.converted == ["context-faithfulness -> faithfulness(joined=true) (2 times)"]


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)
MERGES = "a0: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB + "tests: *a11\n", "over 1,000,000 values"),
        (MERGES + "tests: [*a11]\n", "over 1,000,000 values"),
        ("tests: &t [*t]\n", "refers to what it is part of"),
        ("tests: !!python/object/apply:os.system ['true']\n", "line 1: could not determine"),
        ("tests: !!python/name:os.system\n", "not YAML of plain types"),
        ("tests: " + "[" * 3000, "nested too deeply|not YAML"),
        ("tests: [\n", "not YAML of plain types"),
        ("tests: 2020-99-99\n", "a value cannot be read"),
        ("", "empty"),
        ("hello: there\n", "no promptfoo config"),
        ("tests: [{assert: nothing}]\n", "must be a list"),
        ("prompts: [x]\n", "no tests to migrate"),
        ("tests: [{vars: {query: [1]}}]\n", r"c\.yaml: its sample 1: column 'question'"),
    ],
)
def test_hostile_or_broken_yaml_is_a_clear_error(tmp_path: Path, text: str, message: str) -> None:
    pytest.importorskip("yaml")
    with pytest.raises(DataError, match=message):
        migrate_file(put(tmp_path / "c.yaml", text))


def test_without_pyyaml_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"pip install 'assay\[yaml\]'"):
        migrate_file(put(tmp_path / "c.yaml", "tests: []\n"))


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
