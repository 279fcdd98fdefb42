"""``assay metrics`` and ``assay judges``: what there is."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from assay.cli.tables import console, plain
from assay.errors import MissingField
from assay.judges.named import JUDGES
from assay.metrics import CATALOGUE, Metric
from assay.runner import closure
from assay.sample import Sample

NOTE = (
    "Balanced accuracy is at the shipped thresholds; 0.5 is chance for every figure. Thresholds "
    "and heads were learned on sets of this kind, so other text will do a little worse. The "
    "embedded judge reads English, tells support from no support only, and is weak on small edits "
    "(a changed number or name); an LLM judge is the better one where there is a key."
)


def list_metrics() -> int:
    """Print every metric: its quantity, direction, fields that it needs and parameters."""
    from rich.padding import Padding
    from rich.text import Text

    screen = console()
    for name, metric in CATALOGUE.items():
        needs = ", ".join(sorted(required(example(metric))))
        arrow = "↑" if metric.higher_is_better else "↓"
        screen.print(Text.assemble((name, "bold"), f" {arrow}  needs {needs}"))
        first = (metric.__doc__ or "").strip().splitlines()[0]
        screen.print(Padding(plain(first), (0, 0, 0, 4)))
        for line in parameters(metric):
            screen.print(Padding(plain(line), (0, 0, 0, 4)), style="dim")
    screen.print("\n↑ higher is better, ↓ lower is better; parameters: default first")
    return 0


def example(metric: type[Metric]) -> Metric:
    """The metric with its defaults, and some text where a parameter must be given one."""
    return metric(**{field.name: "TEXT" for field in fields(metric) if field.default == ""})


def required(metric: Metric) -> list[str]:
    """The fields that a sample must have to be scored."""
    fields: dict[str, Any] = {}
    while True:
        try:
            closure(metric.needs, Sample(**fields))
        except MissingField as error:
            fields[error.field] = "x"
        else:
            return list(fields)


def parameters(metric: type[Metric]) -> list[str]:
    """One line a parameter: its name and values, the default first."""
    hints = get_type_hints(metric)
    lines = []
    for field in fields(metric):
        hint = hints[field.name]
        values: list[object] = ["TEXT" if field.default == "" else field.default]
        if get_origin(hint) is Literal:
            values += [v for v in get_args(hint) if v != field.default]
        elif hint is bool:
            values = [str(field.default).lower(), str(not field.default).lower()]
        lines.append(f"{field.name}={' | '.join(map(str, values))}")
    return lines


def list_judges() -> int:
    """Print the judges, and the embedded one's measured agreement with people."""
    from rich import box
    from rich.table import Table

    from assay.judges.embedded import EmbeddedJudge

    screen = console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("judge", no_wrap=True)
    table.add_column("what it is")
    for name, what in JUDGES.items():
        table.add_row(name, plain(what))
    screen.print(table)
    edition = EmbeddedJudge().edition
    measured = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=f"Agreement of the embedded judge ({edition.name}) with people",
        title_justify="left",
    )
    measured.add_column("labelled set", no_wrap=True)
    measured.add_column("what people said")
    for title in ("n", "balanced accuracy", "AUROC", "AUROC of word overlap"):
        measured.add_column(title, justify="right")
    for row in edition.measured:
        measured.add_row(
            str(row["set"]),
            str(row["what"]),
            str(row["n"]),
            f"{row['balanced_accuracy']:.2f}",
            f"{row['auroc']:.2f}",
            f"{row['overlap_auroc']:.2f}",
        )
    screen.print(measured)
    screen.print(NOTE, highlight=False, markup=False)
    return 0
