"""The config of one provider, read key by key with its types checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, ConfigError, did_you_mean
from assay.suite.secrets import Secrets, looks_secret

if TYPE_CHECKING:
    from assay.suite.templates import Templates

_LONGEST = 86_400.0
"""Seconds; more than a day is a time in milliseconds."""
_ENV = re.compile(r"""\benv\s*(?:\.\s*(\w+)|\[\s*["'](\w+)["']\s*\])""")
_PLAIN = re.compile(r"\{\{-?\s*(?:" + _ENV.pattern + r")\s*-?\}\}")


class Settings:
    """A provider's ``config``; every error names the provider and the key.

    ``known`` are the keys it may have (None: any, where a program gets them), ``instead`` says
    what to write for keys that other tools know. Raises ConfigError.
    """

    def __init__(
        self,
        where: str,
        config: Mapping[str, Any],
        known: Iterable[str] | None = None,
        instead: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(config, Mapping):
            raise ConfigError(f"provider {where}: config must be a mapping of names to values")
        self.where, self.all = where, config
        names = None if known is None else list(known)
        for name in config:
            if instead and name in instead:
                raise self.wrong(name, f"is not taken: {instead[name]}")
            if names is not None and name not in names:
                raise self.wrong(name, f"is not known; {did_you_mean(str(name), names)}")

    def wrong(self, name: object, why: str) -> ConfigError:
        """The error that a key is wrong."""
        return ConfigError(f"provider {self.where}: config.{name} {why}")

    def text(self, name: str) -> str | None:
        """A text, or None where the key is not given."""
        value = self.all.get(name)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        raise self.wrong(name, f"must be a text, not {_kind(value)}")

    def mapping(self, name: str) -> dict[str, Any]:
        """A mapping with text keys; {} where the key is not given."""
        value = self.all.get(name)
        if value is None:
            return {}
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return dict(value)
        raise self.wrong(name, f"must be a mapping of names to values, not {_kind(value)}")

    def whole(self, name: str, default: int, least: int = 0) -> int:
        """A whole number of at least ``least``."""
        value = self.all.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        raise self.wrong(name, f"must be a whole number, {least} or more")

    def timeout(self, default: float) -> float:
        """Seconds, from ``timeout`` (seconds) or ``timeoutMs`` (milliseconds)."""
        if "timeout" in self.all and "timeoutMs" in self.all:
            raise self.wrong("timeout", "and config.timeoutMs are the same thing: give one")
        if "timeoutMs" in self.all:
            return self._positive("timeoutMs") / 1000
        if "timeout" not in self.all:
            return default
        seconds = self._positive("timeout")
        if seconds > _LONGEST:
            raise self.wrong(
                "timeout", f"is in seconds: {seconds:g} is over a day; timeoutMs is in milliseconds"
            )
        return seconds

    def _positive(self, name: str) -> float:
        value = self.all[name]
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
            if 0 < number < math.inf:
                return number
        raise self.wrong(name, "must be a number above 0")


def env_names(value: Any, pattern: re.Pattern[str] = _ENV) -> Iterator[str]:
    """The environment variables that the templates in a config value name.

    >>> sorted(env_names({"a": ["Bearer {{ env.TOKEN }}", 1], "b": "{{env['HOST']}}"}))
    ['HOST', 'TOKEN']
    """
    for text in texts_in(value):
        if "{{" in text or "{%" in text:
            for found in pattern.finditer(text):
                yield found[1] or found[2]


def check_templates(value: Any, templates: Templates) -> None:
    """Raise ConfigError for a template in a config value that cannot be read."""
    for text in texts_in(value):
        templates.check(text)


def keep_env(value: Any, templates: Templates, secrets: Secrets, *, header: bool = False) -> None:
    """Count as secret what the environment variables hold that a config value names.

    In a header every one counts, elsewhere those whose names look secret.
    """
    for name in set(env_names(value)):
        if header or looks_secret(name):
            try:
                secrets.keep(templates.render("{{ env." + name + " }}", {}))
            except AssayError:  # it is not set: whoever renders the value says so
                continue


def unset_env(value: Any, templates: Templates) -> str | None:
    """The first environment variable that a config value inserts as it is, though it is not set.

    A filter, such as ``default``, is taken to know what it does.
    """
    for name in env_names(value, _PLAIN):
        if not templates.render("{{ env." + name + " }}", {}):
            return name
    return None


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a config value but for the names in mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_in(part)


def _kind(value: object) -> str:
    return "an empty text" if isinstance(value, str) else type(value).__name__
