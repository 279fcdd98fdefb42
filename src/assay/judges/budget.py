"""A judge that stops before it has used more than it may."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from assay.asks import Ask, Judge, Skill, T, Usage
from assay.errors import BudgetSpent, ConfigError
from assay.judges.reaching import Reach, reach_of
from assay.judges.sizing import CallSize, calls_for

MARGIN = 2.0
"""How many times its estimate an ask may use without passing the limit, while others are open."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that may be used: US dollars, tokens in and out, calls; None: no limit.

    Raises ConfigError unless one is given, and all are finite and above 0.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        given = [value for value in (self.usd, self.tokens, self.calls) if value is not None]
        if not given:
            raise ConfigError("a budget needs a number of US dollars, tokens or calls")
        for value in given:
            if isinstance(value, bool) or not (math.isfinite(value) and value > 0):
                raise ConfigError(f"a budget must be a number above 0, not {value!r}")


@dataclass(frozen=True, slots=True)
class _Amount:
    """Calls, tokens and dollars."""

    calls: float = 0.0
    tokens: float = 0.0
    usd: float = 0.0

    def plus(self, other: _Amount, times: float = 1.0) -> _Amount:
        return _Amount(
            self.calls + times * other.calls,
            self.tokens + times * other.tokens,
            self.usd + times * other.usd,
        )

    def times(self, other: _Amount) -> _Amount:
        return _Amount(self.calls * other.calls, self.tokens * other.tokens, self.usd * other.usd)

    def over(self, estimate: _Amount) -> _Amount:
        """How many times the estimate was used, at least 1."""
        return _Amount(
            *(
                max(1.0, used / guess) if guess > 0 else 1.0
                for used, guess in (
                    (self.calls, estimate.calls),
                    (self.tokens, estimate.tokens),
                    (self.usd, estimate.usd),
                )
            )
        )


@dataclass
class _Waiting:
    estimate: _Amount
    turn: asyncio.Future[None]


class Budgeted:
    """Answers of ``judge`` until the next ask could use more than is left of ``limit``.

    ``price`` is what a million tokens of prompts and of replies cost in US dollars; a limit in
    dollars needs one. ``before`` is what earlier processes used of the limit; what this judge was
    asked before does not count. Put it inside a `RememberingJudge`: remembered answers use nothing.

    An ask reserves what it is estimated to use. Where that does not fit, it waits for those that
    are open, and BudgetSpent is raised only when none is: what was paid for has arrived. From
    then on every ask is refused. Estimates are corrected by what earlier asks used, and the first
    ask goes alone for that. So the limit is passed, if at all, by what the last ask uses beyond
    its estimate, as long as none uses more than `MARGIN` times it.

    Raises ConfigError for a limit in dollars without a price.
    """

    def __init__(
        self,
        judge: Judge,
        limit: Limit,
        *,
        price: tuple[float, float] | None = None,
        before: Usage | None = None,
    ) -> None:
        if limit.usd is not None and price is None:
            raise ConfigError(
                f"the price of {judge.name} is not known, so a budget in dollars cannot be kept; "
                "give --price-input and --price-output, or --budget-tokens or --budget-calls"
            )
        if price is not None and not all(math.isfinite(one) and one >= 0 for one in price):
            raise ConfigError(f"a price must be a number from 0 on, not {price}")
        self._judge, self._limit, self._price = judge, limit, price or (0.0, 0.0)
        self._before = copy(judge.usage)
        self._past = self._amount(before or Usage())
        self._open = 0
        self._reserved = _Amount()
        self._settled = _Amount()
        self._known = False
        self._spent = False
        self._waiting: deque[_Waiting] = deque()

    @property
    def name(self) -> str:
        """That of the judge."""
        return self._judge.name

    @property
    def fingerprint(self) -> str:
        """That of the judge: a budget changes no answer."""
        return self._judge.fingerprint

    @property
    def usage(self) -> Usage:
        """That of the judge."""
        return self._judge.usage

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """That of the judge: what the replies depend on, if it tells."""
        return getattr(self._judge, "endpoint", {})

    @property
    def spent(self) -> bool:
        """Whether an ask was refused."""
        return self._spent

    @property
    def used(self) -> Usage:
        """What was used of the budget by this process."""
        return self._judge.usage.since(self._before)

    def pays_for(self, sizes: Iterable[CallSize]) -> float:
        """How many times the requests could be sent with what is left, as they are estimated.

        Infinite for requests that use nothing of what is limited.
        """
        need, used = self._sum(sizes), self._past.plus(self._amount(self.used))
        return min(
            (
                max(0.0, most - spent) / asked
                for most, spent, asked in (
                    (self._limit.usd, used.usd, need.usd),
                    (self._limit.tokens, used.tokens, need.tokens),
                    (self._limit.calls, used.calls, need.calls),
                )
                if most is not None and asked > 0
            ),
            default=math.inf,
        )

    @property
    def reach(self) -> Reach:
        """That of the judge."""
        return reach_of(self._judge)

    def can(self, skill: Skill) -> bool:
        return self._judge.can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        """The judge's answer; raises BudgetSpent, and what the judge raises."""
        estimate = self._estimate(ask)
        await self._reserve(estimate)
        # What failed has used its calls, and tokens of which nobody knows.
        settled = _Amount(estimate.calls)
        try:
            answer = await self._judge.answer(ask)
            settled, self._known = estimate, True
            return answer
        finally:
            self._release(estimate, settled)

    async def aclose(self) -> None:
        await self._judge.aclose()

    def _estimate(self, ask: Ask[Any]) -> _Amount:
        return self._sum(calls_for(self._judge, ask))

    def _sum(self, requests: Iterable[CallSize]) -> _Amount:
        sizes = list(requests)
        prompt = sum(size.count * size.prompt_tokens for size in sizes)
        reply = sum(size.count * size.reply_tokens for size in sizes)
        calls = sum(size.count for size in sizes)
        return _Amount(calls, prompt + reply, self._usd(prompt, reply))

    def _usd(self, prompt: float, reply: float) -> float:
        return (prompt * self._price[0] + reply * self._price[1]) / 1e6

    async def _reserve(self, estimate: _Amount) -> None:
        """Come back when there is room for the estimate; raises BudgetSpent when there is none."""
        one = _Waiting(estimate, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        self._admit()
        try:
            await one.turn
        except asyncio.CancelledError:
            if one in self._waiting:
                self._waiting.remove(one)
                self._admit()  # a smaller one may have waited behind it
            elif one.turn.done() and not one.turn.cancelled() and one.turn.exception() is None:
                self._release(estimate, _Amount())
            raise

    def _release(self, estimate: _Amount, settled: _Amount) -> None:
        self._open -= 1
        # Sums of fractions leave dust behind, which would be a reservation that nobody holds.
        self._reserved = self._reserved.plus(estimate, -1.0) if self._open else _Amount()
        self._settled = self._settled.plus(settled)
        self._admit()

    def _admit(self) -> None:
        """Let in who fits, in order; refuse all when the first does not and none is open."""
        while self._waiting:
            first = self._waiting[0]
            if first.turn.done():  # cancelled, and not yet told
                self._waiting.popleft()
            elif not self._spent and self._fits(first.estimate):
                self._waiting.popleft()
                self._open += 1
                self._reserved = self._reserved.plus(first.estimate)
                first.turn.set_result(None)
            elif self._open and not self._spent:
                return
            else:
                self._spent = True
                self._waiting.popleft()
                first.turn.set_exception(BudgetSpent(self._said(first.estimate)))

    def _fits(self, estimate: _Amount) -> bool:
        if self._open and not self._known:
            return False
        used = self._amount(self.used)
        alone = used.plus(estimate.times(used.over(self._settled)))
        if not self._open:
            return self._within(alone)
        asked = self._reserved.plus(estimate)
        return self._within(used.plus(asked.times(used.over(self._settled)), MARGIN))

    def _within(self, amount: _Amount) -> bool:
        limit, amount = self._limit, amount.plus(self._past)
        return all(
            most is None or value <= most * (1 + 1e-12)
            for value, most in (
                (amount.usd, limit.usd),
                (amount.tokens, limit.tokens),
                (amount.calls, limit.calls),
            )
        )

    def _amount(self, used: Usage) -> _Amount:
        prompt, reply = used.prompt_tokens, used.completion_tokens
        return _Amount(used.calls, prompt + reply, self._usd(prompt, reply))

    def _said(self, estimate: _Amount) -> str:
        now, limit = self._amount(self.used), self._limit
        due, used = estimate.times(now.over(self._settled)), now.plus(self._past)
        parts = []
        for most, spent, here, next_one, unit in (
            (limit.usd, used.usd, now.usd, due.usd, None),
            (limit.tokens, used.tokens, now.tokens, due.tokens, "tokens"),
            (limit.calls, used.calls, now.calls, due.calls, "calls"),
        ):
            if most is None:
                continue
            here_too = f"this process: {_number(here, unit)}; " if spent > here else ""
            of = f"{_number(spent, unit)} of {_number(most, unit)}" + (f" {unit}" if unit else "")
            parts.append(f"{of} ({here_too}the next ask: {_number(next_one, unit)})")
        return "the budget is spent: " + ", ".join(parts)


def _number(value: float, unit: str | None) -> str:
    """A count; without a unit US dollars, with cents and four digits at least."""
    if unit is not None:
        return f"{value:.0f}"
    digits = 2 if value <= 0 else max(2, 3 - math.floor(math.log10(value)))
    said = f"{value:.{digits}f}"
    whole, _, cents = said.partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"
