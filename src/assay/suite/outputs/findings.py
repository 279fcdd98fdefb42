"""What a reader of results looks for first: what failed, by how much, and on which claims.

All functions read a record of a run (`assay.suite.outputs.record.as_record`), redacted or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from assay.suite.assertions.sources import QUESTIONS
from assay.suite.titles import and_more, titled

Row = Mapping[str, Any]
Component = Mapping[str, Any]


def rows_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of a record, one for each test, provider and prompt."""
    rows: list[dict[str, Any]] = record["results"]["results"]
    return rows


def components(row: Row) -> Sequence[Component]:
    """What came of each assertion or set of them; nothing where nothing was graded."""
    grading = row.get("gradingResult")
    return grading["componentResults"] if grading else ()


def singles(parts: Sequence[Component]) -> Iterator[Component]:
    """The single assertions, those inside sets in the place of their set."""
    for one in parts:
        inner = one.get("componentResults")
        yield from singles(inner) if inner else (one,)


def broken(row: Row) -> list[Component]:
    """The single assertions that failed or could not be decided, failures first.

    Those in a set that passed all the same are left out; a set that failed though each in it
    passed stands for itself. None where there was no answer to check.
    """
    every = [] if unanswered(row) else list(_blamed(components(row)))
    return [one for status in ("fail", "error") for one in every if one["status"] == status]


def _blamed(parts: Sequence[Component]) -> Iterator[Component]:
    for one in parts:
        if one["status"] in ("fail", "error"):
            inner = list(_blamed(one.get("componentResults", ())))
            if all(each["status"] != one["status"] for each in inner):
                yield one
            yield from inner


def unanswered(row: Row) -> str:
    """Why there was no answer to check, "" where there was one."""
    response = row["response"]
    none = row["status"] == "error" if response is None else response.get("error") is not None
    return str(row["error"] or row["reason"]) if none else ""


def first_broken(row: Row) -> Component | None:
    """The first assertion that gave the result its status, else the first that failed or erred."""
    every = broken(row)
    own = (one for one in every if one["status"] == row["status"])
    return next(own, every[0] if every else None)


def others(row: Row) -> str:
    """How many assertions failed or erred besides the first, "" for none."""
    return and_more(len(broken(row)) - 1)


def why(row: Row) -> str:
    """Why a result is what it is: the first assertion that failed or erred, with its first claim
    and how much more there is; else the result's reason.
    """
    first = first_broken(row)
    if first is None:
        return unanswered(row) or str(row["reason"])
    said = ": ".join(filter(None, (title(first), brief(first))))
    claims = unsaid(first)
    quoted = [f"“{claim['claim']}” {said_of(claim)}" for claim in claims[:1]]
    more = and_more(len(claims) - 1, "claim")
    return "; ".join(filter(None, (said, *quoted, more, others(row))))


def title(component: Component) -> str:
    """The type of an assertion and the settings of its config, after its metric's name if any."""
    assertion = component["assertion"]
    return titled(
        str(assertion["type"]), assertion.get("config") or {}, assertion.get("metric") or None
    )


def figure(value: float | None) -> str:
    """A number as people read it: up to three decimals, a dash for none.

    >>> figure(0.66666), figure(1.0), figure(12345.678), figure(None)
    ('0.667', '1', '12345.678', '–')
    """
    if value is None:
        return "–"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def fixed(value: float | None) -> str:
    """A score in a column: three decimals, or a dash."""
    return "–" if value is None else f"{value:.3f}"


def percent(share: float) -> str:
    r"""A share as people read it; 100 means all.

    >>> percent(4 / 6), percent(0.9999), percent(1)
    ('66.7\xa0%', '99.9\xa0%', '100.0\xa0%')
    """
    # A space that does not break.
    return f"{100 if share >= 1 else min(100 * share, 99.9):.1f}\N{NO-BREAK SPACE}%"


def measured(component: Component) -> str:
    """The score of an assertion and what it was held against, "" where there is neither.

    What was not measured because of an error, or skipped, was held against nothing.
    """
    value, threshold = component["value"], component["assertion"]["threshold"]
    if value is None and (threshold is None or component["status"] in ("error", "skipped")):
        return ""
    score = f"score {figure(value)}" if value is not None else "no score"
    if threshold is None:
        return score
    wanted = "at most" if component["lowerIsBetter"] else "at least"
    return f"{score}, wanted {wanted} {figure(threshold)}"


def offending(component: Component) -> list[Mapping[str, Any]]:
    """The claims that kept the score from being best, then those that got no verdict."""
    claims: Sequence[Mapping[str, Any]] = component["claims"]
    bad = bool(component["lowerIsBetter"])
    wrong = [claim for claim in claims if claim["hit"] is bad]
    return [*wrong, *(claim for claim in claims if claim["verdict"] == "unknown")]


def brief(component: Component) -> str:
    """Score, threshold and reason of an assertion in one line, each told once.

    Claims that the end of a reason quotes are left to `unsaid`, which tells more of them.
    """
    reason = _before_claims(component)
    held = "" if "threshold" in reason else measured(component)
    return ": ".join(filter(None, (held, reason)))


def unsaid(component: Component) -> list[Mapping[str, Any]]:
    """The offending claims that `brief` does not quote."""
    reason = _before_claims(component)
    return [claim for claim in offending(component) if claim["claim"] not in reason]


def _before_claims(component: Component) -> str:
    reason = str(component["reason"] or "")
    places = (reason.find(claim["claim"]) for claim in offending(component) if claim["claim"])
    first = min((place for place in places if place >= 0), default=0)
    quoting = _QUOTING.search(reason[:first])
    return reason[: quoting.start()] if quoting else reason


_QUOTING = re.compile(r";\s?[\"'“]\Z")


def said_of(claim: Mapping[str, Any]) -> str:
    """Whether a claim is right, where that was asked; the verdict on it and where it comes from.

    >>> evidence = {"context": 1, "quote": "so", "relevant": False}
    >>> said_of({"verdict": "entailed", "evidence": evidence, "correct": False})
    'incorrect; entailed by context 1 (irrelevant): “so”'
    >>> said_of({"verdict": None, "label": "harmful", "hit": True, "evidence": None})
    'harmful: yes'
    """
    if claim["verdict"] is None and claim.get("label") is not None:
        return f"{claim['label']}: {ANSWERS.get(claim['hit'], 'not answered')}"
    verdict = str(claim["verdict"] or "no verdict")
    right = _RIGHT.get(claim.get("correct"), "")
    evidence = claim["evidence"]
    if evidence is None:
        return f"{right}{verdict}"
    quote = f": “{evidence['quote']}”" if evidence.get("quote") else ""
    return f"{right}{verdict} {_LINKS.get(verdict, 'held against')} {source(evidence)}{quote}"


ANSWERS: Mapping[bool | None, str] = MappingProxyType({True: "yes", False: "no"})
_RIGHT: Mapping[bool | None, str] = MappingProxyType({True: "correct; ", False: "incorrect; "})
_LINKS = MappingProxyType({"entailed": "by", "contradicted": "by"})


def source(evidence: Mapping[str, Any]) -> str:
    """Which text a verdict comes from, counted from 0, and its label: "context 2 (relevant)"."""
    label = _LABELS.get(evidence.get("relevant"), "")
    for name in ("context", "reference", "response"):
        if evidence.get(name) is not None:
            return name if name == "response" else f"{name} {evidence[name]}{label}"
    return "a text"


_LABELS: Mapping[bool | None, str] = MappingProxyType({True: " (relevant)", False: " (irrelevant)"})


def name_of_test(row: Row) -> str:
    """What people call a test: its number from 1, what it is about, and which repeat it is."""
    about = about_test(row)
    name = f"test {row['test'] + 1}" + (f": {about}" if about else "")
    return f"{name} (repeat {row['repeat'] + 1})" if row["repeat"] else name


def about_test(row: Row) -> str:
    """The description of a test; its question, or first variable, where that says nothing."""
    described = str(row["testCase"]["description"] or "")
    if described and not _NUMBERED.fullmatch(described):
        return described
    named = row["vars"]
    first = (one_line(str(named[name]), ABOUT) for name in (*QUESTIONS, *named)
             if isinstance(named.get(name), str | int | float))  # fmt: skip
    return ": ".join(filter(None, (described, next(filter(None, first), ""))))


ABOUT = 40
"""Characters of a variable in the name of a test."""
_NUMBERED = re.compile(r"Row #\d+")
"""What a test in a data file is called that has no description."""


def output_text(row: Row) -> str:
    """The answer as text: a text as it is, data as JSON, "" where there is none."""
    output = (row["response"] or {}).get("output")
    if output is None or isinstance(output, str):
        return output or ""
    return value_text(output)


def value_text(value: Any) -> str:
    """A variable or expected value as text."""
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shortened(text: str, most: int) -> str:
    """The text, cut after so many characters with a remark on how many there were.

    >>> shortened("abcdef", 4)
    'abcd… (4 of 6 characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({most} of {len(text)} characters)"


def one_line(text: str, most: int) -> str:
    """The text with runs of white space as one space, cut with a dash of dots."""
    # Only what can be shown is looked at: an answer may be megabytes.
    flat = " ".join(text[: most * 8].split())
    return flat if len(flat) <= most and len(text) <= most * 8 else f"{flat[:most].rstrip()}…"
