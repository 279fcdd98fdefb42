"""Results by provider and prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.suite.outcome import Outcome, Result
from assay.suite.outputs.spent import Spent, spent_on, together


@dataclass(frozen=True, slots=True)
class Column:
    """The results of one provider with one prompt, in order."""

    provider: str
    prompt_index: int
    prompt: str
    results: tuple[Result, ...]

    @property
    def key(self) -> tuple[str, int]:
        return self.provider, self.prompt_index

    @property
    def spent(self) -> Spent:
        """What its answers took."""
        return together(spent_on(result.answer) for result in self.results)

    @property
    def latencies(self) -> list[float]:
        """Milliseconds of each answer that was made now."""
        answers = [result.answer for result in self.results if result.answer is not None]
        return [answer.latency_ms for answer in answers if answer.latency_ms is not None]


def columns_of(results: Sequence[Result]) -> list[Column]:
    """One column for each provider and prompt, in order of first appearance."""
    found: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        found.setdefault((result.provider, result.prompt_index), []).append(result)
    return [Column(*key, own[0].prompt, tuple(own)) for key, own in found.items()]


def leaves(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """The single assertions, those inside sets in the place of their set."""
    for outcome in outcomes:
        if outcome.parts:
            yield from leaves(outcome.parts)
        else:
            yield outcome
