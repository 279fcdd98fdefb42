"""Rows, judges and tables that the tests of runs share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay import ScriptedJudge
from assay.asks import Ask, T
from assay.errors import JudgeUnavailable, JudgeUnusable
from assay.runs import merge

METRICS = ["faithfulness", "precision"]


def rows(count: int) -> list[dict[str, Any]]:
    """Samples of three asks; some lack a reference."""
    made: list[dict[str, Any]] = [
        {
            "question": f"When did mill {n} open?",
            "response": f"Mill {n} opened. It is red – «{n}».",
            "contexts": [f"Mill {n} opened. It is old.", "Bread is baked."],
            "reference": f"Mill {n} opened.",
        }
        for n in range(count)
    ]
    for row in made[3::7]:
        del row["reference"]
    return made


def write(path: Path, made: list[dict[str, Any]]) -> Path:
    """Rows as JSON lines, with blank lines between."""
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in made), "utf-8")
    return path


def table(folder: Path, **options: Any) -> list[dict[str, Any]]:
    """The merged rows of a run."""
    out = folder.parent / "out.jsonl"
    merge(folder, out, **options)
    return [json.loads(line) for line in out.read_bytes().splitlines()]


def paid(folder: Path) -> None:
    """Let the run in a folder have paid for something, so that it gives way to no other."""
    usage = {"process": "p", "seconds": 1.0, "judge": "j", "calls": 1, "prompt_tokens": 9}
    usage |= {"completion_tokens": 9, "retries": 0, "cached": 0, "notes": []}
    (folder / "usage.jsonl").write_text(json.dumps(usage) + "\n", "utf-8")


class Flaky(ScriptedJudge):
    """Fails at some questions, or says that nothing works from some ask on."""

    bad: frozenset[str] = frozenset()
    unusable_after: int | None = None

    async def answer(self, ask: Ask[T]) -> T:
        if self.unusable_after is not None and self.usage.calls >= self.unusable_after:
            raise JudgeUnusable("the key is wrong")
        answered = await super().answer(ask)
        if getattr(ask, "question", None) in self.bad:
            raise JudgeUnavailable("429")
        return answered
