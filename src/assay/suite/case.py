"""Tests of a suite as they are run: defaults merged, files read, variables expanded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.suite.model import AssertionSpec, OptionsSpec
from assay.suite.problems import Place


@dataclass(frozen=True, slots=True)
class Placed:
    """An assertion and where it is written; ``data``: in a data file, so it is never rendered."""

    spec: AssertionSpec
    place: Place
    data: bool = False


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test with one set of variables, before prompts and providers.

    ``vars`` are final: variables of the config that refer to others are filled in, values from
    data files are as they were. ``providers`` and ``prompts`` are labels or ids to keep, None for
    all. ``provider_output`` is a recorded answer; ``has_output`` tells whether there is one, since
    it may be null.
    """

    __test__ = False  # pytest collects what is called Test...

    index: int
    description: str
    vars: Mapping[str, Any]
    assertions: tuple[Placed, ...]
    place: Place
    options: OptionsSpec = field(default_factory=OptionsSpec)
    threshold: float | None = None
    providers: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    provider_output: Any = None
    has_output: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
