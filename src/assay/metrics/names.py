"""Metric names with parameters: ``noise_sensitivity(mode=irrelevant)`` and back."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from assay.errors import ConfigError, did_you_mean
from assay.metrics.base import Metric, check_choice
from assay.metrics.catalogue import CATALOGUE

_NAME = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<parameters>[^()]*)\))?\s*")
_WORDS = {"true": True, "false": False}


def load_metric(text: str) -> Metric:
    """The metric of a name, with parameters in parentheses.

    Raises ConfigError for an unknown name, parameter or value, naming the nearest known one.

    >>> str(load_metric("noise_sensitivity(mode=irrelevant)"))
    'noise_sensitivity(mode=irrelevant)'
    >>> load_metric("faithfulness(joined=true)")
    Faithfulness(joined=True)
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise ConfigError(f"{text!r} is no metric name; write name or name(parameter=value)")
    name = match["name"]
    if name not in CATALOGUE:
        raise ConfigError(f"unknown metric {name!r}; {did_you_mean(name, list(CATALOGUE))}")
    metric = CATALOGUE[name]
    hints = get_type_hints(metric)
    known = [f.name for f in fields(metric)]
    values: dict[str, Any] = {}
    for part in filter(str.strip, (match["parameters"] or "").split(",")):
        key, equals, word = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            expected = did_you_mean(key, known) if known else "it has no parameters"
            raise ConfigError(f"{name} has no parameter {key!r}; {expected}")
        if key in values:
            raise ConfigError(f"{name} has the parameter {key!r} twice")
        values[key] = _value(name, key, word, hints[key])
    return metric(**values)


def _value(name: str, key: str, word: str, hint: Any) -> Any:
    """The typed value of a word."""
    if get_origin(hint) is Literal:
        value = next((choice for choice in get_args(hint) if str(choice) == word), word)
        check_choice(name, key, value, hint)
        return value
    if hint is bool and word.lower() in ("true", "false"):
        return _WORDS[word.lower()]
    try:
        if hint in (int, float):
            return hint(word)
    except ValueError:
        pass
    if hint is str:
        return word
    raise ConfigError(f"{name}({key}={word}): the value must be {getattr(hint, '__name__', hint)}")


def split_names(text: str) -> list[str]:
    """The names in a comma-separated list; commas inside parentheses do not split.

    >>> split_names("f1, noise_sensitivity(mode=relevant, dialect=ragas),recall")
    ['f1', 'noise_sensitivity(mode=relevant, dialect=ragas)', 'recall']
    """
    parts = re.split(r",(?![^(]*\))", text)
    return [part.strip() for part in parts if part.strip()]
