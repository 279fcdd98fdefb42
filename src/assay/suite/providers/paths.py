"""Values inside JSON data: by JSONPath, by a path such as ``choices[0].text``, or by template."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.errors import ConfigError
from assay.suite.providers.base import Answer
from assay.suite.providers.searching import (
    LONGEST,
    NothingFoundError,
    compiled,
    search,
    shape,
    short,
)

if TYPE_CHECKING:
    from assay.suite.templates import Templates

_STEP = re.compile(
    r"(?:\?\.)?\[\s*(?:(?P<index>\d{1,9})|(?P<quote>[\"'])(?P<key>[^\"'\\]*)(?P=quote))\s*\]"
    r"|(?:\?\.|\.)?(?P<name>[^\W\d][\w-]*)"
)
_ARROW = re.compile(r"^\(?\s*(\w+(?:\s*,\s*\w+)*)\s*\)?\s*=>\s*(?![{\s])")


def find(expression: str, data: Any, *, listed: bool = False) -> Any:
    """What the path finds in JSON-able data: one match as it is, several as a list.

    A path that begins with ``$`` is a JSONPath (RFC 9535, without regular expressions), any other
    a path of names and indexes from the data's top. ``listed`` is that of `search`. Raises
    NothingFoundError where nothing is there or the search would take too long, ConfigError for an
    expression that is neither.

    >>> data = {"choices": [{"text": "a"}, {"text": "b"}]}
    >>> find("$.choices[*].text", data), find("choices[0].text", data)
    (['a', 'b'], 'a')
    """
    if expression.strip().startswith("$"):
        return search(expression.strip(), data, listed=listed)
    return walk(steps(expression), data)


def check(expression: str) -> None:
    """Raise ConfigError for an expression that is no path of either kind."""
    if expression.strip().startswith("$"):
        compiled(expression.strip())
    else:
        steps(expression)


def steps(expression: str) -> list[str | int]:
    """The names and indexes of a plain path; raises ConfigError for anything else.

    >>> steps("json.choices[0]?.message['content']")
    ['json', 'choices', 0, 'message', 'content']
    """
    text, at = expression.strip(), 0
    out: list[str | int] = []
    while at < len(text) <= LONGEST:
        found = _STEP.match(text, at)
        if not found or (at and found["name"] and text[at] not in ".?"):
            break
        if found["index"] is not None:
            out.append(int(found["index"]))
        else:
            out.append(found["name"] or found["key"] or "")
        at = found.end()
    if at < len(text) or not out:
        raise ConfigError(
            f"{short(expression)} is no path; JavaScript is not run: write a JSONPath such as"
            " $.choices[0].message.content"
        )
    return out


def walk(path: list[str | int], data: Any) -> Any:
    """What lies at the end of a plain path; raises NothingFoundError."""
    here = data
    for count, step in enumerate(path):
        if not _has(here, step):
            raise NothingFoundError(f"nothing at {_written(path[: count + 1])}: {shape(here)}")
        here = here[step]
    return here


class Transform:
    """One expression, applied to named values.

    ``$...`` is a JSONPath into the value called ``main``. A plain path begins at the value that
    its first name names, as ``json.choices[0].text``, else in ``main``. With ``{{ }}`` it is a
    template of all values, where a lone variable keeps its type. ``(json) => json.a`` is taken as
    ``json.a``; raises ConfigError for other JavaScript. With ``listed`` a JSONPath that may find
    several values gives a list of as many as there are, also of none.
    """

    def __init__(
        self, expression: str, templates: Templates, main: str = "json", *, listed: bool = False
    ) -> None:
        self._text = expression.strip()
        self._templates, self._main, self._listed = templates, main, listed
        self._read: set[str] = set()
        if self._is_template:
            templates.check(self._text)
            self._read = templates.names(self._text)
        else:
            self._text = _without_arrow(self._text)
            check(self._text)

    def reads(self, name: str, names: tuple[str, ...]) -> bool:
        """Whether the expression looks at the value of this name, of all names there are."""
        if self._is_template:
            return name in self._read
        if self._text.startswith("$"):
            return name == self._main
        first = steps(self._text)[0]
        return first == name if first in names else name == self._main

    def apply(self, values: Mapping[str, Any]) -> Any:
        """What the expression finds; raises NothingFoundError, ConfigError."""
        if self._is_template:
            return self._templates.render_value(self._text, values)
        if self._text.startswith("$"):
            return find(self._text, values[self._main], listed=self._listed)
        path = steps(self._text)
        if isinstance(path[0], str) and path[0] in values:
            return walk(path, values)
        return walk(path, values[self._main])

    @property
    def _is_template(self) -> bool:
        return "{{" in self._text or "{%" in self._text


def transformed(
    expression: str, answer: Answer, variables: Mapping[str, Any], templates: Templates
) -> Any:
    """The contexts that a transform finds in an answer: in its output, else in the whole reply.

    A path may begin at ``output``, ``raw``, ``json`` (the same), ``metadata``, ``vars`` or, as
    elsewhere, ``context.metadata`` and ``context.vars``. An output that is JSON as text is read.
    A JSONPath that may find several and finds none gives []. Raises NothingFoundError, ConfigError.
    """
    output, metadata = _read(answer.output), dict(answer.metadata)
    about = {"metadata": metadata, "vars": dict(variables)}
    raw = answer.raw
    values = {"output": output, "raw": raw, "json": raw, "context": about, **about}
    main = "output" if isinstance(output, Mapping | list) else "raw"
    one_place = main == "raw" or raw is None or raw == output
    empty, missing = False, None
    for place in (main,) if one_place else (main, "raw"):
        try:
            found = Transform(expression, templates, place, listed=True).apply(values)
        except NothingFoundError as error:
            missing = error
            continue
        if found != []:
            return found
        empty = True
    if missing is not None and not empty:
        raise missing
    return []


def _read(output: Any) -> Any:
    """The data of an output that is a JSON object or list as text, else the output."""
    if isinstance(output, str) and output.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(output, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            return output
    return output


def _without_arrow(text: str) -> str:
    """The body of an arrow function that is one expression."""
    text = text.rstrip("; \n")
    found = _ARROW.match(text)
    return text[found.end() :] if found else text


def _has(data: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(data, Mapping) and step in data
    return isinstance(data, list | tuple) and step < len(data)


def _written(path: list[str | int]) -> str:
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(parts).removeprefix(".")
