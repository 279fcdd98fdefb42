"""What a migration gave: the new text, what was converted and what could not be."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Migration:
    """The new text, with a line for each thing converted, not converted, or worth knowing.

    ``kind`` says what the source was taken for; ``command`` is a list of arguments of ``assay``
    that scores the result, where ``{}`` stands for the file it is written to.
    """

    kind: str
    text: str = ""
    converted: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
