"""Results as one HTML page that needs nothing else: no server, no other file, no script to read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from assay.suite.outputs.elements import Html, el, joined
from assay.suite.outputs.findings import Row, fixed, one_line, percent, rows_of
from assay.suite.outputs.page_result import result_block
from assay.suite.outputs.page_style import SCRIPT, STYLE
from assay.suite.outputs.totals import totals

COUNTED = (
    ("pass", "successes", "passed"),
    ("fail", "failures", "failed"),
    ("error", "errors", "with errors"),
    ("skipped", "skipped", "skipped"),
)


def render_html(record: Mapping[str, Any]) -> str:
    """The page: totals, providers and prompts side by side, every result with claims and evidence.

    All data are text in it. Texts over 20,000 characters are cut and say so. A policy in the page
    forbids every request and every script and style but its own; without scripts only filter and
    search are missing.
    """
    name = one_line(str(record["config"].get("description") or "assay results"), 200)
    rows = rows_of(record)
    prompts = record["results"]["prompts"]
    several = len(prompts) > 1
    body = el(
        "main",
        el("header", el("h1", name, dir="auto"), el("div", _when(record), class_="dim")),
        _top(record),
        *([_by_prompt(prompts)] if several or any(_named(prompts)) else []),
        el("h2", "Results"),
        _tools(record["results"]["stats"]),
        _list(rows, several=several),
    )
    page = el("html", _head(name), el("body", body, _inline("script", SCRIPT)), lang="en")
    return f"<!doctype html>\n{page}\n"


def _head(name: str) -> Html:
    policy = (
        f"default-src 'none'; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return el(
        "head",
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="referrer" content="no-referrer">'),
        el("title", name),
        _inline("style", STYLE),
    )


def _inline(name: str, own: str) -> Html:
    """Our own style or script, as it is; nothing of the data is ever in it."""
    return Html(f"<{name}>{own}</{name}>")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _when(record: Mapping[str, Any]) -> str:
    started = str(record["results"]["timestamp"] or "").replace("T", " ")
    version = record["metadata"].get("assayVersion")
    return " · ".join(filter(None, (started, f"assay {version}" if version else "")))


def _top(record: Mapping[str, Any]) -> Html:
    stats = record["results"]["stats"]
    number = {status: stats[key] for status, key, _ in COUNTED}
    total = sum(number.values())
    legend = [
        el("span", el("b", f"{number[status]:,}"), el("i", f" {word}"), class_=status)
        for status, _, word in COUNTED
        if number[status] or status in ("pass", "fail")
    ]
    ran = total - number["skipped"]
    rate = el(
        "div", percent(stats["passRate"]) if ran else "–", el("small", "passed"), class_="rate"
    )
    right = el("div", _bar(number, total), el("div", *legend, class_="legend"))
    return el("section", rate, right, _facts(record), class_="card top")


def _bar(number: Mapping[str, int], total: int) -> Html:
    rects, x = [], 0.0
    for status, count in number.items():
        width = 100 * count / total if total else 0.0
        if count:
            place = {"x": f"{x:.3f}%", "width": f"{width:.3f}%", "height": "100%"}
            rects.append(el("rect", class_=status, **place))
        x += width
    return el("svg", *rects, class_="bar", aria_hidden="true")


def _facts(record: Mapping[str, Any]) -> Html:
    total = totals(record)
    providers = dict.fromkeys(prompt["provider"] for prompt in record["results"]["prompts"])
    facts = {
        "Providers": " · ".join(filter(None, (", ".join(providers), total.providers))),
        "Judges": total.judges,
        "Duration": total.took,
    }
    pairs = [one for n, v in facts.items() if v for one in (el("dt", n), el("dd", v))]
    return el("dl", *pairs, class_="facts") if pairs else Html()


def _named(prompts: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for one in prompts for name in one["metrics"]["namedScores"]))


def _by_prompt(prompts: Sequence[Mapping[str, Any]]) -> Html:
    """Providers and prompts side by side: counts, mean latency, means of the named metrics."""
    named = _named(prompts)
    texts, numbers = ("Provider", "Prompt"), ("Passed", "Failed", "Errors", "Latency", "Tokens")
    head = (
        *(el("th", one) for one in texts),
        *(el("th", one, class_="num") for one in numbers),
        *(el("th", one_line(one, 40), class_="num name") for one in named),
    )
    rows = [_prompt_line(one, named) for one in prompts]
    table = el("table", el("thead", el("tr", *head)), el("tbody", *rows))
    return joined(el("h2", "Providers and prompts"), el("div", table, class_="card scroll"))


def _prompt_line(prompt: Mapping[str, Any], named: Sequence[str]) -> Html:
    counts = prompt["metrics"]
    ran = [counts[f"test{kind}Count"] for kind in ("Pass", "Fail", "Error")]
    timed = counts["latencyCount"]
    mean = f"{counts['totalLatencyMs'] / timed:,.0f} ms" if timed else "–"
    scores = []
    for name in named:
        n = counts["namedScoresCount"].get(name)
        scores.append(fixed(counts["namedScores"][name] / n) if n else "–")
    values = (*map(str, ran), mean, f"{counts['tokenUsage']['total']:,}", *scores)
    return el(
        "tr",
        el("td", prompt["provider"]),
        el("td", one_line(prompt["label"], 200)),
        *(el("td", value, class_="num") for value in values),
    )


def _tools(stats: Mapping[str, Any]) -> Html:
    """Filter and search; hidden until the script that they need has run."""
    total = sum(stats[key] for _, key, _ in COUNTED)
    kinds = [("all", "All", total), ("fail", "Failed", stats["failures"])]
    kinds += [("error", "Errors", stats["errors"])]
    buttons = [
        el(
            "button",
            f"{word} {n:,}",
            type="button",
            data_s=kind,
            aria_pressed=str(kind == "all").lower(),
        )
        for kind, word, n in kinds
    ]
    box = Html(
        '<input type="search" placeholder="Search in results" aria-label="Search in results">'
    )
    shown = el("span", class_="dim shown", role="status")
    return el("div", el("div", *buttons), box, shown, class_="tools", hidden=True)


def _list(rows: Sequence[Row], *, several: bool) -> Html:
    where = ["Provider, prompt"] if several else []
    names = ["", "Status", "Test", *where, "Variables", "Output"]
    cells = [*(el("span", one) for one in names), el("span", "Score", class_="num")]
    head = el("div", *cells, class_="line head", aria_hidden="true")
    none = el(
        "div", "No results." if not rows else "Nothing matches.", class_="none", hidden=bool(rows)
    )
    blocks = (result_block(row, several=several) for row in rows)
    return el(
        "section", head, *blocks, none, class_="card list several" if several else "card list"
    )
