"""All assertions of one answer: values rendered, checked or graded, each with its own outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import AssayError, ConfigError
from assay.suite.assertions.base import CannotCheckError, Found, Given, Kind
from assay.suite.assertions.graded import GradedKind
from assay.suite.assertions.program import ProgramKind, context_of, read_result
from assay.suite.assertions.rubrics import FROM_OPTIONS
from assay.suite.case import Placed, TestCase
from assay.suite.deciding import (
    REPORTED_ONLY,
    decided,
    mean_goodness,
    summed_up,
    undefined,
    without_texts,
)
from assay.suite.files import Folder
from assay.suite.graders import Graders
from assay.suite.grading import Grade, Graded, Undefined, grade
from assay.suite.kinds import SET, AnyKind, base_of, fitted, kind_of, leaves
from assay.suite.model import AssertionSpec
from assay.suite.outcome import Outcome
from assay.suite.providers.base import Answer
from assay.suite.providers.paths import transformed
from assay.suite.providers.program import Worker, python_target
from assay.suite.templates import Templates

VALUE_FILES = (".txt", ".md", ".json", ".yaml", ".yml")


@dataclass
class _Ready:
    """One assertion on its way: what it is given, then its outcome."""

    placed: Placed
    kind: AnyKind
    negated: bool
    given: Given
    about: dict[str, Any]
    outcome: Outcome | None = None

    @property
    def type(self) -> str:
        return self.placed.spec.type


class Asserting:
    """Checks the assertions of answers; ``worker`` runs programs, None where none may run."""

    def __init__(
        self, templates: Templates, folder: Folder, graders: Graders, worker: Worker | None
    ) -> None:
        self._templates, self._folder = templates, folder
        self._graders, self._worker = graders, worker

    async def outcomes(
        self, case: TestCase, answer: Answer, prompt: str, repeat: int
    ) -> tuple[Outcome, ...]:
        """One outcome an assertion, in order; sets hold those of their own."""
        ready: list[_Ready | Outcome] = []
        for placed in case.assertions:
            ready += [self._prepare(leaf, case, answer, prompt) for leaf in leaves(placed)]
        done = iter(await self._decide(ready, case, repeat))
        return tuple(self._whole(placed, done, case) for placed in case.assertions)

    def _whole(self, placed: Placed, done: Any, case: TestCase) -> Outcome:
        spec = placed.spec
        if spec.type != SET:
            outcome: Outcome = next(done)
            return outcome
        parts = tuple(next(done) for _ in spec.assertions or ())
        status, score, reason = summed_up(parts, spec.threshold)
        if spec.weight == 0 and status == "fail":
            status, reason = "pass", f"{REPORTED_ONLY}: {reason}"
        try:
            metric = self._metric(spec, placed, case.vars)
        except AssayError as error:
            metric, status, score, reason = None, "error", None, str(error)
        return Outcome(
            SET,
            status,
            reason,
            value=score,
            goodness=None if status in ("error", "skipped") else mean_goodness(parts),
            threshold=spec.threshold,
            weight=spec.weight,
            metric=metric,
            parts=parts,
            config=without_texts(spec.config),
        )

    def _prepare(
        self, placed: Placed, case: TestCase, answer: Answer, prompt: str
    ) -> _Ready | Outcome:
        spec = placed.spec
        about: dict[str, Any] = {
            "threshold": spec.threshold,
            "weight": spec.weight,
            "config": without_texts(spec.config),
        }
        try:
            about["metric"] = self._metric(spec, placed, case.vars)
            name, negated = base_of(spec.type)
            kind = kind_of(name)
            given = self._given(placed, kind, case, answer, prompt)
        except AssayError as error:
            return Outcome(spec.type, "error", str(error), **about)
        about |= {
            "threshold": given.threshold,
            "expected": given.value,
            "config": without_texts(given.config),
        }
        return _Ready(placed, kind, negated, given, about)

    def _given(
        self, placed: Placed, kind: AnyKind, case: TestCase, answer: Answer, prompt: str
    ) -> Given:
        spec = placed.spec
        value = spec.value if placed.data else self._value(spec.value, kind, case.vars)
        value = fitted(spec.type, kind, value)
        config = spec.config if placed.data else self._config(spec.config, kind, case.vars)
        if case.options.factuality and kind.name.endswith("factuality"):
            config = {FROM_OPTIONS: case.options.factuality, **config}
        retrieved = answer.contexts
        if placed.data and (spec.context_transform or spec.rubric_prompt):
            raise CannotCheckError("a data file has no contextTransform and no rubricPrompt")
        if spec.context_transform is not None:
            retrieved = transformed(spec.context_transform, answer, case.vars, self._templates)
        threshold = kind.default if spec.threshold is None else spec.threshold
        return Given(answer, value, threshold, config, case.vars, prompt, retrieved)

    def _config(
        self, config: Mapping[str, Any], kind: AnyKind, variables: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        if isinstance(kind, ProgramKind):
            filled: Mapping[str, Any] = self._templates.render_value(dict(config), variables)
            return filled
        return {key: self._value(value, kind, variables) for key, value in config.items()}

    def _value(self, value: Any, kind: AnyKind, variables: Mapping[str, Any]) -> Any:
        if isinstance(kind, ProgramKind):
            return value  # code is not filled in: the program gets the variables
        if isinstance(value, list):
            return [self._value(one, kind, variables) for one in value]
        if isinstance(value, str) and value.startswith("file://"):
            path = self._folder.resolve(value, allowed=VALUE_FILES)
            text = self._folder.read_text(path)
            if path.suffix in (".txt", ".md"):
                return text.strip()
            from assay.suite.document import read_document

            return read_document(text, path.name).data
        return self._templates.render_value(value, variables)

    def _metric(
        self, spec: AssertionSpec, placed: Placed, variables: Mapping[str, Any]
    ) -> str | None:
        if spec.metric is None or placed.data:
            return spec.metric
        return self._templates.render(spec.metric, variables)

    async def _decide(
        self, ready: Sequence[_Ready | Outcome], case: TestCase, repeat: int
    ) -> list[Outcome]:
        graded: list[tuple[int, Graded]] = []
        out: dict[int, Outcome] = {}
        for k, one in enumerate(ready):
            if isinstance(one, Outcome):
                out[k] = one
            elif isinstance(one.kind, GradedKind):
                try:
                    graded.append((k, self._graded(one, one.kind, case, repeat)))
                except AssayError as error:
                    out[k] = _error(one, error)
            elif isinstance(one.kind, ProgramKind):
                out[k] = await self._program(one)
            else:
                out[k] = _checked(one, one.kind)
        for (k, _), got in zip(graded, await grade([g for _, g in graded]), strict=True):
            one = ready[k]
            if isinstance(one, _Ready):
                out[k] = _graded_outcome(one, got)
        return [out[k] for k in range(len(ready))]

    def _graded(self, one: _Ready, kind: GradedKind, case: TestCase, repeat: int) -> Graded:
        spec = one.placed.spec
        judge = self._graders.of(spec, case.options, self._folder, repeat)
        return Graded(kind, one.given, judge)

    async def _program(self, one: _Ready) -> Outcome:
        if one.placed.data:
            return _error(one, ConfigError("code in a data file is not run; put it in the config"))
        if self._worker is None:
            why = ConfigError("a python assertion runs code: allow it with --allow-code")
            return _error(one, why)
        try:
            path, function = python_target(str(one.given.value), self._folder)
            result = await self._worker.call(
                path, function, [one.given.answer.output, context_of(one.given)]
            )
            found = read_result(one.given, result)
        except AssayError as error:
            return _error(one, error)
        return decided(one.type, found, negated=one.negated, lower=False, about=one.about)


def _error(one: _Ready, error: Exception) -> Outcome:
    return Outcome(one.type, "error", str(error), **one.about)


def _checked(one: _Ready, kind: Kind) -> Outcome:
    try:
        found = kind.check(one.given)
    except AssayError as error:
        return _error(one, error)
    except Exception as error:  # noqa: BLE001 - a bug in one check must not take its siblings along
        return _error(one, CannotCheckError(f"internal error, please report it: {error!r}"))
    return decided(
        one.type, found, negated=one.negated, lower=kind.lower_is_better, about=one.about
    )


def _graded_outcome(one: _Ready, got: Grade) -> Outcome:
    lower = one.kind.lower_is_better
    if isinstance(got, Found):
        return decided(one.type, got, negated=one.negated, lower=lower, about=one.about)
    if isinstance(got, Undefined):
        # What the config says becomes of this assertion is said of it as it is written, with not-.
        flipped = {"pass": "fail", "fail": "pass"} if one.negated and not got.chosen else {}
        policy = flipped.get(got.policy, got.policy)
        # As with a score that was measured, what is better turns round with not-.
        turned = lower is not one.negated
        return undefined(one.type, got.score, policy, lower=turned, about=one.about)
    return _error(one, got)


def graded_leaves(case: TestCase) -> Iterator[tuple[Placed, GradedKind]]:
    """The assertions of a test that a judge answers, those in sets too."""
    for placed in case.assertions:
        for leaf in leaves(placed):
            kind = kind_of(leaf.spec.type)
            if isinstance(kind, GradedKind):
                yield leaf, kind
