"""The asks of all samples, added up: together and metric by metric, in the pilot and beyond."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from assay.metrics import Metric
from assay.planning.estimating import loads
from assay.planning.foreseeing import Foreseen, Foresight, foresee
from assay.planning.guessing import Rates
from assay.planning.plan import Held
from assay.sample import Sample

if TYPE_CHECKING:
    from assay.planning.estimating import Loads

ALONE = 500
"""Samples outside the pilot by which a metric by itself is estimated."""
BOUNDING = 100
"""Samples outside the pilot by which the least and the most is found."""
NONE, FEWEST, MOST = Rates(0.0, 0.0), Rates(0.8, 0.0), Rates(2.5, 0.5)
"""Claims and opinions a sentence: in a sample without any, and at the least and at the most on
the average of all, where nobody was asked."""


class Foresights(Protocol):
    """Makes a fresh foresight; ``told``: it knows what the pilot was told."""

    def __call__(self, *, told: bool, rates: Rates | None = None) -> Foresight: ...


@dataclass
class Part:
    """What is foreseen for one metric: in the pilot, and in the other samples.

    ``guessed``: the calls of other samples depend on answers that were made up.
    """

    pilot: Loads
    rest: Loads
    guessed: bool = False
    partial: bool = False
    """Whether the rest was estimated from a part of the samples."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Factors to what is foreseen: without any claim, and with as few and as many as may be."""

    none: Loads
    fewest: Loads
    most: Loads


@dataclass
class Survey:
    """What is foreseen; each pilot sample's load without (``hidden``) and with what it told.

    ``rest`` is the sum over the other samples, of which ``gone`` were gone through, and
    ``unsure`` the part of it that depends on answers that were made up; ``bounds`` say how much
    it may depend on them, and are None where nothing does.
    """

    hidden: list[Loads]
    told: list[Loads]
    rest: Loads
    unsure: Loads
    gone: int
    shares: dict[str, Part]
    alone: dict[str, Part] = field(default_factory=dict)
    guessed: bool = False
    held: Held = field(default_factory=Held)
    bounds: Bounds | None = None


async def survey(
    first: Sequence[Sample],
    rest: Sequence[Sample],
    metrics: Mapping[str, Metric],
    foresight: Foresights,
) -> Survey:
    """Go through the pilot's samples and the others without asking anybody."""
    blind = foresight(told=False)
    hidden = [_sent(await foresee(sample, metrics, blind)) for sample in first]
    out = await _together(first, rest, metrics, foresight(told=True), hidden)
    for name, metric in metrics.items():
        out.alone[name] = await _alone(first, rest, {name: metric}, foresight(told=True))
    if out.guessed:
        some = rest[:BOUNDING]
        middle, *others = [
            await _sum(some, metrics, foresight(told=True, rates=rates))
            for rates in (None, NONE, FEWEST, MOST)
        ]
        out.bounds = Bounds(*(_times(one, middle) for one in others))
    return out


async def _together(
    first: Sequence[Sample],
    rest: Sequence[Sample],
    metrics: Mapping[str, Metric],
    foresight: Foresight,
    hidden: list[Loads],
) -> Survey:
    parts = {name: _empty() for name in metrics}
    out = Survey(hidden, [], loads(()), loads(()), len(rest), parts)
    held = [0, 0, 0, 0]
    for k, sample in enumerate([*first, *rest]):
        asks = await foresee(sample, metrics, foresight)
        sent, piloted = _sent(asks), k < len(first)
        if piloted:
            out.told.append(sent)
        else:
            out.rest += sent
            out.unsure += _sent([one for one in asks if one.unsure])
        for one in asks:
            _share(out.shares, one, piloted=piloted)
            out.guessed |= one.guessed and not piloted
            calls = sum(size.count for size in one.sizes)
            held[0] += one.held
            held[1] += one.held * calls
            held[2] += one.shared
            held[3] += one.shared * calls
    out.held = Held(*held)
    return out


def _share(shares: dict[str, Part], one: Foreseen, *, piloted: bool) -> None:
    """Divide an ask's load among the metrics that it is for."""
    load = _sent([one]) / max(1, len(one.metrics))
    for name in one.metrics:
        part = shares[name]
        if piloted:
            part.pilot += load
        else:
            part.rest += load
            part.guessed |= one.guessed


async def _alone(
    first: Sequence[Sample],
    rest: Sequence[Sample],
    metric: Mapping[str, Metric],
    foresight: Foresight,
) -> Part:
    out = _empty()
    for sample in first:
        out.pilot += _sent(await foresee(sample, metric, foresight))
    some = rest[:ALONE]
    for sample in some:
        asks = await foresee(sample, metric, foresight)
        out.rest += _sent(asks)
        out.guessed |= any(one.guessed for one in asks)
    if len(some) < len(rest):
        out.rest *= len(rest) / len(some)
        out.partial = True
    return out


async def _sum(
    samples: Sequence[Sample], metrics: Mapping[str, Metric], foresight: Foresight
) -> Loads:
    out = loads(())
    for sample in samples:
        out += _sent(await foresee(sample, metrics, foresight))
    return out


def _sent(asks: Sequence[Foreseen]) -> Loads:
    """The load of the requests that are sent."""
    return loads(size for one in asks if not (one.held or one.shared) for size in one.sizes)


def _times(actual: Loads, middle: Loads) -> Loads:
    import numpy as np

    out: Loads = np.where(middle > 0, actual / np.where(middle > 0, middle, 1.0), 1.0)
    return out


def _empty() -> Part:
    return Part(loads(()), loads(()))
