"""The shape of a suite's config: promptfoo's keys, checked strictly.

Keys are spelt as promptfoo spells them. What may be written in a short form (a provider as a
string, one prompt without a list) is stored in its long form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

FILES_OF_CONFIGS = ("$values", "$expand")
"""Keys that name a file of a scenario's configs in the place of one."""


class Strict(BaseModel):
    """A mapping of the config; keys that it does not know are kept apart for the messages."""

    model_config = ConfigDict(
        extra="allow", frozen=True, alias_generator=to_camel, coerce_numbers_to_str=True
    )


def _listed(value: Any) -> Any:
    """A lone value as a list."""
    return value if isinstance(value, list) or value is None else [value]


def _provider(value: Any) -> Any:
    """A provider in its long form: "ID" or {"ID": {...}} as {"id": "ID", ...}."""
    if isinstance(value, str):
        return {"id": value}
    if isinstance(value, Mapping) and "id" not in value and len(value) == 1:
        ((name, rest),) = value.items()
        if isinstance(rest, Mapping) and str(name) not in ProviderSpec.model_fields:
            return {"id": name, **rest}
    return value


def _grader(value: Any) -> Any:
    """A grader in its long form; {"text": ..., "embedding": ...} names one for each purpose."""
    if isinstance(value, Mapping) and value and set(value) <= {"text", "embedding"}:
        return value
    return {"text": value}


def _test(value: Any) -> Any:
    """A test or scenario in its long form; a string names a file of them."""
    return {"path": value} if isinstance(value, str) else value


def _config(value: Any) -> Any:
    """A config of a scenario in its long form; {"$values": FILE} names a file of them."""
    if isinstance(value, Mapping):
        named = [key for key in FILES_OF_CONFIGS if key in value]
        if len(named) > 1 or (named and "path" in value):
            raise ValueError(f"give one of {', '.join(FILES_OF_CONFIGS)}")
        if named and not isinstance(value[named[0]], str):
            raise ValueError(f"{named[0]} names a file, such as file://configs.yaml")
        if named:
            return {"path" if key == named[0] else key: one for key, one in value.items()}
    return _test(value)


def _prompt(value: Any) -> Any:
    """A prompt in its long form."""
    return {"raw": value} if isinstance(value, str) else value


class ProviderSpec(Strict):
    """What is tested, or what grades."""

    id: str
    label: str | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    prompts: list[str] | None = None
    delay: float = 0.0
    """Milliseconds to wait after each call."""


Keyed = dict[str, dict[str, Any]]
"""A provider as {"ID": {...}}."""

ProviderLike = Annotated[
    ProviderSpec,
    BeforeValidator(_provider, json_schema_input_type=str | ProviderSpec | Keyed),
]


class GraderSpec(Strict):
    """The judge of graded assertions; ``embedding`` answers those that compare embeddings."""

    text: ProviderLike | None = None
    embedding: ProviderLike | None = None


GraderLike = Annotated[
    GraderSpec,
    BeforeValidator(_grader, json_schema_input_type=str | ProviderSpec | GraderSpec),
]


class PromptSpec(Strict):
    """A prompt: a template, or ``file://`` and a file of templates."""

    raw: str = ""
    id: str | None = None
    label: str | None = None


PromptLike = Annotated[
    PromptSpec, BeforeValidator(_prompt, json_schema_input_type=str | PromptSpec)
]


class AssertionSpec(Strict):
    """One assertion, or a set of them."""

    type: str
    value: Any = None
    threshold: float | None = None
    weight: Annotated[float, Field(ge=0)] = 1.0
    metric: str | None = None
    provider: GraderLike | None = None
    rubric_prompt: str | dict[str, str] | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    context_transform: str | None = None
    assertions: list[AssertionSpec] | None = Field(None, alias="assert")


class OptionsSpec(Strict):
    """How a test is run and graded."""

    provider: GraderLike | None = None
    rubric_prompt: str | dict[str, str] | None = None
    disable_var_expansion: bool | None = None
    disable_default_asserts: bool | None = None
    repeat: Annotated[int, Field(ge=1)] | None = None
    prefix: str | None = None
    suffix: str | None = None
    factuality: dict[str, float] | None = None


Vars = Annotated[
    dict[str, Any] | list[str],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else {} if value is None else value,
        json_schema_input_type=dict[str, Any] | str | list[str],
    ),
]


class TestSpec(Strict):
    """One test, or the defaults of all tests; ``path`` names a file of tests instead."""

    __test__ = False  # pytest collects what is called Test...

    path: str | None = None
    description: str | None = None
    vars: Vars = Field(default_factory=dict)
    provider: ProviderLike | None = None
    providers: Annotated[
        list[str] | None, BeforeValidator(_listed, json_schema_input_type=str | list[str] | None)
    ] = None
    prompts: Annotated[
        list[str] | None, BeforeValidator(_listed, json_schema_input_type=str | list[str] | None)
    ] = None
    provider_output: Any = None
    assertions: list[AssertionSpec] = Field(default_factory=list, alias="assert")
    threshold: float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    options: OptionsSpec = Field(default_factory=OptionsSpec)


TestLike = Annotated[TestSpec, BeforeValidator(_test, json_schema_input_type=str | TestSpec)]


FileOfConfigs = dict[Literal["$values", "$expand"], str]

ConfigLike = Annotated[
    TestSpec, BeforeValidator(_config, json_schema_input_type=str | TestSpec | FileOfConfigs)
]


class ScenarioSpec(Strict):
    """Tests that are run once for each set of variables in ``config``.

    ``path`` names a file of scenarios instead.
    """

    path: str | None = None
    description: str | None = None
    config: Annotated[
        list[ConfigLike],
        BeforeValidator(_listed, json_schema_input_type=str | list[str | TestSpec | FileOfConfigs]),
    ] = Field(default_factory=list)
    tests: Annotated[
        list[TestLike],
        BeforeValidator(_listed, json_schema_input_type=TestSpec | str | list[str | TestSpec]),
    ] = Field(default_factory=list)


ScenarioLike = Annotated[
    ScenarioSpec, BeforeValidator(_test, json_schema_input_type=str | ScenarioSpec)
]


class EvaluateOptions(Strict):
    """How a suite is run; the command line goes before it."""

    max_concurrency: Annotated[int, Field(ge=1, le=1024)] | None = None
    repeat: Annotated[int, Field(ge=1)] | None = None
    delay: Annotated[float, Field(ge=0)] | None = None
    cache: bool | None = None
    timeout_ms: Annotated[float, Field(ge=0)] | None = None
    show_progress_bar: bool | None = None
    filter_range: str | None = None


class SuiteSpec(Strict):
    """A whole config."""

    description: str | None = None
    prompts: Annotated[
        list[PromptLike],
        BeforeValidator(_listed, json_schema_input_type=str | list[str | PromptSpec]),
    ] = Field(default_factory=list)
    providers: Annotated[
        list[ProviderLike],
        BeforeValidator(_listed, json_schema_input_type=str | list[str | ProviderSpec | Keyed]),
    ] = Field(default_factory=list)
    targets: Annotated[
        list[ProviderLike],
        BeforeValidator(_listed, json_schema_input_type=str | list[str | ProviderSpec | Keyed]),
    ] = Field(default_factory=list)
    tests: Annotated[
        list[TestLike],
        BeforeValidator(_listed, json_schema_input_type=str | list[str | TestSpec]),
    ] = Field(default_factory=list)
    scenarios: Annotated[
        list[ScenarioLike],
        BeforeValidator(_listed, json_schema_input_type=str | list[str | ScenarioSpec]),
    ] = Field(default_factory=list)
    default_test: TestLike | None = None
    evaluate_options: EvaluateOptions = Field(default_factory=EvaluateOptions)
    env: dict[str, str] = Field(default_factory=dict)
    output_path: Annotated[
        list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])
    ] = Field(default_factory=list)
    tags: dict[str, str] = Field(default_factory=dict)
    assertion_templates: dict[str, AssertionSpec] = Field(default_factory=dict)
    """Assertions that others refer to by ``$ref: '#/assertionTemplates/NAME'``."""


IGNORED: Mapping[str, str] = {
    "sharing": "nothing is shared from here",
    "writeLatestResults": "results go to the files that -o names",
    "metadata": "it changes no score",
    "tracing": "traces are not collected",
    "commandLineOptions": "give the options on the command line",
    "generateSuggestions": "it changes no score",
}
"""Keys of promptfoo's that change no score: a warning says so."""

REFUSED: Mapping[str, str] = {
    "redteam": "red teaming is not done here",
    "extensions": "programs are not hooked in",
    "nunjucksFilters": "filters in JavaScript are not run",
    "derivedMetrics": "compute them from the results (-o results.json)",
    "transform": "JavaScript is not run: use transformResponse with a JSONPath at the provider",
    "postprocess": "JavaScript is not run: use transformResponse with a JSONPath at the provider",
    "transformVars": "JavaScript is not run: write the variables as they are to be",
    "storeOutputAs": "tests do not depend on each other",
    "runSerially": "tests do not depend on each other; -j 1 runs one at a time",
    "assertScoringFunction": "scores are weighted means: use weight and threshold",
    "maxEvalTimeMs": "use timeoutMs for each test",
    "outputSchema": "use an is-json assertion with the schema",
}
"""Keys of promptfoo's that would change results and are not done."""
