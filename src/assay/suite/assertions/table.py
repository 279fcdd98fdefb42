"""All kinds of assertion that need no judge, and what checks their values beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from assay.suite.assertions import (
    containing,
    distance,
    equality,
    overlap,
    patterns,
    structured,
    telemetry,
)
from assay.suite.assertions.base import Kind
from assay.suite.assertions.schemas import bad_schema

CHECKS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for module in (
            equality,
            containing,
            patterns,
            distance,
            structured,
            overlap,
            telemetry,
        )
        for kind in module.KINDS
    }
)
"""Kinds by name."""

VALIDATORS: Mapping[str, Callable[[Any], str | None]] = MappingProxyType(
    {
        "contains": containing.bad_text,
        "icontains": containing.bad_text,
        "starts-with": containing.bad_text,
        "contains-any": containing.bad_texts,
        "icontains-any": containing.bad_texts,
        "contains-all": containing.bad_texts,
        "icontains-all": containing.bad_texts,
        "regex": patterns.bad_pattern,
        "word-count": distance.bad_count,
        "is-json": bad_schema,
        "contains-json": bad_schema,
        "rouge-n": overlap.bad_reference,
        "bleu": overlap.bad_references,
        "gleu": overlap.bad_references,
    }
)
"""What is wrong with a kind's value, None if nothing is; for values without template in them."""
