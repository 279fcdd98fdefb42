"""ragas' settings of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class RunConfig:
    """How long one call to a model may take, and how many samples are in work at once.

    ``timeout`` is in seconds and covers one call, where ragas' covers all calls of a metric.
    ``max_workers`` counts samples. The rest is kept and has no effect: judges wait and ask again
    by rules of their own.
    """

    timeout: float = 180
    max_retries: int = 10
    max_wait: int = 60
    max_workers: int = 16
    exception_types: type[BaseException] | tuple[type[BaseException], ...] = (Exception,)
    log_tenacity: bool = False
    seed: int = 42
