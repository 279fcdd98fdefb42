"""``assay:NAME``: any metric of the catalogue as an assertion."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from assay.errors import MissingField
from assay.metrics import Metric, load_metric
from assay.runner import closure
from assay.sample import Sample
from assay.score import Score
from assay.suite.assertions.base import CannotCheckError, Found, Given, reaches, stays_below
from assay.suite.assertions.graded import GradedKind, Wanted, explained
from assay.suite.assertions.sources import contexts_of, question_of, references_of

PREFIX = "assay:"


@lru_cache(maxsize=256)
def native_kind(name: str) -> GradedKind:
    """The kind of ``assay:NAME``; raises ConfigError if there is no such metric.

    The value is the right answer, where the metric needs one. The threshold is given in the unit
    and direction of the metric.
    """
    metric = load_metric(name)
    shown = str(metric)

    def want(given: Given) -> Wanted:
        references = None if given.value is None else references_of(given)
        spared = _failed(given) and not _reads_contexts(metric)
        contexts = None if spared else contexts_of(given)
        return Wanted({shown: metric}, given.text, question_of(given), contexts, references)

    def read(given: Given, scores: Mapping[str, Score]) -> Found:
        return _read(metric, shown, given, scores[shown])

    about = (type(metric).__doc__ or "").strip().splitlines()[0].rstrip(".")
    return GradedKind(
        PREFIX + name,
        about,
        want,
        read,
        value="optional",
        types=(str, list),
        threshold="required",
        default=None,
        bounds=(metric.low, metric.high),
        lower_is_better=not metric.higher_is_better,
        config=("contextChunks", "noiseContext"),
    )


def _reads_contexts(metric: Metric) -> bool:
    try:
        closure(metric.needs, Sample("?", "?", None, ["?"]))
    except MissingField as error:
        return error.field == "contexts"
    return False


def _failed(given: Given) -> bool:
    """Whether the provider's contexts could not be found."""
    return given.retrieved is None and given.answer.contexts_error is not None


def _read(metric: Metric, shown: str, given: Given, score: Score) -> Found:
    if score.value is None or given.threshold is None:
        raise CannotCheckError(f"{shown}: no threshold is given")
    lower = not metric.higher_is_better
    holds = (stays_below if lower else reaches)(score.value, given.threshold)
    share = (score.value - metric.low) / (metric.high - metric.low)
    goodness = min(1.0, max(0.0, 1 - share if lower else share))
    reason = explained(shown, score, given.threshold, lower=lower)
    blamed = [item.claim for item in score.items if item.hit is lower]
    if not holds and blamed:
        reason += f"; {blamed[0]!r}" + (f" and {len(blamed) - 1} more" if len(blamed) > 1 else "")
    return Found(holds, reason, score.value, goodness, score.items)
