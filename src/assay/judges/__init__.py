"""Judges: each answers asks, none knows a metric."""
