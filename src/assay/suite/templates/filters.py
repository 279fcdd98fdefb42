"""Every filter by name: those on texts, those on lists, and those that take another's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from assay.suite.templates.arguments import Function, apply, elements, known, made
from assay.suite.templates.checks import CHECKS
from assay.suite.templates.limits import Meter
from assay.suite.templates.list_filters import LIST_FILTERS
from assay.suite.templates.lookup import attribute as found
from assay.suite.templates.text_filters import TEXT_FILTERS
from assay.suite.templates.values import UNDEFINED, Value, absent, is_list, text, truth

PLAIN: Mapping[str, Function] = MappingProxyType({**TEXT_FILTERS, **LIST_FILTERS})


def _map(
    meter: Meter,
    values: Value,
    name: Value = UNDEFINED,
    *given: Value,
    attribute: Value = UNDEFINED,
) -> list[Value]:
    """Each element through a filter, or what ``attribute`` finds in it."""
    items = elements(values, meter)
    if not absent(attribute):
        return made(found(meter, item, attribute) for item in items)
    filter_name = text(name, meter)
    function = known("filter", filter_name, PLAIN)
    return made(filtered(filter_name, function, meter, [item, *given]) for item in items)


def _chosen(wanted: bool) -> Function:
    def choose(meter: Meter, values: Value, name: Value = "truthy", *given: Value) -> list[Value]:
        """The elements for which a test holds, or does not."""
        test = text(name, meter)
        check = known("test", test, CHECKS)
        return [
            item
            for item in elements(values, meter)
            if truth(apply(f"'is {test}'", check, meter, [item, *given])) is wanted
        ]

    return choose


def filtered(
    name: str,
    function: Function,
    meter: Meter,
    given: Sequence[Value],
    named: Mapping[str, Value] = MappingProxyType({}),
) -> Value:
    """The result of a filter, its work counted by the size of what it works on."""
    weigh(given[0], meter)
    return apply(f"filter {name!r}", function, meter, given, named)


def weigh(value: Value, meter: Meter) -> None:
    """Counts one pass over ``value``, with the copy that a filter or method makes of it."""
    if isinstance(value, str):
        meter.make_text(len(value), value)
    elif is_list(value):
        meter.make_items(len(value))
        meter.step(len(value))


FILTERS: Mapping[str, Function] = MappingProxyType(
    {**PLAIN, "map": _map, "reject": _chosen(wanted=False), "select": _chosen(wanted=True)}
)
