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
    import numpy as np
    from numpy.typing import NDArray

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
    tpm: float | None
    seed: int
    remembers: bool

    def plan(self, metrics: Mapping[str, Metric]) -> Plan:
        """The plan; ``metrics`` by the names that the survey has."""
        actual = [self._actual(k, told) for k, told in enumerate(self.survey.told)]
        counted = self._chat if self._counts_tokens else self._chat & False
        estimator = Estimator(actual, self.survey.hidden, seed=self.seed, counted=counted)
        meter = self._meter(estimator)
        survey, scale = self.survey, self._scale
        rest = estimator.rest(survey.rest * scale)
        paid = estimator.taken(estimator.paid)
        draws = self._draws(estimator, survey.rest * scale, survey.guessed)
        exact = bool(self._known(survey.guessed).all())
        total = meter.load(estimator.paid + rest, paid + draws, exact=exact)
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
            self._works(meter, estimator.paid + rest, paid + draws),
            len(actual),
            self.pilot.usage,
            self._paid_cost(),
            survey.held,
            self._smaller(metrics, total),
            self.prices.of(self.endpoint.model, self.endpoint.base_url),
            is_local(self.judge),
            self.concurrency,
            self.rpm,
            self._notes(total, estimator.asked),
            measured=bool(estimator.asked) or not total.calls.value,
            failed=len(self.pilot.failures),
            tpm=self.tpm,
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
            out[self._chat, PROMPT:] = found[self._chat, PROMPT:]
        return out

    @property
    def _chat(self) -> NDArray[np.bool_]:
        """The kinds of work whose replies the pilot saw; pairs have no tokens."""
        import numpy as np

        return np.array([work != "embeddings" for work in WORKS])

    def _known(self, guessed: bool) -> NDArray[np.bool_]:
        """The kinds of work whose number of calls is not in doubt, ``guessed`` or not."""
        import numpy as np

        sure: NDArray[np.bool_] = self.survey.unsure[:, CALLS] == 0
        return np.logical_and(self._scale == 1, np.logical_or(not guessed, sure))

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
            tpm=self.tpm,
        )

    def _draws(self, estimator: Estimator, foreseen: Loads, guessed: bool) -> Loads:
        return estimator.rest_draws(
            foreseen,
            self.samples - len(self.survey.told),
            known=self._known(guessed),
            bounds=self.survey.bounds,
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
        draws = estimator.taken(piloted) + self._draws(estimator, foreseen, unsure)
        exact = not part.partial and bool(self._known(unsure).all())
        return meter.load(piloted + estimator.rest(foreseen), draws, exact=exact)

    def _works(self, meter: Meter, value: Loads, draws: Loads) -> dict[Work, Load]:
        """The loads by kind of work, of those that there are."""
        out: dict[Work, Load] = {}
        known = self._known(self.survey.guessed)
        for k, work in enumerate(WORKS):
            if value[k].any():
                only, drawn = value * 0, draws * 0
                only[k], drawn[:, k] = value[k], draws[:, k]
                out[work] = meter.load(only, drawn, exact=bool(known[k]))
        return out

    def _paid_cost(self) -> Cost | None:
        if not len(self.survey.told):
            return None
        place = self.endpoint
        return cost_of(
            self.pilot.usage,
            place.model,
            self.prices,
            base_url=place.base_url,
            batched=place.batched,
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

    def _notes(self, total: Load, asked: int) -> list[str]:
        """What to know when the figures are read."""
        tried, foreseeing = len(self.survey.told), isinstance(self.judge, Foreseeing)
        chat = foreseeing and bool(total.calls.value)
        notes = [
            *self._of_failures(),
            *(self._about_pilot(tried, asked) if tried else self._without_pilot(chat)),
            *self._of_money(chat),
        ]
        if asked and chat and not self._counts_tokens:
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

    def _of_failures(self) -> Iterator[str]:
        if failures := list(self.pilot.failures.values()):
            of = f"{len(failures)} of {len(failures) + len(self.pilot.rows)} pilot samples"
            yield f"{of} had no answer and are not counted: {failures[0]}"
        if lacking := [row.failure for row in self.pilot.rows if row.failed]:
            yield f"{len(lacking)} of {len(self.pilot.rows)} pilot samples failed: {lacking[0]}"

    def _about_pilot(self, tried: int, asked: int) -> Iterator[str]:
        planned = sum(float(x[:, CALLS].sum()) for x in self.survey.told)
        resent = self.pilot.usage.calls - round(planned)
        if asked < tried and asked < FEW and tried < self.samples:
            yield (
                f"the cache had all answers for {tried - asked} of {tried} pilot samples: tokens "
                "and times are assumed; another --seed draws others"
            )
        elif tried < FEW and tried < self.samples:
            few = "1 pilot sample is" if tried == 1 else f"{tried} pilot samples are"
            yield f"{few} few: intervals and half-widths are assumed"
        if isinstance(self.judge, Foreseeing) and resent > 0 and not self.pilot.failures:
            more = "1 more request" if resent == 1 else f"{resent} more requests"
            yield f"the pilot sent {more} than planned: all tokens are counted"
        if not self.remembers and tried < self.samples:
            yield "nothing is remembered: a run pays for the pilot's samples again"

    def _of_money(self, chat: bool) -> Iterator[str]:
        endpoint = self.endpoint
        if chat and self.prices.of(endpoint.model, endpoint.base_url) is None:
            yield (
                f"price unknown: {endpoint.model or self.judge.name}; give --price-input and "
                "--price-output, or --prices FILE (pip install 'assay[cost]' knows many models)"
            )
