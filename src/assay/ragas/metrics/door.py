"""What every metric of this door is: ragas' fields, the native metric's name, the judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.api import evaluate_async
from assay.errors import JudgeError
from assay.metrics import Metric, load_metric
from assay.ragas.dataset_schema import SingleTurnSample
from assay.ragas.llms import BaseRagasLLM, as_llm
from assay.ragas.metrics.result import explain
from assay.run import Row, Run
from assay.score import Score


@dataclass
class DoorMetric:
    """A metric under ragas' name, computed by the native metric that ``native`` names.

    ``llm`` is a model of `assay.ragas.llms`, a judge, a LangChain chat model, or None for the
    model of `evaluate`, else the judge of $ASSAY_JUDGE, else the embedded one.
    """

    llm: Any = None
    name: str = ""
    _held: tuple[Any, tuple[Any, ...], BaseRagasLLM] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    columns: ClassVar[tuple[str, ...]] = ()
    """The fields of a sample that ragas asks for."""
    spared: ClassVar[tuple[str, ...]] = ()
    """Those of them that are not missed when they are absent."""
    blank: ClassVar[bool] = False
    """Whether a field that is there may be empty."""
    counted: ClassVar[str] = "count"
    """What holds of the claims that count, for the reason of a result."""
    note: ClassVar[str] = ""
    """What a user of ragas has to know about every value, for its reason."""

    def native(self) -> str:
        """The native metric's name with parameters."""
        raise TypeError(f"{type(self).__name__} does not say what computes it")

    def metric(self) -> Metric:
        """The native metric."""
        return load_metric(self.native())

    @property
    def required_columns(self) -> dict[str, set[str]]:
        """The fields that a sample should have, by kind of sample."""
        return {"SINGLE_TURN": set(self.columns)}

    @property
    def column(self) -> str:
        """The name of the metric's column in a result."""
        mode = getattr(self, "mode", None)
        return f"{self.name}(mode={mode})" if mode is not None else self.name

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise ValueError for a field that is missing or, unless that is allowed, empty."""
        for name in self.columns:
            value = values.get(name)
            if value is None:
                missing = name not in self.spared
            else:
                missing = not value and not self.blank
            if missing:
                raise ValueError(
                    f"{name} is missing in the test sample. Please add {name} to the test sample."
                )

    def when_undefined(self, row: Row) -> float:
        """What ragas gives where there is nothing to measure."""
        return math.nan

    def value(self, row: Row, score: Score) -> float:
        """The score as ragas' number; NaN if it failed."""
        if score.value is not None:
            return score.value
        return self.when_undefined(row) if score.status == "undefined" else math.nan

    def reason(self, score: Score) -> str:
        """One short paragraph: how many claims count, which do not, and why."""
        better = self.metric().higher_is_better
        return " ".join(filter(None, [explain(score, self.counted, better), self.note]))

    def judge_key(self) -> tuple[Any, ...]:
        """Parameters that make the judge another one."""
        return ()

    def make_llm(self, llm: Any) -> BaseRagasLLM:
        """The judge made of what the user gave."""
        return as_llm(llm)

    def llm_for(self, default: Any = None) -> BaseRagasLLM:
        """The judge: of ``llm`` or, if the metric has none, of ``default``."""
        source, key = default if self.llm is None else self.llm, self.judge_key()
        if self._held is None or self._held[0] is not source or self._held[1] != key:
            self._held = (source, key, self.make_llm(source))
        return self._held[2]

    async def run(self, samples: Sequence[SingleTurnSample], concurrency: int = 32) -> Run:
        """Score samples by this metric alone."""
        natives = [sample.native(str(n)) for n, sample in enumerate(samples, 1)]
        async with self.llm_for().at_work() as judge:
            return await evaluate_async(natives, self.metric(), judge, concurrency=concurrency)

    async def score_one(self, sample: SingleTurnSample) -> tuple[Row, Score]:
        """Score one sample; raises ValueError for a missing field, JudgeError without answers."""
        self.check(sample.model_dump())
        (row,) = await self.run([sample])
        (score,) = row.scores.values()
        if score.status == "failed":
            raise JudgeError(f"{self.name}: {score.reason}")
        return row, score


def check_mode(mode: str, allowed: Sequence[str]) -> None:
    """Raise ragas' ValueError for a mode that a metric does not have."""
    if mode not in allowed:
        *most, last = map(repr, allowed)
        raise ValueError(
            f"Invalid argument passed for 'mode': {mode}. Must be {', '.join(most)} or {last}."
        )
