"""What of a run differs from the one that its folder holds, in the words of who began it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from assay.asks import Judge
from assay.runs.plan import Plan, Source

_SHOWN = frozenset(
    {"model", "base_url", "temperature", "seed", "max_tokens", "reply_format", "class"}
)
"""Parts of a judge that are shown as they are; of others it is only told that they differ."""


def known_of(judge: Judge) -> dict[str, str]:
    """What a judge tells of its endpoint, as text; of what could be private, a digest."""
    said = getattr(judge, "endpoint", None)
    if not isinstance(said, Mapping):
        return {}
    return {str(name): _text(str(name), value) for name, value in said.items()}


def differences(was: Plan, now: Plan) -> list[str]:
    """What of two plans would make their tables differ; empty if nothing does.

    Each says what the run was begun with, and what is given now.
    """
    out = [*_metrics(was, now)]
    if was.judge_fingerprint != now.judge_fingerprint:
        out.append(_judge(was, now))
    if was.columns != now.columns:
        out.append(_changed("--map", _mapping(was.columns), _mapping(now.columns)))
    if was.data.fingerprint != now.data.fingerprint or was.data.kind != now.data.kind:
        out.append(_data(was.data, now.data))
    for option in ("shard_rows", "shard_format"):
        before, after = str(getattr(was, option)), str(getattr(now, option))
        if before != after:
            out.append(_changed(f"--{option.replace('_', '-')}", before, after))
    if was.row_format != now.row_format:
        out.append(_changed("format of rows", _made(was, "row_format"), _made(now, "row_format")))
    return out


def _metrics(was: Plan, now: Plan) -> list[str]:
    if list(was.metrics) != list(now.metrics):
        return [_changed("--metrics", ", ".join(was.metrics), ", ".join(now.metrics))]
    return [
        _changed(f"metric {name}", before, now.metrics[name])
        for name, before in was.metrics.items()
        if before != now.metrics[name]
    ]


def _judge(was: Plan, now: Plan) -> str:
    """What is known to differ of the judge; else, what may."""
    if was.judge != now.judge:
        return _changed("--judge", was.judge, now.judge)
    parts = []
    for name in sorted({*was.judged_by} & {*now.judged_by}):
        before, after = was.judged_by[name], now.judged_by[name]
        if before == after:
            continue
        hidden = before.startswith("sha256:") or after.startswith("sha256:")
        parts.append(f"another {name}" if hidden else f"{name} {before}, not {after}")
    if parts:
        return f"judge: {was.judge} with " + ", ".join(parts)
    if was.assay != now.assay:
        return f"judge: {was.judge} of assay {was.assay}, not {now.assay}"
    return (
        f"judge: {was.judge} with other options, such as its URL, prompts or --packed "
        f"({was.judge_fingerprint}, not {now.judge_fingerprint})"
    )


def _changed(what: str, before: str, after: str) -> str:
    return f"{what}: {before}, not {after}"


def _mapping(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{ours}={theirs}" for ours, theirs in columns.items()) or "none"


def _data(was: Source, now: Source) -> str:
    """Both inputs, with as much of them as tells one from the other."""
    if was.name == now.name and was.kind == now.kind and was.rows == now.rows:
        return f"data: {was.name} had other content then"
    before, after = (f"{one.name} ({one.kind}, rows: {one.rows})" for one in (was, now))
    return _changed("data", before, after)


def _made(plan: Plan, field: str) -> str:
    return f"{getattr(plan, field)} (assay {plan.assay})"


def _text(name: str, value: object) -> str:
    if name in _SHOWN and (value is None or isinstance(value, str | int | float)):
        return "none" if value is None else str(value)
    text = json.dumps(value, sort_keys=True, default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:16]
