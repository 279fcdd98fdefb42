"""A judge that remembers: what it asks, shares, keeps and refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from assay import evaluate
from assay.asks import Ask, Entail, Extract, Label, Rate, Skill, T, Usage
from assay.errors import ConfigError, JudgeError, JudgeUnavailable
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import MemoryStore, Store
from assay.judges.openai import openai_judge
from assay.judges.remembering import RememberingJudge
from assay.judges.scripted import ScriptedJudge
from assay.sample import Sample
from assay.verdicts import Cell, Verdict
from servers import FakeOpenAI

ASK = Entail(("Rain falls.",), ("Today: Rain falls.",))
OTHER = Entail(("Snow falls.",), ("Today: Rain falls.",))
YES = ((Cell(Verdict.ENTAILED),),)


class SlowJudge:
    """Answers when told to; ``fail`` is raised instead of an answer."""

    name = "slow"
    fingerprint = "slow:1"

    def __init__(self) -> None:
        self.usage = Usage()
        self.go = asyncio.Event()
        self.cancelled = 0
        self.fail: Exception | None = None
        self.closed = False

    def can(self, skill: Skill) -> bool:
        return skill == "entail"

    async def answer(self, ask: Ask[T]) -> T:
        self.usage.calls += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.fail is not None:
            raise self.fail
        return cast("T", YES)

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "a.sqlite")
    yield made
    made.close()


async def begin(judge: RememberingJudge, n: int, ask: Ask[Any] = ASK) -> list[asyncio.Task[Any]]:
    """Tasks that have all asked and wait."""
    tasks = [asyncio.ensure_future(judge.answer(ask)) for _ in range(n)]
    await asyncio.sleep(0.01)
    return tasks


# --- hits and misses --------------------------------------------------------------------------


async def test_an_ask_is_put_to_the_judge_once(store: Store) -> None:
    inner = ScriptedJudge()
    judge = RememberingJudge(inner, store)
    first = await judge.answer(ASK)
    assert await judge.answer(Entail(("Rain falls.",), ("Today: Rain falls.",))) == first
    assert await judge.answer(OTHER) != first
    assert inner.asked == [ASK, OTHER]
    assert judge.usage.as_dict()["cached"] == 1
    assert (judge.recall.hits, judge.recall.misses) == (1, 2)


async def test_answers_outlive_the_judge_and_the_store(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "answers.sqlite"
    first = RememberingJudge(ScriptedJudge(), SqliteStore(path))
    told = await first.answer(ASK)
    await first.aclose()
    inner = ScriptedJudge()
    second = RememberingJudge(inner, SqliteStore(path))
    assert await second.answer(ASK) == told
    assert inner.asked == []
    await second.aclose()


async def test_it_may_be_used_after_it_was_closed(store: Store) -> None:
    inner = ScriptedJudge()
    judge = RememberingJudge(inner, store)
    await judge.answer(ASK)
    await judge.aclose()
    await judge.answer(ASK)
    assert len(inner.asked) == 1


async def test_name_skills_and_fingerprint_are_the_judge_s() -> None:
    inner = SlowJudge()
    judge = RememberingJudge(inner, MemoryStore())
    assert (judge.name, judge.fingerprint) == ("slow", "slow:1")
    assert judge.can("entail")
    assert not judge.can("claims")
    assert RememberingJudge(inner, MemoryStore(), repeat=2).fingerprint == "slow:1 repeat=2"
    await judge.aclose()
    assert inner.closed


async def test_another_judge_s_answers_are_not_its_own(store: Store) -> None:
    yes, no = ScriptedJudge(verdicts=lambda c, p: "E"), ScriptedJudge(verdicts=lambda c, p: "N")
    told = await RememberingJudge(yes, store).answer(ASK)
    assert await RememberingJudge(no, store).answer(ASK) != told


async def test_a_repeat_asks_anew(store: Store) -> None:
    inner = ScriptedJudge()
    for repeat in (0, 1, 2, 0, 1, 2):
        await RememberingJudge(inner, store, repeat=repeat).answer(ASK)
    assert len(inner.asked) == 3


async def test_refresh_asks_once_more_and_replaces(store: Store) -> None:
    said = "E"
    inner = ScriptedJudge(verdicts=lambda c, p: said)
    await RememberingJudge(inner, store).answer(ASK)
    said = "C"
    fresh = RememberingJudge(inner, store, refresh=True)
    for _ in range(3):
        assert (await fresh.answer(ASK))[0][0].verdict is Verdict.CONTRADICTED
    assert len(inner.asked) == 2
    kept = await RememberingJudge(inner, store).answer(ASK)
    assert kept[0][0].verdict is Verdict.CONTRADICTED


def test_options_that_cannot_work() -> None:
    with pytest.raises(ConfigError, match="exclude"):
        RememberingJudge(ScriptedJudge(), MemoryStore(), offline=True, refresh=True)
    with pytest.raises(ConfigError, match="repeat"):
        RememberingJudge(ScriptedJudge(), MemoryStore(), repeat=-1)


# --- what is not kept -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        Entail(("Rain falls.", "Snow falls."), ("It rains.",)),
        Label((("biased", "a"), ("toxic", "a"))),
        Rate("a", "b"),
    ],
)
async def test_what_lacks_an_answer_is_handed_on_and_not_kept(store: Store, ask: Ask[Any]) -> None:
    inner = ScriptedJudge(
        verdicts={("Rain falls.", "It rains."): "E", ("Snow falls.", "It rains."): "?"},
        labels={("biased", "a"): True, ("toxic", "a"): None},
    )
    judge = RememberingJudge(inner, store)
    assert await judge.answer(ask) == await inner.answer(ask)
    await judge.answer(ask)
    assert len(inner.asked) == 3
    assert (judge.recall.unkept, judge.recall.hits) == (2, 0)


async def test_an_answer_of_the_wrong_shape_is_not_kept(store: Store) -> None:
    inner = SlowJudge()  # one cell, whatever is asked
    inner.go.set()
    judge = RememberingJudge(inner, store)
    for _ in range(2):
        assert await judge.answer(Entail(("a", "b"), ("c",))) == YES
    assert (inner.usage.calls, judge.recall.unkept) == (2, 2)


async def test_an_error_is_not_kept(store: Store) -> None:
    inner = SlowJudge()
    inner.go.set()
    judge = RememberingJudge(inner, store)
    inner.fail = JudgeUnavailable("busy")
    with pytest.raises(JudgeUnavailable, match="busy"):
        await judge.answer(ASK)
    inner.fail = None
    assert await judge.answer(ASK) == YES
    assert inner.usage.calls == 2


async def test_an_ask_of_an_unknown_kind_goes_straight_through() -> None:
    class Odd(Ask[int]):
        pass

    inner = SlowJudge()
    inner.go.set()
    store = MemoryStore()
    judge = RememberingJudge(inner, store)
    await judge.answer(Odd())
    await judge.answer(Odd())
    assert (inner.usage.calls, len(store), judge.usage.cached) == (2, 0, 0)
    with pytest.raises(JudgeUnavailable, match="Odd"):
        await RememberingJudge(inner, store, offline=True).answer(Odd())


# --- offline ----------------------------------------------------------------------------------


async def test_offline_answers_from_the_store_or_fails(store: Store) -> None:
    await RememberingJudge(ScriptedJudge(), store).answer(ASK)
    inner = ScriptedJudge()
    judge = RememberingJudge(inner, store, offline=True)
    assert (await judge.answer(ASK))[0][0].verdict is Verdict.ENTAILED
    with pytest.raises(JudgeError, match="the cache lacks the verdicts of scripted"):
        await judge.answer(OTHER)
    assert inner.asked == []


# --- single flight ----------------------------------------------------------------------------


async def test_equal_asks_at_once_are_one(store: Store) -> None:
    inner = SlowJudge()
    judge = RememberingJudge(inner, store)
    tasks = await begin(judge, 20)
    inner.go.set()
    assert await asyncio.gather(*tasks) == [YES] * 20
    assert inner.usage.calls == 1
    assert (judge.recall.shared, judge.recall.misses, judge.usage.cached) == (19, 1, 19)


async def test_the_second_lives_on_when_the_first_is_cancelled(store: Store) -> None:
    inner = SlowJudge()
    judge = RememberingJudge(inner, store)
    first, second = await begin(judge, 2)
    first.cancel()
    await asyncio.sleep(0.01)
    assert first.cancelled()
    inner.go.set()
    assert await second == YES
    assert (inner.usage.calls, inner.cancelled) == (1, 0)
    assert await judge.answer(ASK) == YES
    assert inner.usage.calls == 1


async def test_the_judge_stops_when_nobody_waits(store: Store) -> None:
    inner = SlowJudge()
    judge = RememberingJudge(inner, store)
    tasks = await begin(judge, 3)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(task.cancelled() for task in tasks)
    assert inner.cancelled == 1
    inner.go.set()
    assert await judge.answer(ASK) == YES
    assert inner.usage.calls == 2


async def test_who_comes_while_the_judge_is_being_stopped_asks_anew() -> None:
    inner = SlowJudge()
    judge = RememberingJudge(inner, MemoryStore())
    (first,) = await begin(judge, 1)
    first.cancel()
    second = asyncio.ensure_future(judge.answer(ASK))
    inner.go.set()
    assert await second == YES


async def test_all_who_wait_get_the_error(store: Store) -> None:
    inner = SlowJudge()
    inner.fail = JudgeUnavailable("busy")
    judge = RememberingJudge(inner, store)
    tasks = await begin(judge, 3)
    inner.go.set()
    got = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(error) for error in got] == ["busy"] * 3
    assert inner.usage.calls == 1
    inner.fail = None
    assert await judge.answer(ASK) == YES


async def test_a_time_out_of_one_is_not_that_of_the_other() -> None:
    inner = SlowJudge()
    judge = RememberingJudge(inner, MemoryStore())
    (patient,) = await begin(judge, 1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await judge.answer(ASK)
    inner.go.set()
    assert await patient == YES


def test_event_loops_in_turn(store: Store) -> None:
    inner = SlowJudge()
    judge = RememberingJudge(inner, store)

    async def abandon() -> None:
        await begin(judge, 1)  # the loop ends with an ask in work

    asyncio.run(abandon())

    async def ask() -> Any:
        inner.go = asyncio.Event()
        inner.go.set()
        return await judge.answer(ASK)

    assert [asyncio.run(ask()), asyncio.run(ask())] == [YES, YES]
    assert inner.usage.calls == 2


# --- a store that fails, and whole runs -------------------------------------------------------


async def test_a_damaged_answer_is_asked_for_again_and_noted() -> None:
    class Rotten(MemoryStore):
        def get(self, key: bytes) -> object:
            blob = super().get(key)
            return blob[:-3] if isinstance(blob, bytes) else blob

    inner = ScriptedJudge()
    judge = RememberingJudge(inner, Rotten())
    assert await judge.answer(ASK) == await judge.answer(ASK)
    assert len(inner.asked) == 2
    assert judge.recall.unreadable == 1
    assert "1 stored answers could not be read" in judge.usage.notes[0]


def test_the_notes_of_judge_and_store_are_in_the_usage() -> None:
    inner, store = ScriptedJudge(), MemoryStore()
    inner.usage.notes.append("no seed")
    store.notes.append("disk full")
    judge = RememberingJudge(inner, store)
    assert judge.usage.notes == ["no seed", "disk full"]
    before = judge.usage
    judge.recall.hits += 3
    assert judge.usage.since(before).cached == 3


def test_a_second_run_costs_no_call_and_scores_the_same(tmp_path: Path) -> None:
    samples = [
        Sample(f"q{n % 3}", "Rain falls. Snow melts.", ["Today: Rain falls."], "Rain falls.")
        for n in range(8)
    ]
    metrics = ["faithfulness", "precision", "recall"]
    path = tmp_path / "answers.sqlite"

    def judge(**options: bool) -> RememberingJudge:
        inner = openai_judge("fake", base_url=server.url)
        return RememberingJudge(inner, SqliteStore(path), **options)

    with FakeOpenAI(latency=0.01).in_thread() as server:
        first = evaluate(samples, metrics, judge())
        calls = server.calls
        second = evaluate(samples, metrics, judge())
        assert server.calls == calls
    third = evaluate(samples, metrics, judge(offline=True))  # the server is gone
    scores = [[row.as_dict()["scores"] for row in run] for run in (first, second, third)]
    assert scores[0] == scores[1] == scores[2]
    assert first.provenance["usage"]["calls"] == calls < 8 * 5
    for run in (second, third):
        assert run.provenance["usage"]["calls"] == 0
        assert run.provenance["usage"]["cached"] > 0
    missing = evaluate([Sample("q9", "Hail.", ["Hail."])], ["faithfulness"], judge(offline=True))
    assert "the cache lacks the claims of " in missing.rows[0].scores["faithfulness"].reason


async def test_claims_keep_their_places_and_opinions() -> None:
    inner = ScriptedJudge(opinions={"Rain falls. How sad!": ["How sad!"]})
    judge = RememberingJudge(inner, MemoryStore())
    ask = Extract("Rain falls. How sad!", opinions=True)
    first = await judge.answer(ask)
    assert await judge.answer(ask) == first
    assert (first[0].start, first[-1].opinion) == (0, True)
    assert len(inner.asked) == 1
