"""is-json and contains-json: the output is, or has in it, JSON that conforms to a schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.suite.assertions.base import CannotCheckError, Found, Given, Kind
from assay.suite.assertions.jsontext import embedded, is_json, read_json
from assay.suite.assertions.quoting import quoted, shown
from assay.suite.assertions.schemas import Schema, read_schema, violation

_MOST = 100
"""Objects and lists of one output that are held against a schema."""


def whole_json(given: Given) -> Found:
    """Whether the output is JSON, and conforms to the schema where there is one."""
    schema = _schema(given)
    output = given.answer.output
    if schema is None:
        return _plain_json(output)
    if isinstance(output, str):
        try:
            output = read_json(output)
        except ValueError as error:
            return _no_json(output, str(error))
    wrong = _violation(output, schema)
    return Found(
        wrong is None, f"the JSON does not conform: {wrong}" if wrong else "the JSON conforms"
    )


def _plain_json(output: Any) -> Found:
    if not isinstance(output, str):
        return Found(True, f"the output is JSON: {shown(output)}")
    if is_json(output):
        return Found(True, f"the output is JSON: {quoted(output)}")
    try:
        read_json(output)
    except ValueError as error:
        return _no_json(output, str(error))
    except CannotCheckError:
        return _no_json(output, "brackets are not closed")
    return Found(True, "the output is JSON")


def _no_json(output: str, why: str) -> Found:
    begins = f"; it begins {quoted(output, 60)}" if output else ""
    return Found(False, f"the output is no JSON: {why}{begins}")


def contains_json(given: Given) -> Found:
    """Whether an object or list in JSON is in the output that conforms to the schema.

    A list of numbers, like a citation [1], counts only where the schema asks for a list.
    """
    schema = _schema(given)
    lists = schema is not None and "array" in str(schema.get("type", ""))
    wrong, tried = "", 0
    for data in _candidates(given.answer.output, lists):
        tried += 1
        if tried > _MOST:
            break
        problem = None if schema is None else _violation(data, schema)
        if problem is None:
            return Found(True, f"the output has the JSON {shown(data)}")
        wrong = wrong or problem
    if not tried:
        text = given.text
        begins = f"it begins {quoted(text, 60)}" if text else "it is empty"
        return Found(False, f"the output has no JSON in it; {begins}")
    if tried > _MOST:
        raise CannotCheckError(f"none of the first {_MOST} pieces of JSON conforms")
    first = "the JSON in the output" if tried == 1 else f"none of {tried} pieces of JSON, the first"
    return Found(False, f"{first} does not conform: {wrong}")


def _candidates(output: Any, lists: bool) -> Iterator[Any]:
    """The data in an output: objects, those in lists too, and lists."""
    if not isinstance(output, str):
        yield from _parts(output, lists)
        return
    for data in embedded(output):
        yield from _parts(data, lists)


def _parts(data: Any, lists: bool) -> Iterator[Any]:
    """The data itself if it counts, or else, or besides, the objects in a list."""
    if isinstance(data, dict):
        yield data
    elif isinstance(data, list):
        if lists or any(not isinstance(each, int | float) for each in data):
            yield data
        for each in data:
            yield from _parts(each, lists=False)


def _schema(given: Given) -> Schema | None:
    if given.value is None:
        return None
    try:
        return read_schema(given.value)
    except ValueError as error:
        raise CannotCheckError(str(error)) from error


def _violation(data: Any, schema: Schema) -> str | None:
    try:
        return violation(data, schema)
    except TimeoutError as error:
        raise CannotCheckError("a pattern of the schema takes too long on this output") from error
    except ValueError as error:
        raise CannotCheckError(str(error)) from error


KINDS = (
    Kind(
        "is-json",
        "the output is JSON, and conforms to the schema if one is given",
        whole_json,
        value="optional",
        types=(dict, str),
    ),
    Kind(
        "contains-json",
        "an object or list in JSON is in the output, and conforms to the schema if one is given",
        contains_json,
        value="optional",
        types=(dict, str),
    ),
)
