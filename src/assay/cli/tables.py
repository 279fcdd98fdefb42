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
    """A console as wide as the terminal, or 110 columns where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    fixed = None if stream.isatty() or os.environ.get("COLUMNS") else 110
    return Console(stderr=stderr, width=fixed)


def plain(text: object) -> Text:
    """Text as it is: no markup, no control or direction characters that would act on the screen."""
    from rich.text import Text

    kept = (c if unicodedata.category(c) not in ("Cc", "Cf", "Cs") else " " for c in str(text))
    return Text("".join(kept))


def number(value: float | None) -> str:
    """Three decimals, or a dash."""
    return "–" if value is None else f"{value:.3f}"


def summary_table(
    run: Run, metrics: Mapping[str, Metric], gold: Mapping[str, Summary] | None = None
) -> Table:
    """Mean, interval and counts of each metric; with ``gold``, the gold means beside them."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("metric", no_wrap=True)
    table.add_column("mean", justify="right")
    table.add_column("95 % interval", justify="center", no_wrap=True)
    if gold:
        table.add_column("gold", justify="right")
    table.add_column("better")
    for name in ("n", "undefined", "failed", "unknown"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, metric in metrics.items():
        one = run[name]
        interval = f"{one.interval[0]:.3f} – {one.interval[1]:.3f}" if one.interval else "–"
        table.add_row(
            plain(name),
            number(one.mean),
            interval,
            *([number(gold[name].mean)] if gold else []),
            "higher" if metric.higher_is_better else "lower",
            *(str(count or "·") for count in (one.n, one.undefined, one.failed, one.unknown)),
        )
    return table
