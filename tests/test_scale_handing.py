"""Who scores which shard, without Ray: bounds, deaths, errors, interrupts; and recipes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import assay
from assay import ScriptedJudge
from assay.errors import (
    AssayError,
    BudgetSpent,
    ConfigError,
    DataError,
    JudgeUnusable,
    MissingExtra,
)
from assay.runner import MetricBug
from assay.runs.outages import OutageError
from assay.runs.shards import ShardReport
from assay.scale import cluster
from assay.scale.handing import AT_ONCE, TROUBLES, Handing, LostError
from assay.scale.recipe import recipe
from assay.scale.worker import Told

Answer = Callable[[int, int], Told | Exception]


def scored(worker: int, shard: int) -> Told:
    return Told(ShardReport(shard, 10, 10))


class Fake:
    """Workers that answer the oldest call at each wait, by a function of worker and shard."""

    def __init__(self, answer: Answer = scored, ready: Answer = lambda n, _: Told()) -> None:
        self._answer, self._ready = answer, ready
        self.open: dict[int, tuple[int, str, tuple[Any, ...]]] = {}
        self.handed: list[tuple[int, int]] = []
        self.stopped: list[int] = []
        self.most = self.now = 0
        self._next = 0

    def send(self, worker: int, method: str, *values: Any) -> int:
        if method == "stop":
            self.stopped.append(worker)
            return -1
        self._next += 1
        self.open[self._next] = worker, method, values
        if method == "score":
            self.handed.append((worker, *values))
            load = [w for w, what, _ in self.open.values() if what == "score"].count(worker)
            self.most = max(self.most, load)
        return self._next

    def wait(self, calls: Sequence[int], seconds: float) -> list[int]:
        self.now += 1
        return [min(calls)] if calls else []

    def answer(self, call: int) -> Any:
        worker, method, values = self.open.pop(call)
        if method == "progress":
            return 2, ["why"]
        told = (self._ready if method == "ready" else self._answer)(worker, *(values or (0,)))
        if isinstance(told, Exception):
            raise told
        return told

    def handing(self, workers: int, shards: int, **options: Any) -> Handing:
        return Handing(self, workers, range(shards), clock=lambda: float(self.now), **options)


def test_every_shard_is_scored_once_and_two_at_most_are_with_a_worker() -> None:
    fake = Fake()
    handing = fake.handing(3, 20)
    handing.work()
    assert sorted(shard for _, shard in fake.handed) == list(range(20))
    assert sorted(report.shard for report in handing.reports) == list(range(20))
    assert {worker for worker, _ in fake.handed} == {0, 1, 2}
    assert fake.most == AT_ONCE


def test_progress_is_told_row_by_row() -> None:
    told: list[str] = []
    fake = Fake()
    fake.handing(1, 3, watch=told.append).work()
    assert told
    assert told.count("") == told.count("why") == len(told) / 2


def test_shards_of_a_worker_that_died_for_good_go_to_others() -> None:
    fake = Fake(lambda worker, shard: LostError("killed") if worker == 0 else scored(0, shard))
    handing = fake.handing(2, 6)
    handing.work()
    assert sorted(report.shard for report in handing.reports) == list(range(6))


def test_a_shard_that_kills_every_worker_is_named_and_others_are_scored() -> None:
    fake = Fake(lambda _, shard: LostError("killed") if shard == 2 else scored(0, shard))
    handing = fake.handing(9, 6)
    with pytest.raises(AssayError, match="shard 2: workers died at it: killed; all others are"):
        handing.work()
    assert sorted(report.shard for report in handing.reports) == [0, 1, 3, 4, 5]


def test_where_all_workers_died_the_reason_is_told() -> None:
    with pytest.raises(AssayError, match="all workers died: no room; what was scored is kept"):
        Fake(lambda *_: LostError("no room")).handing(2, 9).work()
    with pytest.raises(AssayError, match="all workers died: bad code"):
        Fake(ready=lambda *_: LostError("bad code")).handing(2, 9).work()


def test_an_error_of_one_shard_does_not_end_the_others() -> None:
    fake = Fake(
        lambda _, n: Told(error="DataError", message="was changed") if n in {1, 4} else scored(0, n)
    )
    handing = fake.handing(2, 8)
    with pytest.raises(DataError, match=r"shard 1 \(and 1 more\): was changed; all others"):
        handing.work()
    assert len(handing.reports) == 6
    assert not fake.stopped


def test_after_many_errors_no_more_shards_are_handed_out() -> None:
    fake = Fake(lambda _, n: Told(error="DataError", message="the disk is full"))
    with pytest.raises(DataError, match=r"shard 0 .*the disk is full"):
        fake.handing(2, 1000).work()
    assert len(fake.handed) < TROUBLES + 2 * AT_ONCE
    assert fake.stopped == [0, 1]


@pytest.mark.parametrize("kind", [JudgeUnusable, BudgetSpent, ConfigError, OutageError])
def test_what_all_shards_would_end_in_ends_the_run(kind: type[AssayError]) -> None:
    fake = Fake(
        lambda _, n: Told(error=kind.__name__, message="no use") if n == 3 else scored(0, n)
    )
    with pytest.raises(kind, match=r"^no use$"):
        fake.handing(2, 1000).work()
    assert len(fake.handed) < 12


def test_errors_keep_their_class_where_a_message_makes_one() -> None:
    def raised(error: str) -> Exception:
        with pytest.raises(Exception, match="why") as caught:
            Fake(ready=lambda *_: Told(error=error, message="why")).handing(1, 1).work()
        return caught.value

    assert type(raised("DataError")) is DataError
    assert type(raised("MissingExtra")) is AssayError
    assert str(raised("ZeroDivisionError")) == "ZeroDivisionError: why"
    assert type(raised("ZeroDivisionError")) is MetricBug
    assert str(raised("MetricBug")) == "why"


def test_a_shard_in_other_hands_is_tried_again() -> None:
    tries: list[int] = []

    def answer(_: int, shard: int) -> Told:
        tries.append(shard)
        away = shard == 1 and tries.count(1) < 4
        return Told(ShardReport(shard, 10, elsewhere=away))

    handing = Fake(answer).handing(1, 3)
    handing.work()
    assert tries.count(1) == 4
    assert not any(report.elsewhere for report in handing.reports)


def test_a_shard_that_stays_in_other_hands_is_reported_as_such() -> None:
    handing = Fake(lambda _, n: Told(ShardReport(n, 10, elsewhere=n == 1))).handing(1, 3)
    handing.work()
    assert [report.shard for report in handing.reports if report.elsewhere] == [1]


def test_after_a_stop_nothing_is_handed_out() -> None:
    fake = Fake()
    handing = fake.handing(2, 100)

    def answer(_: int, shard: int) -> Told:
        handing.stop()
        return Told()

    fake._answer = answer
    handing.work()
    assert len(fake.handed) <= 2 * AT_ONCE
    assert fake.stopped == [0, 1]
    assert handing.reports == []


def test_workers_that_never_start_are_not_waited_for_for_ever() -> None:
    class Silent(Fake):
        def wait(self, calls: Sequence[int], seconds: float) -> list[int]:
            self.now += 10
            return []

    with pytest.raises(ConfigError, match="no worker could be started within 60 s"):
        Silent().handing(2, 3, patience=60).work()


# --- recipes and Ray itself ------------------------------------------------------------------


def test_a_recipe_makes_the_judge_of_a_name() -> None:
    made = recipe("openai:m", packed=True, options={"base_url": "http://127.0.0.1:1/v1"})
    same = assay.openai("m", packed=True, base_url="http://127.0.0.1:1/v1")
    assert made.open().fingerprint == same.fingerprint
    assert recipe("embedded", threads=1).open().name == "embedded"
    assert recipe(ScriptedJudge).open().name == "scripted"
    remembering = recipe(ScriptedJudge, cache=True).open()
    assert remembering.fingerprint == ScriptedJudge().fingerprint


@pytest.mark.parametrize(
    ("judge", "options", "message"),
    [
        (ScriptedJudge(), {}, "lives in this process"),
        ("openai:m", {"extra": {1, 2}}, "must be plain values"),
        ("openai:m", {"timeout": float("nan")}, "must be plain values"),
        (ScriptedJudge, {"timeout": 1}, "a function makes its judge with its own"),
    ],
)
def test_what_cannot_be_sent_is_refused(judge: Any, options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        recipe(judge, options=options)


def test_a_function_that_makes_no_judge_is_refused() -> None:
    with pytest.raises(ConfigError, match="is no judge"):
        recipe(lambda: 3).open()  # type: ignore[arg-type, return-value]


def test_without_ray_the_line_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        MissingExtra, match=r"^Ray is not installed; run: pip install 'assay\[ray\]'"
    ):
        cluster.load_ray()


@pytest.mark.parametrize("version", ["2.53.9", "1.13.0", "0.8", "?"])
def test_a_ray_with_known_holes_is_refused(version: str) -> None:
    with pytest.raises(ConfigError, match=r"CVE-2026-27482.*ray>=2\.54"):
        cluster.check_version(version)
