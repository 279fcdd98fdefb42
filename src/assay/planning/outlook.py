"""The plan that follows from a pilot and a survey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.asks import Judge
from assay.judges.sizing import WORKS, Exchange, Foreseeing, Work
from assay.metrics import Metric
from assay.planning.estimating import CALLS, FEW, PROMPT, Estimator, exchanged
from assay.planning.guessing import Rates
from assay.planning.measuring import Meter
from assay.planning.models import Endpoint, is_local
from assay.planning.pilot import Pilot
from assay.planning.plan import Load, MetricPlan, Plan, Smaller
from assay.planning.precision import half_width, sizes_for
from assay.planning.prices import Cost, Prices, cost_of
from assay.planning.surveying import Part, Survey

if TYPE_CHECKING:
    from assay.planning.estimating import Loads


@dataclass(frozen=True)
class Outlook:
    """A pilot, a survey, and what turns them into money and time."""

    judge: Judge
    pilot: Pilot
    survey: Survey
    samples: int
    prices: Prices
    endpoint: Endpoint
    concurrency: int
    rpm: float | None
    seed: int
    remembers: bool

    def plan(self, metrics: Mapping[str, Metric]) -> Plan:
        """The plan; ``metrics`` by the names that the survey has."""
        actual = [self._actual(k, told) for k, told in enumerate(self.survey.told)]
        estimator = Estimator(actual, self.survey.hidden, seed=self.seed)
        meter = self._meter(estimator)
        survey, scale = self.survey, self._scale
        rest = estimator.rest(survey.rest * scale)
        draws = self._draws(estimator, survey.rest * scale, survey.guessed)
        exact = not survey.guessed and scale == 1
        total = meter.load(estimator.paid + rest, estimator.paid + draws, exact=exact)
        tokens = self._calibration(estimator)
        return Plan(
            self.judge.name,
            self.endpoint,
            self.samples,
            [
                MetricPlan(
                    name,
                    self._load(meter, estimator, survey.alone[name], tokens),
                    self._load(meter, estimator, survey.shares[name], tokens, survey.guessed),
                )
                for name in metrics
            ],
            total,
            meter.load(rest, draws, exact=exact),
            self._works(meter, estimator.paid + rest, estimator.paid + draws, exact=exact),
            len(actual),
            self.pilot.usage,
            self._paid_cost(),
            survey.held,
            self._smaller(metrics, total),
            self.prices.of(self.endpoint.model, self.endpoint.base_url),
            is_local(self.judge),
            self.concurrency,
            self.rpm,
            self._notes(total),
        )

    @property
    def _scale(self) -> float:
        """How many samples each of those that were gone through stands for."""
        return (self.samples - len(self.survey.told)) / self.survey.gone if self.survey.gone else 1

    def _actual(self, k: int, told: Loads) -> Loads:
        """What the k-th pilot sample took: the calls that were planned, and tokens as counted."""
        found = exchanged(self.pilot.exchanges.get(k, ()))
        out: Loads = told.copy()
        if self._counts_tokens:
            chat = [n for n, work in enumerate(WORKS) if work not in ("embeddings", "pairs")]
            out[chat, PROMPT:] = found[chat, PROMPT:]
        return out

    @property
    def _counts_tokens(self) -> bool:
        return any(one.prompt_tokens for every in self.pilot.exchanges.values() for one in every)

    def _meter(self, estimator: Estimator) -> Meter:
        endpoint, pilot = self.endpoint, self.pilot
        exchanges: list[Exchange] = [one for every in pilot.exchanges.values() for one in every]
        return Meter(
            estimator,
            price=self.prices.of(endpoint.model, endpoint.base_url),
            embedding=replace(self.prices, given=None).of(
                endpoint.embedding_model, endpoint.base_url
            ),
            exchanges=exchanges,
            pairs=None if isinstance(self.judge, Foreseeing) else pilot.pace,
            at_once=self.concurrency,
            rpm=self.rpm,
        )

    def _draws(self, estimator: Estimator, foreseen: Loads, guessed: bool) -> Loads:
        bounds = self.survey.bounds
        return estimator.rest_draws(
            foreseen,
            self.samples - len(self.survey.told),
            known=not guessed,
            bounds=tuple(foreseen * one for one in bounds) if bounds else (),
        )

    def _calibration(self, estimator: Estimator) -> Loads:
        """Tokens of the pilot by those foreseen with its answers known; calls as they are."""
        import numpy as np

        planned = sum(self.survey.told, np.zeros((len(WORKS), 3)))
        out: Loads = np.where(
            planned > 0, estimator.paid / np.where(planned > 0, planned, 1.0), 1.0
        )
        out[:, CALLS] = 1.0
        return out

    def _load(
        self,
        meter: Meter,
        estimator: Estimator,
        part: Part,
        tokens: Loads,
        guessed: bool | None = None,
    ) -> Load:
        """The load of one metric; its share is in doubt where the whole is."""
        unsure = part.guessed if guessed is None else guessed
        foreseen = part.rest * self._scale
        piloted = part.pilot * tokens
        draws = piloted + self._draws(estimator, foreseen, unsure)
        exact = not unsure and not part.partial and self._scale == 1
        return meter.load(piloted + estimator.rest(foreseen), draws, exact=exact)

    def _works(self, meter: Meter, value: Loads, draws: Loads, *, exact: bool) -> dict[Work, Load]:
        """The loads by kind of work, of those that there are."""
        out: dict[Work, Load] = {}
        for k, work in enumerate(WORKS):
            if value[k].any():
                only, drawn = value * 0, draws * 0
                only[k], drawn[:, k] = value[k], draws[:, k]
                out[work] = meter.load(only, drawn, exact=exact)
        return out

    def _paid_cost(self) -> Cost | None:
        if not len(self.survey.told):
            return None
        return cost_of(
            self.pilot.usage, self.endpoint.model, self.prices, base_url=self.endpoint.base_url
        )

    def _smaller(self, metrics: Mapping[str, Metric], total: Load) -> list[Smaller]:
        scores = {name: [row.scores[name] for row in self.pilot.rows] for name in metrics}
        out = []
        for n in sizes_for(self.samples) if self.samples else ():
            share = n / self.samples
            out.append(
                Smaller(
                    n,
                    total.calls.value * share,
                    total.cost.value * share if total.cost else None,
                    total.seconds.value * share if total.seconds else None,
                    {name: half_width(metrics[name], scores[name], n) for name in metrics},
                )
            )
        return out

    def _notes(self, total: Load) -> list[str]:
        """What to know when the figures are read."""
        tried, foreseeing = len(self.survey.told), isinstance(self.judge, Foreseeing)
        chat = foreseeing and bool(total.calls.value)
        notes = [
            *(self._without_pilot(chat) if not tried else self._about_pilot(tried)),
            *self._of_money(chat),
        ]
        if tried and chat and not self._counts_tokens:
            notes.append("the endpoint counts no tokens: they are assumed")
        if not foreseeing and not is_local(self.judge):
            notes.append(
                f"{self.judge.name} does not say which requests it sends: calls are pairs, and "
                "tokens and money are not known"
            )
        return notes

    def _without_pilot(self, chat: bool) -> Iterator[str]:
        if self.survey.guessed:
            yield f"no pilot: {Rates().claims} claims a sentence are assumed"
        if chat:
            yield "no pilot: tokens of replies and times are assumed"
        yield "no pilot: half-widths are the largest there can be"

    def _about_pilot(self, tried: int) -> Iterator[str]:
        planned = sum(float(x[:, CALLS].sum()) for x in self.survey.told)
        resent = self.pilot.usage.calls - round(planned)
        if tried < FEW and tried < self.samples:
            yield f"{tried} pilot samples are few: intervals and half-widths are assumed"
        if isinstance(self.judge, Foreseeing) and resent > 0:
            yield f"the pilot sent {resent} more requests than planned: their tokens are counted"
        if failures := [row.failure for row in self.pilot.rows if row.failed]:
            yield f"{len(failures)} of {tried} pilot samples failed: {failures[0]}"
        if not self.remembers and tried < self.samples:
            yield "nothing is remembered: a run pays for the pilot's samples again"

    def _of_money(self, chat: bool) -> Iterator[str]:
        endpoint = self.endpoint
        if chat and self.prices.of(endpoint.model, endpoint.base_url) is None:
            yield (
                f"price unknown: {endpoint.model or self.judge.name}; give --price-input and "
                "--price-output, or --prices FILE (pip install 'assay[cost]' knows many models)"
            )
