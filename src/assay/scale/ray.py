"""The Ray engine: the shards of a run scored by actors, on one machine or a cluster."""

from __future__ import annotations

import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.errors import ConfigError
from assay.runs.engine import Outcome
from assay.runs.shards import Job, ShardReport, open_job, open_shard
from assay.runs.usage import read_usage
from assay.scale.cluster import cluster, load_ray
from assay.scale.handing import Handing, LostError
from assay.scale.leases import Loan
from assay.scale.pool import Pool
from assay.scale.recipe import Making, recipe
from assay.scale.worker import Orders, Worker

RESTARTS = 20
"""Times that a worker is started again before its shards go to the others."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_REPEATED = frozenset({"ready", "score"})
_CLOSING = 5.0
"""Seconds that workers have to let go of their judges."""


def run(
    folder: str | Path,
    judge: Making,
    *,
    actors: int | None = None,
    concurrency: int = 32,
    address: str | None = None,
    cpus: int = 1,
    gpus: float = 0,
    packed: bool = False,
    options: Mapping[str, Any] | None = None,
    cache: bool = False,
    rpm: float | None = None,
    tpm: float | None = None,
    retry_errors: bool = False,
    watch: Callable[[str], None] | None = None,
    on_stop: Callable[[], None] | None = None,
) -> Outcome:
    """Score what is missing of the run in a folder, by ``actors`` processes that Ray keeps.

    The folder is one that `assay.runs.start` made; it and the input must be at the same place on
    every machine, on a file system with locks. ``judge`` is a name with ``packed`` and ``options``
    as `open_judge` takes them, or a function that makes a judge; each actor makes its own, once.
    Keys are read on the machine of the actor, from the environment variables that the judge names.
    ``cache``: answers go into the user's cache on each machine.

    ``actors``: one for every ``cpus`` of the cluster, unless given; ``cpus`` and ``gpus`` are
    those of one, and models that run inside use as many threads. Each has at most ``concurrency``
    samples in work. ``address`` is that of your cluster (else RAY_ADDRESS; else one on this machine
    is started, which nobody else can reach). ``rpm`` requests and about ``tpm`` tokens a minute go
    out of all actors together, and a wait that the endpoint asks one for is kept by all; a function
    is given a `Limiter` then, which it hands to its judge.

    ``watch`` is told of every row why it failed, "" if it did not. ``retry_errors`` and
    ``on_stop`` are those of `assay.runs.run`. An actor that dies is started again, and what it was
    at is done again, save for the rows in the journals.

    Raises as `assay.runs.run`; MissingExtra without Ray, ConfigError for one before 2.54.
    """
    _check({"actors": actors, "concurrency": concurrency, "cpus": cpus})
    if isinstance(judge, str) and not judge.startswith("openai:") and (rpm or tpm):
        raise ConfigError(f"judge {judge!r} is not called over a network: no rpm, no tpm")
    if own := {"rpm", "tpm"} & set(options or {}):
        raise ConfigError(f"{min(own)} is that of all actors: give it to run, not to the judge")
    Pool(rpm, tpm)  # says what is wrong with them
    made = recipe(judge, packed=packed, options=options, cache=cache, threads=cpus)
    orders = Orders(str(Path(folder).resolve()), made, concurrency, retry_errors, rpm, tpm)
    job = open_job(Path(folder))
    outcome = Outcome()
    with job.folder.working():
        before = read_usage(job.folder.usage).usage
        todo = _todo(job, outcome.reports, retry_errors=retry_errors)
        if todo:
            with cluster(address, (actors or 1) * cpus) as ray:
                count = min(actors or _fitting(ray, cpus), len(todo))
                calls = _Actors(ray, orders, count, cpus, gpus)
                _work(calls, Handing(calls, count, todo, watch), outcome, on_stop)
        outcome.usage = read_usage(job.folder.usage).usage.since(before)
    outcome.reports.sort(key=lambda report: report.shard)
    return outcome


def _check(numbers: Mapping[str, int | None]) -> None:
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise ConfigError(f"{name} must be at least 1, not {number}")


def _todo(job: Job, reports: list[ShardReport], *, retry_errors: bool) -> list[int]:
    """The shards to hand out; the others get their reports."""
    todo = []
    for number in range(job.plan.shards):
        again = retry_errors and job.folder.errors(number).exists()
        opened = None if again or not job.path(number).exists() else open_shard(job, number)
        if isinstance(opened, ShardReport):
            reports.append(opened)
        else:
            todo.append(number)
    return todo


def _fitting(ray: Any, cpus: int) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // cpus)


def _work(
    calls: _Actors, handing: Handing, outcome: Outcome, on_stop: Callable[[], None] | None
) -> None:
    def first() -> None:
        outcome.stopped = True
        handing.stop()
        if on_stop is not None:
            on_stop()

    in_order = False
    try:
        with _stoppable(first if on_stop is not None else None):
            handing.work()
        in_order = True
    except KeyboardInterrupt:
        if on_stop is None:
            raise
        outcome.stopped = True
    finally:
        outcome.reports.extend(handing.reports)
        calls.end(in_order=in_order)


@contextmanager
def _stoppable(first: Callable[[], None] | None) -> Iterator[None]:
    """While inside, the first SIGINT or SIGTERM calls ``first``, and the second is an interrupt."""
    if first is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    left = [first]

    def got(number: int, frame: object) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()()

    before = {number: signal.signal(number, got) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Remote:
    """A `Pool` in a process of its own, as workers see it: by its name, wherever they are."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def lease(self, requests: float, tokens: float, unused: Loan) -> Loan:
        lent: Loan = await self._pool().lease.remote(requests, tokens, unused)
        return lent

    async def hold(self, seconds: float) -> None:
        await self._pool().hold.remote(seconds)

    async def news(self, seen: int) -> tuple[int, float]:
        told: tuple[int, float] = await self._pool().news.remote(seen)
        return told

    def _pool(self) -> Any:
        return load_ray().get_actor(self._name)


class _Actors:
    """The workers of a run as Ray actors, and the pool of their rates where they call out."""

    def __init__(self, ray: Any, orders: Orders, count: int, cpus: int, gpus: float) -> None:
        self._ray = ray
        self._pool = remote = None
        if orders.recipe.is_called or orders.rpm is not None or orders.tpm is not None:
            name = f"assay-{secrets.token_hex(8)}"
            of_pool = ray.remote(Pool).options(name=name, num_cpus=0, max_restarts=-1)
            self._pool = of_pool.remote(orders.rpm, orders.tpm)
            remote = _Remote(name)
        worker = ray.remote(Worker).options(num_cpus=cpus, num_gpus=gpus, max_restarts=RESTARTS)
        self._workers = [worker.remote(orders, remote) for _ in range(count)]

    def send(self, worker: int, method: str, *values: Any) -> Any:
        # What is said to a worker that dies is not for the one that takes its place.
        again = -1 if method in _REPEATED else 0
        called = getattr(self._workers[worker], method).options(max_task_retries=again)
        return called.remote(*values)

    def wait(self, calls: Sequence[Any], seconds: float) -> list[Any]:
        ended, _ = self._ray.wait(list(calls), num_returns=1, timeout=seconds)
        more, _ = self._ray.wait(list(calls), num_returns=len(calls), timeout=0)
        return list({*ended, *more})

    def answer(self, call: Any) -> Any:
        try:
            return self._ray.get(call)
        except self._ray.exceptions.RayActorError as error:
            # What Ray tells is long, and its last line is the cause, if there is one.
            raise LostError(str(error).strip().rpartition("\n")[2]) from None

    def end(self, *, in_order: bool) -> None:
        """End the actors; ``in_order``, once they have let go of their judges."""
        if in_order:
            closing = [self.send(number, "close") for number in range(len(self._workers))]
            self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSING)
        for actor in (*self._workers, *([self._pool] if self._pool is not None else [])):
            self._ray.kill(actor)
