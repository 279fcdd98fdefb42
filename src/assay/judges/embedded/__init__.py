"""The embedded judge: offline, no key; claims by rules, verdicts by a small entailment model."""

from assay.judges.embedded.judge import EmbeddedJudge

__all__ = ["EmbeddedJudge"]
