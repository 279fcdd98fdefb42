"""``assay explain``: the claims, verdicts and evidence behind one sample's scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.tables import console, number, plain
from assay.errors import ConfigError, DataError, did_you_mean
from assay.store import read_rows

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

STYLES = {
    "entailed": "green",
    "contradicted": "red",
    "neutral": "yellow",
    "unknown": "magenta",
}
LABELLED = {True: "yes", False: "no", None: "unknown"}
TITLES = {
    "context": "against the contexts",
    "reference": "against the reference",
    "response": "against the response",
}


def explain(path: Path, sample_id: str | None, metric: str | None) -> int:
    """Print one sample of an output file (the first, if no id is given)."""
    if not {".jsonl", ".partial"} & {path.suffix}:
        raise ConfigError(f"{path.name} holds no claims; explain reads the .jsonl of 'assay score'")
    row = _find(read_rows(path), path, sample_id)
    if metric is not None and metric not in row["scores"]:
        raise ConfigError(f"no scores of {metric!r}; {did_you_mean(metric, list(row['scores']))}")
    try:
        show(console(), row, metric)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise DataError(
            f"{path}: row {row.get('id')!r} is not as 'assay score' wrote it ({error!r})"
        ) from error
    return 0


def _find(rows: Iterable[dict[str, Any]], path: Path, wanted: str | None) -> dict[str, Any]:
    ids = []
    for row in rows:
        if wanted is None or str(row.get("id")) == wanted:
            return row
        ids.append(str(row.get("id")))
    if not ids:
        raise ConfigError(f"{path} holds no rows")
    near = did_you_mean(wanted or "", list(islice(ids, 2000)))
    if near.startswith("known"):
        near = f"it holds {len(ids)} rows, e.g. {', '.join(ids[:3])}"
    raise ConfigError(f"{path.name} has no sample {wanted!r}; {near}")


def show(screen: Console, row: Mapping[str, Any], metric: str | None = None) -> None:
    """Print a row: its texts, scores, and a table of claims for each kind of premise."""
    from rich.text import Text

    screen.print(Text.assemble(("sample ", "bold"), plain(row.get("id"))))
    for field in ("question", "response"):
        if row.get(field):
            screen.print(Text.assemble((f"{field}: ", "bold"), plain(row[field])))
    for n, reference in enumerate(row.get("references") or []):
        screen.print(Text.assemble((f"reference {n}: ", "bold"), plain(reference)))
    for n, context in enumerate(row.get("contexts") or []):
        shown = context["text"] if len(context["text"]) <= 300 else context["text"][:300] + " …"
        relevant = context.get("relevant")
        label = "" if relevant is None else ", relevant" if relevant else ", irrelevant"
        screen.print(Text.assemble((f"context {n}{label}: ", "bold"), plain(shown)))
    scores = {k: v for k, v in row["scores"].items() if metric in (None, k)}
    screen.print()
    screen.print(_scores(scores))
    response = [claim["text"] for claim in row.get("claims", {}).get("response", [])]
    for group in _groups(scores).values():
        items = group[0][1]
        own = [item["claim"] for item in items] == response
        stated = items[0]["against"] == "response"  # only reference claims are held against it
        screen.print(_claims(group, "response" if own and not stated else "reference"))


def _scores(scores: Mapping[str, Any]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    for title in ("value", "hits / total", "unknown"):
        table.add_column(title, justify="right")
    table.add_column("")
    for name, score in scores.items():
        counts = "–" if score["total"] is None else f"{score['hits']:g} / {score['total']:g}"
        note = "" if score["status"] == "ok" else f"{score['status']}: {score['reason']}"
        unknown = str(score["unknown"] or "·")
        table.add_row(plain(name), number(score["value"]), counts, unknown, plain(note))
    return table


Group = list[tuple[str, list[dict[str, Any]]]]


def _groups(scores: Mapping[str, Any]) -> dict[tuple[Any, ...], Group]:
    """Metrics whose items are the same claims with the same verdicts, in one table.

    Items of a metric that are held against different kinds of source come apart.
    """
    said = ("against", "claim", "verdict", "label", "probability")
    groups: dict[tuple[Any, ...], Group] = {}
    for name, score in scores.items():
        for against in dict.fromkeys(item["against"] for item in score["items"]):
            items = [item for item in score["items"] if item["against"] == against]
            key = tuple(tuple(item.get(field) for field in said) for item in items)
            groups.setdefault(key, []).append((name, items))
    return groups


def _claims(group: Group, of: str) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    items = group[0][1]
    legend = ", ".join(f"{mark(n)} {name}" for n, (name, _) in enumerate(group))
    against = items[0]["against"]
    about = f"{of} claims {TITLES[against]}" if against else "labelled texts"
    title = f"{about}; counts for {legend}"
    table = Table(box=box.ROUNDED, title=plain(title), title_justify="left", show_lines=True)
    table.add_column("#", justify="right")
    table.add_column("claim", ratio=4)
    table.add_column("verdict", no_wrap=True)
    table.add_column("p", justify="right")
    right = [_right(own[n] for _, own in group) for n in range(len(items))]
    if any(right):
        table.add_column("right", no_wrap=True)
    table.add_column("counts")
    table.add_column("evidence", ratio=5)
    for n, item in enumerate(items):
        hits = " ".join(mark(k) for k, (_, own) in enumerate(group) if own[n]["hit"])
        said = item["verdict"] or LABELLED[item["hit"]]
        table.add_row(
            str(n + 1),
            plain(item["claim"]),
            Text(str(said), style=STYLES.get(said, "")),
            "–" if item["probability"] is None else f"{item['probability']:.2f}",
            *([right[n]] if any(right) else []),
            hits,
            _evidence(item),
        )
    return table


def _right(items: Iterable[dict[str, Any]]) -> str:
    """Whether the reference entails the claim, as far as some metric asked."""
    known = [item["correct"] for item in items if "correct" in item]
    return ("yes" if known[0] else "no") if known else ""


def mark(n: int) -> str:
    """The letter of the n-th metric in a table."""
    return "abcdefghijklmnopqrstuvwxyz"[n % 26]


def _evidence(item: Mapping[str, Any]) -> Text:
    from rich.text import Text

    evidence = item["evidence"]
    if not evidence:
        return plain(item.get("reason", ""))
    source = item["against"]
    where = source if source == "response" else f"{source} {evidence[source]}"
    quote = f"“{evidence['quote']}”" if evidence["quote"] else item.get("reason", "")
    return Text.assemble((f"{where}: ", "bold"), plain(quote))
