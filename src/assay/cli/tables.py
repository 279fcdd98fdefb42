"""Terminal tables."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay.metrics import Metric
from assay.run import Run
from assay.stats import Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, or 100 columns where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    fixed = None if stream.isatty() or os.environ.get("COLUMNS") else 100
    return Console(stderr=stderr, width=fixed)


def plain(text: object) -> Text:
    """Text as it is: no markup, no control or direction characters that would act on the screen."""
    from rich.text import Text

    kept = (c if unicodedata.category(c) not in ("Cc", "Cf", "Cs") else " " for c in str(text))
    return Text("".join(kept))


def to_stderr(text: str) -> None:
    """A line on stderr, which nothing from outside can make act on the terminal."""
    print(plain(text), file=sys.stderr)


def number(value: float | None) -> str:
    """Three decimals, or a dash."""
    return "–" if value is None else f"{value:.3f}"


def summary_table(
    run: Run, metrics: Mapping[str, Metric], gold: Mapping[str, Summary] | None = None
) -> Table:
    """Mean, interval and counts of each metric; with ``gold``, the gold means beside them.

    Counts that are 0 for every metric have no column, so that the means fit a narrow terminal.
    """
    from rich import box
    from rich.table import Table

    rows = [(name, metric, run[name]) for name, metric in metrics.items()]
    counts = {
        "undefined": [one.undefined for _, _, one in rows],
        "failed": [one.failed for _, _, one in rows],
        "unknown": [one.unknown for _, _, one in rows],
    }
    shown = {title: values for title, values in counts.items() if any(values)}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("metric", overflow="fold", min_width=20)
    table.add_column("", no_wrap=True)
    for title in ("mean", *(["gold"] if gold else []), "95 % interval", "n", *shown):
        table.add_column(title, justify="right", no_wrap=True)
    for k, (name, metric, one) in enumerate(rows):
        interval = f"{one.interval[0]:.2f}–{one.interval[1]:.2f}" if one.interval else "–"
        table.add_row(
            plain(name),
            "↑" if metric.higher_is_better else "↓",
            number(one.mean),
            *([number(gold[name].mean)] if gold else []),
            interval,
            str(one.n),
            *(str(values[k] or "·") for values in shown.values()),
        )
    table.caption = "↑ higher is better, ↓ lower is better"
    table.caption_justify = "left"
    return table
