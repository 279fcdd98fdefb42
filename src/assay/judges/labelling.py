"""Labels of texts and ratings of summaries by a chat model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import get_args

from assay.asks import Label, Rate, Trait
from assay.errors import ConfigError
from assay.judges.asking import Asking, Call, Compose, Job, Read
from assay.judges.prompting import Form, label_messages, rate_messages, text_id
from assay.judges.replies import Key, read_labels, read_rating
from assay.verdicts import Mark, Rating

Asked = tuple[Trait, str]
"""A trait, and the text that it is asked of."""

LEFT_OUT = "the judge left this label out"


class Labelling:
    """Answers to Label and Rate: one call each, for labels up to ``max_items`` and ``max_chars``.

    A text goes out once a call with all its traits; ``max_items`` counts labels and
    ``max_chars`` the characters of the texts.
    """

    def __init__(
        self, asking: Asking, *, label: Form, rate: Form, max_items: int, max_chars: int
    ) -> None:
        self._asking = asking
        self._label, self._rate = label, rate
        self._max_items, self._max_chars = max_items, max_chars

    async def marks(self, ask: Label) -> tuple[Mark, ...]:
        """A mark a pair, in order; raises a JudgeError if the endpoint answered none.

        A label that two replies leave out is None. Raises ConfigError for an unknown trait.
        """
        jobs, compose = self._planned(ask)
        marks, missing = await self._asking.settle_all(jobs, compose)
        marks |= {pair: Mark(None, reason=why) for pair, why in missing.items()}
        return tuple(marks[pair] for pair in ask.pairs)

    def label_calls(self, ask: Label) -> list[Call[Asked, Mark]]:
        """The calls that `marks` begins with; nothing is sent."""
        jobs, compose = self._planned(ask)
        return [compose(job.missing()) for job in jobs]

    def rate_call(self, ask: Rate) -> Call[str, Rating]:
        """The call that `rating` begins with; nothing is sent."""
        return self._ratings(ask, [ask.text])

    def _planned(self, ask: Label) -> tuple[list[Job[Asked, Mark]], Compose[Asked, Mark]]:
        if unknown := {trait for trait, _ in ask.pairs} - set(get_args(Trait)):
            raise ConfigError(f"unknown traits: {', '.join(sorted(unknown))}")
        traits: dict[str, list[Trait]] = {}
        for trait, text in dict.fromkeys(ask.pairs):
            traits.setdefault(text, []).append(trait)
        ids = {text: text_id(n) for n, text in enumerate(traits)}
        jobs = [Job[Asked, Mark](group) for group in self._groups(traits)]
        return jobs, partial(self._labels, ask, ids)

    async def rating(self, ask: Rate) -> Rating:
        """From 1 to 5, or None where two replies hold none; raises a JudgeError."""
        job = Job[str, Rating]([ask.text])
        found, missing = await self._asking.settle_all([job], partial(self._ratings, ask))
        return found[ask.text] if found else Rating(None, missing[ask.text])

    def _groups(self, traits: dict[str, list[Trait]]) -> Iterator[list[Asked]]:
        """The labels that go into one call; those of a text stay together where they can."""
        group: list[Asked] = []
        size = 0
        for text, asked in traits.items():
            for start in range(0, len(asked), self._max_items):
                more = [(trait, text) for trait in asked[start : start + self._max_items]]
                full = len(group) + len(more) > self._max_items
                if group and (full or size + len(text) > self._max_chars):
                    yield group
                    group, size = [], 0
                group += more
                size += len(text)
        if group:
            yield group

    def _labels(
        self, ask: Label, ids: dict[str, str], missing: Sequence[Asked]
    ) -> Call[Asked, Mark]:
        nonce, messages = label_messages(self._label, ask.question, missing, ids)
        pairs: dict[Key, Asked] = {(ids[text], trait): (trait, text) for trait, text in missing}

        def read(reply: str) -> Read[Asked, Mark]:
            got = read_labels(reply, nonce, pairs)
            marks = {pairs[key]: mark for key, mark in got.said.items()}
            return Read(marks, LEFT_OUT, got.invalid)

        return Call(messages, self._label.schema, len(pairs), read)

    def _ratings(self, ask: Rate, missing: Sequence[str]) -> Call[str, Rating]:
        nonce, messages = rate_messages(self._rate, ask)

        def read(reply: str) -> Read[str, Rating]:
            return Read({ask.text: read_rating(reply, nonce)}, "")

        return Call(messages, self._rate.schema, len(missing), read)
