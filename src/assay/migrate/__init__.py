"""Scripts, data and suites of other systems, rewritten for assay; nothing of them is run."""

from __future__ import annotations

from assay.migrate.outcome import Migration
from assay.migrate.source import migrate_file

__all__ = ["Migration", "migrate_file"]
