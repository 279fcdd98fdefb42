"""What a test that failed shows: scores, bounds, and the claims and evidence behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from assay.pytest_plugin.bounds import Bound
from assay.pytest_plugin.lines import folded, one_line
from assay.run import Row, Run
from assay.sample import Sample
from assay.score import Score
from assay.suite.outputs.findings import (
    components,
    figure,
    measured,
    offending,
    output_text,
    said_of,
    singles,
    title,
    value_text,
)

OPTIONS: Mapping[str, str] = MappingProxyType(
    {" --allow-code": " --assay-allow-code", " --grader ": " --assay-judge "}
)
"""What pytest calls the options of ``assay eval`` that messages name."""
SAMPLES = 5
"""Samples that are shown of those that are not as expected."""
CLAIMS = 8
"""Claims that are shown of a score."""
VARIABLES = 6
"""Variables that are shown of a test."""
_HEADLINE = 76  # columns that pytest leaves after "E       AssertionError: "


def scores_shown(run: Run, bounds: Mapping[str, Bound], broken: Sequence[Sequence[str]]) -> str:
    """The message for scores that are not as expected; ``broken`` has the metrics of each row."""
    bad = [(n, row, names) for n, (row, names) in enumerate(zip(run, broken, strict=True)) if names]
    several = len(run) > 1
    lines = folded(_headline(bad, bounds, len(run)), width=_HEADLINE)
    for n, row, names in bad[:SAMPLES]:
        if several:
            lines += ["", *folded(f"sample {n + 1} of {len(run)}{_named(row.sample)}")]
        lines += _sample(row, bounds, names)
    if len(bad) > SAMPLES:
        lines += ["", f"… and {len(bad) - SAMPLES} more samples"]
    return "\n".join(lines)


def _headline(
    bad: Sequence[tuple[int, Row, Sequence[str]]], bounds: Mapping[str, Bound], count: int
) -> str:
    _, row, names = bad[0]
    first = _held(names[0], row.scores[names[0]], bounds[names[0]])
    share = f"{len(bad)} of {count} samples: " if count > 1 else ""
    others = sum(len(names) for _, _, names in bad) - 1
    return share + first + (f" (and {others} more)" if others else "")


def _held(name: str, score: Score, bound: Bound) -> str:
    """A score and what it was held against."""
    if score.value is None:
        return f"{name} {score.status}, expected {bound}"
    return f"{name} {_number(score.value, bound)}, expected {bound}"


def _number(value: float, bound: Bound) -> str:
    """The value with as many digits as it takes to see that it is not within the bound."""
    rounded = figure(value)
    return f"{value:.12g}" if bound.holds(float(rounded)) else rounded


def _named(sample: Sample) -> str:
    return "" if sample.id is None else f" ({one_line(sample.id, 60)})"


def _sample(row: Row, bounds: Mapping[str, Bound], names: Sequence[str]) -> Iterator[str]:
    for field in ("question", "response"):
        yield from _field(field, getattr(row.sample, field) or "", 300)
    for name in names:
        score, bound = row.scores[name], bounds[name]
        counts = f" ({score.hits:g} of {score.total:g})" if score.total is not None else ""
        yield from folded(f"{_held(name, score, bound)}{counts}", rest="  ")
        if score.reason:
            yield from folded(one_line(score.reason, 500), first="  ", rest="  ")
        high = score.value is not None and bound.too_high(score.value)
        claims = [item.as_dict() for item in score.items]
        yield from claims_shown({"claims": claims, "lowerIsBetter": high})
    fine = [
        f"{name} {figure(row.scores[name].value)}"
        for name in bounds
        if name not in names and row.scores[name].value is not None
    ]
    if fine:
        yield from folded(", ".join(fine), first="as expected: ", rest="  ")


def claims_shown(component: Mapping[str, Any]) -> Iterator[str]:
    """The claims that kept a score from being better, each with verdict and best evidence."""
    claims = offending(component)
    for claim in claims[:CLAIMS]:
        yield from folded(f"“{one_line(claim['claim'], 300)}”", first="  - ", rest="    ")
        said = _said(claim)
        if claim.get("probability") is not None:
            said += f" (p {claim['probability']:.2f})"
        yield from folded(one_line(said, 400), first="    ", rest="    ")
        if claim.get("reason"):
            yield from folded(one_line(claim["reason"], 300), first="    ", rest="    ")
    if len(claims) > CLAIMS:
        yield f"  … and {len(claims) - CLAIMS} more"


def trouble_shown(trouble: str, place: object) -> str:
    """The message for a test of a suite that could not be run."""
    return "\n".join([*folded(one_line(f"error: {trouble}", 500)), f"at {place}"])


def _field(name: str, text: str, most: int) -> list[str]:
    return folded(one_line(text, most), first=f"{name}: ", rest="  ") if text.strip() else []


def _said(claim: Mapping[str, Any]) -> str:
    """The verdict and where it comes from; a neutral one comes from all that there is."""
    if claim["verdict"] == "neutral" and claim["against"] and not claim["evidence"]:
        return f"neutral to every {claim['against']}"
    return said_of(claim)


def result_shown(row: Mapping[str, Any], place: object) -> str:
    """The message for a result of a suite, from its row of the record; ``place`` is the test's.

    Every assertion is named with what came of it, and those that did not pass with their claims.
    """
    word = "error: " if row["status"] == "error" else ""
    lines = folded(one_line(word + adapted(row["reason"]), 300), width=_HEADLINE)
    lines.append(f"at {place}")
    for name, value in list(row["vars"].items())[:VARIABLES]:
        lines += _field(one_line(name, 40), value_text(value), 200)
    if row["response"]:
        lines += _field("output", output_text(row), 400)
    for one in singles(components(row)):
        lines += _assertion(one)
    return "\n".join(lines)


def _assertion(component: Mapping[str, Any]) -> Iterator[str]:
    held = measured(component) if component["status"] in ("pass", "fail") else ""
    said = f"{title(component)}: {held}" if held else title(component)
    yield from folded(one_line(said, 300), first=f"[{component['status']}] ", rest="  ")
    if component["status"] == "pass":
        return
    if component["reason"]:
        yield from folded(one_line(adapted(component["reason"]), 500), first="  ", rest="  ")
    yield from claims_shown(component)


def adapted(text: str) -> str:
    """A message with pytest's names of options.

    >>> adapted("allow it with --allow-code")
    'allow it with --assay-allow-code'
    """
    for ours, theirs in OPTIONS.items():
        text = text.replace(ours, theirs)
    return text


def node_name(test: str, where: Sequence[str], most: int = 80) -> str:
    """The name of a suite's test for pytest's node ids: on one line, without "::", "]" at the end.

    >>> node_name("test 3: Who::when", ["echo", "repeat 2"])
    'test 3: Who:when [echo, repeat 2]'
    """
    name = one_line(test, most)
    while "::" in name:
        name = name.replace("::", ":")
    return f"{name} [{', '.join(one_line(part, most) for part in where)}]"
