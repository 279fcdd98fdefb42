"""What a run would refuse or stumble over, found without asking: providers, graders, keys."""

from __future__ import annotations

from collections.abc import Iterator

from assay.errors import AssayError
from assay.suite.asserting import graded_leaves
from assay.suite.assertions.program import PYTHON
from assay.suite.case import Placed, TestCase
from assay.suite.graders import Graders, as_chat
from assay.suite.grading import lacking, skills_of
from assay.suite.kinds import base_of, leaves
from assay.suite.loading import Suite
from assay.suite.model import GraderSpec, ProviderSpec
from assay.suite.problems import Place, Problem
from assay.suite.providers.base import Provider
from assay.suite.providers.named import open_provider
from assay.suite.providers.openai import key_note
from assay.suite.providers.replay import ReplayProvider
from assay.suite.providers.settings import unset_env
from assay.suite.remarks import Remarks
from assay.suite.running import units_of
from assay.suite.secrets import Secrets

ALLOW = "allow it with --allow-code, if you trust this suite"


class Preflight:
    """Checks one suite; ``graders`` are those that its run will have.

    ``allow_code`` None: nobody has said, so that programs are remarked on rather than refused.
    ``recorded``: answers are at hand, and no provider is asked. The environment must be that of
    the run. Nothing is asked and no program is started.
    """

    def __init__(
        self,
        suite: Suite,
        graders: Graders,
        secrets: Secrets,
        *,
        allow_code: bool | None = None,
        recorded: bool = False,
    ) -> None:
        self._suite, self._graders, self._secrets = suite, graders, secrets
        self._allow_code, self._recorded = allow_code, recorded
        self._remarks = Remarks()

    def problems(self) -> list[Problem]:
        """What is wrong, each with its place; errors keep the suite from running."""
        if not self._recorded:
            self._check_providers()
        for case in self._suite.cases:
            self._check_code(case)
        self._check_graders()
        return self._remarks.listed()

    def _check_providers(self) -> None:
        suite, opened = self._suite, []
        specs = suite.spec.providers or suite.spec.targets
        for n, spec in enumerate(specs):
            provider = self._provider(spec, self._place(n))
            if provider is not None:
                opened.append((provider, None if spec.prompts is None else tuple(spec.prompts)))
        place = suite.document.place(("providers",))
        if not specs and any(not case.has_output for case in suite.cases):
            # Only whoever runs it knows whether --model-outputs or -r will make up for that.
            self._remarks.warning(place, "no providers: eval needs -r or --model-outputs")
        elif len(opened) == len(specs):
            triples = [(provider, prompts, 0.0) for provider, prompts in opened]
            if not units_of(suite.cases, suite.prompts, triples):
                why = "there is no test to run: tests are empty, or no provider takes them"
                self._remarks.error(suite.document.place(("tests",)), why)

    def _place(self, n: int) -> Place:
        if self._suite.added.providers:
            return Place("-r")
        key = "providers" if self._suite.spec.providers else "targets"
        return self._suite.document.place((key, n))

    def _provider(self, spec: ProviderSpec, place: Place) -> Provider | None:
        try:
            provider = open_provider(
                spec.model_dump(include={"id", "label", "config"}),
                templates=self._suite.templates,
                folder=self._suite.folder,
                secrets=self._secrets,
                allow_code=self._allow_code is not False,
                concurrency=1,
            )
        except AssayError as error:
            self._remarks.error(place, str(error))
            return None
        replays = isinstance(provider, ReplayProvider)
        programs = ("python:", "exec:", "file:")
        if self._allow_code is None and not replays and spec.id.strip().startswith(programs):
            self._remarks.warning(place, f"provider {spec.id} runs a program: {ALLOW}")
        self._remark_on_keys("provider", spec, place)
        if isinstance(provider, ReplayProvider):
            cases = self._suite.cases
            if why := provider.misfit(len(cases), ids=any("id" in case.vars for case in cases)):
                self._remarks.warning(place, why)
        return provider

    def _remark_on_keys(self, what: str, spec: ProviderSpec, place: Place) -> None:
        templates = self._suite.templates
        if note := key_note(spec.id, spec.config, templates, self._secrets):
            self._remarks.warning(place, f"{what} {spec.id}: {note}")
        if name := unset_env([spec.id, dict(spec.config)], templates):
            why = f"{what} {spec.id}: the environment variable {name} is not set"
            self._remarks.warning(place, why)

    def _check_code(self, case: TestCase) -> None:
        if self._allow_code:
            return
        for placed in case.assertions:
            for leaf in leaves(placed):
                if base_of(leaf.spec.type)[0] != PYTHON.name or leaf.data:
                    continue
                if self._allow_code is None:
                    self._remarks.warning(leaf.place, f"a python assertion runs code: {ALLOW}")
                else:
                    why = "a python assertion runs code: allow it with --allow-code"
                    self._remarks.error(leaf.place, why)

    def _check_graders(self) -> None:
        seen: set[tuple[int, int]] = set()
        for case in self._suite.cases:
            for leaf, kind in graded_leaves(case):
                if (id(leaf.spec), id(case.options)) in seen:
                    continue
                seen.add((id(leaf.spec), id(case.options)))
                place = self._grader_place(leaf, case)
                try:
                    judge = self._graders.of(leaf.spec, case.options, self._suite.folder)
                except AssayError as error:
                    self._remarks.error(place, str(error))
                    continue
                for one in _specs(leaf.spec.provider or case.options.provider, self._graders):
                    self._remark_on_keys("grader", one, place)
                skills = skills_of(kind, leaf.spec.config)
                if lacks := sorted(skill for skill in skills if not judge.can(skill)):
                    why = lacking(leaf.spec.type, judge, lacks)
                    self._remarks.warning(leaf.place, f"{why}: it will be an error")

    def _grader_place(self, leaf: Placed, case: TestCase) -> Place:
        """Where the grader of an assertion is named."""
        if leaf.spec.provider is not None or leaf.spec.rubric_prompt is not None:
            return leaf.place
        named = case.options.provider
        if named is None:
            return Place("--grader") if self._graders.default is not None else leaf.place
        default = self._suite.spec.default_test
        if default is not None and default.options.provider is named:
            return self._suite.document.place(("defaultTest", "options", "provider"))
        return case.place


def _specs(named: GraderSpec | None, graders: Graders) -> Iterator[ProviderSpec]:
    """The endpoints of a grader."""
    if named is not None:
        embedding = None if named.embedding is None else as_chat(named.embedding)
        yield from (one for one in (named.text, embedding) if one is not None)
    elif isinstance(graders.default, str):
        yield ProviderSpec(id=graders.default)
