"""Labels of chunks before a suite runs: noise sensitivity that cannot be anything but 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.errors import AssayError
from assay.suite.assertions.base import Given
from assay.suite.assertions.noise import CANNOT_FAIL, NOISE, cannot_fail
from assay.suite.case import Placed, TestCase
from assay.suite.kinds import base_of, leaves
from assay.suite.model import ProviderSpec, SuiteSpec
from assay.suite.problems import Problem
from assay.suite.providers.base import Answer
from assay.suite.providers.openai import VENDORS
from assay.suite.templates import Templates


def check_labels(
    spec: SuiteSpec, cases: Sequence[TestCase], templates: Templates
) -> Iterator[Problem]:
    """A warning for each test whose chunks are known and none is labelled ``relevant: false``."""
    providers = spec.providers or spec.targets
    bring = not providers or any(map(_brings_contexts, providers))
    for case in cases:
        if _unknown(case, bring=bring):
            continue
        for placed in case.assertions:
            for leaf in leaves(placed):
                if base_of(leaf.spec.type)[0] == NOISE.name and _is_idle(leaf, case, templates):
                    why = f"{leaf.spec.type} in mode irrelevant: {CANNOT_FAIL}"
                    yield Problem(case.place, why, "warning")


def _brings_contexts(provider: ProviderSpec) -> bool:
    """Whether the provider may say what it retrieved."""
    kind = provider.id.partition(":")[0].strip()
    if kind in ("http", "https"):
        return "contextTransform" in provider.config
    return kind not in VENDORS and kind not in ("echo", "exec")


def _unknown(case: TestCase, *, bring: bool) -> bool:
    """Whether contexts may come with the answer."""
    if case.has_output:
        given = case.provider_output
        return isinstance(given, Mapping) and bool({"contexts", "context"} & given.keys())
    return bring


def _is_idle(leaf: Placed, case: TestCase, templates: Templates) -> bool:
    config = leaf.spec.config
    if "mode" not in config or (leaf.spec.context_transform and "contextChunks" not in config):
        return False
    if any(_is_file(value) for value in config.values()):
        return False
    try:
        filled = dict(config) if leaf.data else templates.render_value(dict(config), case.vars)
        return cannot_fail(Given(Answer(""), config=filled, vars=case.vars))
    except AssayError:
        return False  # the test says what is wrong with it


def _is_file(value: Any) -> bool:
    parts = value if isinstance(value, list) else [value]
    return any(isinstance(part, str) and part.startswith("file://") for part in parts)
