"""One run of one library in numbers, and a table of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median
from typing import Any

HEAD = (
    "| library | mode | runs | calls a sample | repeated | tokens in + out a sample | wall s |"
    " CPU s | ms CPU a call | CPU s, whole process | peak MB | calls at once | missing scores |"
    " cores used by others |"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A run; calls and tokens are for one sample, ``other_requests`` are for embeddings."""

    name: str
    mode: str
    calls: float
    repeated: float
    prompt_tokens: float
    completion_tokens: float
    wall: float
    cpu: float
    whole_wall: float
    whole_cpu: float
    peak_mb: float
    at_once: int
    missing: int
    others: float
    means: Mapping[str, float]
    other_requests: float = 0.0
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)


def table(rows: Sequence[Row], samples: int) -> str:
    """A line a library and mode, with medians, in the order of the first runs."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.name, row.mode), []).append(row)
    lines = [HEAD, "|" + "---|" * HEAD.count(" |")]
    lines += [_line(found, samples) for found in groups.values()]
    return "\n".join(lines)


def means(rows: Sequence[Row]) -> str:
    """A line a library and mode with its mean scores."""
    seen = {(row.name, row.mode): row.means for row in rows}
    return "\n".join(
        f"{name} {mode}: " + ", ".join(f"{metric} {value:.3f}" for metric, value in found.items())
        for (name, mode), found in seen.items()
    )


def _line(rows: Sequence[Row], samples: int) -> str:
    mid = {
        field.name: median([getattr(row, field.name) for row in rows])
        for field in fields(Row)
        if field.name not in ("name", "mode", "means", "note")
    }
    walls = [row.wall for row in rows]
    spread = f" ({min(walls):.2f}-{max(walls):.2f})" if len(rows) > 1 else ""
    embedded = f" + {mid['other_requests']:.1f}" if mid["other_requests"] else ""
    requests = (mid["calls"] + mid["other_requests"]) * samples
    cells = [
        rows[0].name,
        rows[0].mode,
        str(len(rows)),
        f"{mid['calls']:.1f}{embedded}",
        f"{mid['repeated']:.0%}",
        f"{mid['prompt_tokens']:,.0f} + {mid['completion_tokens']:,.0f}",
        f"{mid['wall']:.2f}{spread}",
        f"{mid['cpu']:.2f}",
        f"{mid['cpu'] / max(1.0, requests) * 1000:.2f}",
        f"{mid['whole_cpu']:.2f}",
        f"{mid['peak_mb']:.0f}",
        f"{mid['at_once']:.0f}",
        f"{mid['missing']:.0f}",
        f"{mid['others']:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"
