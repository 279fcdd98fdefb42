"""The environment with a suite's ``env``, which judges and providers read keys and URLs from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from assay.errors import ConfigError


@contextmanager
def environment(added: Mapping[str, str]) -> Iterator[None]:
    """Variables set for a while; raises ConfigError for what no variable can be."""
    for name, value in added.items():
        if not name or "=" in name or "\0" in name + value:
            raise ConfigError(f"env: {name!r} cannot be the name or value of a variable")
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = earlier
