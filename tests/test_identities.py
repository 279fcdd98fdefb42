"""What holds for every matrix: identities, bounds, symmetries, and what unknowns may do."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.metrics import (
    F1,
    ClaimRecall,
    ContextPrecision,
    ContextUtilization,
    Faithfulness,
    Hallucination,
    Metric,
    NoiseSensitivity,
    Precision,
    Recall,
    SelfKnowledge,
)
from assay.needs import Entails, Need, Relevance
from assay.score import MAX_UNKNOWN, Score
from assay.verdicts import EntailmentMatrix, Truth, both

Dialect = Literal["assay", "ragas"]
DIALECTS: tuple[Dialect, ...] = ("assay", "ragas")
M = EntailmentMatrix.letters
Rows = tuple[str, ...]


@dataclass(frozen=True)
class World:
    """The four matrices of one sample as letters, and a label (r, i or - for none) a context."""

    grounded: Rows
    retrieved: Rows
    correct: Rows
    stated: Rows
    labels: str

    @cached_property
    def met(self) -> dict[Need[Any], Any]:
        """The answer to each need."""
        width = len(self.labels)
        retrieved = M(" ".join(self.retrieved), width)
        useful = retrieved.useful()
        label: dict[str, Truth] = {"r": True, "i": False}
        labelled = tuple(label.get(x, u) for x, u in zip(self.labels, useful, strict=True))
        return {
            Entails("response", by="contexts"): M(" ".join(self.grounded), width),
            Entails("reference", by="contexts"): retrieved,
            Entails("response", by="reference"): M(" ".join(self.correct), 1),
            Entails("reference", by="response"): M(" ".join(self.stated), 1),
            Relevance(labels=True): labelled,
            Relevance(labels=False): useful,
        }

    def score(self, metric: Metric) -> Score:
        return metric.score(*(self.met[need] for need in metric.needs))

    def value(self, metric: Metric) -> float:
        value = self.score(metric).value
        assert value is not None
        return value

    def permuted(self, claims: Sequence[int], contexts: Sequence[int]) -> World:
        """The same sample with its response claims and its contexts in another order."""

        def across(word: str) -> str:
            return "".join(word[c] for c in contexts)

        return World(
            tuple(across(self.grounded[i]) for i in claims),
            tuple(map(across, self.retrieved)),
            tuple(self.correct[i] for i in claims),
            self.stated,
            across(self.labels),
        )

    def completions(self) -> Iterator[World]:
        """Every way in which the unknown cells could have been answered."""
        parts = (self.grounded, self.retrieved, self.correct, self.stated)
        flat = " ".join("/".join(rows) for rows in parts)
        for answers in product("ENC", repeat=flat.count("?")):
            left = iter(answers)
            full = "".join(next(left) if x == "?" else x for x in flat)
            a, g, r, q = (tuple(part.split("/")) for part in full.split(" "))
            yield World(a, g, r, q, self.labels)


def metrics(dialect: Dialect) -> list[Metric]:
    return [
        Faithfulness(),
        Hallucination(),
        Hallucination("contradicted"),
        SelfKnowledge(),
        Precision(),
        Recall(),
        F1(),
        ClaimRecall(),
        ContextPrecision(),
        ContextPrecision(ranked=False),
        ContextUtilization(),
        NoiseSensitivity("relevant", dialect),
        NoiseSensitivity("irrelevant", dialect),
        NoiseSensitivity("relevant", dialect, "contradicted"),
        NoiseSensitivity("irrelevant", dialect, "contradicted"),
    ]


@st.composite
def worlds(draw: st.DrawFn, *, most: int = 7, least: int = 1) -> World:
    """A sample with claims and contexts, every verdict known."""
    width = draw(st.integers(1, 5))
    letters = st.sampled_from("EENNNC")

    def rows(count: int, width: int) -> Rows:
        word = st.lists(letters, min_size=width, max_size=width).map("".join)
        return tuple(draw(st.lists(word, min_size=count, max_size=count)))

    claims, references = (draw(st.integers(least, most)) for _ in range(2))
    labels = draw(st.lists(st.sampled_from("ri--"), min_size=width, max_size=width))
    return World(
        rows(claims, width),
        rows(references, width),
        rows(claims, 1),
        rows(references, 1),
        "".join(labels),
    )


@st.composite
def holes(draw: st.DrawFn) -> World:
    """A sample with one or two cells that no judge answered."""
    world = draw(worlds(least=5, most=7))
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(["grounded", "retrieved", "correct", "stated"]))
        rows: Rows = getattr(world, name)
        i = draw(st.integers(0, len(rows) - 1))
        c = draw(st.integers(0, len(rows[i]) - 1))
        row = f"{rows[i][:c]}?{rows[i][c + 1 :]}"
        changed: dict[str, Any] = {name: (*rows[:i], row, *rows[i + 1 :])}
        world = replace(world, **changed)
    return world


@settings(max_examples=50)
@pytest.mark.parametrize("dialect", DIALECTS)
@given(world=worlds())
def test_a_claim_is_grounded_or_made_up_or_known_beforehand(world: World, dialect: Dialect) -> None:
    parts = [Faithfulness(), Hallucination(), SelfKnowledge()]
    assert sum(map(world.value, parts)) == pytest.approx(1, abs=1e-12)
    parts = [
        Precision(),
        NoiseSensitivity("relevant", dialect),
        NoiseSensitivity("irrelevant", dialect),
        Hallucination(),
    ]
    assert sum(map(world.value, parts)) == pytest.approx(1, abs=1e-12)


@settings(max_examples=50)
@pytest.mark.parametrize("dialect", DIALECTS)
@given(world=worlds())
def test_every_value_lies_within_the_metric_s_range(world: World, dialect: Dialect) -> None:
    for metric in metrics(dialect):
        score = world.score(metric)
        if score.value is None:
            assert isinstance(metric, ContextUtilization)
            assert score.reason == "the contexts hold no reference claim"
        else:
            assert metric.low <= score.value <= metric.high
        assert score.unknown == 0


@settings(max_examples=50)
@pytest.mark.parametrize("dialect", DIALECTS)
@given(world=worlds(), data=st.data())
def test_the_order_of_claims_and_contexts_does_not_matter(
    world: World, dialect: Dialect, data: st.DataObject
) -> None:
    claims = data.draw(st.permutations(range(len(world.grounded))))
    contexts = data.draw(st.permutations(range(len(world.labels))))
    other = world.permuted(claims, contexts)
    for metric in metrics(dialect):
        if metric != ContextPrecision():
            assert other.score(metric).value == world.score(metric).value, str(metric)
        else:
            assert world.permuted(claims, range(len(world.labels))).value(metric) == (
                world.value(metric)
            )


@settings(max_examples=50)
@given(world=worlds(), data=st.data())
def test_more_support_never_lowers_faithfulness(world: World, data: st.DataObject) -> None:
    i = data.draw(st.integers(0, len(world.grounded) - 1))
    c = data.draw(st.integers(0, len(world.labels) - 1))
    row = world.grounded[i]
    rows = (*world.grounded[:i], f"{row[:c]}E{row[c + 1 :]}", *world.grounded[i + 1 :])
    more = replace(world, grounded=rows)
    assert more.value(Faithfulness()) >= world.value(Faithfulness())
    assert more.value(Hallucination()) <= world.value(Hallucination())
    assert more.value(SelfKnowledge()) <= world.value(SelfKnowledge())


@settings(max_examples=50)
@given(world=worlds())
def test_counting_contradictions_only_never_counts_more(world: World) -> None:
    for dialect in DIALECTS:
        for mode in ("relevant", "irrelevant"):
            strict = NoiseSensitivity(mode, dialect, "contradicted")
            assert world.value(strict) <= world.value(NoiseSensitivity(mode, dialect))
    assert world.value(Hallucination("contradicted")) <= world.value(Hallucination())


# --- unknown verdicts ------------------------------------------------------------------------


@settings(max_examples=25)
@pytest.mark.parametrize("dialect", DIALECTS)
@given(world=holes())
def test_what_counts_as_known_no_completion_changes(world: World, dialect: Dialect) -> None:
    full = list(world.completions())
    for metric in metrics(dialect):
        score = world.score(metric)
        possible = [other.score(metric) for other in full]
        if score.value is not None:
            values = [other.value for other in possible if other.value is not None]
            assert min(values) - 1e-12 <= score.value <= max(values) + 1e-12, str(metric)
        for other in possible:
            for item, complete in zip(score.items, other.items, strict=False):
                assert item.hit in (None, complete.hit), str(metric)


@settings(max_examples=30)
@given(world=holes())
def test_ratios_are_over_the_known_claims_alone(world: World) -> None:
    for metric in (Faithfulness(), Hallucination(), Precision(), NoiseSensitivity()):
        score = world.score(metric)
        if score.value is not None:
            hits = [item.hit for item in score.items if item.hit is not None]
            assert score.value == sum(hits) / len(hits)
            assert score.unknown == len(score.items) - len(hits)
            assert score.unknown <= MAX_UNKNOWN * len(score.items)


@given(st.lists(st.sampled_from([True, False, None]), max_size=7))
def test_the_ranks_of_contexts_that_are_known_decide_context_precision(
    useful: list[Truth],
) -> None:
    score = ContextPrecision().score(tuple(useful))
    known = tuple(value for value in useful if value is not None)
    if score.value is not None:
        assert score.value == ContextPrecision().score(known).value


@given(
    width=st.integers(0, 3),
    cells=st.lists(st.sampled_from("ENC?"), max_size=60),
    labels=st.text("ri-", min_size=3, max_size=3),
)
def test_no_answer_of_a_judge_makes_a_metric_raise(
    width: int, cells: list[str], labels: str
) -> None:
    letters = iter(cells)

    def rows(width: int) -> Rows:
        words = ("".join(x) for x in zip(*[letters] * width, strict=False))
        return tuple(word for word, _ in zip(words, range(4), strict=False))

    grounded, retrieved = (rows(width) if width else () for _ in range(2))
    correct, stated = (("N?CE"[n % 4] for n in range(len(of))) for of in (grounded, retrieved))
    world = World(grounded, retrieved, tuple(correct), tuple(stated), labels[:width])
    for dialect in DIALECTS:
        for metric in metrics(dialect):
            score = world.score(metric)
            assert score.status in ("ok", "undefined", "failed")
            assert score.value is not None or score.reason


# --- ragas, written down once more in plain booleans -------------------------------------------


def ragas_noise(
    grounded: list[list[bool]],
    retrieved: list[list[bool]],
    correct: list[bool],
    *,
    irrelevant: bool,
) -> float:
    """The share of claims that are wrong and stem from relevant (or only irrelevant) contexts."""
    relevant = [any(column) for column in zip(*retrieved, strict=True)]
    count = 0
    for row, right in zip(grounded, correct, strict=True):
        from_relevant = any(a and r for a, r in zip(row, relevant, strict=True))
        from_irrelevant = any(a and not r for a, r in zip(row, relevant, strict=True))
        faithful = (from_irrelevant and not from_relevant) if irrelevant else from_relevant
        count += faithful and not right
    return count / len(correct)


def test_the_ragas_dialect_agrees_with_its_formula_on_10_000_random_matrices() -> None:
    chance = random.Random(20)
    for _ in range(10_000):
        claims, references, width = (chance.randint(1, 6) for _ in range(3))
        share = chance.random()

        def table(rows: int, columns: int, share: float = share) -> list[list[bool]]:
            return [[chance.random() < share for _ in range(columns)] for _ in range(rows)]

        a, g, r = table(claims, width), table(references, width), table(claims, 1)
        grounded, retrieved, correct = (
            tuple("".join("NE"[x] for x in row) for row in part) for part in (a, g, r)
        )
        labels = "".join(chance.choice("ri-") for _ in range(width))
        world = World(grounded, retrieved, correct, ("N",) * references, labels)
        right = [row[0] for row in r]
        for irrelevant in (False, True):
            mode: Literal["relevant", "irrelevant"] = "irrelevant" if irrelevant else "relevant"
            value = world.value(NoiseSensitivity(mode, "ragas"))
            assert value == ragas_noise(a, g, right, irrelevant=irrelevant)
        assert world.value(Faithfulness()) == sum(map(any, a)) / claims


def test_both_modes_never_count_the_same_claim() -> None:
    chance = random.Random(21)
    for _ in range(300):
        words = ["".join(chance.choice("EN") for _ in range(3)) for _ in range(4)]
        world = World(tuple(words), tuple(words[:2]), tuple("NENE"), ("N", "N"), "r-i")
        for dialect in DIALECTS:
            hits = [
                [item.hit for item in world.score(NoiseSensitivity(mode, dialect)).items]
                for mode in ("relevant", "irrelevant")
            ]
            assert not any(both(x, y) for x, y in zip(*hits, strict=True))
