"""``assay migrate`` on promptfoo's configs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay import load_metric
from assay.errors import DataError, MissingExtra
from assay.migrate import migrate_file
from assay.migrate.assertions import METRICS
from migrating import put, rows, suite

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
    assert not any("add --judge" in note for note in done.notes)


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
        (BOMB + "tests: *a11\n", r"c\.yaml:7:20: more than 1,000,000 values"),
        (MERGES + "tests: [*a11]\n", "more than 1,000,000 values"),
        ("tests: &t [*t]\n", "is inside of what it refers to"),
        ("tests: !!python/object/apply:os.system ['true']\n", r"c\.yaml:1:8: the tag '!!python/"),
        ("tests: !!python/name:os.system\n", "the tag '!!python/name:os.system' is not known"),
        ("tests: " + "[" * 3000, "nested more than 60 levels deep"),
        ("tests: [\n", "not closed"),
        ("tests: 2020-99-99\n", "2020-99-99 is not read"),
        ("tests: []\ntests: []\n", r"c\.yaml:2:1: "),
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


def test_yaml_is_read_as_a_suite_is(tmp_path: Path) -> None:
    """Plain texts in braces, references and the core schema of YAML 1.2."""
    text = (
        "assertionTemplates: {grounded: {type: context-faithfulness}}\n"
        "prompts: [x]\ntests:\n  - vars: {query: How?, context: c, day: 2024-01-01, on: yes}\n"
        "    output: r\n    assert: [{$ref: '#/assertionTemplates/grounded'}]\n"
    )
    done = migrate_file(put(tmp_path / "c.yaml", text))
    (row,) = rows(done)
    assert row["question"] == "How?"
    assert row["metadata"] == {"day": "2024-01-01", "on": "yes"}
    assert done.converted == ["context-faithfulness -> faithfulness(joined=true)"]
    assert done.left == []


@pytest.mark.parametrize(
    ("assertion", "metric"),
    [
        ({"type": "assay:f1", "value": "v"}, "f1"),
        ({"type": "not-assay:rouge(type=rougeL)", "value": "v"}, "rouge(type=rougeL)"),
        (
            {"type": "noise-sensitivity", "value": "v", "config": {"dialect": "ragas"}},
            "noise_sensitivity(mode=relevant, dialect=ragas)",
        ),
        (
            {"type": "context-faithfulness", "config": {"joined": False}},
            "faithfulness(joined=false)",
        ),
    ],
)
def test_own_metrics_and_their_parameters_are_kept(
    tmp_path: Path, assertion: dict[str, object], metric: str
) -> None:
    test = {"vars": {"query": "q", "context": "c"}, "output": "r", "assert": [assertion]}
    done = suite(tmp_path, tests=[test], defaultTest={})
    assert done.command[-1] == metric
    assert rows(done)[0].get("references", ["v"]) == ["v"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("assay:faithfullness", "unknown metric 'faithfullness'; did you mean 'faithfulness'?"),
        ("context-faithfulnes", "did you mean 'context-faithfulness'?"),
        ("classifier", "use assay:toxicity, assay:bias or llm-rubric"),
        ("contains", "it looks at strings, not claims; assay eval checks it"),
        ("llm-rubric", "assay eval grades it"),
        ("python", "assay eval --allow-code runs them"),
    ],
)
def test_what_has_no_metric_is_told_what_to_do(tmp_path: Path, kind: str, said: str) -> None:
    test = {"vars": {"query": "q"}, "output": "r", "assert": [{"type": kind, "value": "x"}]}
    (left,) = suite(tmp_path, tests=[test], defaultTest={}).left
    assert left.startswith(f"{kind}: ")
    assert said in left


def test_without_pyyaml_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"pip install 'assay\[yaml\]'"):
        migrate_file(put(tmp_path / "c.yaml", "tests: []\n"))
