"""JSON Schema: reading a schema, and what of some data does not conform to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from assay.suite.assertions.patterns import bad_pattern, search
from assay.suite.assertions.quoting import quoted, shown

if TYPE_CHECKING:
    from jsonschema.exceptions import SchemaError, ValidationError
    from jsonschema.protocols import Validator

_ERRORS = 20
"""Errors among which the most telling is looked for."""

_DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords that hold data rather than schemas."""

_ELSEWHERE = ("http:", "https:", "file:")

Schema = Mapping[str, Any]


def read_schema(value: Any) -> Schema:
    """A schema given as an object, or as a text in JSON or YAML.

    Raises ValueError where it is none. The draft is the one that $schema names, or else draft 7.
    """
    schema = _as_json(_loaded(value) if isinstance(value, str) else value)
    _check(schema)
    return schema


def bad_schema(value: Any) -> str | None:
    """What is wrong with a value that is to be a schema; None if nothing is, or there is none."""
    if value is None:
        return None
    try:
        read_schema(value)
    except ValueError as error:
        return str(error)
    return None


def violation(data: Any, schema: Schema) -> str | None:
    """What of the data does not conform, on one line; None if all does.

    ``format`` is a remark and asserts nothing, references are followed within the schema only.
    Raises ValueError for a reference that leads nowhere, TimeoutError for a pattern that takes
    too long.
    """
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        error = best_match(islice(_validator(schema).iter_errors(data), _ERRORS))
    except Unresolvable as missing:
        raise ValueError(f"the schema refers to {quoted(missing.ref)}, which it lacks") from missing
    except RecursionError as deep:
        raise ValueError("the schema refers to itself without end, or is too deep") from deep
    return None if error is None else _told(error)


def _told(error: ValidationError | SchemaError) -> str:
    where = quoted(error.json_path[-60:], 60)[1:-1] if error.path else "the whole"
    if error.validator == "required" and isinstance(error.validator_value, list):
        there: Any = error.instance
        missing = next((str(key) for key in error.validator_value if key not in there), "")
        return f"{where} lacks {quoted(missing, 60)}"
    rule = f"{error.validator}: {shown(error.validator_value, 60)}"
    return f"{where} is {shown(error.instance, 60)}, against {rule}"


def _loaded(text: str) -> Any:
    """The data of a text in JSON or YAML; aliases are refused, since few can stand for much."""
    import yaml

    if not text.strip():
        raise ValueError("the schema is empty")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise ValueError("the schema has YAML aliases: write out what they stand for")
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("the schema is neither JSON nor YAML") from error


def _as_json(schema: Any) -> dict[str, Any]:
    """The schema as JSON would hold it: keys are texts, and it does not contain itself."""
    try:
        held = json.loads(json.dumps(schema))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError("the schema has in it what JSON cannot hold") from error
    if not isinstance(held, dict):
        raise ValueError("the schema must be an object")  # noqa: TRY004 (told like the others)
    return held


def _check(schema: dict[str, Any]) -> None:
    from jsonschema.exceptions import SchemaError

    rules: Any = _drafts(schema)
    try:
        rules.check_schema(schema, format_checker=None)
    except SchemaError as error:
        raise ValueError(f"the schema is not valid: {_told(error)}") from error
    except RecursionError as error:
        raise ValueError("the schema is nested too deeply") from error
    parts = list(_parts(schema))
    ids = {str(part["$id"]).rstrip("#") for part in parts if "$id" in part}
    for part in parts:
        for pattern in (part.get("pattern"), *_keys(part.get("patternProperties"))):
            if isinstance(pattern, str) and (wrong := bad_pattern(pattern)):
                raise ValueError(f"a pattern in the schema: {wrong}")
        to = str(part.get("$ref", ""))
        if to.startswith(_ELSEWHERE) and to.partition("#")[0] not in ids:
            raise ValueError(f"{quoted(to)} is not fetched: put that schema into this one")


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema and the schemas within it, and other objects in it that are no data."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting += [each for key, each in node.items() if key not in _DATA]
        elif isinstance(node, list):
            waiting += node


def _keys(value: Any) -> Iterable[str]:
    return value if isinstance(value, Mapping) else ()


def _drafts(schema: Schema) -> type[Validator]:
    """The rules of the schema's draft."""
    from jsonschema import Draft7Validator
    from jsonschema.validators import validator_for

    found: type[Validator] = validator_for(schema, default=Draft7Validator)
    named = str(schema.get("$schema", "")).rstrip("#")
    if named and str(found.META_SCHEMA["$schema"]).rstrip("#") != named:
        raise ValueError(f"the schema's $schema {quoted(named)} is unknown")
    return found


def _validator(schema: Schema) -> Validator:
    """What holds data against the schema, with bounds of time and without the network."""
    from jsonschema import validators
    from referencing.jsonschema import EMPTY_REGISTRY

    rules = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    }
    bounded: type[Validator] = validators.extend(_drafts(schema), rules)  # type: ignore[no-untyped-call]
    return bounded(schema, registry=EMPTY_REGISTRY)


def _pattern(
    _validator: Any, pattern: str, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not search(pattern, instance):
        yield ValidationError("it does not match the pattern")


def _pattern_properties(
    validator: Any, patterns: Schema, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, Mapping):
        for pattern, within in patterns.items():
            for key, each in instance.items():
                if search(pattern, str(key)):
                    yield from validator.descend(each, within, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, within: Any, instance: Any, schema: Schema
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, Mapping):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, each in instance.items():
        if key in named or any(search(pattern, str(key)) for pattern in patterns):
            continue
        if within is False:
            yield ValidationError("it has a key too many", path=[key], instance=each)
        elif within is not True:
            yield from validator.descend(each, within, path=key)


def _unique_items(
    _validator: Any, wanted: bool, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if wanted and isinstance(instance, list) and len(set(map(_frozen, instance))) < len(instance):
        yield ValidationError("it has equal items")


def _frozen(value: Any) -> Any:
    """Something hashable that is equal where the data is: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, Mapping):
        return frozenset((key, _frozen(each)) for key, each in value.items())
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return (bool, value) if isinstance(value, bool) else value
