"""A judge over a model of pairs: windows, thresholds, contradiction, batches across samples."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from assay.asks import Against, Entail, Extract
from assay.errors import ConfigError
from assay.judges.batching import Pair
from assay.judges.classifier import ClassifierJudge, in_batches, size, windows
from assay.judges.evidence import Passage
from assay.verdicts import Verdict


def test_items_of_like_length_run_together_and_come_back_in_order() -> None:
    seen: list[list[int]] = []

    def run(chosen: Sequence[int]) -> list[float]:
        seen.append(list(chosen))
        return [float(i) for i in chosen]

    assert in_batches([3, 9, 1, 9, 5], 2, run) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert seen == [[1, 3], [4, 0], [2]]


class Holds:
    """Finds a claim likely where the premise holds its last word; "not" contradicts."""

    def __init__(self) -> None:
        self.seen: list[Pair] = []

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        self.seen += pairs
        return [self.score(*pair) for pair in pairs]

    def score(self, premise: str, claim: str) -> float:
        if claim.rsplit(maxsplit=1)[-1] not in premise:
            return 0.1
        return 0.02 - 1 if "not" in premise else 0.9


def judge_of(scorer: Holds, **options: Any) -> ClassifierJudge:
    return ClassifierJudge(scorer, name="holds", fingerprint="holds", **options)


FACTS = " ".join(f"Item {n} costs price{n}." for n in range(1, 21))


async def test_a_long_premise_is_read_in_windows_and_the_best_counts() -> None:
    scorer = Holds()
    judge = judge_of(scorer, window=20)
    rows = await judge.answer(Entail(("Item 13 costs price13.", "Item 1 costs price99."), (FACTS,)))
    await judge.aclose()
    assert rows[0][0].verdict is Verdict.ENTAILED
    assert rows[0][0].probability == pytest.approx(0.9)
    assert rows[0][0].evidence is not None
    assert rows[0][0].evidence.quote == "Item 13 costs price13."
    assert FACTS[rows[0][0].evidence.start :].startswith("Item 13 costs")
    assert rows[1][0].verdict is Verdict.NEUTRAL
    assert rows[1][0].probability == pytest.approx(0.1)
    assert rows[1][0].evidence is None
    assert len(scorer.seen) == judge.usage.calls > 6
    assert all(size(premise) <= 20 for premise, _ in scorer.seen)
    assert judge.fingerprint != judge_of(scorer).fingerprint


async def test_without_a_window_a_premise_is_read_whole() -> None:
    scorer = Holds()
    text = FACTS * 50
    await judge_of(scorer, window=None).answer(Entail(("A price1",), (text,)))
    assert scorer.seen == [(text, "A price1")]


async def test_contradiction_is_that_of_the_window_nearest_to_the_claim() -> None:
    judge = judge_of(Holds(), window=6, contradicts=True)
    near = "Rain is wet stuff. Winter snow is not cold."
    off = "Fish are not cold. The winter snow is white."
    claim = "Winter snow is cold"
    (row,) = await judge.answer(Entail((claim,), (near, off, "Snow is so cold.")))
    await judge.aclose()
    assert [cell.verdict for cell in row] == [
        Verdict.CONTRADICTED,
        Verdict.NEUTRAL,
        Verdict.ENTAILED,
    ]
    assert row[0].evidence is not None
    assert row[0].evidence.quote == "Winter snow is not cold."
    assert row[0].probability == pytest.approx(0.1)
    assert judge.can("contradict")


async def test_short_references_are_read_after_the_question_and_passages_are_not() -> None:
    scorer = Holds()
    judge = judge_of(scorer)
    both: tuple[Against, ...] = ("reference", "passage")
    for against in both:
        await judge.answer(Entail(("It is Paris",), ("Paris", FACTS), "Which city", against))
    await judge.aclose()
    assert [premise for premise, _ in scorer.seen] == ["Which city? Paris", FACTS, "Paris"]


async def test_a_blank_premise_entails_nothing_and_is_not_asked() -> None:
    scorer = Holds()
    rows = await judge_of(scorer).answer(Entail(("x",), ("", " \n", "a x")))
    assert [cell.verdict for cell in rows[0]] == [
        Verdict.NEUTRAL,
        Verdict.NEUTRAL,
        Verdict.ENTAILED,
    ]
    assert len(scorer.seen) == 1
    assert await judge_of(scorer).answer(Entail((), ("a",))) == ()
    assert await judge_of(scorer).answer(Entail(("a",), ())) == ((),)


async def test_samples_share_batches_and_verdicts_are_all_it_gives() -> None:
    calls: list[int] = []

    class Counting(Holds):
        def scores(self, pairs: Sequence[Pair]) -> list[float]:
            calls.append(len(pairs))
            return super().scores(pairs)

    judge = judge_of(Counting())
    asks = [Entail((f"It is {n}",), (f"About {n % 5}", "Same")) for n in range(10)]
    rows = await asyncio.gather(*map(judge.answer, asks))
    assert sum(calls) == 20
    assert len(calls) <= 2
    assert [row[0][0].verdict is Verdict.ENTAILED for row in rows] == [n < 5 for n in range(10)]
    with pytest.raises(ConfigError, match="gives verdicts only and does not answer Extract"):
        await judge.answer(Extract("x"))
    assert not judge.can("claims")


def test_windows_hold_every_sentence_and_overlap() -> None:
    passage = Passage.of(FACTS)
    found = windows(passage, 20)
    assert found[0].sentences == range(5)
    assert found[1].sentences == range(4, 9)
    assert found[-1].sentences.stop == len(passage.spans)
    assert all(b.sentences.start < a.sentences.stop for a, b in pairwise(found))
    (whole,) = windows(passage, 1000)
    assert whole.text == FACTS


@pytest.mark.parametrize("limit", [1, 2, 5, 8, 100])
@pytest.mark.parametrize(
    "text",
    [FACTS, "x" * 500, "磨坊于1820年开业" * 30, "A b. " + "c " * 300 + ". D e.", "- a\n- b\n\n"],
)
def test_windows_lose_nothing(text: str, limit: int) -> None:
    passage = Passage.of(text)
    found = windows(passage, limit)
    assert len(found) <= 2 * len(text)
    held = set().union(*(set(window.text.split()) for window in found))
    assert all(window.text in text for window in found)
    covered = {i for window in found for i in window.sentences}
    assert covered == set(range(len(passage.spans)))
    if limit >= 8:
        assert {w for w in text.split() if len(w) < 9 and w.isalnum()} <= held
