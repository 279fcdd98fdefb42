"""``plan``: a pilot that is really asked, a run in which nobody is, and what follows from both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.api import Metrics, Samples, check_skills, load, open_metrics, run_sync
from assay.asks import Judge
from assay.errors import ConfigError
from assay.judges.memory.store import MemoryStore, Store
from assay.judges.named import open_judge
from assay.judges.remembering import RememberingJudge
from assay.planning.foreseeing import Foresight
from assay.planning.guessing import Rates
from assay.planning.models import endpoint_of
from assay.planning.outlook import Outlook
from assay.planning.pilot import Pilot, run_pilot
from assay.planning.plan import Plan
from assay.planning.prices import Prices
from assay.planning.surveying import Foresights, survey
from assay.sample import Sample

MOST = 10_000
"""Samples that are gone through one by one; of more, as many at random stand for all."""


def plan(
    samples: Samples,
    metrics: Metrics,
    judge: str | Judge | None = None,
    *,
    pilot: int = 30,
    cache_store: Store | None = None,
    prices: Prices | None = None,
    seed: int = 0,
    concurrency: int = 128,
    rpm: float | None = None,
    tpm: float | None = None,
) -> Plan:
    """What scoring the samples by the metrics will take: calls, tokens, US dollars, seconds.

    ``pilot`` samples, drawn at random by ``seed``, are really scored: that costs what it says,
    and their answers go into ``cache_store``, so that a run with it does not pay for them again.
    With 0 nobody is asked, and claims are estimated by rules. Answers that the store holds
    already cost nothing, and of equal asks only the first does. ``judge`` is the judge itself,
    not wrapped. ``concurrency`` is the number of requests that are open at once, ``rpm`` of those
    sent in a minute at the most, and ``tpm`` their tokens.

    Calls are exact where claims are given or known from the pilot or the store; all else has a
    90 % interval. Raises ConfigError, DataError, and PilotFailed, which is a JudgeUnusable, if no
    sample of the pilot could be scored.
    """
    answerer = open_judge(judge)

    async def work() -> Plan:
        try:
            return await plan_async(
                samples,
                metrics,
                answerer,
                pilot=pilot,
                cache_store=cache_store,
                prices=prices,
                seed=seed,
                concurrency=concurrency,
                rpm=rpm,
                tpm=tpm,
            )
        finally:
            await answerer.aclose()

    return run_sync(work())


async def plan_async(
    samples: Samples,
    metrics: Metrics,
    judge: Judge,
    *,
    pilot: int = 30,
    cache_store: Store | None = None,
    prices: Prices | None = None,
    seed: int = 0,
    concurrency: int = 128,
    rpm: float | None = None,
    tpm: float | None = None,
) -> Plan:
    """`plan` for code that runs in an event loop; the judge stays open."""
    _check(judge, pilot, concurrency, {"rpm": rpm, "tpm": tpm})
    chosen, known = open_metrics(metrics), load(samples)
    check_skills(chosen, known, judge)
    first, rest = _drawn(known, pilot, seed)
    store = cache_store if cache_store is not None else MemoryStore()
    tried = await run_pilot(first, chosen, judge, store) if first else Pilot()
    lost = [first[k] for k in sorted(tried.failures)]
    first = [sample for k, sample in enumerate(first) if k not in tried.failures]
    tried, rest = tried.whole(), [*lost, *rest]
    surveyed = await survey(first, rest, chosen, _foresights(judge, tried, cache_store))
    outlook = Outlook(
        judge,
        tried,
        surveyed,
        samples=len(known),
        prices=prices or Prices(),
        endpoint=endpoint_of(judge),
        concurrency=concurrency,
        rpm=rpm,
        tpm=tpm,
        seed=seed,
        remembers=cache_store is not None,
    )
    return outlook.plan(chosen)


def _drawn(samples: Sequence[Sample], pilot: int, seed: int) -> tuple[list[Sample], list[Sample]]:
    """The samples of the pilot, and the others that are gone through, in random order."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(samples))[: max(MOST, pilot)]
    return [samples[k] for k in order[:pilot]], [samples[k] for k in order[pilot:]]


def _foresights(judge: Judge, tried: Pilot, store: Store | None) -> Foresights:
    paid, found = frozenset(tried.paid), tried.rates()

    def foresight(*, told: bool, rates: Rates | None = None) -> Foresight:
        known = tried.known if told else {}
        return Foresight(judge, store, paid, known, rates or found)

    return foresight


def _check(judge: Judge, pilot: int, concurrency: int, limits: Mapping[str, float | None]) -> None:
    if isinstance(judge, RememberingJudge):
        raise ConfigError("give the judge itself, and its store as cache_store")
    if pilot < 0:
        raise ConfigError(f"pilot must be at least 0, not {pilot}")
    if concurrency < 1:
        raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
    for name, limit in limits.items():
        if limit is not None and not limit > 0:
            raise ConfigError(f"{name} must be above 0, not {limit}")
