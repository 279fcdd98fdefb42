"""Which tests, prompts and providers of a suite are run."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import ConfigError
from assay.suite.assertions.sources import as_text
from assay.suite.running import Unit


@dataclass(frozen=True, slots=True)
class Filters:
    """What to keep; a filter that is None keeps everything.

    ``pattern``: a regular expression found in the description. ``metadata``: KEY=VALUE pairs.
    ``providers``, ``prompts``: regular expressions found in the label or id. ``span``: "A:B",
    tests from A up to but without B, from 0. ``failing``: a results file of ``assay eval -o``;
    what did not pass there is kept. ``sample``: that many tests, drawn by ``seed``. ``first``:
    the first tests of what is left.
    """

    pattern: str | None = None
    metadata: Sequence[str] = ()
    providers: str | None = None
    prompts: str | None = None
    span: str | None = None
    failing: Path | None = None
    sample: int | None = None
    seed: int = 0
    first: int | None = None

    def kept(self, units: Sequence[Unit]) -> list[Unit]:
        """The units that all filters keep, in order; raises ConfigError for a bad filter."""
        pattern, providers, prompts = map(_compiled, (self.pattern, self.providers, self.prompts))
        wanted = dict(_pair(one) for one in self.metadata)
        failing = None if self.failing is None else failing_in(self.failing)
        out = [
            unit
            for unit in units
            if (pattern is None or pattern.search(unit.case.description))
            and (providers is None or _found(providers, unit.provider.label, unit.provider.id))
            and (prompts is None or prompts.search(unit.prompt.label))
            and all(_has(unit.case.metadata, key, value) for key, value in wanted.items())
            and (
                failing is None
                or (unit.case.index, unit.prompt.label, unit.provider.label) in failing
            )
        ]
        return self._counted(out)

    def _counted(self, units: list[Unit]) -> list[Unit]:
        """The units of the tests that range, sample and first leave."""
        tests = list(dict.fromkeys(unit.case.index for unit in units))
        if self.span is not None:
            low, high = span_of(self.span)
            tests = [test for test in tests if low <= test < high]
        if self.sample is not None and self.sample < len(tests):
            drawn = random.Random(self.seed).sample(tests, self.sample)  # noqa: S311 - no secret
            tests = sorted(drawn)
        if self.first is not None:
            tests = tests[: self.first]
        kept = set(tests)
        return [unit for unit in units if unit.case.index in kept]


def failing_in(path: Path) -> set[tuple[int, str, str]]:
    """Test, prompt and provider of every result that did not pass in a results file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        rows = record["results"]["results"]
        return {
            # testIdx counts repeats as further tests; results of promptfoo have no other.
            (row.get("test", row["testIdx"]), row["prompt"]["label"], row["provider"]["label"])
            for row in rows
            if not row["success"]
        }
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(
            f"{path} holds no results; give a file of assay eval -o FILE.json"
        ) from None


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{pattern!r} is no regular expression: {error}") from None


def _found(pattern: re.Pattern[str], *texts: str) -> bool:
    return any(pattern.search(text) for text in texts)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r}: write KEY=VALUE")
    return key, value


def _has(metadata: Mapping[str, Any], key: str, value: str) -> bool:
    if key not in metadata:
        return False
    found = metadata[key]
    values = found if isinstance(found, list) else [found]
    return any(as_text(one) == value for one in values)


def span_of(text: str) -> tuple[int, float]:
    """First test and end of a range "A:B", from 0; raises ConfigError for anything else."""
    match = re.fullmatch(r"(\d*):(\d*)", text)
    if match is None:
        raise ConfigError(f"{text!r} is no range; write FIRST:END, e.g. 0:10")
    return int(match[1] or 0), float(match[2] or "inf")
