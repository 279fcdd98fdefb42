"""pytest: assertions on scores, a judge for the session, suites in YAML as tests.

``from assay.pytest_plugin import assert_scores`` also works without pytest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.pytest_plugin.asserting import assert_scores, assert_scores_async

__all__ = ["assert_scores", "assert_scores_async"]


def __getattr__(name: str) -> object:
    """The exported name, imported at its first use: pytest loads this package in every run."""
    if name not in __all__:
        raise AttributeError(f"module 'assay.pytest_plugin' has no attribute {name!r}")
    return getattr(import_module("assay.pytest_plugin.asserting"), name)
