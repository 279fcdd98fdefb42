"""rubricPrompt: the judge's instructions, one slot for each kind of question."""

from __future__ import annotations

from collections.abc import Mapping

from assay.errors import ConfigError, did_you_mean
from assay.judges.prompting import KINDS
from assay.suite.files import Folder

LONE: str = "grade"
"""The slot of a rubricPrompt that is one text, as llm-rubric's is."""
FILES = (".txt", ".md")


def prompts_of(
    rubric: str | Mapping[str, str] | None, folder: Folder | None = None
) -> dict[str, str] | None:
    """Instructions by slot, None for assay's own; ``file://`` values are read.

    Instructions hold no data: outputs and contexts are sent apart from them. Raises ConfigError
    for an unknown slot, and for a text with places for data.
    """
    if rubric is None:
        return None
    slots = {LONE: rubric} if isinstance(rubric, str) else dict(rubric)
    out: dict[str, str] = {}
    for slot, written in slots.items():
        text = written
        if slot not in KINDS:
            near = did_you_mean(slot, list(KINDS))
            raise ConfigError(f"rubricPrompt has no slot {slot!r}; {near}")
        if text.startswith("file://") and folder is not None:
            text = folder.read_text(folder.resolve(text, allowed=FILES))
        if "{{" in text or "{%" in text:
            raise ConfigError(
                f"rubricPrompt ({slot}) has places for data ({{{{...}}}}): write instructions"
                " alone; output, criterion and contexts are sent apart from them, as data"
            )
        out[slot] = text
    return out
