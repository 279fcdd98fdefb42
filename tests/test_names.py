"""Metric names with parameters, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import product
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from assay.errors import ConfigError, did_you_mean
from assay.metrics import CATALOGUE, Faithfulness, Metric, NoiseSensitivity, load_metric
from assay.metrics.names import split_names


def _values(hint: Any, default: Any) -> tuple[Any, ...]:
    """Every value of a parameter that has few, or its default."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return (False, True) if hint is bool else (default,)


def every_metric() -> Iterator[Metric]:
    """Each metric of the catalogue with every combination of its parameters."""
    for metric in CATALOGUE.values():
        hints = get_type_hints(metric)
        names = [f.name for f in fields(metric)]
        choices = [_values(hints[f.name], f.default) for f in fields(metric)]
        for values in product(*choices):
            yield metric(**dict(zip(names, values, strict=True)))


@pytest.mark.parametrize("metric", list(every_metric()), ids=str)
def test_the_name_of_a_metric_loads_the_same_metric(metric: Metric) -> None:
    assert load_metric(str(metric)) == metric


def test_names_are_keys_and_names() -> None:
    assert [metric.name for metric in CATALOGUE.values()] == list(CATALOGUE)


def test_defaults_are_left_out_of_the_name() -> None:
    assert str(NoiseSensitivity()) == "noise_sensitivity"
    assert str(NoiseSensitivity("irrelevant")) == "noise_sensitivity(mode=irrelevant)"
    assert str(NoiseSensitivity(dialect="ragas", incorrect="contradicted")) == (
        "noise_sensitivity(dialect=ragas, incorrect=contradicted)"
    )
    assert str(Faithfulness(joined=True)) == "faithfulness(joined=true)"


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        (" faithfulness ", Faithfulness()),
        ("faithfulness()", Faithfulness()),
        ("faithfulness ( joined = True )", Faithfulness(joined=True)),
        ("faithfulness(joined=true,)", Faithfulness(joined=True)),
        ("noise_sensitivity(dialect=ragas,mode=relevant)", NoiseSensitivity(dialect="ragas")),
    ],
)
def test_spaces_empty_parentheses_and_order_do_not_matter(text: str, metric: Metric) -> None:
    assert load_metric(text) == metric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("faithfullness", "unknown metric 'faithfullness'; did you mean 'faithfulness'?"),
        ("", "'' is no metric name; write name or name(parameter=value)"),
        ("f1,recall", "'f1,recall' is no metric name; write name or name(parameter=value)"),
        ("f1(", "'f1(' is no metric name; write name or name(parameter=value)"),
        ("f1(beta=2)", "f1 has no parameter 'beta'; it has no parameters"),
        ("faithfulness(join=true)", "faithfulness has no parameter 'join'; did you mean 'joined'?"),
        ("faithfulness(joined)", "faithfulness has no parameter 'joined'; did you mean 'joined'?"),
        ("faithfulness(joined=1)", "faithfulness(joined=1): the value must be bool"),
        (
            "noise_sensitivity(mode=irelevant)",
            "noise_sensitivity(mode=irelevant): did you mean 'irrelevant'?",
        ),
        (
            "noise_sensitivity(mode=x)",
            "noise_sensitivity(mode=x): known: irrelevant, relevant",
        ),
    ],
)
def test_what_is_not_known_is_named_with_the_nearest(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_metric(text)
    assert str(error.value) == message


def test_a_name_that_is_like_no_other_gets_the_whole_list() -> None:
    with pytest.raises(ConfigError) as error:
        load_metric("zzzz")
    assert str(error.value) == "unknown metric 'zzzz'; known: " + ", ".join(sorted(CATALOGUE))


@pytest.mark.parametrize(
    "values", [{"mode": "irrelevent"}, {"dialect": "RAGAS"}, {"incorrect": "wrong"}]
)
def test_a_parameter_value_that_does_not_exist_is_refused_from_python_too(
    values: dict[str, Any],
) -> None:
    with pytest.raises(ConfigError):
        NoiseSensitivity(**values)


def test_split_names_keeps_parentheses_whole() -> None:
    assert split_names("a, b(c=d, e=f),g") == ["a", "b(c=d, e=f)", "g"]
    assert split_names(" , ") == []


def test_did_you_mean_prefers_one_word_to_the_list() -> None:
    assert did_you_mean("recal", ["recall", "precision"]) == "did you mean 'recall'?"
    assert did_you_mean("x", []) == "known: "
