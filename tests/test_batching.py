"""Pairs are scored in batches, once each, whoever asks, gives up or comes from another loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import pytest

from assay.errors import MalformedAnswer
from assay.judges.batching import Pair, PairBatcher


class Scorer:
    """Scores a pair by the lengths of its texts; can be held up and made to fail."""

    def __init__(self) -> None:
        self.batches: list[list[Pair]] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.bad: set[Pair] = set()

    def __call__(self, pairs: Sequence[Pair]) -> list[float]:
        self.batches.append(list(pairs))
        self.threads.add(threading.get_ident())
        self.gate.wait(5)
        if self.error is not None:
            raise self.error
        if self.bad.intersection(pairs):
            raise RuntimeError("bad pair")
        return [right(pair) for pair in pairs]


def right(pair: Pair) -> float:
    return len(pair[0]) + len(pair[1]) / 100


def pairs(*texts: str) -> list[Pair]:
    return [("premise " + text, text) for text in texts]


@pytest.fixture
def scorer() -> Scorer:
    return Scorer()


@pytest.fixture
async def batcher(scorer: Scorer) -> AsyncIterator[PairBatcher]:
    made = PairBatcher(scorer)
    yield made
    scorer.gate.set()
    await made.aclose()


async def in_work(scorer: Scorer, count: int = 1) -> None:
    """Wait until so many batches were begun."""
    async with asyncio.timeout(5):
        while len(scorer.batches) < count:
            await asyncio.sleep(0.001)


async def test_scores_come_in_the_order_of_the_pairs(batcher: PairBatcher) -> None:
    asked = pairs("ccc", "a", "bb", "a", "ccc")
    assert await batcher.scores(asked) == [right(pair) for pair in asked]
    assert await batcher.scores([]) == []


async def test_equal_pairs_are_scored_once_whoever_asks(
    batcher: PairBatcher, scorer: Scorer
) -> None:
    asks = [pairs("a", "b"), pairs("b", "c"), pairs("c", "a", "a")]
    got = await asyncio.gather(*map(batcher.scores, asks))
    assert got == [[right(pair) for pair in ask] for ask in asks]
    assert sorted(pair for batch in scorer.batches for pair in batch) == pairs("a", "b", "c")
    assert batcher.scored == 3
    await batcher.scores(pairs("a", "b", "c"))
    assert batcher.scored == 3


async def test_premise_and_hypothesis_are_not_mixed_up(
    batcher: PairBatcher, scorer: Scorer
) -> None:
    asked = [("ab", "c"), ("a", "bc"), ("c", "ab"), ("", "abc"), ("1 a", "b"), ("1", " ab")]
    for pair in asked:
        assert await batcher.scores([pair]) == [right(pair)]
    assert batcher.scored == len(asked)


async def test_odd_characters_are_scored_like_others(batcher: PairBatcher) -> None:
    asked = [("\ud800", "\0"), ("\0", "\ud800")]
    assert await batcher.scores(asked) == [right(pair) for pair in asked]


async def test_what_comes_meanwhile_goes_into_one_next_batch(
    batcher: PairBatcher, scorer: Scorer
) -> None:
    scorer.gate.clear()
    first = asyncio.create_task(batcher.scores(pairs("a")))
    await in_work(scorer)
    others = [asyncio.create_task(batcher.scores(pairs(text))) for text in ("b", "c", "a")]
    await asyncio.sleep(0)
    scorer.gate.set()
    await asyncio.gather(first, *others)
    assert scorer.batches == [pairs("a"), pairs("b", "c")]


async def test_asks_that_are_ready_together_share_a_batch(
    batcher: PairBatcher, scorer: Scorer
) -> None:
    await asyncio.gather(*(batcher.scores(pairs(text)) for text in "abcdef"))
    assert len(scorer.batches) == 1


async def test_a_batch_has_so_many_pairs_at_most(scorer: Scorer) -> None:
    batcher = PairBatcher(scorer, batch=4)
    asked = pairs(*map(str, range(10)))
    assert await batcher.scores(asked) == [right(pair) for pair in asked]
    assert [len(batch) for batch in scorer.batches] == [4, 4, 2]
    await batcher.aclose()


async def test_only_the_last_results_are_kept(scorer: Scorer) -> None:
    batcher = PairBatcher(scorer, remember=2)
    await batcher.scores(pairs("a", "b", "c"))
    await batcher.scores(pairs("b", "c"))
    assert batcher.scored == 3
    await batcher.scores(pairs("a"))
    assert batcher.scored == 4
    await batcher.aclose()


async def test_scoring_stays_off_the_event_loop(batcher: PairBatcher, scorer: Scorer) -> None:
    await batcher.scores(pairs("a"))
    await batcher.scores(pairs("b"))
    assert len(scorer.threads) == 1
    assert threading.get_ident() not in scorer.threads


async def test_whole_numbers_are_scores_too() -> None:
    batcher = PairBatcher(lambda pairs: [len(p) for p, _ in pairs])
    assert await batcher.scores([("abc", "d")]) == [3.0]
    assert await batcher.scores([("abc", "d")]) == [3.0]
    await batcher.aclose()


# --- troubles ------------------------------------------------------------------------------------


async def test_an_error_reaches_all_who_wait_and_then_it_is_over(
    batcher: PairBatcher, scorer: Scorer
) -> None:
    scorer.error = RuntimeError("model broke")
    asks = [pairs("a", "b"), pairs("b"), pairs("c")]
    got = await asyncio.gather(*map(batcher.scores, asks), return_exceptions=True)
    assert [str(error) for error in got] == ["model broke"] * 3
    assert batcher.scored == 0
    scorer.error = None
    assert await batcher.scores(pairs("a")) == [right(pairs("a")[0])]


async def test_an_error_of_one_batch_spares_the_next(scorer: Scorer) -> None:
    batcher = PairBatcher(scorer, batch=1)
    scorer.bad = set(pairs("bad"))
    bad, good = await asyncio.gather(
        batcher.scores(pairs("bad")), batcher.scores(pairs("good")), return_exceptions=True
    )
    assert str(bad) == "bad pair"
    assert good == [right(pairs("good")[0])]
    assert batcher.scored == 1
    await batcher.aclose()


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_a_scorer_that_gives_too_few_or_too_many_leaves_nobody_waiting(count: int) -> None:
    batcher = PairBatcher(lambda _: [0.5] * count)
    async with asyncio.timeout(1):
        with pytest.raises(MalformedAnswer, match=r"score|zip"):
            await batcher.scores(pairs("a", "b"))
    await batcher.aclose()


async def test_one_who_gives_up_leaves_the_others_their_answer(
    batcher: PairBatcher, scorer: Scorer
) -> None:
    scorer.gate.clear()
    leaves = asyncio.create_task(batcher.scores(pairs("a", "b")))
    stays = asyncio.create_task(batcher.scores(pairs("b", "a")))
    await in_work(scorer)
    leaves.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaves
    scorer.gate.set()
    assert await stays == [right(pair) for pair in pairs("b", "a")]
    assert batcher.scored == 2


async def test_when_everybody_gives_up_the_next_ask_works(
    batcher: PairBatcher, scorer: Scorer
) -> None:
    scorer.gate.clear()
    leaves = asyncio.create_task(batcher.scores(pairs("a")))
    await in_work(scorer)
    leaves.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaves
    scorer.gate.set()
    assert await batcher.scores(pairs("a", "b")) == [right(pair) for pair in pairs("a", "b")]


def test_two_event_loops_in_turn_share_what_is_known(scorer: Scorer) -> None:
    batcher = PairBatcher(scorer)
    for texts in ("ab", "bc", "ca"):
        got = asyncio.run(batcher.scores(pairs(*texts)))
        assert got == [right(pair) for pair in pairs(*texts)]
    assert batcher.scored == 3
    asyncio.run(batcher.aclose())


def test_a_loop_that_ended_in_the_middle_does_not_spoil_the_next(scorer: Scorer) -> None:
    batcher = PairBatcher(scorer)
    scorer.gate.clear()

    async def give_up() -> None:
        task = asyncio.create_task(batcher.scores(pairs("a")))
        await in_work(scorer)
        task.cancel()

    asyncio.run(give_up())
    scorer.gate.set()
    assert asyncio.run(batcher.scores(pairs("a"))) == [right(pairs("a")[0])]
    asyncio.run(batcher.aclose())


def workers() -> int:
    return sum(thread.name.startswith("assay-pairs") for thread in threading.enumerate())


async def test_after_close_the_worker_comes_back(batcher: PairBatcher) -> None:
    await batcher.scores(pairs("a"))
    assert workers() == 1
    await batcher.aclose()
    assert workers() == 0
    assert await batcher.scores(pairs("b")) == [right(pairs("b")[0])]
    await batcher.aclose()
    await batcher.aclose()
