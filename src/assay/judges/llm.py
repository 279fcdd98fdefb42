"""A chat model as the judge: claims and verdicts, read strictly and asked for once more."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from assay.asks import Ask, Entail, Extract, Skill, Usage
from assay.errors import ConfigError, JudgeError, JudgeUnusable, MalformedAnswer
from assay.judges.complete import Complete, Completion, Endpoint, Messages, Schema
from assay.judges.prompting import (
    claim_id,
    entail_form,
    entail_messages,
    extract_form,
    extract_messages,
    premise_id,
    prompt_texts,
)
from assay.judges.replies import (
    PARSER,
    Key,
    Said,
    UnreadableError,
    Verdicts,
    find_quote,
    read_claims,
    read_verdicts,
)
from assay.sample import Claim
from assay.verdicts import Cell, Verdict

T = TypeVar("T")
Pair = tuple[int, int]
"""A claim and a premise, by their index in the ask."""

NO_QUOTE = "the quote is not in the source"
LEFT_OUT = "the judge left this verdict out"


@dataclass
class Tally:
    """How a judge's replies were read so far."""

    replies: int = 0
    complete: int = 0
    """Replies that had all that was asked for."""
    reasked: int = 0
    """Replies after which something was asked for once more."""
    invalid: int = 0
    """Parts of replies that were passed over: unknown ids, no verdicts, contradictions."""
    unanswered: int = 0
    """Verdicts that stayed unknown."""


@dataclass
class _Job:
    """One call's worth of pairs, and what came of it."""

    claims: list[int]
    premises: list[int]
    cells: dict[Pair, Cell] = field(default_factory=dict)
    error: JudgeError | None = None
    why: str = ""

    def missing(self) -> list[Pair]:
        return [(i, c) for i in self.claims for c in self.premises if (i, c) not in self.cells]


class LLMJudge:
    """A judge that asks a chat model through ``complete``.

    ``fingerprint_parts`` is what the replies of ``complete`` depend on: model, endpoint,
    sampling. One call judges up to ``max_claims`` claims against one premise; with ``packed``,
    against as many premises as fit into ``max_chars`` characters. ``reasons`` asks for a reason
    a verdict. ``prompts`` replaces the instructions by kind ("extract", "entail").

    What a reply leaves out is asked for once more, and is UNKNOWN after that. Evidence is only
    what stands in the premise: a verdict whose quote does not is kept without evidence, and
    its reason says so.

    Raises ConfigError for options that cannot work.
    """

    def __init__(
        self,
        complete: Complete,
        *,
        name: str,
        fingerprint_parts: Mapping[str, Any],
        packed: bool = False,
        max_claims: int = 40,
        max_chars: int = 24_000,
        reasons: bool = True,
        prompts: Mapping[str, str] | None = None,
    ) -> None:
        if max_claims < 1 or max_chars < 1:
            raise ConfigError("max_claims and max_chars must be at least 1")
        texts = prompt_texts(prompts)
        self._complete = complete
        self._name = name
        self._packed, self._max_claims, self._max_chars = packed, max_claims, max_chars
        self._extract = extract_form(texts["extract"])
        self._entail = entail_form(texts["entail"], packed=packed, reasons=reasons)
        self._endpoint = complete if isinstance(complete, Endpoint) else None
        self._usage = self._endpoint.usage if self._endpoint else Usage()
        self._fingerprint = _digest(
            {
                "endpoint": dict(fingerprint_parts),
                "packed": packed,
                "max_claims": max_claims,
                "max_chars": max_chars,
                "reasons": reasons,
                "prompts": texts,
                "forms": [(f.system, f.schema.body) for f in (self._extract, self._entail)],
                "parser": PARSER,
            }
        )
        self.tally = Tally()

    @property
    def name(self) -> str:
        return self._name

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def usage(self) -> Usage:
        return self._usage

    def can(self, skill: Skill) -> bool:
        return skill in ("claims", "entail")

    async def answer(self, ask: Ask[T]) -> T:
        if isinstance(ask, Extract):
            return cast("T", await self._claims(ask))
        if isinstance(ask, Entail):
            return cast("T", await self._cells(ask))
        raise ConfigError(f"{self._name} does not answer {type(ask).__name__}")

    async def aclose(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.aclose()

    async def _claims(self, ask: Extract) -> tuple[Claim, ...]:
        """The claims with the spans of their quotes; raises MalformedAnswer."""
        why = ""
        for again in (True, False):
            nonce, messages = extract_messages(self._extract, ask)
            reply = await self._ask(messages, self._extract.schema)
            try:
                found = read_claims(reply.text, nonce)
            except UnreadableError as error:
                why = str(error)
                self.tally.reasked += again
                continue
            self.tally.complete += 1
            return _located(found, ask.text)
        raise MalformedAnswer(f"{self._name}: {why}")

    async def _cells(self, ask: Entail) -> tuple[tuple[Cell, ...], ...]:
        """A cell a (claim, premise); raises a JudgeError if the endpoint answered none."""
        jobs = list(self._plan(ask))
        await _all([self._do(ask, job) for job in jobs])
        cells = {pair: cell for job in jobs for pair, cell in job.cells.items()}
        error = next((job.error for job in jobs if job.error), None)
        if error is not None and not cells:
            raise error
        for job in jobs:
            missing = job.missing()
            self.tally.unanswered += len(missing)
            cells |= dict.fromkeys(missing, Cell(Verdict.UNKNOWN, reason=job.why))
        width = range(len(ask.premises))
        return tuple(tuple(cells[i, c] for c in width) for i in range(len(ask.claims)))

    def _plan(self, ask: Entail) -> Iterator[_Job]:
        """The calls that cover every pair of the ask."""
        for premises in self._groups(ask.premises):
            for start in range(0, len(ask.claims), self._max_claims):
                end = min(start + self._max_claims, len(ask.claims))
                yield _Job(list(range(start, end)), premises)

    def _groups(self, premises: Sequence[str]) -> Iterator[list[int]]:
        """Premises that go into one call: a lone one, or as many as fit if packed."""
        group: list[int] = []
        size = 0
        for c, premise in enumerate(premises):
            if group and (not self._packed or size + len(premise) > self._max_chars):
                yield group
                group, size = [], 0
            group.append(c)
            size += len(premise)
        if group:
            yield group

    async def _do(self, ask: Entail, job: _Job) -> None:
        """Fill the job's cells, by a second call where the first leaves some out."""
        claims, premises = job.claims, job.premises
        for again in (True, False):
            try:
                complete = await self._round(ask, job, claims, premises)
            except JudgeUnusable:
                raise
            except JudgeError as error:
                job.error, job.why = error, str(error)
                return
            if complete:
                return
            self.tally.reasked += again
            missing = job.missing()
            claims = sorted({i for i, _ in missing})
            premises = sorted({c for _, c in missing})

    async def _round(
        self, ask: Entail, job: _Job, claims: Sequence[int], premises: Sequence[int]
    ) -> bool:
        """One call; whether the job has all its cells now."""
        form, packed = self._entail, self._packed
        nonce, messages = entail_messages(form, ask, claims, premises, packed=packed)
        pairs: dict[Key, Pair] = {
            (claim_id(i), premise_id(c) if packed else ""): (i, c) for i in claims for c in premises
        }
        reply = await self._ask(messages, form.schema)
        try:
            read, job.why = read_verdicts(reply.text, nonce, pairs, packed=packed), LEFT_OUT
        except UnreadableError as error:
            read, job.why = Verdicts(), str(error)
        self.tally.invalid += read.invalid
        self.tally.complete += len(read.said) == len(pairs)
        for key, said in read.said.items():
            i, c = pairs[key]
            job.cells.setdefault((i, c), _cell(said, ask.premises[c]))
        return not job.missing()

    async def _ask(self, messages: Messages, schema: Schema) -> Completion:
        done = await self._complete(messages, schema)
        self.tally.replies += 1
        if self._endpoint is None:
            self._usage.calls += 1
            self._usage.prompt_tokens += done.prompt_tokens
            self._usage.completion_tokens += done.completion_tokens
        return done


async def _all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Do all of it at once; the first failure ends the rest and is raised as it is."""
    if len(work) == 1:
        return await work[0]
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None


def _cell(said: Said, premise: str) -> Cell:
    """The verdict with its evidence, if the quote stands in the premise."""
    if said.verdict is Verdict.NEUTRAL or not said.quote.strip():
        return Cell(said.verdict, reason=said.reason)
    span = find_quote(premise, said.quote)
    if span is not None:
        return Cell(said.verdict, reason=said.reason, evidence=span)
    return Cell(said.verdict, reason=f"{said.reason} ({NO_QUOTE})" if said.reason else NO_QUOTE)


def _located(found: Sequence[tuple[str, str]], text: str) -> tuple[Claim, ...]:
    """The claims with the spans of their quotes; a claim that comes twice counts once."""
    claims: dict[str, Claim] = {}
    for claim, quote in found:
        key = " ".join(claim.split()).casefold()
        if key not in claims:
            span = find_quote(text, quote)
            claims[key] = Claim(claim, span.start, span.end) if span else Claim(claim)
    return tuple(claims.values())


def _digest(parts: Mapping[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True, default=str)
    return "llm:" + hashlib.sha256(text.encode()).hexdigest()[:32]
