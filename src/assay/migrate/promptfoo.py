"""A promptfoo config as JSONL of its tests, with the metrics of its assertions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from assay.errors import DataError
from assay.migrate.assertions import Mapped, dropped, metric_of, takes_model
from assay.migrate.data import as_jsonl
from assay.migrate.outcome import Migration
from assay.migrate.templates import MOST_TESTS, filled, open_ends, spread
from assay.readers import COLUMN_NAMES, read_samples

_FIELDS = {
    "question": ("query", *COLUMN_NAMES["question"]),
    "response": COLUMN_NAMES["response"],
    "contexts": ("contextChunks", *COLUMN_NAMES["contexts"]),
    "references": COLUMN_NAMES["references"],
}
_NOT_RUN = ("scenarios", "extensions", "derivedMetrics", "redteam", "nunjucksFilters")
_OPTIONS = ("transform", "postprocess", "transformVars", "prefix", "suffix", "rubricPrompt")


def migrate_suite(suite: Any, name: str) -> Migration:
    """The tests as samples, and the command that scores them; assertion by assertion what is what.

    The variables ``query``, ``context`` and ``contextChunks`` are question and contexts, values of
    assertions are references, and a recorded ``providerOutput`` or ``output`` is the response. No
    provider is called, no file that the config names is read. Raises DataError for a config whose
    tests are no list of objects.
    """
    work = _Work(suite)
    try:
        samples = read_samples(work.rows) if work.rows else []
    except DataError as error:
        where = str(error).replace("list, row", "its sample", 1)
        raise DataError(f"{name}: {where}") from None
    if not samples:
        raise DataError(f"{name}: it has no tests to migrate; {'; '.join(work.left)}".rstrip("; "))
    done = Migration(f"a promptfoo config, {len(samples)} samples", as_jsonl(samples))
    done.converted = _counted(work.converted)
    done.left = _counted(work.left)
    done.notes = [
        "prompts and providers are not run: recorded responses are scored",
        f"to run the config as it is: assay eval -c {name}",
    ]
    if work.metrics:
        done.command = ["score", "{}", "--metrics", ",".join(work.metrics)]
        if judge := _judge(work.default):
            done.command += ["--judge", judge]
        elif asked := sorted(filter(takes_model, work.metrics)):
            done.notes.append(f"{', '.join(asked)}: add --judge openai:MODEL")
    return done


class _Work:
    """Rows, metrics and remarks, gathered test by test."""

    def __init__(self, suite: Mapping[str, Any]) -> None:
        self.rows: list[dict[str, Any]] = []
        self.metrics: dict[str, None] = {}
        self.converted: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        for key in _NOT_RUN:
            if suite.get(key):
                self.left[f"{key}: not taken over"] += 1
        default = suite.get("defaultTest")
        if isinstance(default, str):
            self.left[f"defaultTest: {default} is not read; put it into the config"] += 1
        self.default: Mapping[str, Any] = default if isinstance(default, Mapping) else {}
        tests = suite.get("tests")
        for n, test in enumerate(tests if isinstance(tests, list) else [tests]):
            if isinstance(test, Mapping):
                self._test(n, test)
            elif test is not None:
                what = str(test)[:80]
                self.left[f"tests: {what} is not read; give its tests in the config"] += 1

    def _test(self, n: int, test: Mapping[str, Any]) -> None:
        options = {**_mapping(self.default, "options"), **_mapping(test, "options")}
        self._check(n, test, options)
        assertions = list(_flat(test.get("assert"), f"tests[{n}].assert", self.left))
        if not options.get("disableDefaultAsserts"):
            above = _flat(self.default.get("assert"), "defaultTest.assert", self.left)
            assertions = [*above, *assertions]
        variables = {**_mapping(self.default, "vars"), **_mapping(test, "vars")}
        whole = bool(options.get("disableVarExpansion"))
        mapped = [pair for one in assertions if (pair := self._assertion(one)) is not None]
        for values in spread(variables, whole=whole):
            if len(self.rows) >= MOST_TESTS * 10:
                raise DataError(f"the config makes over {MOST_TESTS * 10:,} tests")
            self.rows.append(self._row(n, test, values, mapped))

    def _check(self, n: int, test: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        for key in ("threshold", "assertScoringFunction"):
            if test.get(key, self.default.get(key)) is not None:
                self.left[f"{key} of a test: scores are not added up"] += 1
        for key in _OPTIONS:
            if options.get(key) is not None:
                self.left[f"options.{key}: it is not applied"] += 1
        if test.get("vars") is not None and not isinstance(test["vars"], Mapping):
            self.left[f"tests[{n}].vars: files are not read; give the variables"] += 1

    def _assertion(self, one: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapped] | None:
        kind, mapped = str(one.get("type")), metric_of(one)
        if isinstance(mapped, str):
            self.left[f"{kind}: {mapped}"] += 1
            return None
        self.metrics[mapped.metric] = None
        differs = f" ({mapped.differs})" if mapped.differs else ""
        self.converted[f"{kind} -> {mapped.metric}{differs}"] += 1
        for what in dropped(one):
            self.left[f"{kind}: {what}"] += 1
        return one, mapped

    def _row(
        self,
        n: int,
        test: Mapping[str, Any],
        variables: dict[str, Any],
        assertions: list[tuple[Mapping[str, Any], Mapped]],
    ) -> dict[str, Any]:
        variables = {key: filled(value, variables) for key, value in variables.items()}
        row: dict[str, Any] = {}
        taken: dict[str, str] = {}
        for field, names in _FIELDS.items():
            if key := next((k for k in names if variables.get(k) is not None), None):
                row[field] = variables[key]
                taken[key] = field
        _contexts(row, assertions, variables)
        if values := _references(assertions, variables):
            row["references"] = values
            if len(values) > 1:
                self.left[
                    f"tests[{n}]: its assertions have {len(values)} values; each is now an "
                    "alternative right answer for every metric"
                ] += 1
        output = test.get("providerOutput", test.get("output"))
        if output is not None:
            row["response"] = output if isinstance(output, str) else json.dumps(output, default=str)
        if row.get("response") is None:
            self.left["no recorded output: add a response to the samples"] += 1
        if end := open_ends([row.get(f) for f in ("question", "contexts", "references")]):
            self.left[f"tests[{n}]: {end!r} is not filled in"] += 1
        rest = {  # a variable whose field an assertion or output fills stays known
            key: value
            for key, value in variables.items()
            if key not in taken or row.get(taken[key]) is not value
        }
        about = {"description": test["description"]} if test.get("description") else {}
        metadata = {**_mapping(test, "metadata"), **rest, **about}
        row = {"id": str(len(self.rows) + 1), "question": None, **row}
        return {**row, "metadata": metadata} if metadata else row


def _flat(value: Any, where: str, left: Counter[str]) -> Iterator[Mapping[str, Any]]:
    """The assertions, those in sets too."""
    if value is None:
        return
    if not isinstance(value, list):
        raise DataError(f"{where} must be a list")
    for one in value:
        if not isinstance(one, Mapping):
            raise DataError(f"{where} must hold objects with a type, not {type(one).__name__}")
        if "$ref" in one:
            left[f"{where}: {one['$ref']} is not looked up; write the assertion out"] += 1
        elif one.get("type") == "assert-set":
            if one.get("threshold") is not None:
                left["assert-set: its threshold is not checked"] += 1
            for inner in _flat(one.get("assert"), f"{where}.assert-set", left):
                if inner.get("type") != "assert-set":
                    yield inner
        else:
            yield one


def _contexts(
    row: dict[str, Any],
    assertions: list[tuple[Mapping[str, Any], Mapped]],
    variables: Mapping[str, Any],
) -> None:
    """Contexts that assertions bring: their chunks go first, noise is one more context."""
    for one, _ in assertions:
        config = _mapping(one, "config")
        chunks = filled(config.get("contextChunks"), variables)
        if isinstance(chunks, list):
            row["contexts"] = chunks
        elif noise := filled(config.get("noiseContext"), variables):
            given = row.get("contexts") or []
            known = given if isinstance(given, list) else [given]
            row["contexts"] = known if noise in known else [*known, noise]


def _references(
    assertions: list[tuple[Mapping[str, Any], Mapped]], variables: Mapping[str, Any]
) -> list[str]:
    found: dict[str, None] = {}
    for one, mapped in assertions:
        if mapped.reference and one.get("value") is not None:
            value = filled(one["value"], variables)
            found |= dict.fromkeys(map(str, value if isinstance(value, list) else [value]))
    return list(found)


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _judge(default: Mapping[str, Any]) -> str | None:
    """The grader of OpenAI's that all tests share."""
    provider = _mapping(default, "options").get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("id")
    if not isinstance(provider, str) or not provider.startswith("openai:"):
        return None
    model = provider.removeprefix("openai:").removeprefix("chat:").removeprefix("responses:")
    return f"openai:{model}"


def _counted(remarks: Counter[str]) -> list[str]:
    return [f"{what} ({n} times)" if n > 1 else what for what, n in remarks.items()]
