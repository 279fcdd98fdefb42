"""The JSON Schema of a config, for editors."""

from __future__ import annotations

from typing import Any

from assay.suite.kinds import KINDS, SET
from assay.suite.model import SuiteSpec

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def config_schema() -> dict[str, Any]:
    """The schema of a whole config: its keys, their types, and the kinds of assertions.

    Unknown keys are errors, but for ``$schema`` and ``$ref``.
    """
    schema = SuiteSpec.model_json_schema(mode="validation")
    parts = schema.get("$defs", {})
    for part in (schema, *parts.values()):
        _close(part)
    kinds = parts["AssertionSpec"]["properties"]["type"]
    kinds["anyOf"] = [
        {"enum": sorted([*KINDS, *(f"not-{name}" for name in KINDS), SET])},
        {"type": "string", "pattern": r"^(not-)?assay:.+$"},
    ]
    kinds.pop("type", None)
    kinds["description"] = "; ".join(f"{kind.name}: {kind.about}" for kind in KINDS.values())
    # An assertion may be a reference to one that is written elsewhere in the config.
    parts["AssertionSpec"]["properties"]["$ref"] = {"type": "string"}
    parts["AssertionSpec"].pop("required", None)
    schema["properties"]["$schema"] = {"type": "string"}
    return {"$schema": DRAFT, "title": "assay suite", **schema}


def _close(part: dict[str, Any]) -> None:
    """Refuse unknown keys of an object whose keys are known."""
    if "properties" in part:
        part["additionalProperties"] = False
