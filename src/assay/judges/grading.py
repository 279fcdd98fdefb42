"""Gradings of a text by criteria, by a chat model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from assay.asks import Grade
from assay.judges.asking import Asking, Call, Compose, Job, Read
from assay.judges.prompting import Form, criterion_id, grade_messages
from assay.judges.replies import Key, read_grades
from assay.verdicts import Grading

LEFT_OUT = "the judge left this criterion out"


class Grader:
    """Answers to Grade, by one call for up to ``max_items`` criteria."""

    def __init__(self, asking: Asking, form: Form, *, max_items: int) -> None:
        self._asking = asking
        self._form = form
        self._max_items = max_items

    async def gradings(self, ask: Grade) -> tuple[Grading, ...]:
        """A grading a criterion, in order; raises a JudgeError if the endpoint answered none.

        A criterion that two replies leave out has no level.
        """
        jobs, compose = self._planned(ask)
        found, missing = await self._asking.settle_all(jobs, compose)
        found |= {criterion: Grading(None, why) for criterion, why in missing.items()}
        return tuple(found[criterion] for criterion in ask.criteria)

    def calls(self, ask: Grade) -> list[Call[str, Grading]]:
        """The calls that `gradings` begins with; nothing is sent."""
        jobs, compose = self._planned(ask)
        return [compose(job.missing()) for job in jobs]

    def _planned(self, ask: Grade) -> tuple[list[Job[str, Grading]], Compose[str, Grading]]:
        criteria = list(dict.fromkeys(ask.criteria))
        ids = {criterion: criterion_id(k) for k, criterion in enumerate(criteria)}
        jobs = [
            Job[str, Grading](criteria[start : start + self._max_items])
            for start in range(0, len(criteria), self._max_items)
        ]
        return jobs, partial(self._call, ask, ids)

    def _call(
        self, ask: Grade, ids: Mapping[str, str], missing: Sequence[str]
    ) -> Call[str, Grading]:
        wanted = {ids[criterion]: criterion for criterion in missing}
        nonce, messages = grade_messages(self._form, ask, wanted)
        keys: dict[Key, str] = {(key, ""): criterion for key, criterion in wanted.items()}

        def read(reply: str) -> Read[str, Grading]:
            got = read_grades(reply, nonce, keys)
            said = {keys[key]: grading for key, grading in got.said.items()}
            return Read(said, LEFT_OUT, got.invalid)

        return Call(messages, self._form.schema, len(keys), read)
