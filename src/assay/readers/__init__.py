"""Samples from files and objects: names and shapes of other systems are recognised."""

from __future__ import annotations

from assay.readers.columns import COLUMN_NAMES, parse_map
from assay.readers.reading import Reading, iter_samples, open_samples, read_samples

__all__ = [
    "COLUMN_NAMES",
    "Reading",
    "iter_samples",
    "open_samples",
    "parse_map",
    "read_samples",
]
