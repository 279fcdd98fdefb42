"""Demo data: made-up question-answering samples with hand-made claims and verdicts.

Each line of ``samples.jsonl`` is one sample: ``id``, ``question``, ``contexts`` (``id`` and
``text``), ``references``, ``response``, ``metadata`` (``domain`` and ``kind``) and ``gold``.
``gold`` holds the claims, with character spans, and four matrices of verdicts: one word a claim,
one letter a premise, E entailed, N neutral, C contradicted. What is not common knowledge is
invented; real facts are true except where a context or a response is wrong on purpose.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any


def demo_path() -> Path:
    """Path of the demo file, one JSON object a line.

    >>> demo_path().name
    'samples.jsonl'
    """
    return Path(str(files(__name__) / "samples.jsonl"))


def demo_rows() -> list[dict[str, Any]]:
    """The demo samples with their gold claims and verdicts, fresh objects at each call.

    >>> row = demo_rows()[0]
    >>> row["gold"]["response_by_contexts"]
    ['ENN', 'ENN', 'NEN']
    """
    text = (files(__name__) / "samples.jsonl").read_text(encoding="utf-8")
    # Not splitlines(): JSON strings may hold U+2028 and the like.
    return [json.loads(line) for line in text.split("\n") if line.strip()]
