"""Results as a page of Markdown, short enough for a step summary of GitHub Actions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assay.suite.outputs.findings import (
    Row,
    brief,
    first_broken,
    fixed,
    name_of_test,
    one_line,
    others,
    percent,
    rows_of,
    said_of,
    title,
    unanswered,
    unsaid,
)
from assay.suite.outputs.totals import seconds_text, totals
from assay.suite.titles import and_more

SHOWN = 25
"""Results that did not pass of which the page tells."""

CLAIMS = 3
"""Claims of a result of which the page tells."""

MARKS = {"pass": "✅", "fail": "❌", "error": "⚠️", "skipped": "⏭️"}


def render_markdown(record: Mapping[str, Any]) -> str:
    """Counts, a table by provider and prompt, and why the first `SHOWN` failures failed."""
    total = totals(record)
    name = record["config"].get("description") or "assay"
    parts = [f"## {text(str(name), 200)}", _headline(record)]
    prompts = record["results"]["prompts"]
    if len(prompts) > 1:
        parts.append(_by_prompt(prompts))
    parts.append(_failures(record))
    parts.append("  \n".join(text(line, 500) for line in total.lines))
    return "\n\n".join(part for part in parts if part) + "\n"


def _headline(record: Mapping[str, Any]) -> str:
    stats = record["results"]["stats"]
    counts = {
        "pass": (stats["successes"], "passed"),
        "fail": (stats["failures"], "failed"),
        "error": (stats["errors"], "with errors"),
        "skipped": (stats["skipped"], "skipped"),
    }
    said = [f"{MARKS[status]} {n} {word}" for status, (n, word) in counts.items() if n]
    took = seconds_text(record)
    return f"**{percent(stats['passRate'])} passed**: " + (", ".join(said) or "no tests") + took


def _by_prompt(prompts: list[dict[str, Any]]) -> str:
    lines = ["| provider | prompt | passed | failed | errors |", "|---|---|--:|--:|--:|"]
    for prompt in prompts:
        counts = prompt["metrics"]
        numbers = (counts[f"test{kind}Count"] for kind in ("Pass", "Fail", "Error"))
        names = f"| {text(prompt['provider'], 100)} | {text(prompt['label'], 100)} |"
        lines.append(names + "".join(f" {n} |" for n in numbers))
    return "\n".join(lines)


def _failures(record: Mapping[str, Any]) -> str:
    rows = [row for row in rows_of(record) if row["status"] in ("fail", "error")]
    if not rows:
        return ""
    several = len(record["results"]["prompts"]) > 1
    head = ["", "test", *(["provider, prompt"] if several else []), "score", "why"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows[:SHOWN]:
        where = f"{row['provider']['label']}, {row['prompt']['label']}"
        cells = [
            MARKS.get(row["status"], "?"),
            text(name_of_test(row), 120),
            *([text(where, 120)] if several else []),
            fixed(row["value"]),
            _why(row),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if len(rows) > SHOWN:
        lines.append(f"\n{len(rows) - SHOWN} more did not pass; write them with `-o results.html`.")
    return "\n".join(lines)


def _why(row: Row) -> str:
    first = first_broken(row)
    if first is None:
        return text(unanswered(row) or row["reason"], 300)
    claims = unsaid(first)
    parts = [f"**{text(title(first), 100)}** {text(brief(first), 300)}"]
    parts += [f"↳ {text(c['claim'], 200)} – {text(said_of(c), 300)}" for c in claims[:CLAIMS]]
    parts += [and_more(len(claims) - CLAIMS, "claim"), others(row)]
    return "<br>".join(filter(None, parts))


def text(value: str, most: int) -> str:
    r"""Outside text on one line of Markdown, with nothing in it that acts.

    >>> text("a|b <img> [x](http://y) @me", 80)
    'a\\|b &lt;img&gt; \\[x\\](http&#58;//y) &#64;me'
    """
    line = _INVISIBLE.sub("�", one_line(value, most))
    return _ACTS.sub(_escape, line).replace("www.", "www&#46;")


_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_ACTS = re.compile(r"[\\`*_\[\]|~#!&<>@$]|:(?=//)")
_ENTITIES = frozenset("@$:")


def _escape(found: re.Match[str]) -> str:
    import html

    sign = found.group()
    if sign in "&<>":
        return html.escape(sign)
    return f"&#{ord(sign)};" if sign in _ENTITIES else f"\\{sign}"
