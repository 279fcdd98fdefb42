"""Templates that attack: Python's objects stay out of reach, time and memory stay bounded."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.suite.templates import Limits, TemplateError, Templates
from assay.suite.templates.checks import CHECKS
from assay.suite.templates.filters import FILTERS
from assay.suite.templates.methods import LIST, NUMBER, TEXT

BIG = "a" * 1_000_000
WIDE = "😀" * 1_000_000
TIGHT = Limits(output=1000, steps=2000, seconds=2, memory=100_000)


class Secret:
    """An object that a template must not be able to look into."""

    password = "hunter2"

    def __str__(self) -> str:
        return self.password

    def __call__(self) -> str:
        return self.password

    def __getitem__(self, key: object) -> str:
        return self.password

    def __html__(self) -> str:
        return self.password


# --- reach ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "''.__class__", "''['__class__']", "'a'|map(attribute='__class__')",
        "x.__init__.__globals__",
        "[].__class__.__mro__", "{}.__class__", "(1).__class__", "true.__class__", "null.__class__",
        "__import__", "__builtins__", "__import__('os')", "self.__init__", "''.__class__()",
        "''['__cl' ~ 'ass__']", "[x]|map(attribute='__dict__')", "[x]|sort(attribute='__class__')",
        "[x]|groupby('__class__')", "[x]|selectattr('__class__')", "range.__class__",
        "env.__class__",
        "env['__class__']", "loop.__class__", "'{0.__class__}'.__mod__", "''|attr('__class__')",
        "''.format.__globals__", "'%s'.__mod__(x)", "x|upper", "x ~ ''", "'' + x", "x()",
        "[x]|join",
        "[x] ~ 1", "x|dump", "x|list", "x|length", "x|string", "[x]|dump", "{a: x}|dump", "x in x",
        "x|urlencode", "{a: x}|urlencode", "x.format()", "'{0.password}'.format(x)", "x|format",
        "cycler('a')", "joiner()", "namespace(a=1)", "lipsum()", "dict(a=1)", "self()", "request()",
        "url_for.__globals__", "get_flashed_messages()", "range(*x)", "range(**x)", "x|upper(*x)",
        "'a'.constructor('x')()", "[].push(1)", "{}.pop('a')", "{}.update(a)", "super()",
    ],
)  # fmt: skip
@pytest.mark.parametrize("way", ["render", "render_value", "render_json"])
def test_nothing_of_python_is_in_reach(expression: str, way: str) -> None:
    text = "{{ " + expression + " }}"
    with pytest.raises(TemplateError) as caught:
        getattr(Templates({"A": "b"}), way)(text, {"x": Secret()})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        "x.password", "x['password']", "x[0]", "self", "cycler", "joiner", "namespace", "lipsum",
        "request", "dict", "config", "context", "environment", "range", "x.password.a", "resolve",
        "''.func_globals", "''.mro", "[].append", "{}.items", "{a: 1}.get", "[].__len",
        "loop.cycle",
        "''.encode", "''.format", "''.format_map", "''.isalpha", "[].count", "(1).real", "none.x",
    ],
)  # fmt: skip
def test_nothing_is_found_by_other_names(expression: str) -> None:
    assert Templates().render("{{ " + expression + " }}", {"x": Secret()}) == ""


@pytest.mark.parametrize(
    "tag",
    [
        "{% include 'x' %}", "{% import 'x' as y %}", "{% from 'x' import y %}",
        "{% extends 'x' %}",
        "{% block a %}{% endblock %}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% call x() %}{% endcall %}", "{% with a = 1 %}{% endwith %}", "{% do x.y() %}",
        "{% autoescape true %}{% endautoescape %}", "{% debug %}", "{% trans %}a{% endtrans %}",
        "{% for x in y recursive %}{{ loop(y) }}{% endfor %}", "{% for x in y if x %}{% endfor %}",
        "{% set a.b = 1 %}", "{% for a.b in [1] %}{% endfor %}",
        "{% for (a, b), c in [1] %}{% endfor %}",
        "{% break %}", "{% print x %}", "{% if 0 %}{% include 'x' %}{% endif %}",
    ],
)  # fmt: skip
def test_tags_that_load_or_define_are_refused(tag: str) -> None:
    if tag == "{% print x %}":
        assert Templates().render(tag, {"x": 1}) == "1"
        return
    with pytest.raises(TemplateError):
        Templates().render(tag, {"y": [[1]]})


# --- time and memory -----------------------------------------------------------------------------


def grown(start: str, step: str, end: str = "", times: int = 99) -> str:
    """A template that sets s to ``start``, then ``times`` over to ``step``, then holds ``end``."""
    return (
        f"{{% set s = {start} %}}"
        f"{{% for i in range({times}) %}}{{% set s = {step} %}}{{% endfor %}}{end}"
    )


NESTED = "{% for i in r %}{% for j in r %}x{% endfor %}{% endfor %}"
MANY = "{% set r = range(9999) %}"
GREEDY = {
    "numbers": "{{ 10 ** 10 ** 10 ** 10 }}",
    "squares": grown("3", "s * s"),
    "times": "{{ 'a' * 10000000000 }}",
    "list times": "{{ [1, 2] * 10000000000 }}",
    "percent": "{{ '%10000000000d' % 1 }}",
    "plus": grown("'ab'", "s + s"),
    "tilde": grown("'ab'", "s ~ s"),
    "block": "{% set s = 1 %}" + "{% set s %}{{ s }}{{ s }}{% endset %}" * 99,
    "concat": grown("[1]", "s.concat(s)"),
    "shared": grown("[1]", "[s, s]", "{{ s }}"),
    "shared dump": grown("[1]", "{a: s, b: s}", "{{ s | dump(9) }}"),
    "deep": grown("[1]", "[s]", "{{ s }}", times=4999),
    "deep dump": grown("[1]", "[s]", "{{ s | dump }}", times=4999),
    "loops": MANY + NESTED,
    "empty loops": MANY + NESTED.replace("x", ""),
    "range": "{{ range(10000000000) | length }}",
    "range back": "{{ range(0, -10000000000, -1) | length }}",
    "ranges": grown("1", "range(99999)"),
    "kept": grown("[]", "s.concat([range(9999)])", times=999),
    "center": "{{ 'x' | center(10000000000) }}",
    "indent": "{{ 'x\ny' | indent(10000000000) }}",
    "batch": "{{ [1] | batch(10000000000, 'x') }}",
    "slice": "{{ [1] | slice(10000000000) }}",
    "replace": grown("'ab'", "s | replace('', s)"),
    "join": grown("'ab'", "range(99) | join(s)"),
    "repeat": "{{ 'x'.repeat(10000000000) }}",
    "pad": "{{ 'x'.padEnd(10000000000) }}",
    "replaceAll": grown("'ab'", "s.replaceAll('a', s)"),
    "split": "{{ big.split('') }}",
    "list": "{{ big | list }}",
    "words": grown("''", "s | wordcount ~ ' a b'", times=99_999),
    "escape": "{{ quotes | escape | escape | escape }}",
    "dump": "{{ controls | dump | dump | dump }}",
    "urlencode": "{{ wide | urlencode | urlencode }}",
    "load": "{{ brackets | load }}",
    "load deep": "{{ deep | load }}",
    "sort": "{{ range(500000) | sort }}",
    "sort texts": grown("[big]", "s.concat(s)", "{{ s | sort }}", times=12),
    "search": grown("''", "'zz' in big", times=99_999),
    "equal": grown("''", "big === twin", times=99_999),
    "member": grown("[big]", "s.concat(s)", "{{ s.includes(twin) }}", times=14),
    "output": MANY + NESTED.replace("x", "{{ big }}"),
    "tags": "{{ tags | striptags | list }}",
    "spaces": "{{ spaces | striptags | title | striptags }}",
    "map": grown("[big]", "s.concat(s)", "{{ s | map('upper') }}", times=9),
    "digits": "{{ digits * 1 }}",
    "literal": "{{ " + "9" * 5000 + " }}",
    "parentheses": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "nots": "{{ " + "not " * 5000 + "1 }}",
    "sum": "{{ " + "+".join(["1"] * 5000) + " }}",
    "filters": "{{ 'x'" + " | upper" * 3000 + " }}",
    "blocks": "{% if 1 %}" * 2000 + "{% endif %}" * 2000,
    "open": "{{" * 400_000,
    "spaced": ("{%" + " " * 999) * 900,
    "giant": "{{ x }}" + " " * 1_000_000,
}
DATA: dict[str, Any] = {
    "big": BIG, "twin": BIG[:-1] + "b", "wide": WIDE, "quotes": '"' * 3_000_000,
    "controls": "\x01" * 3_000_000, "brackets": "[" + "[]," * 300_000 + "1]", "deep": "[" * 900_000,
    "tags": "<a" * 900_000, "spaces": "a " * 1_000_000, "digits": "9" * 1_000_000,
}  # fmt: skip


@pytest.mark.parametrize("greedy", GREEDY)
def test_greed_ends_early_with_an_error(greedy: str) -> None:
    templates = Templates(
        limits=Limits(output=2_000_000, steps=30_000, seconds=2, memory=16_000_000)
    )
    start = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(TemplateError, match=r"line [12]: |more than 1000000"):
            templates.render(GREEDY[greedy], DATA)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < 5
    assert peak < 60_000_000


@pytest.mark.parametrize(
    ("limit", "template"),
    [
        ("1000 characters", "{{ 'x'.repeat(1001) }}"),
        ("2000 steps", "{% for i in range(1000) %}{% set a = i %}{% endfor %}"),
        ("100000 bytes", "{% set a = 'x'.repeat(100001) %}"),
        ("100000 bytes", "{% set a = range(2000) %}"),
    ],
)
def test_tight_limits_name_themselves(limit: str, template: str) -> None:
    with pytest.raises(TemplateError, match=f"more than {limit}"):
        Templates(limits=TIGHT).render(template, {})


def test_a_dense_template_is_refused() -> None:
    for text in ("{{a}}" * 199_999, "{{ [" + "1," * 400_000 + "] }}"):
        with pytest.raises(TemplateError, match="more than 50000 parts; split it"):
            Templates().render(text, {})


def test_time_ends_a_template_that_has_steps_left() -> None:
    templates = Templates(limits=Limits(seconds=0.05, steps=10**12))
    start = time.monotonic()
    with pytest.raises(TemplateError, match=r"more than 0\.05 s"):
        templates.render(
            "{% set r = range(9999) %}{% for i in r %}{% for j in r %}{% endfor %}{% endfor %}", {}
        )
    assert time.monotonic() - start < 2


def test_a_value_and_its_texts_share_one_budget() -> None:
    shared: list[Any] = ["{{ x }}"]
    for _ in range(60):
        shared = [shared, shared]
    loop: list[Any] = []
    loop.append(loop)
    for value in (shared, loop, ["{{ x }}"] * 1500):
        with pytest.raises(TemplateError):
            Templates(limits=TIGHT).render_value(value, {"x": "x"})
    with pytest.raises(TemplateError):
        Templates(limits=TIGHT).render("{{ x }}{{ x | dump }}", {"x": loop})
    with pytest.raises(TemplateError):
        Templates(limits=TIGHT).render_json("[" * 900 + "]" * 900, {})


# --- anything at all -----------------------------------------------------------------------------

PIECES = [
    "{{", "}}", "{%", "%}", "{#", "#}", "-", "for", "x", "in", "xs", "endfor", "if", "else", "elif",
    "endif", "set", "=", "endset", "raw", "endraw", "filter", "endfilter", "|", ".", "(", ")", "[",
    "]", "{", "}", ",", ":", "'a'", '"', "1", "0.5", "1e308", "-1", "===", "!==", "==", "<", "+",
    "*",
    "**", "//", "%", "~", "and", "or", "not", "is", "null", "none", "true", "loop", "env", "range",
    "__class__", "\n", "\\", "é", "😀", "\0", "9" * 20, *FILTERS, *CHECKS, *TEXT, *LIST, *NUMBER,
]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def ends_well(text: str, variables: dict[str, Any]) -> None:
    """The text renders or is refused; nothing else happens."""
    templates = Templates({"a": "b"}, limits=TIGHT)
    for act in (templates.render, templates.render_value, templates.render_json):
        with suppress(TemplateError):
            act(text, variables)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join), VALUES)
def test_any_text_renders_or_is_refused(text: str, value: Any) -> None:
    ends_well(text, {"x": value, "xs": [value, value]})


@settings(max_examples=120, deadline=None)
@given(st.sampled_from([*FILTERS]), VALUES, st.lists(VALUES, max_size=3))
def test_any_filter_takes_or_refuses_any_value(name: str, value: Any, given_: list[Any]) -> None:
    arguments = ", ".join(f"a[{n}]" for n in range(len(given_)))
    ends_well("{{ x | " + name + "(" + arguments + ") }}", {"x": value, "a": given_})


@settings(max_examples=120, deadline=None)
@given(st.sampled_from([*TEXT, *LIST, *NUMBER]), VALUES, st.lists(VALUES, max_size=3))
def test_any_method_takes_or_refuses_any_value(name: str, value: Any, given_: list[Any]) -> None:
    arguments = ", ".join(f"a[{n}]" for n in range(len(given_)))
    variables = {"x": value, "a": given_}
    for holder in ("x", "'a b'", "[1, 'b', a]", "(2.5)"):
        ends_well("{{ " + f"{holder}.{name}({arguments})" + " }}", variables)


@settings(max_examples=60, deadline=None)
@given(VALUES, VALUES)
def test_any_operator_takes_or_refuses_any_values(left: Any, right: Any) -> None:
    for sign in ("+", "-", "*", "/", "//", "%", "**", "~", "==", "===", "<", ">=", "in", "and"):
        ends_well("{{ l " + sign + " r }}{{ l is divisibleby(r) }}", {"l": left, "r": right})
