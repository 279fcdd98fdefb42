"""Renderings of a suite's results: JSON, JSONL, YAML, CSV, HTML, JUnit, a step summary."""
