"""Suites in YAML: prompts, providers, tests with assertions, and what came of them."""
