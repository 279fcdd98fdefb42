"""The command line: ``assay``."""

from assay.cli.app import main

__all__ = ["main"]
