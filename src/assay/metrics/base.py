"""What a metric is: parameters as fields, needs, and arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, cast, get_args, get_origin, get_type_hints

from assay.asks import Skill
from assay.errors import ConfigError, did_you_mean
from assay.needs import Need
from assay.sample import Claim
from assay.score import Evidence, Item, Score, Source
from assay.verdicts import EntailmentMatrix, Truth, Verdict, negate

Incorrect = Literal["not_entailed", "contradicted"]
NO_CLAIMS = "the response makes no claims"
NO_CONTEXTS = "no contexts"
NO_REFERENCE_CLAIMS = "the reference makes no claims"


@dataclass(frozen=True)
class Metric:
    """A quantity of one sample, computed from the answers to its needs.

    Subclasses are frozen dataclasses whose fields are the parameters. ``score`` gets one answer
    a need, in order; it does no I/O and never raises for what a judge may say.
    """

    name: ClassVar[str]
    higher_is_better: ClassVar[bool] = True
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    version: ClassVar[int] = 1
    """Raised whenever the numbers move."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that a parameter cannot have."""
        hints = _hints(cast("Hashable", type(self)))
        for f in fields(self):
            check_choice(self.name, f.name, getattr(self, f.name), hints[f.name])

    @property
    def skills(self) -> frozenset[Skill]:
        """What a judge must be able to do beside meeting the needs."""
        return frozenset()

    @property
    def needs(self) -> tuple[Need[Any], ...]:
        """The inputs of ``score``, in order."""
        raise TypeError(f"{type(self).__name__} does not say what it needs")

    def score(self, *answers: Any, **_: Any) -> Score:
        """The score of one sample."""
        raise TypeError(f"{type(self).__name__} does not say how it is computed")

    def __str__(self) -> str:
        """The name, with the parameters that differ from their defaults."""
        changed = [
            f"{f.name}={_word(getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return self.name + (f"({', '.join(changed)})" if changed else "")


@cache
def _hints(metric: Hashable) -> Mapping[str, Any]:
    """The types of a metric's parameters; finding them takes longer than all the rest."""
    return get_type_hints(metric)


def check_choice(metric: str, parameter: str, value: object, hint: Any) -> None:
    """Raise ConfigError unless the value is one that the hint allows."""
    if hint in (bool, int, str) and type(value) is not hint:
        raise ConfigError(f"{metric}({parameter}={value!r}): the value must be {hint.__name__}")
    allowed = list(get_args(hint)) if get_origin(hint) is Literal else [value]
    if value not in allowed:
        near = did_you_mean(str(value), [str(choice) for choice in allowed])
        raise ConfigError(f"{metric}({parameter}={value}): {near}")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def claim_items(
    matrix: EntailmentMatrix,
    source: Source,
    hits: Sequence[Truth],
    correct: Sequence[Truth] | None = None,
) -> list[Item]:
    """One item a claim: the verdict, probability and evidence of its best premise."""
    items = []
    for i, (claim, hit) in enumerate(zip(matrix.claims, hits, strict=True)):
        verdict, probability, evidence, reason = Verdict.NEUTRAL, None, None, "no premises"
        if (c := matrix.best(i)) is not None:
            cell = matrix.cells[i][c]
            verdict, probability, reason = cell.verdict, cell.probability, cell.reason
            found = verdict in (Verdict.ENTAILED, Verdict.CONTRADICTED)
            evidence = Evidence(source, c, cell.evidence) if found else None
            # A premise that was not judged may be the one that entails: best is not known then.
            gaps = [x for x in matrix.cells[i] if x.verdict is Verdict.UNKNOWN]
            if not found and gaps:
                verdict, probability, reason = Verdict.UNKNOWN, None, gaps[0].reason
        items.append(
            Item(
                claim.text,
                verdict,
                source,
                probability,
                evidence,
                hit,
                correct[i] if correct is not None else None,
                reason,
            )
        )
    return items


def wrong(correct: EntailmentMatrix, policy: Incorrect) -> tuple[Truth, ...]:
    """Per claim: is it incorrect? Not entailed by any reference, or contradicted by one."""
    if policy == "contradicted":
        return correct.contradicted()
    return tuple(negate(value) for value in correct.supported())


def best_of_references(claims: Sequence[Claim], score: Callable[[list[int]], Score]) -> Score:
    """The best score over the references, each scored on its own claims.

    References are alternative right answers: the response owes nothing to the others. Where no
    reference has a value, the first one's reason stands.
    """
    if not claims:
        return Score.undefined(NO_REFERENCE_CLAIMS)
    scores = [
        score([i for i, claim in enumerate(claims) if claim.source == source])
        for source in sorted({claim.source for claim in claims})
    ]
    best = max(scores, key=lambda s: -1.0 if s.value is None else s.value)
    unsure = [s for s in scores if s.status == "failed"]
    # An answer that was not given may hide a better reference; only a 1 cannot be beaten.
    if unsure and best.value != 1.0:
        return unsure[0]
    return replace(best, unknown=sum(s.unknown for s in scores))
