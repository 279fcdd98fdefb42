"""One result on the HTML page: a line, and what opens below it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from assay.suite.kinds import NOT
from assay.suite.outputs.elements import Html, el, joined, long_text
from assay.suite.outputs.findings import (
    Component,
    Row,
    about_test,
    components,
    figure,
    first_broken,
    fixed,
    measured,
    one_line,
    others,
    output_text,
    title,
    unanswered,
    value_text,
)
from assay.suite.outputs.page_claims import claims_table

LINE = 280
"""Characters of a text in the line of a result."""

WORDS = {"pass": "Pass", "fail": "Fail", "error": "Error", "skipped": "Skipped"}
STATUSES = frozenset(WORDS)


def result_block(row: Row, *, several: bool) -> Html:
    """A result: status, test, variables, output and score; it opens without any script.

    ``several``: the line says which provider and prompt it is of.
    """
    status = known(row["status"])
    where = [el("div", *_where(row), class_="clip")] if several else []
    line = el(
        "summary",
        el("span", badge(status), class_="st"),
        el("div", _name(row), class_="clip"),
        *where,
        el("div", one_line(_short_vars(row["vars"]), LINE), class_="clip dim"),
        el("div", *_said(row), class_="two"),
        el("span", fixed(row["value"]), class_="num sc"),
        class_="line",
    )
    return el("details", line, el("div", *_body(row), class_="body"), class_="r", data_s=status)


def known(status: str) -> str:
    """The status, or "error" for a word that is none."""
    return status if status in STATUSES else "error"


def badge(status: str) -> Html:
    """A status as a small coloured word."""
    return el("span", WORDS[status], class_=f"badge {status}")


def _name(row: Row) -> Html:
    number = f"{row['test'] + 1}" + (f" · repeat {row['repeat'] + 1}" if row["repeat"] else "")
    described = one_line(about_test(row), LINE)
    return (
        joined(el("span", f"{number}  ", class_="dim"), described)
        if described
        else el("span", number)
    )


def _where(row: Row) -> list[Html]:
    prompt = one_line(row["prompt"]["label"], 120)
    return [el("div", row["provider"]["label"]), el("div", prompt, class_="dim")]


def _short_vars(named: Mapping[str, Any]) -> str:
    # Each is cut before they are joined: one may be megabytes.
    return " · ".join(f"{name}: {one_line(value_text(v), LINE)}" for name, v in named.items())


def _said(row: Row) -> list[Html]:
    """The beginning of the output; for a result that did not pass, why."""
    output = one_line(output_text(row), LINE)
    first = first_broken(row)
    why = unanswered(row) or row["reason"]
    if first is not None:
        held = ": ".join(filter(None, (title(first), measured(first) or first["reason"])))
        why = "; ".join(filter(None, (one_line(held, LINE), others(row))))
    out = [el("div", output, class_="clip")] if output else []
    if why and row["status"] != "pass":
        out.append(el("div", one_line(why, LINE + 40), class_="clip why"))
    return out


def _body(row: Row) -> list[Html]:
    status = known(row["status"])
    blocks = []
    if note := (unanswered(row) or row["reason"] if status != "pass" else ""):
        blocks.append(el("div", long_text(note), class_=f"note {status}"))
    if row["response"] is not None and not row["response"].get("error"):
        blocks += [el("h3", "Output"), _pre(output_text(row))]
    graded = components(row)
    if graded:
        blocks += [el("h3", "Assertions"), *map(_assertion, graded)]
    blocks += _inputs(row)
    return blocks


def _pre(text: str) -> Html:
    return el("pre", long_text(text) if text else el("span", "(empty)", class_="dim"), dir="auto")


def _inputs(row: Row) -> list[Html]:
    """Variables, prompt and contexts, closed at first."""
    blocks = []
    if row["vars"]:
        blocks += [el("h3", "Variables"), _pairs(row["vars"])]
    if row["prompt"]["raw"]:
        blocks += [el("h3", "Prompt"), _pre(row["prompt"]["raw"])]
    contexts = (row["response"] or {}).get("contexts")
    if contexts:
        every = contexts if isinstance(contexts, list) else [contexts]
        named = {f"context {n}": text for n, text in enumerate(every)}
        blocks += [el("h3", "Contexts from the provider"), _pairs(named)]
    blocks += [el("h3", "Details"), _details(row)]
    return [el("details", el("summary", "Variables, prompt and details"), *blocks, class_="more")]


def _details(row: Row) -> Html:
    used = row["tokenUsage"]
    facts = {
        "provider": row["provider"]["label"],
        "latency": f"{row['latencyMs']:,.0f} ms" if row["latencyMs"] is not None else "",
        "tokens": f"{used['prompt']:,} in, {used['completion']:,} out" if used["total"] else "",
        "cost": f"${row['cost']:.6f}" if row["cost"] else "",
        **{name: figure(value) for name, value in row["namedScores"].items()},
        **{name: one_line(value_text(value), LINE) for name, value in row["metadata"].items()},
    }
    known_facts = ((name, value) for name, value in facts.items() if value)
    pairs = chain.from_iterable((el("dt", name), el("dd", value)) for name, value in known_facts)
    return el("dl", *pairs, class_="facts")


def _pairs(named: Mapping[str, Any]) -> Html:
    cells = chain.from_iterable((el("b", name), _value(v)) for name, v in named.items())
    return el("div", *cells, class_="pairs")


def _value(value: Any) -> Html:
    """A variable; each text of a list of texts stands alone."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return el("div", *map(_pre, value))
    return el("div", _pre(value_text(value)))


def _assertion(component: Component) -> Html:
    status = known(component["status"])
    held = measured(component)
    head = el(
        "div",
        badge(status),
        el("b", title(component)),
        *([el("span", held, class_="num")] if held else []),
        class_="ahead",
    )
    value = component["assertion"]["value"]
    blocks = [head]
    if component["reason"]:
        blocks.append(el("div", long_text(component["reason"]), class_="reason", dir="auto"))
    if value is not None:
        expected = one_line(value_text(value), 1000)
        wanted = el("span", _wanted(component), class_="dim")
        blocks.append(el("div", wanted, expected, class_="reason"))
    if component["figures"]:
        blocks.append(_figures(component["figures"]))
    if component["claims"]:
        blocks.append(claims_table(component))
    blocks += map(_assertion, component.get("componentResults", ()))
    return el("div", *blocks, class_=f"a {status}")


def _wanted(component: Component) -> str:
    """What a value is: what ``not-`` refuses, unless claims were held against it."""
    negated = str(component["assertion"]["type"]).startswith(NOT) and not component["claims"]
    return "not expected: " if negated else "expected: "


def _figures(figures: Mapping[str, float | None]) -> Html:
    pairs = (el("span", f"{name} ", el("b", figure(value))) for name, value in figures.items())
    return el("div", *pairs, class_="figures")
