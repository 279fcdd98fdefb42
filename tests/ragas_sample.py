"""A sample in ragas' shape, and judges for it."""

from __future__ import annotations

from typing import Any

from assay import ScriptedJudge
from assay.asks import Entail
from assay.errors import JudgeUnavailable
from assay.ragas import SingleTurnSample

SAMPLE = SingleTurnSample(
    user_input="Who painted the Mona Lisa, and when?",
    response="Leonardo painted it. It is from the 15th century.",
    reference="Leonardo painted it. It is from the 16th century.",
    retrieved_contexts=["Leonardo painted it. It is from the 15th century.", "Paris has a river."],
)
ROW: dict[str, Any] = SAMPLE.to_dict()


def judge() -> ScriptedJudge:
    """A judge by which a premise entails the sentences that stand in it."""
    return ScriptedJudge(
        labels={
            ("relevant_passage", ROW["retrieved_contexts"][0]): True,
            ("relevant_statement", "Leonardo painted it."): True,
        }
    )


class Broken(ScriptedJudge):
    """A judge that gives claims and no verdicts."""

    async def answer(self, ask: Any) -> Any:
        if isinstance(ask, Entail):
            raise JudgeUnavailable("no answer for now")
        return await super().answer(ask)
