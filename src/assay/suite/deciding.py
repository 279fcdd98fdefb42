"""From what assertions found to pass or fail: negation, weights, sets, tests."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.score import Score
from assay.suite.assertions.base import Found, reaches
from assay.suite.outcome import Outcome, Status
from assay.suite.titles import and_more, titled

REPORTED_ONLY = "reported, weight 0"
TEXTS = frozenset({"contextChunks", "noiseContext"})
"""Keys of a config that hold texts of contexts."""


def without_texts(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config of an assertion without the texts of its contexts."""
    return {name: value for name, value in config.items() if name not in TEXTS}


def decided(
    type: str, found: Found, *, negated: bool, lower: bool, about: Mapping[str, Any]
) -> Outcome:
    """The outcome of an assertion that found something; ``about`` are further fields."""
    holds = found.holds is not negated
    goodness = float(found.holds) if found.goodness is None else found.goodness
    reason = f"negated: {found.reason}" if negated else found.reason
    if about.get("weight") == 0 and not holds:
        # An assertion without weight is there to be seen, not to decide.
        holds, reason = True, f"{REPORTED_ONLY}: {reason}"
    if negated:
        goodness = 1 - goodness
    measured = found.value is not None
    return Outcome(
        type,
        "pass" if holds else "fail",
        reason,
        value=found.value if measured else goodness,
        goodness=goodness,
        # What only holds or not is 1 where it is as wanted, with not- as well.
        lower_is_better=measured and lower is not negated,
        items=found.items,
        figures=found.figures,
        **about,
    )


def undefined(
    type: str, score: Score, policy: str, *, lower: bool, about: Mapping[str, Any]
) -> Outcome:
    """The outcome of an assertion with nothing to measure, by the policy for that."""
    what = f"nothing to measure: {score.reason}"
    if policy == "pass":
        # promptfoo's reading: no claims, so none of them is wrong.
        best = 0.0 if lower else 1.0
        return Outcome(
            type, "pass", f"{what}; counted as {best:g}", best, 1.0, lower_is_better=lower, **about
        )
    if policy == "fail":
        ends: Status = "fail"
        if about.get("weight") == 0:
            ends, what = "pass", f"{REPORTED_ONLY}: {what}"
        return Outcome(type, ends, what, None, 0.0, lower_is_better=lower, **about)
    status: Status = "error" if policy == "error" else "skipped"
    return Outcome(type, status, what, lower_is_better=lower, **about)


def summed_up(
    outcomes: Sequence[Outcome], threshold: float | None
) -> tuple[Status, float | None, str]:
    """Status, score and reason of outcomes together.

    The score is the mean goodness by weight. With a threshold it alone decides; without one every
    outcome must pass. An error is an error whatever the others say; where all were skipped, so is
    the whole.
    """
    score = mean_goodness(outcomes)
    if any(one.status == "error" for one in outcomes):
        return "error", None, _first(outcomes, "error")
    if outcomes and all(one.status == "skipped" for one in outcomes):
        return "skipped", None, _named(outcomes[0])
    failed = _first(outcomes, "fail")
    if threshold is not None:
        shown = 1.0 if score is None else score
        said = f"score {shown:.3g}, threshold at least {threshold:g}"
        if reaches(shown, threshold):
            return "pass", score, said
        return "fail", score, f"{said}; {failed}" if failed else said
    if failed:
        return "fail", score, failed
    return "pass", score, "all assertions passed" if outcomes else "no assertions"


def _first(outcomes: Sequence[Outcome], status: Status) -> str:
    """The first assertion of a status with its reason, and how many more did not pass."""
    blamed = list(_blamed(outcomes))
    first = next((one for one in blamed if one.status == status), None)
    if first is None:
        return ""
    return "; ".join(filter(None, (_named(first), and_more(len(blamed) - 1))))


def _blamed(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """The assertions that did not pass: of a set those in it, or itself if it is not for them."""
    for one in outcomes:
        if one.status in ("fail", "error"):
            inner = list(_blamed(one.parts))
            if all(each.status != one.status for each in inner):
                yield one
            yield from inner


def _named(one: Outcome) -> str:
    return f"{titled(one.type, one.config, one.metric)}: {one.reason}"


def mean_goodness(outcomes: Sequence[Outcome]) -> float | None:
    """Mean goodness by weight, of outcomes that have one; 1 where nothing has weight."""
    weighed = [(one.goodness, one.weight) for one in outcomes if one.goodness is not None]
    total = math.fsum(weight for _, weight in weighed)
    if not total:
        return 1.0 if not outcomes or weighed else None
    return math.fsum(goodness * weight for goodness, weight in weighed) / total


def named_scores(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Mean score by the name that assertions give to what they measure, by weight.

    A score is in its own unit and direction, as it is shown; one that is better when lower is not
    turned round. An assertion of weight 0 counts here as any other: it is there to be seen.
    """
    named: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in outcomes:
        for each in (*one.parts, one):
            value = _raw(each)
            if each.metric and value is not None:
                named[each.metric].append((value, each.weight or 1.0))
    return {
        name: math.fsum(v * w for v, w in pairs) / math.fsum(w for _, w in pairs)
        for name, pairs in named.items()
    }


def _raw(one: Outcome) -> float | None:
    """The score as it is shown, or the worst or best where there was nothing to measure."""
    if one.value is not None or one.goodness is None:
        return one.value
    return 1 - one.goodness if one.lower_is_better else one.goodness
