"""Claims and labels that a RAGChecker file brings along, as a sample and as a judge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from assay.asks import Against, Ask, Entail, Extract, Judge, Skill, T, Usage
from assay.errors import DataError
from assay.ragchecker.records import Claims, RAGResult
from assay.sample import Claim, Context, Sample
from assay.verdicts import Cell, Verdict

VERDICTS: Mapping[str, Verdict] = MappingProxyType(
    {
        "entailment": Verdict.ENTAILED,
        "neutral": Verdict.NEUTRAL,
        "contradiction": Verdict.CONTRADICTED,
    }
)
NAMES: Mapping[Verdict, str | None] = MappingProxyType(
    {verdict: word.capitalize() for word, verdict in VERDICTS.items()}
)
MATRICES: Sequence[tuple[str, str, Against]] = (
    ("answer2response", "response_claims", "reference"),
    ("response2answer", "gt_answer_claims", "response"),
    ("retrieved2response", "response_claims", "passage"),
    ("retrieved2answer", "gt_answer_claims", "passage"),
)
"""Each field of labels, the claims that it labels, and what they are held against."""

NO_TEXT = "(no text)"
"""Stands for a text that is blank though labels say what it entails."""

Row = tuple[Cell | None, ...]


class GivenJudge:
    """Verdicts on the claims of one record from its labels; ``judge`` gives those that it lacks.

    Raises DataError for labels that do not fit the claims and chunks.
    """

    def __init__(self, result: RAGResult, judge: Judge) -> None:
        self._judge = judge
        self._plain: dict[str, str] = {}
        labelled = any(getattr(result, name) is not None for name, _, _ in MATRICES)
        lists = {
            field: self._named(field, getattr(result, field), labelled)
            for field in ("response_claims", "gt_answer_claims")
        }
        self._rows: dict[tuple[Against, str], Row] = {}
        self.sample = _sample(result, lists)
        sample = self.sample
        self._retrieved = sample.contexts is not None
        self._premises: dict[Against, tuple[str, ...]] = {
            "passage": tuple(context.text for context in sample.contexts or ()),
            "reference": sample.references or (),
            "response": () if sample.response is None else (sample.response,),
        }
        for field, of, against in MATRICES:
            if (labels := getattr(result, field)) is not None:
                self._learn(field, labels, lists[of], against)
        given = repr(sorted(self._rows.items()))
        self._given = hashlib.sha256(given.encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def fingerprint(self) -> str:
        return f"given:{self._given}+{self._judge.fingerprint}"

    @property
    def usage(self) -> Usage:
        """That of the judge behind."""
        return self._judge.usage

    def can(self, skill: Skill) -> bool:
        return self._judge.can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        """Verdicts from the labels, and everything else from the judge."""
        if isinstance(ask, Extract) and ask.text == NO_TEXT:
            return cast("T", ())
        if isinstance(ask, Entail):
            return cast("T", await self._cells(ask))
        return await self._judge.answer(ask)

    async def aclose(self) -> None:
        """Nothing to let go of; the judge behind is its owner's."""

    def labels(self, against: Against, claims: Iterable[Claim]) -> list[list[str | None]] | None:
        """RAGChecker's labels, a row a claim; None (null) for a verdict that nobody gave.

        None for the whole where these claims were not held against these premises.
        """
        if not self._premises[against]:
            return [[] for _ in claims] if against == "passage" and self._retrieved else None
        rows = [self._rows.get((against, claim.text)) for claim in claims]
        if any(row is None for row in rows):
            return None
        return [[NAMES.get(c.verdict) if c else None for c in row] for row in rows if row]

    async def _cells(self, ask: Entail) -> tuple[tuple[Cell, ...], ...]:
        """All cells of an ask; the judge sees only claims with a cell that is not known."""
        shown = [n for n, text in enumerate(self._premises[ask.against]) if text.strip()]
        unknown = (None,) * len(self._premises[ask.against])
        rows = {c: self._rows.get((ask.against, c), unknown) for c in ask.claims}
        lacking = [c for c, row in rows.items() if any(row[n] is None for n in shown)]
        for claim, cells in (await self._ask(ask, lacking)).items():
            new = dict(zip(shown, cells, strict=True))
            blank = Cell(Verdict.NEUTRAL, 0.0)
            row = tuple(old or new.get(n, blank) for n, old in enumerate(rows[claim]))
            rows[claim] = self._rows[ask.against, claim] = row
        return tuple(tuple(cast("Cell", rows[c][n]) for n in shown) for c in ask.claims)

    async def _ask(self, ask: Entail, claims: Sequence[str]) -> dict[str, tuple[Cell, ...]]:
        """The judge's cells for these claims, asked about in their own words."""
        blank = Cell(Verdict.NEUTRAL, 0.0)
        texts = tuple(dict.fromkeys(self._plain.get(claim, claim) for claim in claims))
        premises = tuple(premise for premise in ask.premises if premise != NO_TEXT)
        answer: tuple[tuple[Cell, ...], ...] = ((),) * len(texts)
        if texts and premises:
            answer = await self._judge.answer(Entail(texts, premises, ask.question, ask.against))
        out = {}
        for claim in claims:
            cells = iter(answer[texts.index(self._plain.get(claim, claim))])
            out[claim] = tuple(blank if p == NO_TEXT else next(cells) for p in ask.premises)
        return out

    def _named(self, field: str, claims: Claims | None, number: bool) -> tuple[Claim, ...] | None:
        """The claims, those that occur again told apart by a number where labels may differ."""
        if claims is None:
            return None
        if not isinstance(claims, list | tuple):
            raise DataError(f"{field} must be a list of claims, not {type(claims).__name__}")
        named = []
        for text in (_claim_text(field, n, claim) for n, claim in enumerate(claims)):
            name, again = text, 1
            while number and name in self._plain:
                again += 1
                name = f"{text} ({again})"
            self._plain[name] = text
            named.append(Claim(name))
        return tuple(named)

    def _learn(
        self, field: str, labels: Any, claims: tuple[Claim, ...] | None, against: Against
    ) -> None:
        if claims is None:
            raise DataError(f"{field} has labels, but the claims that they label are not there")
        width = len(self._premises[against])
        if not isinstance(labels, list | tuple) or (len(labels) != len(claims) and width):
            raise DataError(f"{field} must be a list of {len(claims)} labels, one a claim")
        for n, (claim, value) in enumerate(zip(claims, labels, strict=False)):
            listed = list(value) if isinstance(value, list | tuple) else [value]
            if len(listed) != width and width:
                raise DataError(f"{field}[{n}] must have {width} labels, not {len(listed)}")
            cells = tuple(_cell(f"{field}[{n}]", label) for label in listed[:width])
            self._rows[against, claim.text] = cells


def _sample(result: RAGResult, claims: Mapping[str, tuple[Claim, ...] | None]) -> Sample:
    """The record in our shape."""

    def worded(text: str | None, *fields: str) -> str | None:
        labelled = any(getattr(result, field) is not None for field in fields)
        return NO_TEXT if labelled and not (text or "").strip() else text

    chunks = result.retrieved_context
    contexts = None
    if chunks is not None:
        fields = ("retrieved2response", "retrieved2answer")
        texts = [worded(chunk.text, *fields) or "" for chunk in chunks]
        ids = [None if chunk.doc_id is None else str(chunk.doc_id) for chunk in chunks]
        contexts = [Context(*pair) for pair in zip(texts, ids, strict=True)]
    return Sample(
        result.query,
        worded(result.response, "response2answer"),
        contexts,
        worded(result.gt_answer, "answer2response"),
        id=str(result.query_id),
        response_claims=claims["response_claims"],
        reference_claims=claims["gt_answer_claims"],
    )


def _claim_text(field: str, n: int, claim: object) -> str:
    if isinstance(claim, str):
        return claim
    if isinstance(claim, list | tuple) and claim and all(isinstance(part, str) for part in claim):
        return " ".join(claim)
    raise DataError(f"{field}[{n}] must be a text or a triplet of texts, not {claim!r}")


def _cell(place: str, label: object) -> Cell | None:
    """The verdict of a label; None where there is none."""
    if label is None:
        return None
    verdict = VERDICTS.get(label.strip().lower()) if isinstance(label, str) else None
    if verdict is None:
        raise DataError(f"{place}: {label!r} is no label; Entailment, Neutral or Contradiction")
    return Cell(verdict)
