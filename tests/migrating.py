"""Sources for ``assay migrate``, and what it makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.migrate import Migration, migrate_file

SUITE: dict[str, Any] = {
    "prompts": ["{{query}}"],
    "providers": ["echo"],
    "defaultTest": {"assert": [{"type": "context-faithfulness"}]},
    "tests": [
        {
            "description": "the mill",
            "vars": {
                "query": "When did the mill open?",
                "contextChunks": [
                    {"text": "The mill opened in 1820.", "relevant": True},
                    {"text": "Bread is baked at night.", "relevant": False},
                ],
                "right": "It opened in 1820.",
                "city": "Leith",
            },
            "providerOutput": "The mill opened in 1820.",
            "assert": [
                {
                    "type": "noise-sensitivity",
                    "value": "{{right}}",
                    "config": {"mode": "irrelevant", "contextChunks": "{{contextChunks}}"},
                },
                {"type": "rouge-n", "value": "{{right}}"},
            ],
        }
    ],
}


def put(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8", newline="")
    return path


def script(tmp_path: Path, text: str) -> Migration:
    return migrate_file(put(tmp_path / "old.py", text))


def suite(tmp_path: Path, **changes: Any) -> Migration:
    return migrate_file(put(tmp_path / "promptfooconfig.json", json.dumps(SUITE | changes)))


def rows(done: Migration) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.text.splitlines()]
