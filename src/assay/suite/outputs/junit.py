"""Results as build servers read them: JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from assay.suite.outputs.findings import (
    Component,
    Row,
    broken,
    measured,
    name_of_test,
    offending,
    one_line,
    output_text,
    rows_of,
    said_of,
    shortened,
    title,
    unanswered,
    why,
)

ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no form for."""

LABEL = 40
"""Characters of a prompt's label in the name of a testsuite."""
CLAIMS = 20
LONGEST = 4000


def render_junit(record: Mapping[str, Any]) -> str:
    """A testsuite for each provider and prompt, a testcase for each test and repeat.

    The text of a failure says of each assertion that failed its type, score and threshold, reason
    and the claims that it failed on, with the evidence. Times are the answers' latencies in
    seconds, left out where none is known; then the whole has the time that the run took.
    """
    results = record["results"]
    rows = rows_of(record)
    suites = [
        _suite(name, [row for row in rows if row["promptIdx"] == n], results["timestamp"])
        for n, name in enumerate(_names(results["prompts"]))
    ]
    took = results["stats"]["durationMs"]
    whole = {"time": _seconds(took)} if took is not None else {}
    root = ET.Element("testsuites", _attributes(**({"name": "assay"} | whole | _counts(rows))))
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _names(prompts: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name of its own for each testsuite."""
    names: list[str] = []
    for n, prompt in enumerate(prompts, 1):
        name = f"{prompt['provider']} · {one_line(prompt['label'], LABEL) or f'prompt {n}'}"
        names.append(f"{name} ({n})" if name in names else name)
    return names


def _suite(name: str, rows: Sequence[Row], timestamp: object) -> ET.Element:
    stamp = {"timestamp": str(timestamp)} if timestamp else {}
    suite = ET.Element("testsuite", _attributes(name=name, **_counts(rows), **stamp))
    suite.extend(_case(row, name) for row in rows)
    return suite


def _counts(rows: Sequence[Row]) -> dict[str, str]:
    def number(status: str) -> str:
        return str(sum(row["status"] == status for row in rows))

    return {
        "tests": str(len(rows)),
        "failures": number("fail"),
        "errors": number("error"),
        "skipped": number("skipped"),
        **_time(rows),
    }


def _time(rows: Sequence[Row]) -> dict[str, str]:
    known = [row["latencyMs"] for row in rows if row["latencyMs"] is not None]
    return {"time": _seconds(sum(known))} if known else {}


def _case(row: Row, suite: str) -> ET.Element:
    case = ET.Element(
        "testcase",
        _attributes(
            name=one_line(name_of_test(row), 300),
            classname=suite,
            **_time([row]),
        ),
    )
    status = row["status"]
    if status == "skipped":
        ET.SubElement(case, "skipped", _attributes(message=one_line(row["reason"], 300)))
    elif status != "pass":
        about = _attributes(message=one_line(why(row), 300), type=str(_TYPES.get(status, status)))
        said = ET.SubElement(case, "failure" if status == "fail" else "error", about)
        said.text = legal(explanation(row))
        if output := output_text(row):
            ET.SubElement(case, "system-out").text = legal(shortened(output, LONGEST))
    return case


_TYPES = {"fail": "assertion", "error": "error"}


def explanation(row: Row) -> str:
    """Each assertion that failed or erred, with score, reason and the claims it failed on."""
    parts = [_part(one) for one in broken(row)]
    own = shortened(unanswered(row) or row["reason"] or "", LONGEST)
    if not parts or row["testCase"]["threshold"] is not None:
        parts.insert(0, own)
    return "\n\n".join(part for part in dict.fromkeys(parts) if part)


def _part(component: Component) -> str:
    head = " – ".join(filter(None, (title(component), component["status"], measured(component))))
    lines = [head]
    if component["reason"]:
        lines.append(shortened(component["reason"], LONGEST))
    claims = offending(component)
    for claim in claims[:CLAIMS]:
        lines.append(f"  claim: {one_line(claim['claim'], 500)}")
        lines.append(f"    {one_line(said_of(claim), 500)}")
        if claim.get("reason"):
            lines.append(f"    why: {one_line(claim['reason'], 500)}")
    if len(claims) > CLAIMS:
        lines.append(f"  and {len(claims) - CLAIMS} more claims")
    return "\n".join(lines)


def legal(text: str) -> str:
    """The text without what XML cannot hold."""
    return ILLEGAL.sub("", text)


def _attributes(**values: str) -> dict[str, str]:
    return {name: legal(value) for name, value in values.items()}


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
