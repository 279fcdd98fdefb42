"""A chat model as the judge: its replies are read strictly, and asked for again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args

from assay.asks import Ask, Embed, Entail, Extract, Grade, Label, Questions, Rate, Skill, Usage
from assay.errors import ConfigError, MalformedAnswer
from assay.judges.asking import REASKS, Asking, Call, Job, Read
from assay.judges.complete import Complete
from assay.judges.embedding import Embedding
from assay.judges.grading import Grader
from assay.judges.labelling import Labelling
from assay.judges.prompting import (
    DATA,
    Form,
    Listed,
    Nonce,
    claim_id,
    entail_form,
    entail_messages,
    extract_form,
    extract_messages,
    grade_form,
    label_form,
    opinions_form,
    premise_id,
    prompt_texts,
    questions_form,
    random_nonce,
    rate_form,
)
from assay.judges.questioning import Questioning
from assay.judges.reaching import Reach, Reachable, reach_of
from assay.judges.replies import (
    PARSER,
    Key,
    Said,
    UnreadableError,
    find_quote,
    read_claims,
    read_verdicts,
)
from assay.judges.sizing import CallSize, Witness, call_size, embed_size
from assay.sample import Claim
from assay.verdicts import Cell, Verdict

T = TypeVar("T")
Pair = tuple[int, int]
"""A claim and a premise, by their index in the ask."""
Quoted = Sequence[tuple[str, str]]
"""Claims or opinions, each with its quote."""

NO_QUOTE = "the quote is not in the source"
LEFT_OUT = "the judge left this verdict out"


class LLMJudge:
    """A judge that asks a chat model through ``complete``.

    ``fingerprint_parts`` is what the replies of ``complete`` depend on: model, endpoint,
    sampling. One call judges up to ``max_claims`` claims against one premise; with ``packed``,
    against as many premises as fit into ``max_chars`` characters. One call gives up to
    ``max_claims`` labels to texts of up to ``max_chars`` characters, or grades a text by up to
    ``max_claims`` criteria. ``reasons`` asks for a reason a verdict, label, rating and grade.
    ``prompts`` replaces the instructions by kind ("extract", "opinions", "entail", "label",
    "rate", "grade", "questions"). Embeddings are those of ``embedding``; without it, no ask for
    them is answered. ``nonce`` gives each call its nonce. ``limiter`` knows how calls went of late.

    What a reply leaves out is asked for again, up to ``reasks`` times, and is UNKNOWN (a label,
    rating or grade: None) after that. Evidence is only what stands in the premise: a verdict whose
    quote does not is kept without evidence, and its reason says so.

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
        reasks: int = REASKS,
        prompts: Mapping[str, str] | None = None,
        embedding: Embedding | None = None,
        nonce: Nonce = random_nonce,
        limiter: Reachable | None = None,
    ) -> None:
        if max_claims < 1 or max_chars < 1:
            raise ConfigError("max_claims and max_chars must be at least 1")
        texts = prompt_texts(prompts)
        self._name, self._limiter = name, limiter
        self.endpoint: Mapping[str, Any] = MappingProxyType(dict(fingerprint_parts))
        """What the replies depend on: model, URL, sampling."""
        self.embedding_model = embedding.model if embedding else None
        self._packed, self._max_claims, self._max_chars = packed, max_claims, max_chars

        def drawn(form: Form) -> Form:
            return replace(form, nonce=nonce)

        both = texts["extract"], texts["opinions"]
        self._extract: dict[tuple[Listed, ...], Form] = {
            ("claims",): drawn(extract_form(texts["extract"])),
            ("claims", "opinions"): drawn(opinions_form(*both, "claims", "opinions")),
            ("opinions",): drawn(opinions_form(*both, "opinions")),
        }
        self._entail = drawn(entail_form(texts["entail"], packed=packed, reasons=reasons))
        label = drawn(label_form(texts["label"], reasons=reasons))
        rate = drawn(rate_form(texts["rate"], reasons=reasons))
        grade = drawn(grade_form(texts["grade"], reasons=reasons))
        questions = drawn(questions_form(texts["questions"]))
        self._asking = Asking(complete, reasks)
        self._questioning = Questioning(self._asking, questions)
        self._grader = Grader(self._asking, grade, max_items=max_claims)
        self._embedding = embedding
        self._labelling = Labelling(
            self._asking, label=label, rate=rate, max_items=max_claims, max_chars=max_chars
        )
        self.tally = self._asking.tally
        forms = (*self._extract.values(), self._entail, label, rate, grade, questions)
        self._fingerprint = _digest(
            {
                "endpoint": dict(fingerprint_parts),
                "packed": packed,
                "max_claims": max_claims,
                "max_chars": max_chars,
                "reasons": reasons,
                "prompts": texts,
                "forms": [(form.system, form.schema.body) for form in forms],
                "parser": PARSER,
                "data": DATA,
                "embedding_model": embedding.model if embedding else None,
            }
        )

    @property
    def name(self) -> str:
        return self._name

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def usage(self) -> Usage:
        return self._asking.usage

    @property
    def reach(self) -> Reach:
        """How calls went of late."""
        return reach_of(self._limiter)

    def can(self, skill: Skill) -> bool:
        return skill in get_args(Skill) and (skill != "embed" or self._embedding is not None)

    async def answer(self, ask: Ask[T]) -> T:
        if isinstance(ask, Extract):
            return cast("T", await self._claims(ask))
        if isinstance(ask, Entail):
            return cast("T", await self._cells(ask))
        if isinstance(ask, Label | Rate | Grade):
            return cast("T", await self._judged(ask))
        if isinstance(ask, Questions):
            return cast("T", await self._questioning.questions(ask))
        if isinstance(ask, Embed) and self._embedding is not None:
            return cast("T", await self._embedding.vectors(ask.texts))
        raise ConfigError(f"{self._name} does not answer {type(ask).__name__}")

    def calls_for(self, ask: Ask[Any]) -> list[CallSize]:
        """The requests that an answer takes if every reply is whole; nothing is sent."""
        if isinstance(ask, Embed):
            return [embed_size(ask.texts)] if ask.texts else []
        calls = self._calls(ask)
        return [call_size(call.messages, call.schema, call.asked) for call in calls]

    @contextmanager
    def watched(self, witness: Witness) -> Iterator[None]:
        """Tell the witness of every reply of the chat model, as long as the context lasts."""
        before, self._asking.witness = self._asking.witness, witness
        try:
            yield
        finally:
            self._asking.witness = before

    def _calls(self, ask: Ask[Any]) -> Sequence[Call[Any, Any]]:
        if isinstance(ask, Extract):
            return [self._lists(ask, ("claims", "opinions") if ask.opinions else ("claims",))]
        if isinstance(ask, Entail):
            return [self._verdicts(ask, job.missing()) for job in self._plan(ask)]
        if isinstance(ask, Label):
            return self._labelling.label_calls(ask)
        if isinstance(ask, Rate):
            return [self._labelling.rate_call(ask)]
        if isinstance(ask, Grade):
            return self._grader.calls(ask)
        return [self._questioning.call(ask)] if isinstance(ask, Questions) else []

    async def _judged(self, ask: Label | Rate | Grade) -> object:
        if isinstance(ask, Label):
            return await self._labelling.marks(ask)
        if isinstance(ask, Rate):
            return await self._labelling.rating(ask)
        return await self._grader.gradings(ask)

    async def aclose(self) -> None:
        await self._asking.aclose()

    async def _claims(self, ask: Extract) -> tuple[Claim, ...]:
        """The claims, then the opinions, with the spans of their quotes.

        Raises MalformedAnswer if a list that is wanted was readable in neither reply.
        """
        job = Job[Listed, Quoted](("claims", "opinions") if ask.opinions else ("claims",))
        await self._asking.settle(job, partial(self._lists, ask))
        if job.missing():
            raise job.error or MalformedAnswer(f"{self._name}: {job.why}")
        opinions = _located(job.found.get("opinions", ()), ask.text)
        return (
            *_located(job.found["claims"], ask.text),
            *(replace(opinion, opinion=True) for opinion in opinions),
        )

    def _lists(self, ask: Extract, missing: Sequence[Listed]) -> Call[Listed, Quoted]:
        form = self._extract[tuple(missing)]
        nonce, messages = extract_messages(form, ask)

        def read(reply: str) -> Read[Listed, Quoted]:
            found: dict[Listed, Quoted] = {}
            why = ""
            for name in missing:
                try:
                    found[name] = read_claims(reply, nonce, name)
                except UnreadableError as error:
                    why = str(error)
            return Read(found, why)

        return Call(messages, form.schema, len(missing), read)

    async def _cells(self, ask: Entail) -> tuple[tuple[Cell, ...], ...]:
        """A cell a (claim, premise); raises a JudgeError if the endpoint answered none."""
        jobs = list(self._plan(ask))
        cells, missing = await self._asking.settle_all(jobs, partial(self._verdicts, ask))
        cells |= {pair: Cell(Verdict.UNKNOWN, reason=why) for pair, why in missing.items()}
        width = range(len(ask.premises))
        return tuple(tuple(cells[i, c] for c in width) for i in range(len(ask.claims)))

    def _plan(self, ask: Entail) -> Iterator[Job[Pair, Cell]]:
        """The calls that cover every pair of the ask."""
        for premises in self._groups(ask.premises):
            for start in range(0, len(ask.claims), self._max_claims):
                end = min(start + self._max_claims, len(ask.claims))
                yield Job([(i, c) for i in range(start, end) for c in premises])

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

    def _verdicts(self, ask: Entail, missing: Sequence[Pair]) -> Call[Pair, Cell]:
        form, packed = self._entail, self._packed
        claims = sorted({i for i, _ in missing})
        premises = sorted({c for _, c in missing})
        nonce, messages = entail_messages(form, ask, claims, premises, packed=packed)
        pairs: dict[Key, Pair] = {
            (claim_id(i), premise_id(c) if packed else ""): (i, c) for i in claims for c in premises
        }

        def read(reply: str) -> Read[Pair, Cell]:
            got = read_verdicts(reply, nonce, pairs, packed=packed)
            cells = {
                pairs[key]: _cell(said, ask.premises[pairs[key][1]])
                for key, said in got.said.items()
            }
            return Read(cells, LEFT_OUT, got.invalid)

        return Call(messages, form.schema, len(pairs), read)


def _cell(said: Said, premise: str) -> Cell:
    """The verdict with its evidence, if the quote stands in the premise."""
    if said.verdict is Verdict.NEUTRAL or not said.quote.strip():
        return Cell(said.verdict, reason=said.reason)
    span = find_quote(premise, said.quote)
    if span is not None:
        return Cell(said.verdict, reason=said.reason, evidence=span)
    return Cell(said.verdict, reason=f"{said.reason} ({NO_QUOTE})" if said.reason else NO_QUOTE)


def _located(found: Quoted, text: str) -> tuple[Claim, ...]:
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
