"""The bundled demo data: well formed, and its gold verdicts mean what each kind says."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from assay.demo import demo_path, demo_rows
from assay.sample import Sample
from assay.verdicts import EntailmentMatrix

ROWS = demo_rows()
IDS = [row["id"] for row in ROWS]
KINDS = {
    "right",
    "wrong",
    "noise-relevant",
    "noise-irrelevant",
    "hallucination",
    "self-knowledge",
    "mixed",
    "refusal",
    "non-english",
}
every_row = pytest.mark.parametrize("row", ROWS, ids=IDS)


def shares(row: dict[str, Any]) -> dict[str, float]:
    """The generation metrics by their definitions, straight from the gold letters."""
    gold = row["gold"]
    grounded, correct = gold["response_by_contexts"], gold["response_by_reference"]
    relevant = [
        any(word[c] == "E" for word in gold["reference_by_contexts"])
        for c in range(len(row["contexts"]))
    ]
    counts: Counter[str] = Counter()
    for word, right in zip(grounded, correct, strict=True):
        by = {relevant[c] for c, letter in enumerate(word) if letter == "E"}
        wrong = "E" not in right
        counts["faithfulness"] += bool(by)
        counts["precision"] += not wrong
        counts["noise_relevant"] += wrong and True in by
        counts["noise_irrelevant"] += wrong and by == {False}
        counts["hallucination"] += wrong and not by
        counts["self_knowledge"] += not wrong and not by
    recalled = sum(word == "E" for word in gold["reference_by_response"])
    out = {name: count / len(grounded) for name, count in counts.items()}
    out["recall"] = recalled / len(gold["reference_claims"])
    return out


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if row["metadata"]["kind"] == kind]


def test_the_file_is_one_object_a_line() -> None:
    lines = demo_path().read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert [json.loads(line) for line in lines] == ROWS


def test_rows_are_fresh_objects() -> None:
    first = demo_rows()
    first[0]["gold"].clear()
    assert demo_rows()[0]["gold"] == ROWS[0]["gold"] != {}


def test_there_are_enough_rows_with_unique_ids_questions_and_many_domains() -> None:
    assert len(ROWS) >= 24
    assert len(set(IDS)) == len(ROWS)
    assert len({row["question"] for row in ROWS}) == len(ROWS)
    assert len({row["metadata"]["domain"] for row in ROWS}) >= 15


def test_ids_count_up() -> None:
    assert [name.split("-")[:2] for name in IDS] == [
        ["demo", f"{n:02d}"] for n in range(1, len(ROWS) + 1)
    ]


def test_every_kind_is_there_and_no_other() -> None:
    assert {row["metadata"]["kind"] for row in ROWS} == KINDS


def test_only_refusals_make_no_claims() -> None:
    silent = [row["metadata"]["kind"] for row in ROWS if not row["gold"]["response_claims"]]
    assert silent
    assert set(silent) == {"refusal"}


def test_non_english_rows_hold_letters_that_english_does_not_use() -> None:
    rows = of_kind("non-english")
    assert len(rows) >= 2
    for row in rows:
        text = " ".join([row["question"], row["response"], *(c["text"] for c in row["contexts"])])
        assert any(ch.isalpha() and not ch.isascii() for ch in text)
    assert any("\u4e00" <= ch <= "\u9fff" for row in rows for ch in row["response"])
    assert any(ord(ch) > 0xFFFF for row in rows for ch in row["response"])


def test_alternative_references_are_there() -> None:
    assert sum(len(row["references"]) == 2 for row in ROWS) >= 2


@every_row
def test_contexts_are_few_distinct_and_passage_sized(row: dict[str, Any]) -> None:
    contexts = row["contexts"]
    assert 2 <= len(contexts) <= 5
    assert len({c["id"] for c in contexts}) == len(contexts)
    assert len({c["text"] for c in contexts}) == len(contexts)
    for context in contexts:
        # No words to count where a script has no spaces.
        spaced = context["text"].count(" ") > 10
        assert 25 <= len(context["text"].split()) <= 90 if spaced else len(context["text"]) > 50


@every_row
def test_spans_are_inside_their_text_and_start_and_end_on_words(row: dict[str, Any]) -> None:
    gold, references = row["gold"], row["references"]
    spans = [(row["response"], claim) for claim in gold["response_claims"]]
    spans += [(references[claim["source"]], claim) for claim in gold["reference_claims"]]
    for text, claim in spans:
        assert 0 <= claim["start"] < claim["end"] <= len(text)
        quote = text[claim["start"] : claim["end"]]
        assert quote == quote.strip()
        assert claim["text"].strip() == claim["text"] != ""
        if text.isascii():
            around = text[: claim["start"]][-1:] + text[claim["end"] :][:1]
            assert not any(ch.isalnum() for ch in around)


@every_row
def test_claims_are_distinct_and_few(row: dict[str, Any]) -> None:
    gold = row["gold"]
    for name, least in (("response_claims", 0), ("reference_claims", 1)):
        texts = [claim["text"] for claim in gold[name]]
        assert least <= len(texts) <= 5
        assert len(set(texts)) == len(texts)


@every_row
def test_every_reference_makes_a_claim_in_order(row: dict[str, Any]) -> None:
    sources = [claim["source"] for claim in row["gold"]["reference_claims"]]
    assert sources == sorted(sources)
    assert set(sources) == set(range(len(row["references"])))


@every_row
@pytest.mark.parametrize(
    ("name", "claims", "premises"),
    [
        ("response_by_contexts", "response_claims", "contexts"),
        ("response_by_reference", "response_claims", "references"),
        ("reference_by_contexts", "reference_claims", "contexts"),
        ("reference_by_response", "reference_claims", None),
    ],
)
def test_matrices_fit(row: dict[str, Any], name: str, claims: str, premises: str | None) -> None:
    words, width = row["gold"][name], len(row[premises]) if premises else 1
    assert set("".join(words)) <= set("ENC")
    matrix = EntailmentMatrix.letters(" ".join(words), width)
    assert len(matrix.claims) == len(row["gold"][claims])
    assert matrix.width == width


@every_row
def test_rows_make_samples_that_carry_their_gold_claims(row: dict[str, Any]) -> None:
    gold = row["gold"]
    sample = Sample(
        row["question"],
        row["response"],
        row["contexts"],
        row["references"],
        id=row["id"],
        metadata=row["metadata"],
        response_claims=gold["response_claims"],
        reference_claims=gold["reference_claims"],
    )
    shown = sample.as_dict()
    for name in ("response_claims", "reference_claims"):
        assert [c["text"] for c in shown.pop(name)] == [c["text"] for c in gold[name]]
    assert shown == {k: v for k, v in row.items() if k != "gold"}
    assert [c.start for c in sample.response_claims or ()] == [
        c["start"] for c in gold["response_claims"]
    ]
    assert [c.source for c in sample.reference_claims or ()] == [
        c["source"] for c in gold["reference_claims"]
    ]


@every_row
def test_equal_claims_have_equal_verdicts(row: dict[str, Any]) -> None:
    gold = row["gold"]
    by_reference = dict(
        zip(
            [claim["text"] for claim in gold["reference_claims"]],
            zip(gold["reference_by_contexts"], gold["reference_by_response"], strict=True),
            strict=True,
        )
    )
    for claim, by_contexts, correct in zip(
        gold["response_claims"],
        gold["response_by_contexts"],
        gold["response_by_reference"],
        strict=True,
    ):
        if claim["text"] in by_reference:
            assert by_reference[claim["text"]] == (by_contexts, "E")
            assert "E" in correct


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r["gold"]["response_claims"]], ids=lambda r: r["id"]
)
def test_identities_hold(row: dict[str, Any]) -> None:
    s = shares(row)
    assert s["faithfulness"] + s["hallucination"] + s["self_knowledge"] == pytest.approx(1)
    wrong = s["noise_relevant"] + s["noise_irrelevant"] + s["hallucination"]
    assert s["precision"] + wrong == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "quantity", "none_of"),
    [
        ("noise-relevant", "noise_relevant", ("noise_irrelevant", "hallucination")),
        ("noise-irrelevant", "noise_irrelevant", ("noise_relevant", "hallucination")),
        ("hallucination", "hallucination", ("faithfulness", "self_knowledge")),
        ("self-knowledge", "self_knowledge", ("hallucination", "noise_relevant")),
        ("wrong", "hallucination", ("noise_relevant", "noise_irrelevant")),
    ],
)
def test_a_kind_shows_its_quantity_and_no_other(
    kind: str, quantity: str, none_of: tuple[str, ...]
) -> None:
    for row in of_kind(kind):
        s = shares(row)
        assert s[quantity] > 0, row["id"]
        assert [s[name] for name in none_of] == [0] * len(none_of), row["id"]


def test_right_answers_are_complete_grounded_and_correct() -> None:
    for row in of_kind("right"):
        s = shares(row)
        assert (s["faithfulness"], s["precision"], s["recall"]) == (1, 1, 1), row["id"]


def test_self_knowledge_is_all_correct_and_mixed_is_neither_right_nor_wrong() -> None:
    assert all(shares(row)["precision"] == 1 for row in of_kind("self-knowledge"))
    assert all(0 < shares(row)["precision"] < 1 for row in of_kind("mixed"))


def test_all_letters_are_well_used() -> None:
    letters: Counter[str] = Counter()
    for row in ROWS:
        for name, words in row["gold"].items():
            if "_by_" in name:
                letters.update("".join(words))
    assert min(letters[x] for x in "ENC") > 0.1 * letters.total()
