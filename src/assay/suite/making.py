"""Written tests as the tests that are run: with defaults, taken apart, filled in."""

from __future__ import annotations

from collections.abc import Mapping

from assay.errors import did_you_mean
from assay.suite.case import Placed, TestCase
from assay.suite.model import SuiteSpec
from assay.suite.remarks import Remarks
from assay.suite.templates import Templates
from assay.suite.variables import (
    WHOLE,
    Filling,
    ValueFiles,
    VarError,
    combinations,
    is_file,
    is_list_of_texts,
)
from assay.suite.written import Var, Written, merged

MOST_TESTS = 100_000
"""Tests of a suite that lists and scenarios may make out of those that are written."""


class Making:
    """Makes the tests that are run, one written test after the other."""

    def __init__(
        self,
        spec: SuiteSpec,
        templates: Templates,
        files: ValueFiles,
        remarks: Remarks,
        overrides: Mapping[str, Var],
        *,
        whole: bool,
    ) -> None:
        self.cases: list[TestCase] = []
        self._providers = spec.providers or spec.targets
        self._templates, self._files, self._remarks = templates, files, remarks
        self._overrides, self._whole = overrides, whole

    def add(self, base: Written, test: Written) -> None:
        """The tests that one written test makes with its defaults."""
        if test.spec.options.disable_default_asserts:
            base = Written(base.spec, base.place, base.vars, base.around)
        full = merged(base, test) if base.spec.model_fields_set else test
        self._check_taken_as_is(test.assertions)
        providers = self._provider_names(full)
        variables = {**full.vars, **self._overrides}
        whole = self._whole or bool(full.spec.options.disable_var_expansion)
        if not whole:
            self._warn_of_whole(variables)
        try:
            number, chosen = combinations(variables, self._files, whole=whole)
            if number > 1 and len(self.cases) + number > MOST_TESTS:
                why = f"its lists make {number:,} tests; a suite can have {MOST_TESTS:,} with them"
                self._remarks.error(test.place, why)
                return
            for values in chosen:
                self.cases.append(self._case(full, values, providers))
        except VarError as error:
            self._remarks.error(error.place, str(error))

    def _case(
        self, full: Written, values: Mapping[str, Var], providers: tuple[str, ...] | None
    ) -> TestCase:
        spec, filling = full.spec, Filling(values, self._templates, self._files)
        variables, options = filling.all(), spec.options
        if full.around:
            texts = {name: filling.text(var) for name, var in full.around.items()}
            options = options.model_copy(update=texts)
        return TestCase(
            index=len(self.cases),
            description=spec.description or "",
            vars=variables,
            assertions=full.assertions,
            place=full.place,
            options=options,
            threshold=spec.threshold,
            providers=providers,
            prompts=None if spec.prompts is None else tuple(spec.prompts),
            provider_output=spec.provider_output,
            has_output="provider_output" in spec.model_fields_set,
            metadata=spec.metadata,
        )

    def _provider_names(self, full: Written) -> tuple[str, ...] | None:
        """The providers that a test keeps, with remarks on those that the suite does not have."""
        spec = full.spec
        if spec.provider is not None:
            wanted: tuple[str, ...] = (spec.provider.label or spec.provider.id,)
            if beside := sorted(spec.provider.model_fields_set - {"id", "label"}):
                why = f"a test names its provider by id or label; put {', '.join(beside)} of"
                self._remarks.error(full.place, f"{why} {wanted[0]!r} under providers")
        elif spec.providers is not None:
            wanted = tuple(spec.providers)
        else:
            return None
        known = [name for one in self._providers for name in (one.label, one.id) if name]
        for name in wanted:
            if name in known or (
                name.endswith("*") and any(one.startswith(name[:-1]) for one in known)
            ):
                continue
            near = did_you_mean(name, known) if known else "the suite has no providers"
            why = f"the test's provider {name!r} is not among the suite's; {near}"
            self._remarks.error(full.place, why)
        return wanted

    def _warn_of_whole(self, variables: Mapping[str, Var]) -> None:
        for name in WHOLE & variables.keys():
            var = variables[name]
            if is_list_of_texts(var.value) and len(var.value) > 1:
                why = (
                    f"the list {name} is one test's chunks: it is kept whole"
                    " (promptfoo makes a test of each element)"
                )
                self._remarks.warning(var.place, why, once="whole")

    def _check_taken_as_is(self, assertions: tuple[Placed, ...]) -> None:
        """One warning for values in data files that look as if they were to be filled in."""
        for placed in assertions:
            value = placed.spec.value
            if not placed.data or placed.spec.type.endswith("python"):
                continue
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and (self._templates.has_template(text) or is_file(text)):
                    why = (
                        "values in data files are taken as they are: {{...}} and file:// are not"
                        " followed; write the assertion in YAML if they are to be"
                    )
                    self._remarks.warning(placed.place, why, once="as is")
