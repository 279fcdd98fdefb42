"""The judges of a suite: by grader, prompts and repeat, each opened once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from assay.asks import Ask, Embed, Judge, Skill, T, Usage
from assay.errors import ConfigError, did_you_mean
from assay.judges.named import JUDGES, open_judge
from assay.suite.files import Folder
from assay.suite.model import AssertionSpec, GraderSpec, OptionsSpec, ProviderSpec
from assay.suite.providers.openai import Endpoint, endpoint_of
from assay.suite.secrets import Secrets
from assay.suite.slots import prompts_of
from assay.suite.templates import Templates

_PASSED_ON = ("temperature", "seed", "timeout", "concurrency", "packed", "reasons", "max_claims")
"""Options of a grader's config that are the judge's own."""
_ALSO = ("max_tokens", "extra")
Remember = Callable[[Judge, int], Judge]
"""Wraps a judge so that it remembers answers, for a repeat."""


class Embedder:
    """A judge whose embeddings come from another one."""

    def __init__(self, judge: Judge, embedder: Judge) -> None:
        self._judge, self._embedder = judge, embedder

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def fingerprint(self) -> str:
        return f"{self._judge.fingerprint}+{self._embedder.fingerprint}"

    @property
    def usage(self) -> Usage:
        return self._judge.usage.plus(self._embedder.usage)

    def can(self, skill: Skill) -> bool:
        return (self._embedder if skill == "embed" else self._judge).can(skill)

    async def answer(self, ask: Ask[T]) -> T:
        return await (self._embedder if isinstance(ask, Embed) else self._judge).answer(ask)

    async def aclose(self) -> None:
        await self._judge.aclose()
        await self._embedder.aclose()


class Graders:
    """Judges by what the suite says of them.

    ``default`` is the judge where the suite names none: a name as `open_judge` takes it.
    ``remember`` wraps every judge; ``opened`` are those that were used.
    """

    def __init__(
        self,
        templates: Templates,
        secrets: Secrets,
        *,
        default: str | Judge | None = None,
        packed: bool = False,
        remember: Remember | None = None,
    ) -> None:
        self._templates, self._secrets = templates, secrets
        self._packed = packed
        self._remember = remember or (lambda judge, _: judge)
        self.default = default
        """The judge where the suite names none, as it was given."""
        self._judges: dict[str, Judge] = {}
        self._wrapped: dict[tuple[str, int], Judge] = {}

    @property
    def opened(self) -> tuple[Judge, ...]:
        """The judges that were used, in the order of their first use."""
        return tuple(self._wrapped.values())

    def usage(self) -> Usage:
        """What all judges used, added up."""
        total = Usage()
        for judge in self._judges.values():
            total = total.plus(judge.usage)
        for judge in self._wrapped.values():
            total.cached += judge.usage.cached
        total.notes = list(dict.fromkeys(n for one in self.opened for n in one.usage.notes))
        return total

    def of(
        self, spec: AssertionSpec, options: OptionsSpec, folder: Folder, repeat: int = 0
    ) -> Judge:
        """The judge of an assertion: its own grader or else the test's, never the provider."""
        prompts = prompts_of(spec.rubric_prompt or options.rubric_prompt, folder)
        return self.judge(spec.provider or options.provider, prompts, repeat)

    def judge(
        self, spec: GraderSpec | None, prompts: Mapping[str, str] | None = None, repeat: int = 0
    ) -> Judge:
        """The judge for a grader; raises ConfigError if there is none such."""
        written = None if spec is None else spec.model_dump(mode="json")
        key = json.dumps([written, dict(prompts or {})], sort_keys=True)
        if key not in self._judges:
            self._judges[key] = self._open(spec, prompts)
        if (key, repeat) not in self._wrapped:
            self._wrapped[key, repeat] = self._remember(self._judges[key], repeat)
        return self._wrapped[key, repeat]

    async def aclose(self) -> None:
        """Let go of all judges' connections."""
        for judge in self._wrapped.values():
            await judge.aclose()

    def _open(self, spec: GraderSpec | None, prompts: Mapping[str, str] | None) -> Judge:
        text = spec.text if spec is not None else None
        embedding = spec.embedding if spec is not None else None
        judge = self._named(text, prompts, embedding)
        if embedding is not None and not _same_place(text, embedding):
            return Embedder(judge, self._named(as_chat(embedding), None, embedding))
        return judge

    def _named(
        self,
        spec: ProviderSpec | None,
        prompts: Mapping[str, str] | None,
        embedding: ProviderSpec | None,
    ) -> Judge:
        if spec is None:
            if not isinstance(self.default, str) and self.default is not None:
                return self.default
            if not prompts and not self._packed and self.default is None:
                return open_judge(None)
            spec = ProviderSpec(id=self.default or open_judge(None).name)
        place = self._endpoint(spec)
        if place is None:
            if prompts:
                raise ConfigError(f"grader {spec.id}: it reads no prompts; leave out rubricPrompt")
            if spec.config:
                raise ConfigError(f"grader {spec.id}: it has no config")
            return _by_name(spec.id, packed=self._packed)
        from assay.judges.openai import openai_judge

        options = self._options(spec)
        if embedding is not None:
            options["embedding_model"] = embedding.id.split(":")[-1]
        return openai_judge(
            place.model,
            base_url=place.base_url,
            api_key_env=place.api_key_env,
            prompts=prompts,
            **{"packed": self._packed, **options},
        )

    def _endpoint(self, spec: ProviderSpec) -> Endpoint | None:
        """Where a grader is asked; errors speak of a grader, not of what is tested."""
        try:
            return endpoint_of(spec.id, spec.config, self._templates, self._secrets)
        except ConfigError as error:
            said = str(error).replace(f"provider {spec.id}", f"grader {spec.id}", 1)
            raise ConfigError(said.replace("which model?", "which model is the judge?")) from None

    def _options(self, spec: ProviderSpec) -> dict[str, Any]:
        """The judge's own options out of a grader's config; raises ConfigError for others."""
        known = (*_PASSED_ON, *_ALSO)
        others = ("apiBaseUrl", "apiKeyEnvar", "apiKey", "apiHost")
        out = {}
        for key, value in spec.config.items():
            if key in known:
                out[key] = _option(spec.id, key, self._templates.render_value(value, {}))
            elif key not in others:
                near = did_you_mean(key, [*known, *others])
                raise ConfigError(f"grader {spec.id}: unknown option {key!r}; {near}")
        return out


def _by_name(id: str, *, packed: bool) -> Judge:
    """The judge of a name; raises ConfigError, which takes a bare name for that of a model."""
    try:
        return open_judge(id, packed=packed)
    except ConfigError:
        kinds = [name.partition(":")[0] for name in JUDGES]
        if ":" in id or id in kinds or "did you mean" in did_you_mean(id, kinds):
            raise
    raise ConfigError(f"unknown judge {id!r}; did you mean openai:{id}?")


def _option(id: str, key: str, value: Any) -> Any:
    """An option's value; raises ConfigError for one of a wrong type or size."""
    if key in ("packed", "reasons"):
        fits, what = isinstance(value, bool), "true or false"
    elif key == "extra":
        fits, what = isinstance(value, Mapping), "a mapping"
    else:
        whole = key not in ("temperature", "timeout")
        number = int if whole else (int, float)
        least = 0 if key in ("temperature", "seed") else 1e-3
        what = f"a {'whole ' if whole else ''}number {'from 0' if not least else 'above 0'}"
        fits = isinstance(value, number) and not isinstance(value, bool) and value >= least
        fits = fits or (value is None and key in ("temperature", "seed", "max_tokens"))
    if not fits:
        raise ConfigError(f"grader {id}: config.{key} is {value!r}; it must be {what}")
    return value


def _same_place(text: ProviderSpec | None, embedding: ProviderSpec) -> bool:
    """Whether chat and embeddings are asked for at the same endpoint."""
    if text is None:
        return False
    places = ("apiBaseUrl", "apiKeyEnvar", "apiHost")
    return text.id.partition(":")[0] == embedding.id.partition(":")[0] and all(
        text.config.get(key) == embedding.config.get(key, text.config.get(key)) for key in places
    )


def as_chat(embedding: ProviderSpec) -> ProviderSpec:
    """The endpoint of an embedding model as that of a chat model, which is not asked."""
    vendor, _, rest = embedding.id.partition(":")
    return ProviderSpec(id=f"{vendor}:{rest.split(':')[-1]}", config=embedding.config)
