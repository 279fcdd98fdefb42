"""What a run came to, in a few lines: results, calls and tokens of providers and judges, time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.suite.outputs.findings import percent


@dataclass(frozen=True, slots=True)
class Totals:
    """Lines for people; ``providers``, ``judges`` and ``took`` are "" where nothing is known."""

    counts: str
    providers: str
    judges: str
    took: str

    @property
    def lines(self) -> list[str]:
        """What is known besides the counts."""
        named = (("providers", self.providers), ("judges", self.judges), ("took", self.took))
        return [f"{name}: {said}" for name, said in named if said]


def totals(record: Mapping[str, Any]) -> Totals:
    """The totals of a record."""
    stats = record["results"]["stats"]
    used = stats["tokenUsage"]
    judges = ", ".join(judge_names(record))
    asked = _spent(used["assertions"], None)
    return Totals(
        _counts(stats),
        _spent(used, stats["cost"]),
        " · ".join(filter(None, (judges, asked))),
        _seconds(stats["durationMs"]),
    )


def judge_names(record: Mapping[str, Any]) -> list[str]:
    """The judges of a record by name."""
    judges = record["metadata"].get("judges") or ()
    return [judges] if isinstance(judges, str) else [str(name) for name in judges]


def _counts(stats: Mapping[str, Any]) -> str:
    number = {
        "passed": stats["successes"],
        "failed": stats["failures"],
        "errors" if stats["errors"] != 1 else "error": stats["errors"],
        "skipped": stats["skipped"],
    }
    said = [f"{n:,} {word}" for word, n in number.items() if n or word in ("passed", "failed")]
    return f"{', '.join(said)}; pass rate {percent(stats['passRate'])}"


def _spent(used: Mapping[str, Any], cost: float | None) -> str:
    said = []
    if calls := used["numRequests"]:
        said.append(f"{calls:,} call" + ("s" if calls != 1 else ""))
    if total := used["total"]:
        said.append(f"{total:,} tokens ({used['prompt']:,} in, {used['completion']:,} out)")
    if used["cached"]:
        said.append(f"{used['cached']:,} tokens from the cache")
    if known := used.get("remembered"):
        said.append(f"{known:,} answer{'s' if known != 1 else ''} known already")
    if cost:
        said.append(f"${cost:,.4f}")
    return ", ".join(said)


def _seconds(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def seconds_text(record: Mapping[str, Any]) -> str:
    """How long it took, as the end of a sentence."""
    took = _seconds(record["results"]["stats"]["durationMs"])
    return f", in {took}" if took else ""
