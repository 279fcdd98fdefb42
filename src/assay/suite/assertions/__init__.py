"""Assertions of a suite: kinds by name, what each takes and how it decides."""
