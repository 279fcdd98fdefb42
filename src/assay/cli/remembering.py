"""The answer cache as commands use it: on, off, or the only source."""

from __future__ import annotations

from collections.abc import Callable

from assay.asks import Judge
from assay.errors import ConfigError
from assay.judges.carrier import shown_url
from assay.judges.memory.sqlite import SqliteStore
from assay.judges.memory.store import MemoryStore, Store
from assay.judges.remembering import RememberingJudge


def remember(*, cache: bool = True, offline: bool = False) -> Callable[[Judge, int], Judge]:
    """A wrapper for judges, with a number for repeats: their answers are kept and used again.

    Without ``cache`` nothing is kept beyond the command, in which equal questions are still asked
    once. ``offline``: what is not in the cache is not asked. All judges share one store.
    """
    if offline and not cache:
        raise ConfigError("--offline answers from the cache: leave out --no-cache")
    store: Store = SqliteStore() if cache else MemoryStore()

    def wrapped(judge: Judge, repeat: int = 0) -> Judge:
        remembering = RememberingJudge(judge, store, repeat=repeat, offline=offline)
        endpoint = _endpoint(judge)
        if endpoint is not None and isinstance(store, SqliteStore):
            store.place(remembering.fingerprint, endpoint)
        return remembering

    return wrapped


def _endpoint(judge: Judge) -> str | None:
    """The URL that a judge asks, without anything that could be secret; None if it asks none."""
    from assay.planning.models import endpoint_of

    url = endpoint_of(judge).base_url
    try:
        return shown_url(url) if url is not None and "://" in url else None
    except ValueError:  # no URL after all
        return None
