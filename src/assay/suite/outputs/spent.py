"""What providers and judges used: calls and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assay.suite.outcome import Result
from assay.suite.providers.base import Answer


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests sent, tokens read and written, and US dollars where a provider named its price."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    remembered: int = 0
    """Questions whose answer was known already, and cost no call."""

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.prompt_tokens + self.completion_tokens

    def as_dict(self) -> dict[str, Any]:
        """The form that promptfoo calls tokenUsage."""
        return {
            "total": self.tokens,
            "prompt": self.prompt_tokens,
            "completion": self.completion_tokens,
            "cached": self.cached_tokens,
            "numRequests": self.calls,
            "remembered": self.remembered,
        }


def spent_on(answer: Answer | None) -> Spent:
    """What one answer took; one from the cache took nothing but has its tokens as cached."""
    if answer is None:
        return Spent()
    tokens = answer.prompt_tokens + answer.completion_tokens
    return Spent(
        answer.calls,
        answer.prompt_tokens,
        answer.completion_tokens,
        tokens if answer.cached else 0,
        answer.cost,
    )


def together(parts: Iterable[Spent]) -> Spent:
    """The sum; its cost is None if no part has one."""
    every = list(parts)
    costs = [one.cost for one in every if one.cost is not None]
    return Spent(
        sum(one.calls for one in every),
        sum(one.prompt_tokens for one in every),
        sum(one.completion_tokens for one in every),
        sum(one.cached_tokens for one in every),
        sum(costs) if costs else None,
        sum(one.remembered for one in every),
    )


def recorded(provenance: Mapping[str, Any], of: Literal["providers", "judges"]) -> Spent | None:
    """The sum of what a run's provenance says under ``usage``; None if it says nothing.

    ``usage[of]`` is a usage (calls, prompt_tokens, completion_tokens) or one of each name.
    """
    usage = provenance.get("usage")
    said = usage.get(of) if isinstance(usage, Mapping) else None
    if not isinstance(said, Mapping):
        return None
    named = [one for one in said.values() if isinstance(one, Mapping)]
    return together(_usage(one) for one in (named or [said]))


def spent_by_providers(results: Iterable[Result], provenance: Mapping[str, Any]) -> Spent:
    """What the provenance says of the providers, else the sum of their answers."""
    answers = together(spent_on(result.answer) for result in results)
    said = recorded(provenance, "providers")
    if said is None:
        return answers
    return Spent(
        said.calls,
        said.prompt_tokens,
        said.completion_tokens,
        answers.cached_tokens,
        answers.cost if said.cost is None else said.cost,
    )


def _usage(said: Mapping[str, Any]) -> Spent:
    def count(name: str) -> int:
        value = said.get(name)
        return value if isinstance(value, int) else 0

    cost = said.get("cost")
    return Spent(
        count("calls"),
        count("prompt_tokens"),
        count("completion_tokens"),
        cost=float(cost) if isinstance(cost, int | float) else None,
        remembered=count("cached"),
    )
