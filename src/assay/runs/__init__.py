"""Runs that never lose work: a folder of shards, each written once and whole.

The rows of the input are divided into shards. A shard is a pure function of the plan and its rows;
it is scored anywhere, by anybody who has the folder, and its file is written to a neighbour, saved
and renamed: that the file exists is the commit. What a killed process had paid for is in the
shard's journal, and goes into the shard when the run is resumed.
"""

from __future__ import annotations

from assay.runs.engine import Outcome
from assay.runs.merging import Merged, merge
from assay.runs.outages import OutageError
from assay.runs.plan import Plan
from assay.runs.running import run, score_shard, score_to
from assay.runs.shards import ShardReport
from assay.runs.starting import start

__all__ = [
    "Merged",
    "OutageError",
    "Outcome",
    "Plan",
    "ShardReport",
    "merge",
    "run",
    "score_shard",
    "score_to",
    "start",
]
