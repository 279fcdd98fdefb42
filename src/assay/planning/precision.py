"""How near the mean of a smaller sample is to the mean of all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.metrics import Metric
from assay.planning.estimating import FEW
from assay.score import Score
from assay.stats import t_quantile

SIZES = (100, 300, 1000)


def sizes_for(samples: int) -> list[int]:
    """The sizes to show: some round ones below the number of samples, and that number.

    >>> sizes_for(500), sizes_for(60)
    ([100, 300, 500], [60])
    """
    return [*(n for n in SIZES if n < samples), samples]


def half_width(metric: Metric, scores: Sequence[Score], n: int) -> float | None:
    """Half of the 95 % interval expected of the metric's mean over ``n`` samples.

    The spread is that of the pilot's scores, with one more at each end of the range: a few equal
    scores do not mean that all are. Without `FEW` scores it is the largest there can be. Samples
    for which the metric is undefined do not count. None if the range has no end.
    """
    low, high = metric.low, metric.high
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    values = [score.value for score in scores if score.value is not None]
    share = len(values) / len(scores) if values else 1.0
    count = round(n * share)
    if count < 2:
        return (high - low) / 2
    spread = _spread([*values, low, high]) if len(values) >= FEW else (high - low) / 2
    half = t_quantile(0.975, count - 1) * spread / math.sqrt(count)
    return min(half, (high - low) / 2)


def _spread(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
