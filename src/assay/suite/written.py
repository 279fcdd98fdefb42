"""Tests as they are written, before lists are taken apart and references filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assay.suite.case import Placed
from assay.suite.model import OptionsSpec, TestSpec
from assay.suite.problems import Place

AROUND = ("prefix", "suffix")
"""Options that are templates of their own."""


class Var(NamedTuple):
    """A value and where it is written; ``data`` is taken as it is: not rendered, not a path."""

    value: Any
    place: Place
    data: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """One test as it is written; ``around`` holds its prefix and suffix of prompts."""

    spec: TestSpec
    place: Place
    vars: Mapping[str, Var] = field(default_factory=dict)
    around: Mapping[str, Var] = field(default_factory=dict)
    assertions: tuple[Placed, ...] = ()


def merged(base: Written, test: Written, *, description: str | None = None) -> Written:
    """The test with what ``base`` says where the test says nothing.

    Variables, options and metadata are merged by name; assertions of the base come first.
    """
    return Written(
        spec=_merged_spec(base.spec, test.spec, description),
        place=test.place,
        vars={**base.vars, **test.vars},
        around={**base.around, **test.around},
        assertions=base.assertions + test.assertions,
    )


def merged_options(base: OptionsSpec, over: OptionsSpec) -> OptionsSpec:
    """The options of both, those of ``over`` first."""
    if not over.model_fields_set:
        return base
    return base.model_copy(update={name: getattr(over, name) for name in over.model_fields_set})


def _merged_spec(base: TestSpec, test: TestSpec, description: str | None) -> TestSpec:
    update: dict[str, Any] = {"options": merged_options(base.options, test.options)}
    if base.metadata:
        update["metadata"] = {**base.metadata, **test.metadata}
    if test.threshold is None:
        update["threshold"] = base.threshold
    if test.prompts is None:
        update["prompts"] = base.prompts
    if test.provider is None and test.providers is None:
        update |= {"provider": base.provider, "providers": base.providers}
    if "provider_output" in base.model_fields_set - test.model_fields_set:
        update["provider_output"] = base.provider_output
    if description is not None:
        update["description"] = description
    return test.model_copy(update=update)
