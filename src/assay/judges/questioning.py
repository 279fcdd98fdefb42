"""Questions that a text answers, by a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from assay.asks import Questions
from assay.errors import ConfigError, MalformedAnswer
from assay.judges.asking import Asking, Call, Job, Read
from assay.judges.prompting import Form, questions_messages
from assay.judges.replies import read_questions
from assay.verdicts import Asked


class Questioning:
    """Answers to Questions, by one call each."""

    def __init__(self, asking: Asking, form: Form) -> None:
        self._asking = asking
        self._form = form

    async def questions(self, ask: Questions) -> Asked:
        """The questions; raises MalformedAnswer if neither of two replies was readable.

        Raises ConfigError if less than one question is asked for.
        """
        if ask.n < 1:
            raise ConfigError(f"the number of questions must be at least 1, not {ask.n}")
        job = Job[str, Asked]([ask.text])
        await self._asking.settle(job, partial(self._call, ask))
        if job.missing():
            raise job.error or MalformedAnswer(f"no questions: {job.why}")
        return job.found[ask.text]

    def call(self, ask: Questions) -> Call[str, Asked]:
        """The call that `questions` begins with; nothing is sent."""
        return self._call(ask, [ask.text])

    def _call(self, ask: Questions, missing: Sequence[str]) -> Call[str, Asked]:
        nonce, messages = questions_messages(self._form, ask)

        def read(reply: str) -> Read[str, Asked]:
            return Read({ask.text: read_questions(reply, nonce, ask.n)}, "")

        return Call(messages, self._form.schema, len(missing), read)
