"""Terminal tables of suites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.cli.tables import plain
from assay.suite.outcome import SuiteRun
from assay.suite.outputs.findings import (
    Row,
    brief,
    first_broken,
    fixed,
    name_of_test,
    one_line,
    others,
    rows_of,
    said_of,
    title,
    unanswered,
    unsaid,
)
from assay.suite.outputs.record import as_record
from assay.suite.outputs.totals import totals
from assay.suite.titles import and_more

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

SHOWN = 25
STYLES = {"pass": "green", "fail": "red", "error": "yellow", "skipped": "dim"}


def as_it_is(value: Any) -> Any:
    """The value itself: redacts nothing."""
    return value


def suite_table(run: SuiteRun, *, scrub: Callable[[Any], Any] = as_it_is) -> Table:
    """Results with status, score, and why the first assertion that failed did.

    Of more than `SHOWN` results those that did not pass come first, and the rest is left out.
    ``scrub`` takes secrets out of JSON-able data.
    """
    from rich import box
    from rich.table import Table

    record = scrub(as_record(run))
    rows = rows_of(record)
    prompts = record["results"]["prompts"]
    several = len(prompts) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column("test", ratio=4, overflow="fold")
    if several:
        table.add_column(_several(prompts), ratio=4, overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("why", ratio=9, overflow="fold")
    for row in chosen(rows):
        where = [plain(one_line(_where(row, prompts), 80))] if several else []
        status = plain(row["status"])
        status.stylize(STYLES.get(row["status"], ""))
        table.add_row(
            plain(one_line(name_of_test(row).removeprefix("test "), 100)),
            *where,
            status,
            *_found(row),
        )
    if len(rows) > SHOWN:
        table.caption = f"{SHOWN} of {len(rows)} results, those that did not pass first"
        table.caption_justify = "left"
    return table


def chosen(rows: Sequence[Row]) -> list[Row]:
    """All rows in order, or of many those `SHOWN` that did not pass, or come first."""
    if len(rows) <= SHOWN:
        return list(rows)
    rank = {"fail": 0, "error": 0}
    return sorted(rows, key=lambda row: rank.get(row["status"], 1))[:SHOWN]


def summary_lines(run: SuiteRun, *, scrub: Callable[[Any], Any] = as_it_is) -> list[str]:
    """Counts and pass rate; calls and tokens of providers and judges; how long it took."""
    total = totals(scrub(as_record(run)))
    used = run.provenance.get("usage", {}).get("judges", {})
    notes = [f"note: {note}" for note in scrub(list(used.get("notes", ())))]
    return [plain(line).plain for line in (total.counts, *total.lines, *notes)]


def _several(prompts: Sequence[Mapping[str, Any]]) -> str:
    """What tells the columns of promptfoo's table apart."""
    providers = {one["provider"] for one in prompts}
    if len(providers) == 1:
        return "prompt"
    return "provider" if len(providers) == len(prompts) else "provider, prompt"


def _where(row: Row, prompts: Sequence[Mapping[str, Any]]) -> str:
    names = {"provider": row["provider"]["label"], "prompt": row["prompt"]["label"]}
    return ", ".join(names[part] for part in _several(prompts).split(", "))


def _found(row: Row) -> tuple[Text, Text]:
    """The score, and what the first assertion that failed or erred found."""
    return plain(fixed(row["value"])), plain("") if row["status"] == "pass" else _why(row)


def _why(row: Row) -> Text:
    from rich.text import Text

    first = first_broken(row)
    if first is None:
        return plain(one_line(unanswered(row) or row["reason"], 300))
    head = plain(title(first))
    head.stylize("bold")
    said = brief(first)
    lines = [Text.assemble(head, plain(f": {one_line(said, 300)}" if said else ""))]
    claims = unsaid(first)
    for claim in claims[:1]:
        quoted = f"“{one_line(claim['claim'], 200)}” {one_line(said_of(claim), 200)}"
        lines.append(plain(quoted))
    more = ", ".join(filter(None, (and_more(len(claims) - 1, "claim"), others(row))))
    if more:
        lines.append(Text(more, style="dim"))
    return Text("\n").join(lines)
