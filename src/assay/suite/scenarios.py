"""Scenarios: each of their tests with each of their configs, written here or in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.suite.making import MOST_TESTS
from assay.suite.model import ScenarioSpec, TestSpec
from assay.suite.remarks import Remarks
from assay.suite.shaping import PlaceOf, shaped
from assay.suite.sources import Sources, items_of, within
from assay.suite.written import Written, merged

SCENARIO_FILES = (".yaml", ".yml")
"""Files of scenarios are part of the config, as no file of data is."""


class Scenarios:
    """Reads scenarios wherever they are; what is wrong with one goes to ``remarks``."""

    def __init__(self, sources: Sources, remarks: Remarks) -> None:
        self._sources, self._remarks = sources, remarks

    def tests(
        self,
        specs: Sequence[ScenarioSpec],
        place_of: PlaceOf,
        path: tuple[str | int, ...],
        trail: tuple[Path, ...] = (),
    ) -> Iterator[Written]:
        """The tests of a list of scenarios, those in files that it names included."""
        for n, spec in enumerate(specs):
            here = within(place_of, (*path, n))
            if spec.path is None:
                yield from self._crossed(spec, here)
            else:
                yield from self._in_files(spec, spec.path, here, trail)

    def _in_files(
        self, spec: ScenarioSpec, ref: str, place_of: PlaceOf, trail: tuple[Path, ...]
    ) -> Iterator[Written]:
        for file in self._sources.named(spec, ref, place_of(()), trail, SCENARIO_FILES):
            document = self._sources.document(file)
            if document is None:
                continue
            for item, at in items_of(document):
                here = within(document.place, at)
                found = ScenarioSpec(path=item) if isinstance(item, str) else None
                found = found or shaped(ScenarioSpec, item, here, self._remarks)
                if found is not None and found.path is not None:
                    yield from self._in_files(found, found.path, here, (*trail, file))
                elif found is not None:
                    yield from self._crossed(found, here)

    def _crossed(self, scenario: ScenarioSpec, place_of: PlaceOf) -> Iterator[Written]:
        """Each of the scenario's tests with each of its configs."""
        place = place_of(())
        configs = list(self._sources.tests(scenario.config, place_of, ("config",)))
        tests = list(self._sources.tests(scenario.tests, place_of, ("tests",)))
        if not scenario.config:
            why = "the scenario has no config, so its tests are not run"
            self._remarks.warning(place, why)
        if len(configs) * len(tests) > MOST_TESTS:
            self._remarks.error(place, f"the scenario makes over {MOST_TESTS:,} tests")
            return
        for config in configs:
            for test in tests or [Written(TestSpec(), config.place)]:
                names = (scenario.description, config.spec.description, test.spec.description)
                yield merged(config, test, description=" / ".join(filter(None, names)))
